"""Element-wise products of sparse matrices (CSR), and dot products of sparse vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import add, data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import jit, peer

BAR = 0.9
LIST = ln.SparseList(ln.Element(0.0))


@ln.kernel
def multiply(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * B[i, j]
    return C


@ln.kernel
def dot(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += a[i] * b[i]
    return s


def linnet_multiply(A: sp.csr_array, B: sp.csr_array) -> Side:
    first, second = ln.asarray(A), ln.asarray(B)
    return Side(lambda: multiply(ln.empty_tensor(ln.CSR), first, second), lambda C: C.to_scipy())


def c_multiply(A: sp.csr_array, B: sp.csr_array) -> Side:
    arrays = (*native.csr(A), *native.csr(B))
    return native.building("intersect", "multiply", native.read_csr(A.shape), A.shape[0], *arrays)


def scipy_multiply(A: sp.csr_array, B: sp.csr_array) -> Side:
    return Side(lambda: A.multiply(B), sp.csr_array)


def graphblas_multiply(A: sp.csr_array, B: sp.csr_array) -> Side:
    gb = peer("graphblas")
    first, second = gb.io.from_scipy_sparse(A), gb.io.from_scipy_sparse(B)

    def run() -> object:
        C = first.ewise_mult(second, gb.binary.times).new()
        C.wait()
        return C

    return Side(run, gb.io.to_scipy_sparse)


def pydata_multiply(A: sp.csr_array, B: sp.csr_array) -> Side:
    GCXS = peer("sparse").GCXS
    first, second = GCXS.from_scipy_sparse(A), GCXS.from_scipy_sparse(B)
    return Side(lambda: first * second, lambda C: sp.csr_array(C.to_scipy_sparse()))


def linnet_dot(a: sp.csr_array, b: sp.csr_array) -> Side:
    s = ln.scalar(0.0)
    first, second = (ln.tensor(v.indices[None], v.data, v.shape[1:], format=LIST) for v in (a, b))
    return Side(lambda: dot(s, first, second), lambda s: s.to_numpy())


def c_dot(a: sp.csr_array, b: sp.csr_array) -> Side:
    return native.scalar("intersect", "dot", a.nnz, a.indices, a.data, b.nnz, b.indices, b.data)


def scipy_dot(a: sp.csr_array, b: sp.csr_array) -> Side:
    return Side(lambda: a.multiply(b).sum())


def graphblas_dot(a: sp.csr_array, b: sp.csr_array) -> Side:
    gb = peer("graphblas")
    first, second = (gb.Vector.from_coo(v.indices, v.data, size=v.shape[1]) for v in (a, b))
    return Side(lambda: first.inner(second).new().value)


def numba_dot(a: sp.csr_array, b: sp.csr_array) -> Side:
    loop = jit(_dot)
    return Side(lambda: loop(a.indices, a.data, b.indices, b.data))


def _dot(a_idx, a_val, b_idx, b_val):
    p, q, s = 0, 0, 0.0
    while p < len(a_idx) and q < len(b_idx):
        a, b = a_idx[p], b_idx[q]
        if a == b:
            s += a_val[p] * b_val[q]
        p += a <= b
        q += b <= a
    return s


MULTIPLY = {
    "linnet": linnet_multiply,
    "c": c_multiply,
    "scipy": scipy_multiply,
    "graphblas": graphblas_multiply,
    "sparse": pydata_multiply,
}
DOT = {
    "linnet": linnet_dot,
    "c": c_dot,
    "scipy": scipy_dot,
    "graphblas": graphblas_dot,
    "numba": numba_dot,
}


def row(n: int, stored: int, seed: int) -> sp.csr_array:
    """A sparse vector as a matrix of one row."""
    idx, val = data.sparse_vector(n, stored, seed)
    return sp.csr_array((val, idx, np.array([0, len(idx)], np.int32)), shape=(1, n))


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        a, b = (row(5 * stored, stored // 2, seed) for seed in (7, 8))
        yield Case("dot of sparse vectors", "uniform 10%", a.nnz + b.nnz, (a, b), DOT, BAR)
    for name, (A, B, _) in add.operands(load):
        yield Case("multiply 2 csr", name, A.nnz + B.nnz, (A, B), MULTIPLY, BAR)
