"""Which comparisons of integers are decided while compiling, and which are not."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.order import Order

n, m, i, j = (imp.Var(name) for name in ("n", "m", "i", "j"))


@pytest.fixture
def facts() -> Order:
    """Inside `for i in 0 … n`, with m another size, and j any number."""
    known = Order({"n", "m", "i"})
    known.below["i"] = n
    return known


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (imp.ZERO, i),
        (i, n),
        (i + 1, n),
        (i - 2, n - 1),
        (imp.minimum(n, j), n),
        (imp.ZERO, imp.maximum(j, 0)),
        (imp.maximum(i - 2, 0), n),
        (imp.minimum(i + 5, n), n + 1),
        (imp.minimum(n, 2), imp.minimum(n, 1) + 1),
        (imp.maximum(m, n - 1), imp.maximum(m, n - 2) + 1),
    ],
)
def test_decided(facts, a, b):
    assert facts.at_most(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [(n, i), (i + 2, n), (i, m), (j, n), (imp.ZERO, j), (imp.ONE, n), (n, imp.maximum(i, 0))],
)
def test_not_decided(facts, a, b):
    assert not facts.at_most(a, b)


def test_sizes_of_loops_that_have_been_entered(facts):
    assert not facts.at_most(imp.ONE, n)
    facts.entered.append("i")
    assert facts.at_most(imp.ONE, n)
    assert facts.at_most(imp.maximum(i - 2, 0), n - 1)
    assert not facts.at_most(imp.ONE, m)
    facts.entered.pop()
    assert not facts.at_most(imp.ONE, n)


def test_definitions_of_what_may_change_are_not_used(facts):
    facts.define("k", imp.minimum(i + 1, n - 1))
    assert facts.at_most(imp.Var("k"), n)
    facts.define("s", j)
    assert not facts.at_most(imp.Var("s"), j)


def test_a_new_value_replaces_the_old_one(facts):
    facts.define("k", imp.ZERO)
    assert facts.at_most(imp.Var("k"), n)
    facts.define("k", j)
    assert not facts.at_most(imp.Var("k"), n)


def test_ranges_that_are_not_empty(facts):
    facts.introduce(imp.Var("stop"), imp.minimum(n, 2))
    assert facts.inside(imp.Var("stop"), n) == (imp.Const(2, imp.INT), n)
    facts.introduce(imp.Var("last"), imp.maximum(i, n - 1))
    assert facts.inside(i, imp.Var("last")) == (i, n - 1)
    assert facts.inside(i, n) == (i, n)


def test_a_value_for_the_time_being(facts):
    with facts.where("k", i):
        assert facts.at_most(imp.Var("k") + 1, i + 1)
    assert not facts.at_most(imp.Var("k") + 1, i + 1)
    with facts.where("k", j):
        assert not facts.at_most(imp.Var("k") + 1, n)


def test_minima_of_many_are_not_compared_in_all_combinations():
    looked = 0

    class Counted(Order):
        def form(self, x):
            nonlocal looked
            looked += 1
            return super().form(x)

    def least(names: str, count: int) -> imp.Expr:
        return reduce(imp.minimum, [imp.Var(f"{names}{k}") for k in range(count)])

    facts = Counted(set())
    assert facts.at_most(least("x", 4), least("x", 3))
    assert not facts.at_most(least("x", 40), least("y", 40))
    assert looked < 500


# -- tiles -------------------------------------------------------------------------------------

t = imp.Var("t")
LO, HI = t * 32, imp.minimum(n, t * 32 + 32)


@pytest.fixture
def tiles() -> Order:
    """Inside `for t in 0 … (n + 31) div 32`."""
    known = Order({"n"})
    known.enter("t", imp.ZERO, imp.binary("div", n + 31, 32))
    return known


def test_tiles_lie_within_the_dimension_and_follow_one_another(tiles):
    following = (t + 1) * 32
    assert tiles.at_most(HI, n)
    assert tiles.at_most(imp.ZERO, LO)
    assert tiles.at_most(LO, HI)
    assert tiles.at_most(HI, following)
    assert not tiles.at_most(following, HI)
    assert not tiles.at_most(n, HI)
    assert not tiles.at_most(t * 32 + 32, n)


def test_indices_inside_a_tile_are_inside_the_dimension(tiles):
    tiles.introduce(imp.Var("hi"), HI)
    tiles.enter("i", LO, imp.Var("hi"))
    assert tiles.at_most(imp.ZERO, i)
    assert tiles.at_most(LO, i)
    assert tiles.at_most(i + 1, n)
    assert tiles.at_most(i - t * 32, imp.Const(31, imp.INT))
    assert not tiles.at_most(i + 2, n)


def test_indices_inside_a_tile_are_inside_what_is_at_least_as_long(tiles):
    tiles.assume(n, m)
    tiles.introduce(imp.Var("lo"), LO)
    tiles.introduce(imp.Var("hi"), imp.Var("lo") + imp.minimum(imp.Const(32, imp.INT), n - LO))
    tiles.assume(imp.Var("hi"), n)
    tiles.enter("i", imp.Var("lo"), imp.Var("hi"))
    assert tiles.at_most(i + 1, m)
    assert not tiles.at_most(i + 2, m)


def test_of_a_tile_that_may_begin_below_zero_nothing_is_known():
    known = Order({"n"})
    known.enter("t", imp.Const(-1, imp.INT), n)
    assert known.at_most(imp.Const(-32, imp.INT), LO)
    assert not known.at_most(imp.ZERO, LO)


# -- pointers ----------------------------------------------------------------------------------

PTR, LIST = imp.Buffer("ptr", "int32"), imp.Buffer("list", "int32")


def test_pointers_never_decrease(facts):
    known = Order({"n", "i"}, frozenset({"ptr"}))
    before, after = imp.widen(PTR[i]), imp.widen(PTR[i + 1])
    assert known.at_most(before, after)
    assert known.at_most(before - imp.widen(PTR[0]), after - imp.widen(PTR[0]))
    assert known.at_most(imp.ZERO, before)
    assert not known.at_most(after, before)
    assert not known.at_most(imp.widen(PTR[j]), before)
    assert not known.at_most(imp.widen(LIST[i]), imp.widen(LIST[i + 1]))
    assert not facts.at_most(before, after)  # unless they are known to be some


# -- whatever is said of drawn expressions is true of drawn values -------------------------------

NAMES = ("n", "m", "i", "j", "p", "q")


@st.composite
def expressions(draw: st.DrawFn, names: tuple[str, ...] = NAMES, depth: int = 3) -> imp.Expr:
    kind = draw(st.integers(0, 9)) if depth else draw(st.integers(0, 3))
    if kind == 0:
        return imp.Const(draw(st.integers(-4, 4)), imp.INT)
    if kind <= 3:
        return imp.Var(draw(st.sampled_from(names)))
    a = draw(expressions(names, depth - 1))
    if kind == 4:
        return a * draw(st.integers(-3, 4))
    if kind == 5:
        return imp.binary("div", a, draw(st.integers(1, 4)))
    b = draw(expressions(names, depth - 1))
    return imp.binary(draw(st.sampled_from(["+", "+", "-", "-", "min", "max"])), a, b)


def value(x: imp.Expr, values: dict[str, int]) -> int:
    """What an expression comes to, of integers without end."""
    match x:
        case imp.Const(number):
            return int(number)
        case imp.Var(name):
            return values[name]
        case imp.Binary(op, a, b):
            left, right = value(a, values), value(b, values)
            quotient = abs(left) // abs(right) * (1 if left >= 0 else -1) if op == "div" else 0
            return {"+": left + right, "-": left - right, "*": left * right, "div": quotient,
                    "min": min(left, right), "max": max(left, right)}[op]  # fmt: skip
        case _:
            raise AssertionError(x)


@settings(max_examples=150)
@given(st.data())
def test_what_is_proved_is_true(data):
    """`i` and `j` run between drawn bounds, `q` is defined, and one comparison is assumed."""
    known, values = Order({"n", "m"}), {x: data.draw(st.integers(0, 5)) for x in ("n", "m")}
    values["p"] = data.draw(st.integers(-5, 5))
    names: tuple[str, ...] = ("n", "m", "p")
    for index in ("i", "j"):
        lo, hi = (data.draw(expressions(names, 2)) for _ in range(2))
        first = value(lo, values)
        hi = hi if first < value(hi, values) else lo + data.draw(st.integers(1, 3))
        known.enter(index, lo, hi)
        known.entered.append(index)
        values[index] = data.draw(st.integers(first, value(hi, values) - 1))
        names = (*names, index)
    definition = data.draw(expressions(names, 2))
    values["q"] = value(definition, values)
    known.introduce(imp.Var("q"), definition)
    a, b = data.draw(expressions()), data.draw(expressions())
    if value(a, values) <= value(b, values):
        known.assume(a, b)
    for _ in range(4):
        a, b = data.draw(expressions()), data.draw(expressions())
        near = b + data.draw(st.integers(-1, 3))
        for x, y in ((a, b), (b, near), (imp.minimum(a, b), near), (a, imp.maximum(a, near))):
            if known.at_most(x, y):
                assert value(x, values) <= value(y, values), (x, y)
