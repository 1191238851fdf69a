"""Loops that add rows to a row hold strips of it, and give the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.hold_rows import hold_rows
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.simplify import simplify

N, M, I, J, K, P, Q = (imp.Var(name) for name in ("n", "m", "i", "j", "k", "p", "q"))
PTR, IDX = imp.Buffer("ptr", "int64"), imp.Buffer("idx", "int32")
HERE, THERE = I * M + K, J * M + K


def loop(var: imp.Var, start: imp.Expr, stop: imp.Expr, *stmts: imp.Stmt) -> imp.For:
    return imp.For(var, start, stop, imp.Block(stmts))


def buffers(dtype: str) -> tuple[imp.Buffer, imp.Buffer, imp.Buffer]:
    return imp.Buffer("val", dtype), imp.Buffer("rows", dtype), imp.Buffer("y", dtype)


def kernel(dtype: str, *body: imp.Stmt) -> imp.Kernel:
    """For each row i of a sparse matrix: `body`."""
    argument = imp.Argument("A", (N, M), (PTR, IDX, *buffers(dtype)))
    return imp.Kernel("k", (argument,), imp.Block((loop(I, imp.ZERO, N, *body),)))


def spmm(dtype: str = "float64", op: str = "+", stop: imp.Expr = M) -> imp.Kernel:
    """`for q: j = idx[q]; x = val[q]; for k: y[i, k] = y[i, k] op x * rows[j, k]`."""
    val, rows, y = buffers(dtype)
    x = imp.Var("x", dtype)
    store = imp.Store(y, HERE, imp.binary(op, y[HERE], x * rows[THERE]))
    lets = imp.Let(J, imp.widen(IDX[Q])), imp.Let(x, val[Q])
    return kernel(dtype, loop(Q, PTR[I], PTR[I + 1], *lets, loop(K, imp.ZERO, stop, store)))


def cleared(dtype: str = "float64") -> imp.Kernel:
    """The same into rows that are cleared first."""
    plain, y = spmm(dtype), buffers(dtype)[2]
    (row,) = plain.body.stmts
    assert isinstance(row, imp.For)
    clear = imp.Fill(y, I * M, (I + 1) * M, imp.Const(np.zeros((), dtype).item(), dtype))
    return kernel(dtype, clear, *row.body.stmts)


def nested(dtype: str = "float64") -> imp.Kernel:
    """All rows of the matrix, each so many times as it has entries, are added to one."""
    val, rows, y = buffers(dtype)
    t = imp.Var("t", dtype)
    lets = imp.Let(J, imp.widen(IDX[Q])), imp.Let(t, rows[THERE] * val[Q])
    along = loop(K, imp.ZERO, M, lets[1], imp.Store(y, K, y[K] - t))
    inner = loop(Q, PTR[P], PTR[P + 1], lets[0], along)
    argument = imp.Argument("A", (N, M), (PTR, IDX, val, rows, y))
    return imp.Kernel("k", (argument,), imp.Block((loop(P, imp.ZERO, N, inner),)))


def test_strips_of_a_row():
    (row,) = simplify(hold_rows(spmm())).body.stmts
    head = "\n".join(show(row).splitlines()[:12])
    assert (
        head
        == """\
for i in range(0, n):
    if m <= 128 and m & 7 == 0 and ptr[i] < ptr[i + 1]:
        k_at: int64 = 0
        while k_at + 32 <= m:
            for r in range(0, 32):
                held[r] = y[i * m + (k_at + r)]
            for q in range(ptr[i], ptr[i + 1]):
                j: int64 = int64(idx[q])
                x: float64 = val[q]
                for r in range(0, 32):
                    held[r] = held[r] + x * rows[j * m + (k_at + r)]
            for r in range(0, 32):"""
    )


def test_a_row_is_held_around_all_loops():
    text = show(hold_rows(nested()).body)
    assert text.index("held[r] = y[") < text.index("for p in range(0, n)")


def test_what_a_row_is_cleared_to_is_not_stored():
    text = show(hold_rows(cleared()).body)
    assert text.count("held[r] = 0.0") == 1
    assert "held[r] = y[" not in text
    assert text.count("y[i * m:(i + 1) * m] = 0.0") == 1


def test_single_precision_has_twice_as_many():
    (scratch,) = hold_rows(spmm("float32")).scratch
    assert scratch.size == 64


@pytest.mark.parametrize("dtype", ["complex128", "int8", "bool"])
def test_what_vectors_hold_badly_stays(dtype):
    k = spmm(dtype) if dtype != "bool" else spmm(dtype, "|")
    assert hold_rows(k) is k


def test_a_length_that_changes_stays():
    k = spmm(stop=J)
    assert hold_rows(k) is k


@given(
    st.lists(st.integers(0, 3), max_size=4),
    st.sampled_from([0, 1, 7, 8, 16, 24, 32, 40, 48, 56, 64, 72, 128, 136]),
    st.sampled_from(["float64", "float32", "int64"]),
    st.integers(0, 99),
    st.data(),
)
def test_the_same_bits(counts, m, dtype, seed, data):
    ptr, rng = np.cumsum([0, *counts]).astype(np.int64), np.random.default_rng(seed)
    arrays = {
        "ptr": ptr,
        "idx": rng.integers(0, 5, ptr[-1]).astype(np.int32),
        "val": (9 * rng.standard_normal(ptr[-1])).astype(dtype),
        "rows": (9 * rng.standard_normal(5 * m)).astype(dtype),
    }
    plain = data.draw(
        st.sampled_from([spmm(dtype), spmm(dtype, "max"), cleared(dtype), nested(dtype)])
    )
    held = hold_rows(plain)
    check(held)
    assert held.scratch
    results = []
    for k in (plain, held, simplify(held)):
        given_arrays = {**arrays, "y": np.ones(max(1, len(counts)) * m, dtype)}
        status, found = run(k, {"A": ((len(counts), m), given_arrays)})
        assert status == 0
        results.append(found["y"])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
