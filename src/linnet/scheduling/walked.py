"""Whether operands can be walked in the order of the final loops: a schedule may not undo that."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.errors import ScheduleError
from linnet.loops.commands import Command
from linnet.normalize.concordance import Warned


def check_walked(
    commands: Sequence[Command], now: Sequence[Warned], before: Sequence[Warned]
) -> None:
    """Refuse commands under which an operand is searched that is walked without them.

    `now` and `before` are the warnings about the program with its schedule and without.
    """
    known = {warned.access for warned in before}
    for warned in now:
        if warned.access not in known:
            raise ScheduleError(
                f"`{commands[-1]}`: {warned.problem}",
                at=commands[-1].at,
                why=warned.why,
                hint=warned.hint,
            )
