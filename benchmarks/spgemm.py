"""Products of sparse matrices (CSR), by rows: Gustavson's algorithm with a workspace."""

from __future__ import annotations

from collections.abc import Iterator

import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import mkl_product, peer

BAR = 0.9


@ln.kernel
def gustavson(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]
    return C


def linnet(A: sp.csr_array, B: sp.csr_array) -> Side:
    first, second = ln.asarray(A), ln.asarray(B)
    return Side(lambda: gustavson(ln.empty_tensor(ln.CSR), first, second), lambda C: C.to_scipy())


def c(A: sp.csr_array, B: sp.csr_array) -> Side:
    shape = A.shape[0], B.shape[1]
    arrays = (*native.csr(A), *native.csr(B))
    return native.building("spgemm", "spgemm", native.read_csr(shape), *shape, *arrays)


def scipy_product(A: sp.csr_array, B: sp.csr_array) -> Side:
    """SciPy leaves the rows of a product unsorted; sorting them is part of the work."""

    def run() -> sp.csr_array:
        C = A @ B
        C.sort_indices()
        return C

    return Side(run)


def pydata(A: sp.csr_array, B: sp.csr_array) -> Side:
    GCXS = peer("sparse").GCXS
    first, second = GCXS.from_scipy_sparse(A), GCXS.from_scipy_sparse(B)

    def read(C: object) -> sp.csr_array:
        C = sp.csr_array(C.to_scipy_sparse())
        C.sort_indices()
        return C

    return Side(lambda: first @ second, read)


def graphblas(A: sp.csr_array, B: sp.csr_array) -> Side:
    gb = peer("graphblas")
    first, second = gb.io.from_scipy_sparse(A), gb.io.from_scipy_sparse(B)

    def run() -> object:
        C = first.mxm(second).new()
        C.wait()
        return C

    def read(C: object) -> sp.csr_array:
        C = gb.io.to_scipy_sparse(C)
        C.sort_indices()
        return C

    return Side(run, read)


WAYS = {
    "linnet": linnet,
    "c": c,
    "scipy": scipy_product,
    "mkl": mkl_product,
    "graphblas": graphblas,
    "sparse": pydata,
}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        # Six entries in a row of each factor give about 36 in a row of the product.
        A, B = (data.uniform(stored // 6, 6, seed) for seed in (0, 1))
        yield Case("spgemm csr", "uniform", stored, (A, B), WAYS, BAR)
        # A few full rows meet a few full columns: the product is a hundred times as large.
        A = data.skewed(stored // 100, 4)
        yield Case("spgemm csr", "skewed", A.nnz, (A, A), WAYS, BAR)
    if load.real:
        for name, A in data.real_matrices("bcsstk16", "memplus", "email-Enron", "wing"):
            yield Case("spgemm csr", name, A.nnz, (A, A), WAYS, BAR)
