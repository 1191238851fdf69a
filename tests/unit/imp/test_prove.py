"""Which comparisons of integers are decided while compiling, and which are not."""

from __future__ import annotations

from functools import reduce

import pytest

from linnet import imp
from linnet.imp.prove import Facts

n, m, i, j = (imp.Var(name) for name in ("n", "m", "i", "j"))


@pytest.fixture
def facts() -> Facts:
    """Inside `for i in 0 … n`, with m another size, and j any number."""
    known = Facts({"n", "m", "i"})
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

    class Counted(Facts):
        def sum_of(self, x):
            nonlocal looked
            looked += 1
            return super().sum_of(x)

    def least(names: str, count: int) -> imp.Expr:
        return reduce(imp.minimum, [imp.Var(f"{names}{k}") for k in range(count)])

    facts = Counted(set())
    assert facts.at_most(least("x", 4), least("x", 3))
    assert not facts.at_most(least("x", 40), least("y", 40))
    assert looked < 300
