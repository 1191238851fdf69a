"""Sparse matrix times dense vector, by rows (CSR) and by columns (CSC)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import jit, mkl_product, peer

BAR = 0.95
VECTOR = ln.Dense(ln.Element(0.0))


@ln.kernel
def by_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def by_columns(y, A, x):
    y[...] = 0
    for j, i in ...:
        y[i] += A[i, j] * x[j]
    return y


def linnet_rows(A: sp.csr_array, x: np.ndarray) -> Side:
    y, matrix, vector = ln.empty_tensor(VECTOR), ln.asarray(A), ln.asarray(x)
    return Side(lambda: by_rows(y, matrix, vector), lambda y: y.to_numpy())


def linnet_columns(A: sp.csc_array, x: np.ndarray) -> Side:
    y, matrix, vector = ln.empty_tensor(VECTOR), ln.asarray(A), ln.asarray(x)
    return Side(lambda: by_columns(y, matrix, vector), lambda y: y.to_numpy())


def c_rows(A: sp.csr_array, x: np.ndarray) -> Side:
    return native.into("spmv", "by_rows", np.empty(A.shape[0]), A.shape[0], *native.csr(A), x)


def c_columns(A: sp.csc_array, x: np.ndarray) -> Side:
    return native.into("spmv", "by_columns", np.empty(A.shape[0]), *A.shape, *native.csr(A), x)


def scipy_product(A: sp.csr_array, x: np.ndarray) -> Side:
    return Side(lambda: A @ x)


def pydata(A: sp.csr_array, x: np.ndarray) -> Side:
    matrix = peer("sparse").GCXS.from_scipy_sparse(A)
    return Side(lambda: matrix @ x)


def graphblas(A: sp.csr_array, x: np.ndarray) -> Side:
    gb = peer("graphblas")
    matrix, vector = gb.io.from_scipy_sparse(A), gb.Vector.from_dense(x)
    return Side(lambda: matrix.mxv(vector).new(), lambda y: y.to_dense(0.0))


def numba_rows(A: sp.csr_array, x: np.ndarray) -> Side:
    loop, y = jit(_rows), np.empty(A.shape[0])
    return Side(lambda: loop(A.indptr, A.indices, A.data, x, y))


def _rows(ptr, idx, val, x, y):
    for i in range(len(y)):
        s = 0.0
        for q in range(ptr[i], ptr[i + 1]):
            s += val[q] * x[idx[q]]
        y[i] = s
    return y


ROWS = {
    "linnet": linnet_rows,
    "c": c_rows,
    "scipy": scipy_product,
    "mkl": mkl_product,
    "graphblas": graphblas,
    "sparse": pydata,
    "numba": numba_rows,
}
COLUMNS = {"linnet": linnet_columns, "c": c_columns, "scipy": scipy_product, "mkl": mkl_product}


def matrices(load: data.Load) -> Iterator[tuple[str, sp.csr_array]]:
    for stored in load.stored():
        yield "uniform", data.uniform(stored)
        yield "skewed", data.skewed(stored)
    if load.real:
        yield from data.real_matrices("bcsstk16", "memplus", "boyd1_A", "web-Stanford")


def cases(load: data.Load) -> Iterator[Case]:
    for name, A in matrices(load):
        x = data.vector(A.shape[1])
        yield Case("spmv csr", name, A.nnz, (A, x), ROWS, BAR)
        yield Case("spmv csc", name, A.nnz, (sp.csc_array(A), x), COLUMNS, BAR)
