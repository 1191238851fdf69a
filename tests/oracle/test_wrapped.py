"""Every level, as operand and as result, with every wrapper, protocol and mask (FINCH Table 5)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, find, given, note, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from tests.oracle.check import BACKENDS, check, describe, lowered
from tests.oracle.formats import ALL
from tests.oracle.programs import arguments
from tests.oracle.test_programs import LARGE
from tests.oracle.uses import MASKS, PROTOCOLS, WAYS, WRAPPERS, Use, uses
from tests.oracle.wrapped import wrapped

from linnet.formats.level import Level

ENOUGH = 1000  # programs, of which one must do what they all are about
DRAWING = settings(
    max_examples=ENOUGH,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("level", ALL)
def test_every_pair_is_drawn(level: type[Level]) -> None:
    wishes = [(level.__name__, role, way) for role, ways in WAYS.items() for way in ways]
    missing = [wish for wish in wishes if not is_drawn(level, wish)]
    assert not missing, f"never drawn: {missing}"


def is_drawn(level: type[Level], wish: Use) -> bool:
    """Whether a program about a level does with it what is wished."""
    about = wrapped(level, wish[-1])
    try:
        find(about, lambda case: wish in uses(case), settings=DRAWING, random=Random(1))
    except NoSuchExample:
        return False
    return True


KINDS = {"wrappers": WRAPPERS, "protocols": PROTOCOLS, "masks": MASKS}


@pytest.mark.parametrize("ways", KINDS.values(), ids=KINDS)
@given(data=st.data())
def test_wrapped(data: st.DataObject, ways: tuple[str, ...]) -> None:
    """Compiled code does what the program means."""
    case = data.draw(wrapped(data.draw(st.sampled_from(ALL)), data.draw(st.sampled_from(ways))))
    chosen = data.draw(st.sampled_from(((), BACKENDS[:1], (), BACKENDS)))
    subject = None
    for _ in range(2):
        args = data.draw(arguments(case))
        note(describe(case.program, args))
        subject = subject or lowered(case.program, args)
        if subject is None:
            return
        check(subject, args, chosen if subject.size < LARGE else ())
