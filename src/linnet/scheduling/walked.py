"""Whether operands can be walked in the order of the final loops: a schedule may not undo that."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.errors import ScheduleError
from linnet.loops.commands import Command
from linnet.normalize.concordance import Warned

_AGAINST = " goes against"


def check_walked(
    commands: Sequence[Command], now: Sequence[Warned], before: Sequence[Warned]
) -> None:
    """Refuse commands under which an operand is searched that is walked without them.

    `now` and `before` are the warnings about the program with its schedule and without.
    """
    known = {message.partition(_AGAINST)[0] for message, _ in before}
    for message, _ in now:
        access, _, rest = message.partition(_AGAINST)
        if access not in known:
            why, _, hint = rest.partition(": ")[2].partition(". ")
            raise ScheduleError(
                f"`{commands[-1]}`: {access}{_AGAINST}{rest.partition(':')[0]}",
                at=commands[-1].at,
                why=why,
                hint=hint[:1].lower() + hint[1:].rstrip("."),
            )
