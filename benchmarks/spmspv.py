"""Sparse matrix times sparse vector: by rows into a dense vector, by columns into a sparse one.

By rows, the vector is merged with each row, or unpacked once for all rows to look it up.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import jit, peer

BAR = 0.9
VECTOR = ln.Dense(ln.Element(0.0))
LIST = ln.SparseList(ln.Element(0.0))


@ln.kernel
def by_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def by_rows_unpacked(y, A, x):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    w[...] = 0
    for j in ...:
        w[j] = x[j]
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * w[ln.follow(j)]
    return y


@ln.kernel
def by_columns(y, A, x):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    w[...] = 0
    for j, i in ...:
        w[i] += A[i, j] * x[j]
    y[...] = 0
    for i in ...:
        y[i] = w[i]
    return y


def linnet_vector(x: sp.csc_array) -> ln.Tensor:
    return ln.tensor(x.indices[None], x.data, x.shape[:1], format=LIST)


def linnet_rows(A: sp.csr_array, x: sp.csc_array) -> Side:
    y, matrix, vector = ln.empty_tensor(VECTOR), ln.asarray(A), linnet_vector(x)
    return Side(lambda: by_rows(y, matrix, vector), lambda y: y.to_numpy())


def linnet_unpacked(A: sp.csr_array, x: sp.csc_array) -> Side:
    y, matrix, vector = ln.empty_tensor(VECTOR), ln.asarray(A), linnet_vector(x)
    return Side(lambda: by_rows_unpacked(y, matrix, vector), lambda y: y.to_numpy())


def linnet_columns(A: sp.csc_array, x: sp.csc_array) -> Side:
    matrix, vector = ln.asarray(A), linnet_vector(x)
    return Side(lambda: by_columns(ln.empty_tensor(LIST), matrix, vector), lambda y: y.to_numpy())


def c_rows(A: sp.csr_array, x: sp.csc_array) -> Side:
    y = np.empty(A.shape[0])
    return native.into("spmspv", "by_rows", y, *_given(A, x))


def c_unpacked(A: sp.csr_array, x: sp.csc_array) -> Side:
    y = np.empty(A.shape[0])
    return native.into("spmspv", "by_rows_unpacked", y, *_given(A, x))


def c_columns(A: sp.csc_array, x: sp.csc_array) -> Side:
    def read(result: native.Result) -> np.ndarray:
        y = np.zeros(A.shape[0])
        y[result.ints(0)] = result.values()
        return y

    return native.building("spmspv", "by_columns", read, *_given(A, x))


def _given(A: sp.csr_array, x: sp.csc_array) -> tuple[np.ndarray | int, ...]:
    return A.shape[0], *native.csr(A), x.nnz, x.indices.astype(np.int32), x.data


def scipy_product(A: sp.csr_array, x: sp.csc_array) -> Side:
    def run() -> sp.csc_array:
        y = A @ x
        y.sort_indices()
        return y

    return Side(run, lambda y: y.toarray().ravel())


def graphblas(A: sp.csr_array, x: sp.csc_array) -> Side:
    gb = peer("graphblas")
    matrix = gb.io.from_scipy_sparse(A)
    vector = gb.Vector.from_coo(x.indices, x.data, size=x.shape[0])
    return Side(lambda: matrix.mxv(vector).new(), lambda y: y.to_dense(0.0))


def numba_rows(A: sp.csr_array, x: sp.csc_array) -> Side:
    loop, y = jit(_rows), np.empty(A.shape[0])
    return Side(lambda: loop(A.indptr, A.indices, A.data, x.indices, x.data, y))


def _rows(ptr, idx, val, x_idx, x_val, y):
    for i in range(len(y)):
        p, end, q, s = ptr[i], ptr[i + 1], 0, 0.0
        while p < end and q < len(x_idx):
            a, b = idx[p], x_idx[q]
            if a == b:
                s += val[p] * x_val[q]
            p += a <= b
            q += b <= a
        y[i] = s
    return y


ROWS = {
    "linnet": linnet_rows,
    "c": c_rows,
    "scipy": scipy_product,
    "graphblas": graphblas,
    "numba": numba_rows,
}
UNPACKED = {"linnet": linnet_unpacked, "c": c_unpacked, "scipy": scipy_product}
COLUMNS = {
    "linnet": linnet_columns,
    "c": c_columns,
    "scipy": scipy_product,
    "graphblas": graphblas,
}


def column(n: int, stored: int) -> sp.csc_array:
    """A sparse vector as a matrix of one column."""
    idx, val = data.sparse_vector(n, stored)
    return sp.csc_array((val, idx, np.array([0, len(idx)], np.int32)), shape=(n, 1))


def matrices(load: data.Load) -> Iterator[tuple[str, sp.csr_array]]:
    for stored in load.stored():
        yield "uniform", data.uniform(stored)
    if load.real:
        yield from data.real_matrices("email-Enron", "web-Stanford")


def cases(load: data.Load) -> Iterator[Case]:
    for name, A in matrices(load):
        n = A.shape[1]
        few, more = column(n, 64), column(n, n // 50)
        yield Case("spmspv rows", name, A.nnz, (A, few), ROWS, BAR)
        yield Case("spmspv rows, unpacked", name, A.nnz, (A, few), UNPACKED, BAR)
        yield Case("spmspv columns", name, A.nnz, (sp.csc_array(A), more), COLUMNS, BAR)
