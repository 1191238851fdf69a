"""Random programs under random schedules: what is accepted does what the program means."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, KINDS, Kinds, Subject, check, describe, lowered
from tests.oracle.formats import LEADING
from tests.oracle.meaning import Arguments
from tests.oracle.programs import arguments, cases
from tests.oracle.promises import BOUND, broken_promise
from tests.oracle.schedules import schedules
from tests.oracle.scopes import Style
from tests.oracle.test_programs import LARGE, PLAIN, STYLES
from tests.oracle.tiled import adds_up_factors, check_sums, check_work

from linnet import loops
from linnet.errors import ScheduleError
from linnet.loops.commands import Command

SHARE = 1 / 8  # each is lowered three times and more
NAMES = ("deep", "indices", "blocks", "programs", "steps")
LED = {"levels": LEADING, "nested": True, "cut": True}
ROWS = replace(PLAIN, operands=2, ndim=2, **LED)
MASKS = replace(STYLES["blocks"], statements=2, terms=1, leaves=True, **LED)
TILED = {name: replace(STYLES[name], room=3) for name in NAMES} | {
    "rows": replace(ROWS, depth=2),
    "products": replace(ROWS, operands=3, depth=3, terms=1),
    "masks": replace(MASKS, computed=False, temporaries=False),
    "long": replace(MASKS, operands=3, room=3, sizes=(7, 5, 9, 3, 1, 0)),
}


@pytest.mark.parametrize("style", TILED.values(), ids=TILED)
@settings(max_examples=int(settings().max_examples * SHARE))
@given(data=st.data())
def test_schedules(data: st.DataObject, style: Style) -> None:
    case = data.draw(cases(style))
    args = data.draw(arguments(case))
    commands = data.draw(schedules(case.program, args))
    kinds = data.draw(st.sampled_from(KINDS))
    chosen = data.draw(st.sampled_from(((), BACKENDS[:1], (), BACKENDS)))
    subject = accepted(case.program, commands, args, kinds)
    if subject is None:
        event("a program without meaning")
        return
    note(describe(subject.kernel.program, args))
    for command in subject.kernel.program.schedule:
        event(type(command).__name__)
    if adds_up_factors(subject.kernel.program, args):
        event("sums of what is no number")
        return
    chosen = chosen if subject.size < LARGE else ()
    broken = broken_promise(subject, args)
    if broken:
        event(broken)
        if broken == BOUND:
            check_refused(subject, args, chosen)
        return
    shapes = check(subject, args, chosen)
    if shapes is not None:
        check_work(subject, args, shapes)
        check_sums(subject, args, shapes)


def accepted(
    program: loops.Program, commands: tuple[Command, ...], args: Arguments, kinds: Kinds | None
) -> Subject | None:
    """The code of a program under as many of the commands as are accepted in the end."""
    while True:
        scheduled = replace(program, schedule=commands)
        note(describe(scheduled, args))
        try:
            return lowered(scheduled, args, kinds)
        except ScheduleError as refusal:
            assert commands, "there is no schedule"
            event(f"refused: {str(refusal).splitlines()[0].partition(':')[2][:60]}")
            commands = commands[:-1]


def check_refused(subject: Subject, args: Arguments, backends: Iterable[str]) -> None:
    """What does not hold of ranges is said, or makes no difference."""
    with suppress(ScheduleError):
        check(subject, args, backends)
