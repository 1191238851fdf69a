"""What is solved for the index of a loop, against trying all indices."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnet import imp, loops
from linnet.algebra import table
from linnet.frontend.text import parse_text
from linnet.imp.linear import Linear
from linnet.loops.linear import as_expr, linear
from linnet.loops.rewrite import walk
from linnet.loops.solve import MIRRORED, Scope, is_mask, range_of, residue_of, walk_of

i, j, k = (loops.Index(name) for name in "ijk")
N = loops.Dimension("A", 0)
TYPES = {"c": "int64", "small": "int8", "large": "uint64", "x": "float64"}
SCOPE = Scope("i", {"k", "late"}, TYPES | {"late": "int64"})
RELATIONS = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


def call(function: str, *args: loops.Expr | int) -> loops.Call:
    """A call in which numbers stand for themselves."""
    values = (loops.Literal(a) if isinstance(a, int) else a for a in args)
    return loops.Call(table.FUNCTIONS[function], tuple(values))


# -- accesses ------------------------------------------------------------------------------------

STEPS = [
    (i, 1, {}, 0),
    (call("negative", i), -1, {}, 0),
    (call("subtract", call("add", i, j), 1), 1, {j: 1}, -1),
    (call("subtract", N, call("multiply", 2, i)), -2, {N: 1}, 0),
    (call("multiply", call("add", i, 1), 3), 3, {}, 3),
    (call("subtract", call("multiply", 3, i), i), 2, {}, 0),
    (call("add", i, loops.Name("c")), 1, {loops.Name("c"): 1}, 0),
    (call("add", loops.Value(imp.Var("c", "int32")), i), 1,
     {loops.Value(imp.Var("c", "int32")): 1}, 0),
    (call("add", i, call("floor_divide", j, 2)), 1, {call("floor_divide", j, 2): 1}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "factor", "terms", "number"), STEPS)
def test_accesses_that_are_walked(expr, factor, terms, number):
    assert walk_of(expr, SCOPE) == (factor, Linear(terms, number))


BESIDE = [
    j,  # another loop's
    call("subtract", call("add", i, j), i),  # the same at every index
    call("add", i, k),  # what a loop inside adds
    call("add", i, loops.Name("late")),  # what is named inside
    call("add", i, loops.Name("x")),  # no integer
    call("add", i, loops.Name("large")),  # its sum with an index is a float
    call("multiply", i, i),
    call("multiply", i, j),
    call("floor_divide", i, 2),
    call("multiply", i, 1 << 40),  # which may wrap
    call("add", i, loops.Access("A", (j,))),  # what may change
]


@pytest.mark.parametrize("expr", BESIDE)
def test_accesses_that_are_not_walked(expr):
    assert walk_of(expr, SCOPE) is None


def test_a_narrow_sum_is_not_taken_apart():
    """It wraps in its own type: 100 + 100 is -56."""
    twice = call("add", loops.Name("small"), loops.Name("small"))
    assert walk_of(call("add", i, twice), SCOPE) == (1, Linear({twice: 1}))
    shift = as_expr(Linear({twice: 2}), TYPES)
    assert shift == call("multiply", 2, loops.Call(table.astype["int64"], (twice,)))


# -- comparisons ---------------------------------------------------------------------------------


@st.composite
def sums(draw: st.DrawFn, names: tuple[str, ...]) -> loops.Expr:
    """A sum of some terms, in any order and with any signs."""
    total: loops.Expr = loops.Literal(draw(st.integers(-5, 5)))
    for _ in range(draw(st.integers(0, 3))):
        term: loops.Expr = loops.Index(draw(st.sampled_from(names)))
        factor = draw(st.integers(-3, 3))
        term = term if factor == 1 else call("multiply", *draw(st.permutations([factor, term])))
        total = call(
            draw(st.sampled_from(["add", "subtract"])), *draw(st.permutations([total, term]))
        )
    return call("negative", total) if draw(st.integers(0, 5)) == 5 else total


@st.composite
def comparisons(draw: st.DrawFn) -> loops.Call:
    """Two sums; one of them may be divided, by what leaves a quotient or a rest."""
    sides = [draw(sums(("i", "j", "n"))), draw(sums(("i", "j", "n")))]
    kind = draw(st.integers(0, 3))
    if kind < 2:
        divide = "floor_divide" if kind else "remainder"
        other = draw(sums(("j", "n"))) if kind else loops.Literal(draw(st.integers(-1, 4)))
        sides = [call(divide, sides[0], draw(st.integers(1, 4))), other]
    relation = "equal" if kind == 0 else draw(st.sampled_from(list(MIRRORED)))
    return call(relation, *draw(st.permutations(sides)))


def value(x: loops.Expr, at: dict[str, int]) -> int:
    """What an expression of integers comes to."""
    match x:
        case loops.Literal(number):
            return int(number)  # type: ignore[arg-type]
        case loops.Index(name):
            return at[name]
        case loops.Call(function, args):
            return int(function.numpy(*(value(a, at) for a in args)))  # type: ignore[call-overload]
        case _:
            raise AssertionError(x)


def form_value(form: Linear, at: dict[str, int]) -> int:
    return form.number + sum(n * value(t, at) for t, n in form.terms.items())  # type: ignore[arg-type]


@settings(max_examples=500)
@given(comparisons(), st.integers(-6, 6), st.integers(-6, 6))
def test_comparisons_hold_where_they_are_said_to_hold(call, j, n):
    around = {"j": j, "n": n}
    truth = [RELATIONS[call.function.name](*(value(a, {**around, "i": x}) for a in call.args))
             for x in range(-40, 40)]  # fmt: skip
    residue, found = residue_of(call, SCOPE), range_of(call, SCOPE)
    if residue is not None:
        first = None if residue.first is None else form_value(residue.first, around)
        said = [first is not None and (x - first) % residue.step == 0 for x in range(-40, 40)]
        assert said == truth
    if found is not None:
        ends = []
        for end, default in ((found.first, -40), (found.stop, 40)):
            if end is not None:
                offset = form_value(end.value, around) - form_value(end.shift, around)
                default = (offset - end.less) // end.factor + end.more
            ends.append(default)
        beside = call.function.name == "not_equal"
        assert [(ends[0] <= x < ends[1]) != beside for x in range(-40, 40)] == truth


@settings(max_examples=200)
@given(sums(("i", "j", "n")), *[st.integers(-9, 9)] * 3)
def test_forms_are_written_as_what_was_read(expr, i, j, n):
    at = {"i": i, "j": j, "n": n}
    form = linear(expr, {})
    assert form_value(form, at) == value(as_expr(form), at) == value(expr, at)


MASKS = [
    "i - j == 2", "i - j <= 1", "j - i >= -1", "2 * j <= i", "i == 2 * j", "3 - j >= i",
    "j // 3 == i // 3", "i // 3 > j", "(j - i) % 3 == 1", "1 == i % 2", "i + j < 2 * i",
]  # fmt: skip


@pytest.mark.parametrize("text", MASKS)
def test_spellings(text):
    loop = f"for j in range(9):\n        for i in range(9):\n            if {text}:"
    program = parse_text(f"def f(s):\n    {loop}\n                s[()] += 1\n    return s\n")
    (test,) = (n.cond for n in walk(program.body) if isinstance(n, loops.If))
    assert is_mask(test, SCOPE)


def test_what_is_no_mask():
    for test in (
        call("less", i, call("divide", N, 2)),  # of which the code takes the whole part
        call("less", i, loops.Name("large")),
        call("less", call("multiply", i, j), 6),
        call("less", i, call("add", i, 1)),
        call("equal", call("remainder", call("multiply", i, 2), 3), 1),
        call("less", call("add", i, k), 6),
    ):
        assert not is_mask(test, SCOPE)
