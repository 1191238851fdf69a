"""Loops of a length that is mostly the same, and short, have a version for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.whole_tiles import whole_tiles

N, J, Q, LEFT, STOP = (imp.Var(name) for name in ("n", "j", "q", "left", "stop"))
X, Y = imp.Buffer("x", "float64"), imp.Buffer("y", "float64")


def kernel(stop: imp.Expr, *body: imp.Stmt) -> imp.Kernel:
    """Loops along three tiles of y."""
    along = imp.For(J, LEFT, STOP, imp.Block(body))
    tile = imp.Block((imp.Let(LEFT, Q * 3), imp.Let(STOP, stop), along))
    argument = imp.Argument("A", (N,), (X, Y))
    return imp.Kernel(
        "k", (argument,), imp.Block((imp.For(Q, imp.ZERO, imp.Const(3, "int64"), tile),))
    )


COPY = imp.Store(Y, J, X[J])
CLIPPED = imp.minimum(N, Q * 3 + 3)


def test_two_versions():
    (tiles,) = whole_tiles(kernel(CLIPPED, COPY)).body.stmts
    assert isinstance(tiles, imp.For)
    assert (
        show(tiles.body.stmts[-1])
        == """\
if q * 3 + 3 <= n:
    for j in range(left, left + 3):
        y[j] = x[j]
else:
    for j in range(left, stop):
        y[j] = x[j]"""
    )


def test_a_beginning_that_moves_is_no_beginning():
    """What was left of a tile was taken for a whole one, and written beyond its end."""
    k = kernel(CLIPPED, COPY)
    (tiles,) = k.body.stmts
    left, stop, along = tiles.body.stmts
    moved = imp.Assign(LEFT, LEFT + 2)
    tiles = imp.For(Q, tiles.start, tiles.stop, imp.Block((left, stop, moved, along)))
    k = imp.Kernel("k", k.arguments, imp.Block((tiles,)))
    assert whole_tiles(k) is k


def test_a_beginning_that_is_read_stays_where_nothing_is_written():
    begins = imp.Buffer("begins", "int64")
    for stored, versions in ((Y, True), (begins, False)):
        lets = imp.Let(LEFT, begins[Q]), imp.Let(STOP, imp.minimum(N, begins[Q] + 3))
        body = imp.Block((*lets, imp.For(J, LEFT, STOP, imp.Block((COPY,)))))
        after = imp.Store(stored, Q, imp.Const(0, stored.dtype))
        loop = imp.For(Q, imp.ZERO, N, imp.Block((*body.stmts, after)))
        k = imp.Kernel("k", (imp.Argument("A", (N,), (X, Y, begins)),), imp.Block((loop,)))
        assert (whole_tiles(k) is not k) == versions


@pytest.mark.parametrize(
    ("stop", "body"),
    [
        (imp.minimum(N, Q * 3 + 300), (COPY,)),
        (imp.minimum(N, Q + 3), (COPY,)),
        (imp.maximum(N, Q * 3 + 3), (COPY,)),
        (CLIPPED, (imp.If(X[J] > X[0], imp.Block((COPY,)), imp.EMPTY),)),
    ],
    ids=["long", "elsewhere", "no-limit", "branches"],
)
def test_what_must_stay(stop, body):
    k = kernel(stop, *body)
    assert whole_tiles(k) is k


@given(st.integers(0, 9))
def test_the_same(n):
    k = whole_tiles(kernel(CLIPPED, COPY))
    check(k)
    x = np.arange(1.0, n + 1)
    status, found = run(k, {"A": ((n,), {"x": x, "y": np.zeros(n)})})
    assert status == 0
    np.testing.assert_array_equal(found["y"], x)
