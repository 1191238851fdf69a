"""Rows that share a list of tiles are walked together, and give the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.simplify import simplify
from linnet.imp.walk_together import walk_together

N, I, J, Q, LEFT = (imp.Var(name) for name in ("n", "i", "j", "q", "left"))
S, AT = imp.Var("s", "float64"), imp.Var("at")
PTR, IDX = imp.Buffer("ptr", "int64"), imp.Buffer("idx", "int32")
VAL, X, Y = (imp.Buffer(name, "float64") for name in ("val", "x", "y"))


def over(x: imp.Expr, size: int) -> imp.Expr:
    return imp.binary("div", x, size)


def rest(x: imp.Expr, size: int) -> imp.Expr:
    return imp.binary("rem", x, size)


def loop(var: imp.Var, start: imp.Expr, stop: imp.Expr, *stmts: imp.Stmt) -> imp.For:
    return imp.For(var, start, stop, imp.Block(stmts))


def kernel(*body: imp.Stmt) -> imp.Kernel:
    argument = imp.Argument("A", (N,), (PTR, IDX, VAL, X, Y))
    return imp.Kernel("k", (argument,), imp.Block((loop(I, imp.ZERO, N, *body),)))


def product(rows: int, columns: int, *more: imp.Stmt) -> imp.Kernel:
    """A matrix in tiles of this size, times a vector."""
    left = imp.Let(LEFT, imp.widen(IDX[Q]) * columns)
    at = imp.Let(AT, (Q * rows + rest(I, rows)) * columns - LEFT)
    along = loop(J, LEFT, LEFT + columns, imp.Accumulate(S, "+", VAL[J + AT] * X[J]))
    tiles = loop(Q, PTR[over(I, rows)], PTR[over(I, rows) + 1], left, at, along, *more)
    return kernel(imp.Let(S, imp.Const(0.0, "float64")), tiles, imp.Store(Y, I, S))


def test_the_list_is_walked_once():
    tiles, rows = simplify(walk_together(product(2, 3))).body.stmts[1:]
    assert (
        show(tiles)
        == """\
for t in range(0, i_whole):
    i: int64 = t * 2
    i_2: int64 = t * 2 + 1
    s: float64 = 0.0
    s_2: float64 = 0.0
    for q in range(ptr[t], ptr[t + 1]):
        left: int64 = int64(idx[q]) * 3
        at: int64 = q * 6 - left
        at_2: int64 = (q * 2 + 1) * 3 - left
        for j in range(left, left + 3):
            s += val[j + at] * x[j]
            s_2 += val[j + at_2] * x[j]
    y[i] = s
    y[i_2] = s_2"""
    )
    assert show(rows).startswith("for i in range(i_whole * 2, n):")


def test_large_tiles_are_taken_in_parts():
    text = show(walk_together(product(12, 2)).body)
    assert "for q in range(ptr[div(t, 2)], ptr[div(t, 2) + 1])" in text  # six rows of twelve
    assert walk_together(product(13, 2)).body == product(13, 2).body  # there is no such part


@pytest.mark.parametrize(
    "more",
    [
        imp.Store(Y, I, S),  # the order of what is written would be another
        imp.If(imp.Const(0.0, "float64") < S, imp.Block((imp.Break(),)), imp.EMPTY),
        imp.Accumulate(imp.Var("n_2"), "+", imp.ONE),  # of all rows
        loop(J, imp.ZERO, I, imp.Accumulate(S, "+", X[J])),  # another length in each row
    ],
    ids=["stores", "breaks", "outside", "length"],
)
def test_what_must_stay(more):
    k = product(2, 2, more)
    assert walk_together(k) is k


def test_rows_that_see_each_other_stay():
    k = kernel(
        imp.Let(S, Y[0]),
        loop(Q, PTR[over(I, 2)], PTR[over(I, 2) + 1], imp.Accumulate(S, "+", VAL[Q])),
        imp.Store(Y, I, S),
    )
    assert walk_together(k) is k
    plain = kernel(
        loop(Q, PTR[I], PTR[I + 1], imp.Let(S, VAL[Q])), imp.Store(Y, I, VAL[over(I, 2)])
    )
    assert walk_together(plain) is plain


@given(st.integers(0, 20), st.integers(1, 10), st.integers(1, 4), st.integers(0, 99))
def test_the_same_bits(n, rows, columns, seed):
    rng = np.random.default_rng(seed)
    lists = -(-n // rows)
    ptr = np.cumsum([0, *rng.integers(0, 4, lists)]).astype(np.int64)
    arrays = {
        "ptr": ptr,
        "idx": rng.integers(0, 5, ptr[-1]).astype(np.int32),
        "val": rng.standard_normal(ptr[-1] * rows * columns),
        "x": rng.standard_normal(5 * columns),
    }
    plain = product(rows, columns)
    check(walk_together(plain))
    results = []
    for k in (plain, walk_together(plain), simplify(walk_together(plain))):
        status, found = run(k, {"A": ((n,), {**arrays, "y": np.ones(n)})})
        assert status == 0
        results.append(found["y"])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_rows_that_may_be_the_last_are_walked_one_by_one():
    """Who leaves the loop over tiles must not go on with the rows that are left."""
    k = product(2, 3)
    (rows,) = k.body.stmts
    leave = imp.If(imp.Binary(">", S, S, imp.BOOL), imp.Block((imp.Break(),)), imp.EMPTY)
    k = kernel(*rows.body.stmts, leave)
    assert walk_together(k) is k
