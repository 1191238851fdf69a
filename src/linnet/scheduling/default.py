"""The default schedule: the commands that a CPU wants where nobody has given any.

Each row of a table is a question about loops and the formats of what they go through. Its answer
are commands, which are carried out as those of a user are, and left out where these would be
refused. No sum is taken in another order than that in which it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linnet import loops
from linnet.errors import ScheduleError
from linnet.loops.commands import Command, Split
from linnet.loops.rewrite import walk
from linnet.options import current
from linnet.scheduling.carry_out import carry_out
from linnet.scheduling.chains import chains, updates_in
from linnet.scheduling.hold_sums import hold_sums
from linnet.scheduling.nest import Nest
from linnet.scheduling.positions import check_led
from linnet.scheduling.rows import row_inside, sums_of_rows
from linnet.stages import stage
from linnet.target import IN_SCHEDULES

Question = Callable[[Nest, Sequence[loops.Loop]], tuple[Command, ...]]
"""Which commands loops directly inside one another want, the outermost first."""

DEFAULT, *_NAMES = IN_SCHEDULES
QUESTIONS: dict[str, Question] = dict(zip(_NAMES, (row_inside, sums_of_rows), strict=True))
"""The table, in order."""
_ANYWAY = ("row_inside",)


def default_schedule(nest: Nest, given: bool = False) -> tuple[Command, ...]:
    """The commands that loops want, as text a stage of their own.

    After those that somebody has `given`, only what leaves the parts that these have made.
    """
    without = frozenset(current().without)
    names = [n for n in QUESTIONS if n not in without and (n in _ANYWAY or not given)]
    found: list[Command] = []
    for name in names if DEFAULT not in without else ():
        for chain in list(chains(nest.program.body)):
            plain = all(loop.how.is_plain for loop in chain)
            commands = QUESTIONS[name](nest, chain) if plain else ()
            after = _after(nest, commands) if commands else None
            if after is not None:
                nest = after
                found += commands
    if found:
        stage(DEFAULT, " ".join(map(str, found)))
    return tuple(found)


def _after(nest: Nest, commands: Sequence[Command]) -> Nest | None:
    """What commands make of a program; None if one is refused, or is of no use."""
    changed = nest.copy()
    try:
        for command in commands:
            carry_out(changed, command)
        check_led(changed)
    except ScheduleError:
        return None
    split = any(isinstance(command, Split) for command in commands)
    return changed if not split or hold_sums(changed.copy()) or _are_there(nest) else None


def _are_there(nest: Nest) -> bool:
    """Whether all that a program adds to is dense, and there before (`optimize.hold`)."""
    updated = {
        str(u.target.tensor)
        for chain in chains(nest.program.body)
        for u in updates_in(chain[-1].body)
    }
    begun = {n.tensor for n in walk(nest.program.body) if isinstance(n, loops.Declare)}
    return begun.isdisjoint(updated) and all(nest.formats[t].dense for t in updated)
