"""Sums whose terms lie a row apart are made for a row at once, and are the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linnet as ln
from linnet import imp
from linnet.imp.along_rows import along_rows
from linnet.imp.check import check
from linnet.imp.hold_rows import hold_rows
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.simplify import simplify

N, M, I, J, K, Q = (imp.Var(name) for name in ("n", "m", "i", "j", "k", "q"))
PTR, IDX = imp.Buffer("ptr", "int64"), imp.Buffer("idx", "int32")
HERE, THERE = I * M + K, J * M + K


def loop(var: imp.Var, start: imp.Expr, stop: imp.Expr, *stmts: imp.Stmt) -> imp.For:
    return imp.For(var, start, stop, imp.Block(stmts))


def spmm(
    dtype: str = "float64",
    op: str = "+",
    place: imp.Expr = HERE,
    term: imp.Expr = THERE,
    stop: imp.Expr | None = None,
    cleared: bool = False,
    scaled: bool = False,
) -> imp.Kernel:
    """For each row i and each k: `s = y[i, k]; for q: s op= val[q] * rows[idx[q], k]; y[…] = s`."""
    val, rows, y = (imp.Buffer(name, dtype) for name in ("val", "rows", "y"))
    s, c = imp.Var("s", dtype), imp.Var("c", dtype)
    value = val[Q] * rows[term] * c if scaled else val[Q] * rows[term]
    through = loop(
        Q,
        PTR[I],
        PTR[I + 1] if stop is None else stop,
        imp.Let(J, imp.widen(IDX[Q])),
        imp.Accumulate(s, op, value),
    )
    first = imp.Const(np.ones((), dtype).item(), dtype) if cleared else y[place]
    lets = (imp.Let(c, rows[K]),) if scaled else ()
    along = loop(K, imp.ZERO, M, *lets, imp.Let(s, first), through, imp.Store(y, place, s))
    argument = imp.Argument("A", (N, M), (PTR, IDX, val, rows, y))
    return imp.Kernel("k", (argument,), imp.Block((loop(I, imp.ZERO, N, along),)))


def test_a_row_at_once():
    (row,) = along_rows(spmm()).body.stmts
    expected = """\
for i in range(0, n):
    if m - 0 >= 8:
        for q in range(ptr[i], ptr[i + 1]):
            j: int64 = int64(idx[q])
            for k in range(0, m):
                y[i * m + k] = y[i * m + k] + val[q] * rows[j * m + k]
    else:
        for k in range(0, m):
            s: float64 = y[i * m + k]"""
    assert show(row).startswith(expected)


WRONG = {
    "the terms are neighbours": spmm(term=J * M + K * 4 + Q),
    "terms that are neighbours of both": spmm(term=Q + K),
    "every second element of a row": spmm(term=J * M + K * 2),
    "the sums lie apart": spmm(place=K * N + I),
    "one sum of all": spmm(place=I),
    "as many terms as k says": spmm(stop=PTR[I] + K),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_stays(name):
    assert along_rows(WRONG[name]) is WRONG[name]


def test_what_is_read_from_the_sums_stays():
    y = imp.Buffer("y", "float64")
    s = imp.Var("s", "float64")
    through = loop(Q, PTR[I], PTR[I + 1], imp.Accumulate(s, "+", y[Q * M + K]))
    along = loop(K, imp.ZERO, M, imp.Let(s, y[HERE]), through, imp.Store(y, HERE, s))
    k = imp.Kernel("k", (imp.Argument("A", (N, M), (PTR, y)),), imp.Block((along,)))
    assert along_rows(k) is k


@given(
    st.lists(st.integers(0, 3), max_size=4),
    st.sampled_from([0, 1, 7, 8, 9, 16, 20, 32]),
    st.sampled_from(["float64", "float32", "int64"]),
    st.integers(0, 99),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["+", "max", "*"]),
)
def test_the_same_bits(counts, m, dtype, seed, cleared, scaled, op):
    ptr, rng = np.cumsum([0, *counts]).astype(np.int64), np.random.default_rng(seed)
    arrays = {
        "ptr": ptr,
        "idx": rng.integers(0, 5, ptr[-1]).astype(np.int32),
        "val": (9 * rng.standard_normal(ptr[-1])).astype(dtype),
        "rows": (9 * rng.standard_normal(5 * m)).astype(dtype),
    }
    plain = spmm(dtype, op, cleared=cleared, scaled=scaled)
    turned = along_rows(plain)
    assert turned is not plain
    results = []
    for k in (plain, turned, simplify(hold_rows(turned))):
        check(k)
        given_arrays = {**arrays, "y": np.ones(max(1, len(counts)) * m, dtype)}
        status, found = run(k, {"A": ((len(counts), m), given_arrays)})
        assert status == 0
        results.append(found["y"])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@ln.kernel
def matmul(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


TILES = "split(i, i0, i1, 4) split(j, j0, j1, 16) split(k, k0, k1, 4) "


@pytest.mark.parametrize(
    "order",
    ["", TILES + "reorder(i0, j0, k0, i1, j1, k1)", TILES + "reorder(i0, j0, k0, i1, k1, j1)"],
)
@pytest.mark.parametrize("n", [3, 8, 37])
def test_products_of_arrays(order, n):
    A, B = (np.random.default_rng(s).integers(-9, 9, (n, n)).astype(float) for s in (1, 2))
    kernel = matmul.schedule().apply(order) if order else matmul
    C = kernel(ln.empty_tensor(ln.DENSE(2)), A, B)
    np.testing.assert_array_equal(C.to_numpy(), A @ B)
    code = kernel.code(ln.empty_tensor(ln.DENSE(2)), ln.asarray(A), ln.asarray(B))
    assert "held[r] +=" in code


@ln.kernel
def product(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


PAPER = """
split(i, i0, i1, 16) pos(j, jpos, A) split(jpos, jpos0, jpos1, 8)
reorder(i0, i1, jpos0, k, jpos1) parallelize(k, CPUVector, IgnoreRaces)
"""


@pytest.mark.parametrize("width", [1, 5, 32])
def test_vectors_that_are_asked_for_go_along_rows(width):
    rng = np.random.default_rng(3)
    A = rng.integers(1, 9, (40, 30)) * (rng.random((40, 30)) < 0.4)
    B = rng.integers(-9, 9, (30, width)).astype(float)
    scheduled, given = product.schedule().apply(PAPER), ln.asarray(A * 1.0, format=ln.CSR)
    C = scheduled(ln.empty_tensor(ln.DENSE(2)), given, B)
    np.testing.assert_array_equal(C.to_numpy(), A @ B)
