"""Programs print as Python that reads back as the same program."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.oracle.functions import USER, WHOLE, clipped
from tests.oracle.programs import cases
from tests.oracle.scopes import Style
from tests.oracle.test_programs import STYLES

from linnet.frontend.text import parse_text
from linnet.loops.printer import show

NAMES = {f.label: f for f in (*USER, *WHOLE, clipped)}


@given(data=st.data())
def test_programs_read_back(data: st.DataObject) -> None:
    style = data.draw(st.sampled_from((Style(), STYLES["steps"])))
    text = show(data.draw(cases(style)).program)
    assume("Insertion" not in text)  # a policy of the user, which has no name there
    assert show(parse_text(text, NAMES)) == text


def test_a_square_is_not_an_update_by_itself() -> None:
    text = """def f(Y0, A):
    w0 = ln.temp(ln.Element(0, 'int64'))
    Y0[...] = 0
    w0[...] = 2
    for i in range(A.shape[0]):
        w0[()] = w0[()] * w0[()]
        w0[()] *= A[i]
        Y0[()] += w0[()]
    return Y0"""
    assert show(parse_text(text, NAMES)) == text
