"""Sparse matrix (CSR) times a dense matrix of 32 columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import jit, mkl_product, peer

BAR = 0.95
COLUMNS = 32
MATRIX = ln.Dense(ln.Dense(ln.Element(0.0)))


@ln.kernel
def spmm(Y, A, X):
    Y[...] = 0
    for i, j, k in ...:
        Y[i, k] += A[i, j] * X[j, k]
    return Y


def linnet(A: sp.csr_array, X: np.ndarray) -> Side:
    Y, matrix, dense = ln.empty_tensor(MATRIX), ln.asarray(A), ln.asarray(X)
    return Side(lambda: spmm(Y, matrix, dense), lambda Y: Y.to_numpy())


def c(A: sp.csr_array, X: np.ndarray) -> Side:
    return _native("spmm", A, X)


def c_plain(A: sp.csr_array, X: np.ndarray) -> Side:
    return _native("spmm_plain", A, X)


def _native(function: str, A: sp.csr_array, X: np.ndarray) -> Side:
    Y = np.empty((A.shape[0], X.shape[1]))
    return native.into("spmm", function, Y, *Y.shape, *native.csr(A), X)


def scipy_product(A: sp.csr_array, X: np.ndarray) -> Side:
    return Side(lambda: A @ X)


def pydata(A: sp.csr_array, X: np.ndarray) -> Side:
    matrix = peer("sparse").GCXS.from_scipy_sparse(A)
    return Side(lambda: matrix @ X)


def numba(A: sp.csr_array, X: np.ndarray) -> Side:
    loop, Y = jit(_loop), np.empty((A.shape[0], X.shape[1]))
    return Side(lambda: loop(A.indptr, A.indices, A.data, X, Y))


def _loop(ptr, idx, val, X, Y):
    for i in range(Y.shape[0]):
        y = Y[i]
        y[:] = 0.0
        for q in range(ptr[i], ptr[i + 1]):
            x, a = X[idx[q]], val[q]
            for k in range(len(y)):
                y[k] += a * x[k]
    return Y


WAYS = {
    "linnet": linnet,
    "c": c,
    "c-plain": c_plain,
    "scipy": scipy_product,
    "mkl": mkl_product,
    "sparse": pydata,
    "numba": numba,
}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        yield _case("uniform", data.uniform(stored))
    if load.real:
        for name, A in data.real_matrices("bcsstk16", "cora_features", "web-Stanford"):
            yield _case(name, A)


def _case(name: str, A: sp.csr_array) -> Case:
    X = np.random.default_rng(5).random((A.shape[1], COLUMNS))
    return Case("spmm csr x 32", name, A.nnz, (A, X), WAYS, BAR)
