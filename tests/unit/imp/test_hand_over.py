"""Runs are handed over only where nobody can tell that they were not stored."""

from __future__ import annotations

import numpy as np
import pytest

from linnet import imp
from linnet.imp.check import check
from linnet.imp.hand_over import hand_over
from linnet.imp.interpret import run

N, I, Q, RUNS, AT, C, END = (imp.Var(name) for name in ("n", "i", "q", "runs", "at", "c", "end"))
BOUNDS = imp.Buffer("bounds", "int64")
PTR, LEFT, RIGHT = (imp.Buffer(name, "int64", growable=True) for name in ("ptr", "left", "right"))
OUT = imp.Buffer("out", "int64")
KEEP = (imp.Store(OUT, C, LEFT[Q]), imp.Store(OUT, C + 1, RIGHT[Q]), imp.Assign(C, C + 2))


def kernel(
    stop: imp.Expr, between: tuple[imp.Stmt, ...] = (), also: tuple[imp.Stmt, ...] = ()
) -> imp.Kernel:
    """Runs from one bound to the next, every other of which touches the one before it."""
    first = BOUNDS[I]
    longer = imp.Store(RIGHT, RUNS - 1, stop)
    new = (
        imp.Store(LEFT, RUNS, first),
        imp.Store(RIGHT, RUNS, stop),
        imp.Assign(RUNS, RUNS + 1),
        imp.Grow(LEFT, RUNS + 1),
        imp.Grow(RIGHT, RUNS + 1),
    )
    append = imp.If(imp.eq(AT, first), imp.Block((longer,)), imp.Block(new))
    stmts = (
        imp.Let(C, imp.ZERO),
        imp.Let(END, imp.ONE),
        imp.Grow(PTR, imp.TWO),
        imp.Let(RUNS, imp.ZERO),
        imp.Store(PTR, imp.ZERO, imp.ZERO),
        imp.Let(AT, imp.Const(-1, imp.INT)),
        imp.Grow(LEFT, imp.ONE),
        imp.Grow(RIGHT, imp.ONE),
        imp.For(I, imp.ZERO, N, imp.Block((append, imp.Assign(AT, stop)))),
        imp.Store(PTR, imp.ONE, RUNS),
        *between,
        imp.For(Q, PTR[0], PTR[1], imp.Block((*KEEP, *also))),
    )
    arguments = (
        imp.Argument("A", (N,), (BOUNDS, OUT)),
        imp.Argument("row", (), (PTR, LEFT, RIGHT)),
    )
    return imp.Kernel("k", arguments, imp.Block(stmts))


def result(k: imp.Kernel) -> list[int]:
    bounds = np.array([0, 1, 4, 6, 7, 12])
    given = {"A": ((6,), {"bounds": bounds, "out": np.zeros(40, int)}), "row": ((), {})}
    status, found = run(k, given)
    assert status == imp.OK
    return found["out"].tolist()


def test_runs_that_nobody_else_sees_are_handed_over():
    plain = kernel(BOUNDS[I] + 1)
    better = hand_over(plain)
    check(better)
    assert better is not plain
    assert result(better) == result(plain)
    assert result(better)[:8] == [0, 2, 4, 5, 6, 8, 12, 13]


@pytest.mark.parametrize(
    "k",
    [
        kernel(BOUNDS[I] + 1, between=(imp.Assign(C, imp.maximum(AT, imp.ZERO)),)),
        kernel(BOUNDS[I] + END, also=(imp.Assign(END, imp.TWO),)),
        kernel(BOUNDS[I] + 1, also=(imp.Store(BOUNDS, N - 1, imp.Const(20, imp.INT)),)),
    ],
    ids=["where the last ends", "how long they are", "where they begin"],
)
def test_runs_that_are_not(k):
    check(k)
    assert result(hand_over(k)) == result(k)
    assert hand_over(k) is k
