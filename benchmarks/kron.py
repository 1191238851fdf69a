"""Kronecker products of sparse matrices, kept as tensors of order 4."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer

BAR = 0.9
RESULT = ln.Dense(ln.Dense(ln.SparseList(ln.SparseList(ln.Element(0.0)))))


@ln.kernel
def kron(C, A, B):
    C[...] = 0
    for i, k, j, l in ...:
        C[i, k, j, l] = A[i, j] * B[k, l]
    return C


# All sides are compared by their values in storage order: rows (i, k), columns (j, l).


def linnet(A: sp.csr_array, B: sp.csr_array) -> Side:
    first, second = ln.asarray(A), ln.asarray(B)
    read = lambda C: np.asarray(C.buffers["val"])  # noqa: E731
    return Side(lambda: kron(ln.empty_tensor(RESULT), first, second), read)


def c(A: sp.csr_array, B: sp.csr_array) -> Side:
    arrays = (*native.csr(A), *native.csr(B))
    read = lambda result: result.values()  # noqa: E731
    return native.building("kron", "kron", read, A.shape[0], B.shape[0], *arrays)


def scipy_way(A: sp.csr_array, B: sp.csr_array) -> Side:
    def run() -> sp.csr_array:
        C = sp.kron(A, B, format="csr")
        C.sort_indices()
        return C

    return Side(run, lambda C: C.data)


def graphblas(A: sp.csr_array, B: sp.csr_array) -> Side:
    gb = peer("graphblas")
    first, second = gb.io.from_scipy_sparse(A), gb.io.from_scipy_sparse(B)

    def run() -> object:
        C = first.kronecker(second).new()
        C.wait()
        return C

    return Side(run, lambda C: gb.io.to_scipy_sparse(C).data)


def pydata(A: sp.csr_array, B: sp.csr_array) -> Side:
    sparse = peer("sparse")
    first, second = (sparse.COO.from_scipy_sparse(M) for M in (A, B))
    return Side(lambda: sparse.kron(first, second), lambda C: C.tocsr().data)


WAYS = {"linnet": linnet, "c": c, "scipy": scipy_way, "graphblas": graphblas, "sparse": pydata}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        side = int(stored**0.5)
        A, B = (data.uniform(side, 4, seed) for seed in (0, 1))
        yield Case("kron", "uniform", A.nnz * B.nnz, (A, B), WAYS, BAR)
    if load.real:
        for name, A in data.real_matrices("west0067"):
            yield Case("kron", name, A.nnz**2, (A, A), WAYS, BAR)
