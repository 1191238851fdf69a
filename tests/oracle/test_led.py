"""Random programs whose loops go through what an operand stores: right, or refused."""

from __future__ import annotations

import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, KINDS, Subject, check, describe
from tests.oracle.led import led
from tests.oracle.meaning import meaning
from tests.oracle.programs import arguments, cases
from tests.oracle.scopes import Style
from tests.oracle.test_programs import LARGE
from tests.oracle.test_schedules import TILED

from linnet.errors import InternalError, LinnetError

SHARE = 7 / 20


@pytest.mark.parametrize("style", TILED.values(), ids=TILED)
@settings(max_examples=int(settings().max_examples * SHARE))
@given(data=st.data())
def test_led_by_an_operand(data: st.DataObject, style: Style) -> None:
    case = data.draw(cases(style))
    program = data.draw(led(case.program))
    if program is None:
        event("no operand could lead")
        return
    kinds = data.draw(st.sampled_from(KINDS))
    chosen = data.draw(st.sampled_from(((), BACKENDS[:1], (), BACKENDS)))
    args = data.draw(arguments(case))
    note(describe(program, args))
    try:
        subject = Subject.of(program, args, kinds)
        expected = meaning(subject.kernel, args)
    except InternalError:
        raise
    except LinnetError as refusal:
        event(f"refused: {str(refusal).splitlines()[0][:50]}")
        return
    event("accepted")
    check(subject, args, chosen if subject.size < LARGE else (), expected)
