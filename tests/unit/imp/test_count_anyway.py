"""Where two lists only meet to be counted there is no branch, and the count is the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.count_anyway import count_anyway
from linnet.imp.interpret import run
from linnet.imp.printer import show

N, M, P, Q, I, J = (imp.Var(name) for name in ("n", "m", "p", "q", "i", "j"))
COUNT, TOTAL = imp.Var("count"), imp.Var("total", "float64")
A, B, OUT = (imp.Buffer(name, "int64") for name in ("a", "b", "out"))
EQUAL, ONE = imp.eq(I, J), imp.Const(1, imp.INT)


def step(var: imp.Var, by: imp.Expr = ONE) -> imp.Assign:
    return imp.Assign(var, var + by)


def meeting(*then: imp.Stmt, cond: imp.Expr = EQUAL) -> imp.If:
    """What is done where two lists stand at one index, and both go on."""
    behind = step(P, imp.Cast(I <= J, imp.INT)), step(Q, imp.Cast(J <= I, imp.INT))
    return imp.If(cond, imp.Block((*then, step(P), step(Q))), imp.Block(behind))


def kernel(branch: imp.Stmt) -> imp.Kernel:
    lets = imp.Let(I, A[P]), imp.Let(J, B[Q])
    walk = imp.While((P < N) & (Q < M), imp.Block((*lets, branch)))
    first = [imp.Let(var, imp.ZERO) for var in (P, Q, COUNT)]
    body = (
        *first,
        imp.Let(TOTAL, imp.Const(0.0, "float64")),
        walk,
        imp.Store(OUT, imp.ZERO, COUNT),
    )
    return imp.Kernel("k", (imp.Argument("A", (N, M), (A, B, OUT)),), imp.Block(body))


COUNTING = kernel(meeting(step(COUNT)))


def test_no_branch():
    counted = count_anyway(COUNTING)
    assert not any(line.strip().startswith("if") for line in show(counted.body).splitlines())


lists = st.sets(st.integers(0, 9)).map(sorted)


@given(lists, lists)
def test_the_same_count(a, b):
    counted = count_anyway(COUNTING)
    check(counted)
    given_arrays = {"a": np.array(a, np.int64), "b": np.array(b, np.int64), "out": np.zeros(1, int)}
    status, found = run(counted, {"A": ((len(a), len(b)), given_arrays)})
    assert status == 0
    assert found["out"][0] == len({*a} & {*b})


@pytest.mark.parametrize(
    "branch",
    [
        meeting(imp.Accumulate(TOTAL, "+", imp.Const(1.0, "float64"))),  # -0.0 + 0.0 is another
        meeting(imp.Store(OUT, P, Q)),
        meeting(step(COUNT, J)),
        meeting(step(COUNT), cond=I < J),
        meeting(step(COUNT), step(COUNT)),
        imp.If(EQUAL, imp.Block((step(COUNT), step(P))), imp.Block((step(P), step(Q)))),
    ],
    ids=["float", "store", "value", "condition", "twice", "other"],
)
def test_what_must_stay(branch):
    k = kernel(branch)
    assert count_anyway(k) is k
