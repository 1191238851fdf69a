"""Programs print as Python that reads back as the same program."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.oracle.functions import USER, WHOLE, clipped
from tests.oracle.programs import cases
from tests.oracle.scopes import Style
from tests.oracle.test_programs import STYLES

from linnet import loops
from linnet.frontend.text import parse_text
from linnet.loops.printer import show
from linnet.loops.rewrite import walk

NAMES = {f.label: f for f in (*USER, *WHOLE, clipped)}


@given(data=st.data())
def test_programs_read_back(data: st.DataObject) -> None:
    style = data.draw(st.sampled_from((Style(), STYLES["steps"])))
    program = data.draw(cases(style)).program
    text = show(program)
    assume("Insertion" not in text)  # a policy of the user, which has no name there
    found = parse_text(text, NAMES)
    assert show(found) == text or _says_update(program.body)
    assert show(parse_text(show(found), NAMES)) == show(found)


def _says_update(body: loops.Stmt) -> bool:
    """Whether somewhere `y = x * y` stands for `y *= x`, which is how it is read."""
    plain = (s for s in walk(body) if isinstance(s, loops.Assign) and s.op is None)
    return any(show(s.target) in map(show, walk(s.value)) for s in plain)


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


def test_an_update_that_is_written_out_is_one() -> None:
    text = """def f(Y0, A):
    Y0[...] = 0
    for i in range(A.shape[0]):
        Y0[()] = A[i] * Y0[()]
    return Y0"""
    assert show(parse_text(text, NAMES)) == text.replace("= A[i] * Y0[()]", "*= A[i]")
