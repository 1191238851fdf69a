"""How a loop is to be run: unrolled, in vectors, or flat.

It changes nothing of what the loop means; back ends hand it to the compilers behind them.
"""

from __future__ import annotations

from dataclasses import field

from linnet.errors import Location
from linnet.imp.values import Var
from linnet.records import dataclass

# as `loops.commands` has them for users
NO_RACES, IGNORE_RACES = "NoRaces", "IgnoreRaces"
PARALLEL_REDUCTION = "ParallelReduction"
RACES = (NO_RACES, IGNORE_RACES, PARALLEL_REDUCTION)
BOUNDED = "the code is made for operands of which this holds, and checks it in every call"
"""Why a call is refused of which something else was said by `bound`."""
LARGEST_UNROLLED = 1024
"""Code with more copies of a loop's body than this helps nobody."""


ALL = -1
"""Copies of all turns: no loop is left."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to make the turns of a loop that has at least so many of them.

    In vectors of `width` elements, `side` by side (of no vectors: sums); one by one if that is 1,
    and as who compiles it likes if it is 0. In so many `copies` in a row, `of_vectors` or of turns;
    0 is as they like. What vectors leave is done under a mask if they are `masked`: "all" of it, or
    a half first where masks cost something ("load"). Floats that a loop `reduces` may be added up
    in vectors by compilers that have to be told.
    """

    least: int = 0
    width: int = 0
    side: int = 0
    copies: int = 0
    of_vectors: bool = False
    masked: str = ""
    reduces: bool = False

    def __str__(self) -> str:
        """`from 32 turns on, in vectors of 4, 4 side by side`; nothing if nothing is said."""
        what = "one by one" if self.width == 1 else f"in vectors of {self.width}"
        parts = [f"from {self.least} turns on"] if self.least else []
        parts += [what] if self.width else []
        parts += [f"{self.side} side by side"] if self.side > 1 else []
        parts += ["the last under a mask"] if self.masked else []
        parts += ["all at once" if self.copies == ALL else f"{self.copies} copies"] * bool(
            self.copies
        )
        parts += ["sums in any order"] if self.reduces else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Kept:
    """A sum in so many lanes that lives as long as a loop, and then is added to a total."""

    part: Var
    lanes: int
    total: Var


@dataclass(frozen=True, slots=True)
class How:
    """`unroll` copies of the body in a row; in vectors, if a `race` strategy says that they may be.

    Loops over positions with several coordinates are `flat` if they are run as one loop, which
    tracks the outer coordinates (`lower.flat`). The `command` that asked for it, and where it
    stands, are for messages. That is what a schedule says; the `ways` that a loop is run, and what
    is `kept` in vectors meanwhile, are decided for a target (`optimize.vectorize`).
    """

    unroll: int = 1
    race: str = ""
    flat: bool = False
    command: str = field(default="", compare=False)
    at: Location | None = field(default=None, compare=False)
    ways: tuple[Way, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether no schedule has said anything."""
        return self.unroll == 1 and not self.race and not self.flat


PLAIN = How()
