"""Linear forms: what code comes to as a sum, and that it is the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.imp.test_order import NAMES, expressions, value

from linnet import imp
from linnet.imp.linear import ZERO, Linear, atom, linear, product

i, j, n = (imp.Var(name) for name in "ijn")


def form(x: imp.Expr) -> Linear:
    """Variables are atoms by their names."""
    return linear(x, lambda e: atom(e.name) if isinstance(e, imp.Var) else None)


def test_sums_are_taken_apart():
    assert form(i * 2 - (j - i) + 3) == Linear({"i": 3, "j": -1}, 3)
    assert form((i + 1) * 4) == Linear({"i": 4}, 4)
    assert form(imp.Unary("-", i, imp.INT)) == Linear({"i": -1})
    assert form(i - i) == ZERO


def test_what_is_no_sum_is_an_atom():
    narrow = imp.Binary("+", imp.Var("a", "int32"), imp.Var("b", "int32"), "int32")
    for x in (i * j, imp.minimum(i, j), imp.binary("div", i, 2), imp.widen(narrow)):
        assert form(x + 1) == Linear({x: 1}, 1)


def test_forms_add_up():
    two = atom("i").times(2).plus(atom("n"))
    assert two.plus(atom("i"), -2) == atom("n")
    assert two.replace("i", Linear({"n": 1}, 3)) == Linear({"n": 3}, 6)
    assert two.without("i") == atom("n")
    assert two.times(0) == ZERO
    assert product(two, Linear({}, -1)) == Linear({"i": -2, "n": -1})
    assert product(two, two) is None
    assert Linear({"i": 1, "n": 2}).key == Linear({"n": 2, "i": 1}).key


@given(expressions(), st.lists(st.integers(-9, 9), min_size=len(NAMES), max_size=len(NAMES)))
def test_a_form_has_the_value_of_what_was_read(x, numbers):
    values = dict(zip(NAMES, numbers, strict=True))
    found = form(x)
    terms = ((values[a] if isinstance(a, str) else value(a, values), k)  # type: ignore[arg-type]
             for a, k in found.terms.items())  # fmt: skip
    assert found.number + sum(a * k for a, k in terms) == value(x, values)
    assert 0 not in found.terms.values()
