"""Random programs under random schedules: what is accepted does what the program means."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, KINDS, check, describe, lowered
from tests.oracle.programs import arguments, cases
from tests.oracle.schedules import schedules
from tests.oracle.scopes import Style
from tests.oracle.test_programs import LARGE, PLAIN, STYLES
from tests.oracle.tiled import adds_up_factors, check_sums, check_work

from linnet.errors import ScheduleError

SHARE = 7 / 20
NAMES = ("maps", "deep", "indices", "blocks", "programs", "steps")
TILED = {name: STYLES[name] for name in NAMES} | {
    "rows": replace(PLAIN, operands=2, ndim=2, depth=2),
    "products": replace(PLAIN, operands=2, ndim=2, depth=3, terms=1),
}


@pytest.mark.parametrize("style", TILED.values(), ids=TILED)
@settings(max_examples=int(settings().max_examples * SHARE))
@given(data=st.data())
def test_schedules(data: st.DataObject, style: Style) -> None:
    case = data.draw(cases(style))
    program = replace(case.program, schedule=data.draw(schedules(case.program)))
    kinds = data.draw(st.sampled_from(KINDS))
    chosen = data.draw(st.sampled_from(((), BACKENDS[:1], (), BACKENDS)))
    args = data.draw(arguments(case))
    note(describe(program, args))
    try:
        subject = lowered(program, args, kinds)
    except ScheduleError as refusal:
        event(f"refused: {str(refusal).splitlines()[0].partition(':')[2][:60]}")
        return
    if subject is None:
        event("a program without meaning")
        return
    if adds_up_factors(program, args):
        event("sums of what is no number")
        return
    event("accepted")
    shapes = check(subject, args, chosen if subject.size < LARGE else ())
    if shapes is not None:
        check_work(subject, args, shapes)
        check_sums(subject, args, shapes)
