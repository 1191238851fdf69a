"""How a loop is to be run, where somebody says so: unrolled, in vectors, or flat.

It changes nothing of what the loop means; back ends hand it to the compilers behind them.
"""

from __future__ import annotations

from dataclasses import field

from linnet.errors import Location
from linnet.records import dataclass

# as `loops.commands` has them for users
NO_RACES, IGNORE_RACES = "NoRaces", "IgnoreRaces"
PARALLEL_REDUCTION = "ParallelReduction"
RACES = (NO_RACES, IGNORE_RACES, PARALLEL_REDUCTION)
BOUNDED = "the code is made for operands of which this holds, and checks it in every call"
"""Why a call is refused of which something else was said by `bound`."""
LARGEST_UNROLLED = 1024
"""Code with more copies of a loop's body than this helps nobody."""


@dataclass(frozen=True, slots=True)
class How:
    """`unroll` copies of the body in a row; in vectors, if a `race` strategy says that they may be.

    Loops over positions with several coordinates are `flat` if they are run as one loop, which
    tracks the outer coordinates (`lower.flat`). The `command` that asked for it, and where it
    stands, are for messages.
    """

    unroll: int = 1
    race: str = ""
    flat: bool = False
    command: str = field(default="", compare=False)
    at: Location | None = field(default=None, compare=False)

    @property
    def is_plain(self) -> bool:
        """Whether nobody has said anything."""
        return self.unroll == 1 and not self.race and not self.flat


PLAIN = How()
