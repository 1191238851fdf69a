"""A loop that looks for one value is left where that is found, with the same result."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.leave_at_once import leave_at_once
from linnet.imp.printer import show

N, Q, J, S, T = (imp.Var(name) for name in ("n", "q", "j", "s", "t"))
IDX, X, OUT = imp.Buffer("idx", "int64"), imp.Buffer("x", imp.BOOL), imp.Buffer("out", "int64")
NOTHING = imp.Const(-1, imp.INT)
FIND = imp.Let(J, IDX[Q])
BREAK = imp.Block((imp.Break(),))
LEAVE = imp.If(imp.ne(S, NOTHING), BREAK, imp.EMPTY)
START = imp.Assign(S, NOTHING)


def chosen(
    cond: imp.Expr = X[J], value: imp.Expr = J, nothing: imp.Expr = NOTHING, kept: imp.Expr = S
) -> imp.If:
    choice = imp.Assign(S, imp.Select(imp.ne(S, nothing), kept, value))
    return imp.If(cond, imp.Block((choice,)), imp.EMPTY)


def kernel(*body: imp.Stmt, start: tuple[imp.Stmt, ...] = (START,)) -> imp.Kernel:
    """`start; for q in 0 … n: body`, and what was found."""
    loop = imp.For(Q, imp.ZERO, N, imp.Block(body))
    lets = imp.Let(S, imp.Const(-2, imp.INT)), imp.Let(T, imp.ZERO)
    stores = imp.Store(OUT, imp.ZERO, S), imp.Store(OUT, imp.ONE, T)
    given = imp.Argument("A", (N,), (IDX, X, OUT))
    return imp.Kernel("k", (given,), imp.Block((*lets, *start, loop, *stores)))


COUNT = imp.Assign(T, T + 1)
PLAIN = kernel(FIND, chosen(), LEAVE)
CASES = {
    "an index": PLAIN,
    "more is done": kernel(FIND, COUNT, chosen(), LEAVE),
    "perhaps nothing": kernel(FIND, chosen(value=J - 1), LEAVE),
    "perhaps no index": kernel(FIND, chosen(cond=(J > 2) & X[J]), LEAVE),
}


def test_what_was_an_index_is_another_value():
    assert "if x[j]:\n            s = j\n            break" in show(leave_at_once(PLAIN).body)


def test_of_what_may_be_the_same_a_test_is_left():
    for case in ("perhaps nothing", "perhaps no index"):
        assert "!= -1:" in show(leave_at_once(CASES[case]).body)


@pytest.mark.parametrize("case", CASES)
@given(st.lists(st.integers(0, 5), max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_the_meaning_stays(case, idx, x):
    changed = leave_at_once(CASES[case])
    check(changed)
    assert changed is not CASES[case]
    found = []
    for k in (CASES[case], changed):
        arrays = {"idx": np.array(idx, np.int64), "x": np.array(x), "out": np.zeros(2, np.int64)}
        found.append(run(k, {"A": ((len(idx),), arrays)})[1]["out"].tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "k",
    [
        kernel(FIND, chosen(), LEAVE, start=()),
        kernel(FIND, chosen(), LEAVE, start=(imp.Assign(S, imp.ZERO),)),
        kernel(FIND, chosen(), LEAVE, start=(imp.Assign(T, NOTHING),)),
        kernel(FIND, chosen(nothing=imp.ZERO), LEAVE),
        kernel(FIND, chosen(kept=T), LEAVE),
        kernel(FIND, chosen(), COUNT, LEAVE),
        kernel(FIND, chosen(), LEAVE, COUNT),
        kernel(FIND, imp.Assign(S, J), chosen(), LEAVE),
        kernel(FIND, imp.If(X[J], BREAK, imp.EMPTY), chosen(), LEAVE),
        kernel(FIND, chosen(), imp.If(imp.ne(T, NOTHING), BREAK, imp.EMPTY)),
    ],
    ids=[
        "not set", "another", "another's", "other", "not kept", "between", "after", "changed",
        "left", "other test",
    ],
)  # fmt: skip
def test_what_is_not_so_simple_stays(k):
    assert leave_at_once(k) is k


def test_every_value_is_another_than_nan():
    """Such a loop is left at once, whatever it finds."""
    nan, f = imp.Const(float("nan"), "float64"), imp.Var("f", "float64")
    there = imp.ne(f, nan)
    choice = imp.Assign(f, imp.Select(there, f, imp.Const(1.0, "float64")))
    body = imp.Block(
        (FIND, imp.If(X[J], imp.Block((choice,)), imp.EMPTY), imp.If(there, BREAK, imp.EMPTY))
    )
    block = imp.Block((imp.Let(f, nan), imp.For(Q, imp.ZERO, N, body)))
    k = imp.Kernel("k", (imp.Argument("A", (N,), (IDX, X, OUT)),), block)
    assert leave_at_once(k) is k
