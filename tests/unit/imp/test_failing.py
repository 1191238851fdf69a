"""Whether a kernel may fail after it has changed a buffer."""

from __future__ import annotations

import pytest

from linnet import imp
from linnet.imp.failing import fails_late

N, I = imp.Var("n"), imp.Var("i")
Y, Z = imp.Buffer("y", "float64"), imp.Buffer("z", "float64", growable=True)
WRITE = imp.Store(Y, I, imp.Const(1.0, "float64"))
GROW, OTHER = imp.Grow(Z, N), imp.Store(Z, imp.ZERO, imp.Const(1.0, "float64"))
REFUSE = imp.If(N > 3, imp.Block((imp.Return(imp.Const(2, imp.INT)),)), imp.EMPTY)
DONE = imp.Return(imp.Const(imp.OK, imp.INT))


def loop(*stmts: imp.Stmt) -> imp.For:
    return imp.For(I, imp.ZERO, N, imp.Block(stmts))


@pytest.mark.parametrize(
    ("stmts", "late"),
    [
        ((GROW, REFUSE, loop(WRITE), OTHER, DONE), False),
        ((loop(WRITE), GROW), True),
        ((loop(GROW, WRITE),), True),  # in the second iteration
        ((loop(REFUSE, WRITE),), True),
        ((loop(GROW, OTHER), loop(WRITE)), False),
        ((imp.If(N > 1, imp.Block((loop(WRITE),)), imp.EMPTY), GROW), True),
        ((imp.If(N > 1, imp.Block((loop(WRITE),)), imp.Block((GROW,))),), False),
        ((imp.Grow(Y, N), loop(WRITE)), True),  # which moves it
    ],
)
def test_order(stmts, late):
    kernel = imp.Kernel("k", (imp.Argument("A", (N,), (Y, Z)),), imp.Block(stmts))
    assert fails_late(kernel, frozenset({"y"})) == late
    assert not fails_late(kernel, frozenset())


def test_a_nest_is_followed_a_few_times():
    """And not once for each of the 2 ** 60 ways to go through it."""
    nest = WRITE
    for _ in range(60):
        nest = loop(nest)
    kernel = imp.Kernel("k", (imp.Argument("A", (N,), (Y, Z)),), imp.Block((nest, GROW)))
    assert fails_late(kernel, frozenset({"y"}))
