"""Random programs over random formats: compiled code does what the program means."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.oracle.check import BACKENDS, KINDS, check, describe, lowered
from tests.oracle.programs import arguments, cases
from tests.oracle.scopes import LONG, Style

LARGE = 500  # code of which LLVM makes machine code in a fraction of a second

PLAIN = Style(
    statements=1, temporaries=False, branches=False, computed=False, ranges=False, kept=False
)
STYLES = {
    "maps": PLAIN,
    "deep": Style(operands=2, ndim=5, depth=5, statements=1, terms=1, branches=False),
    "indices": Style(operands=2, statements=1, terms=1, temporaries=False, kept=False, beside=True),
    "blocks": Style(operands=2, ndim=2, statements=4, terms=2, depth=3),
    "programs": Style(),
    "choices": replace(PLAIN, ndim=2, depth=2, branches=True, choices=True),
    "wide": replace(PLAIN, operands=5, ndim=1, depth=1, room=8),
    "affine": Style(operands=2, ndim=2, depth=3, statements=2, terms=1, beside=True, affine=True),
    "gathers": Style(operands=4, ndim=2, depth=3, statements=2, terms=2, room=12, gathers=True),
    "steps": Style(operands=2, ndim=2, depth=3, statements=1, terms=1, steps=True),
    "tiles": Style(operands=2, ndim=2, depth=3, statements=2, terms=1, tiles=True),
    "long": Style(operands=3, ndim=2, depth=2, statements=2, terms=2, sizes=LONG),
}
SHARE = 7 / 20  # of the examples of other tests, for each of these: their programs are larger


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
@settings(max_examples=int(settings().max_examples * SHARE))
@given(data=st.data())
def test_programs(data: st.DataObject, style: Style) -> None:
    case = data.draw(cases(style))
    few, many = ((), BACKENDS[:1], (), BACKENDS), (BACKENDS[:1], BACKENDS)
    chosen = data.draw(st.sampled_from(many if style.sizes is LONG else few))
    kinds = data.draw(st.sampled_from(KINDS))
    note(f"workspaces: {kinds}")
    subject = None
    for _ in range(2):  # one program for two sets of arguments, of different shapes
        args = data.draw(arguments(case))
        note(describe(case.program, args))
        subject = subject or lowered(case.program, args, kinds)
        if subject is None:
            return
        check(subject, args, chosen if subject.size < LARGE else ())
