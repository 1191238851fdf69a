"""Loops that add rows to a row take two at a time, and give the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.jam import jam
from linnet.imp.printer import show
from linnet.imp.simplify import simplify

N, M, I, J, K, Q = (imp.Var(name) for name in ("n", "m", "i", "j", "k", "q"))
X, T = imp.Var("x", "float64"), imp.Var("t", "float64")
PTR, IDX = imp.Buffer("ptr", "int64"), imp.Buffer("idx", "int32")
VAL, ROWS = imp.Buffer("val", "float64"), imp.Buffer("rows", "float64")
Y = imp.Buffer("y", "float64")


def loop(var: imp.Var, start: imp.Expr, stop: imp.Expr, *stmts: imp.Stmt) -> imp.For:
    return imp.For(var, start, stop, imp.Block(stmts))


def kernel(*body: imp.Stmt) -> imp.Kernel:
    """For each row i of a sparse matrix: `body`."""
    argument = imp.Argument("A", (N, M), (PTR, IDX, VAL, ROWS, Y))
    return imp.Kernel("k", (argument,), imp.Block((loop(I, imp.ZERO, N, *body),)))


def rows(*along: imp.Stmt, stop: imp.Expr = M) -> imp.For:
    """`for q: j = idx[q]; x = val[q]; for k: along`."""
    lets = imp.Let(J, imp.widen(IDX[Q])), imp.Let(X, VAL[Q])
    return loop(Q, PTR[I], PTR[I + 1], *lets, loop(K, imp.ZERO, stop, *along))


HERE, THERE = I * M + K, J * M + K
ADD = imp.Store(Y, HERE, Y[HERE] + X * ROWS[THERE])
SPMM = kernel(rows(ADD))
WITH_LET = kernel(rows(imp.Let(T, X * ROWS[THERE]), imp.Store(Y, HERE, Y[HERE] - T)))


def test_two_rows_at_a_time():
    (row,) = simplify(jam(SPMM)).body.stmts
    assert (
        show(row)
        == """\
for i in range(0, n):
    q: int64 = ptr[i]
    q_end: int64 = ptr[i + 1]
    while q + 1 < q_end:
        j: int64 = int64(idx[q])
        x: float64 = val[q]
        j_2: int64 = int64(idx[q + 1])
        x_2: float64 = val[q + 1]
        for k in range(0, m):
            total: float64 = y[i * m + k] + x * rows[j * m + k]
            y[i * m + k] = total + x_2 * rows[j_2 * m + k]
        q = q + 2
    if q < q_end:
        j: int64 = int64(idx[q])
        x: float64 = val[q]
        for k in range(0, m):
            y[i * m + k] = y[i * m + k] + x * rows[j * m + k]"""
    )


@pytest.mark.parametrize(
    "body",
    [
        rows(imp.Store(Y, THERE, Y[THERE] + X)),  # another row each time
        rows(imp.Store(Y, I, Y[I] + X * ROWS[THERE])),  # one element, added to in turn
        rows(imp.Store(Y, K * 2, Y[K * 2] + X)),
        rows(imp.Store(Y, HERE, Y[HERE] + X * Y[THERE])),
        rows(imp.Store(Y, HERE, X * ROWS[THERE])),
        rows(ADD, imp.Store(Y, K, X)),
        rows(ADD, stop=J),
        loop(Q, PTR[I], PTR[I + 1], imp.Store(VAL, Q, VAL[Q] + X)),
    ],
    ids=["target", "element", "stride", "reads", "no-sum", "more", "length", "flat"],
)
def test_what_must_stay(body):
    k = kernel(imp.Let(X, VAL[0]), body)
    assert jam(k) is k


@given(st.lists(st.integers(0, 6), max_size=4), st.integers(0, 3), st.data())
def test_the_same_bits(counts, m, data):
    ptr = np.cumsum([0, *counts]).astype(np.int64)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    arrays = {
        "ptr": ptr,
        "idx": rng.integers(0, 5, ptr[-1]).astype(np.int32),
        "val": rng.standard_normal(ptr[-1]),
        "rows": rng.standard_normal(5 * m),
    }
    plain = data.draw(st.sampled_from([SPMM, WITH_LET]))
    check(jam(plain))
    results = []
    for k in (plain, jam(plain), simplify(jam(plain))):
        given_arrays = {**arrays, "y": np.ones(len(counts) * m)}
        status, found = run(k, {"A": ((len(counts), m), given_arrays)})
        assert status == 0
        results.append(found["y"])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
