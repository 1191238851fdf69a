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
