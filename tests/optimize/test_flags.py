"""Flags that every iteration raises are raised once, and only if there was an iteration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.rewrite import statements
from linnet.imp.simplify import simplify
from linnet.optimize.hoist import raise_flags

N, M, I, K, C = (imp.Var(name) for name in ("n", "m", "i", "k", "c"))
FLAG, OTHER = imp.Var("flag", imp.BOOL), imp.Var("other", imp.BOOL)
Y, OUT = imp.Buffer("y", "int64"), imp.Buffer("out", "bool")
LEAVE = imp.Block((imp.Break(),))
RAISE, TOUCH = imp.Assign(FLAG, imp.TRUE), imp.Store(Y, K, Y[K] + 1)


def loop(var: imp.Var, stop: imp.Expr, *stmts: imp.Stmt) -> imp.For:
    return imp.For(var, imp.ZERO, stop, imp.Block(stmts))


def kernel(*body: imp.Stmt) -> imp.Kernel:
    """A flag that is down, `body`, and the flag as the result."""
    argument = imp.Argument("A", (N, M), (Y, OUT))
    stmts = (imp.Let(FLAG, imp.FALSE), *body, imp.Store(OUT, imp.ZERO, FLAG))
    return imp.Kernel("k", (argument,), imp.Block(stmts))


def test_out_of_all_loops():
    k = simplify(raise_flags(kernel(loop(I, N, loop(K, M, TOUCH, RAISE)))))
    assert show(k.body).count("flag: bool = 0 < n and 0 < m") == 1
    assert not any(isinstance(s, imp.Assign) for s in statements(k.body))


def results(k: imp.Kernel, n: int, m: int) -> tuple[bool, list[int]]:
    arrays = {"y": np.zeros(4, np.int64), "out": np.zeros(1, bool)}
    status, found = run(k, {"A": ((n, m), arrays)})
    assert status == 0
    return bool(found["out"][0]), found["y"].tolist()


@pytest.mark.parametrize(("n", "m"), list(itertools.product(range(3), repeat=2)))
def test_the_same_flag(n, m):
    bodies = [
        (loop(I, N, loop(K, M, TOUCH, RAISE)),),
        (loop(I, N, RAISE, loop(K, M, TOUCH)),),
        (loop(I, N, loop(K, I, TOUCH, RAISE)),),  # bounds that change
        (loop(K, M, RAISE, TOUCH), loop(K, N, TOUCH, RAISE)),
        (loop(K, Y[0] + M, TOUCH, RAISE),),  # bounds that are others behind the loop
        (loop(K, M, RAISE, imp.If(Y[K] > imp.ZERO, LEAVE, imp.EMPTY), TOUCH),),
        (imp.Let(C, imp.ZERO), imp.While(C < N, imp.Block((imp.Assign(C, C + 1), RAISE)))),
    ]
    for body in bodies:
        plain = kernel(*body)
        raised = raise_flags(plain)
        check(raised)
        assert raised is not plain
        assert results(raised, n, m) == results(simplify(raised), n, m) == results(plain, n, m)


@pytest.mark.parametrize(
    "body",
    [
        loop(K, M, imp.If(Y[K] > imp.ZERO, imp.Block((RAISE,)), imp.EMPTY)),
        loop(K, M, RAISE, imp.If(FLAG, imp.Block((TOUCH,)), imp.EMPTY)),
        loop(K, M, imp.Assign(FLAG, imp.FALSE), TOUCH, RAISE),
        loop(K, M, imp.If(Y[K] > imp.ZERO, imp.Block((imp.Break(),)), imp.EMPTY), RAISE),
        loop(K, M, imp.Assign(FLAG, FLAG | (Y[K] > imp.ZERO))),
    ],
    ids=["some", "read", "lowered", "left", "value"],
)
def test_what_must_stay(body):
    k = kernel(body)
    assert raise_flags(k) is k
