"""From CSR to CSC: the same matrix stored by columns, which is also its transpose by rows."""

from __future__ import annotations

from collections.abc import Iterator

import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer

BAR = 0.9


@ln.kernel
def transposed(B, A):
    B[...] = 0
    for i, j in ...:
        B[j, i] = A[i, j]
    return B


def linnet(A: sp.csr_array) -> Side:
    matrix = ln.asarray(A)
    return Side(lambda: matrix.to(ln.CSC), lambda B: sp.csc_array(B.to_scipy()))


def linnet_kernel(A: sp.csr_array) -> Side:
    matrix = ln.asarray(A)
    read = lambda B: sp.csc_array(B.to_scipy().T)  # noqa: E731
    return Side(lambda: transposed(ln.empty_tensor(ln.CSR), matrix), read)


def c(A: sp.csr_array) -> Side:
    def read(result: native.Result) -> sp.csc_array:
        arrays = result.values(), result.ints(1), result.ints(0)
        return sp.csc_array(arrays, shape=A.shape)

    return native.building("transpose", "transpose", read, *A.shape, *native.csr(A))


def scipy_way(A: sp.csr_array) -> Side:
    return Side(lambda: A.tocsc())


def graphblas(A: sp.csr_array) -> Side:
    gb = peer("graphblas")
    matrix = gb.io.from_scipy_sparse(A)

    def run() -> object:
        T = matrix.T.new()
        T.wait()
        return T

    return Side(run, lambda T: sp.csc_array(gb.io.to_scipy_sparse(T).T))


def pydata(A: sp.csr_array) -> Side:
    matrix = peer("sparse").GCXS.from_scipy_sparse(A)
    return Side(lambda: matrix.change_compressed_axes((1,)), lambda B: B.to_scipy_sparse())


WAYS = {"c": c, "scipy": scipy_way, "graphblas": graphblas, "sparse": pydata}


def matrices(load: data.Load) -> Iterator[tuple[str, sp.csr_array]]:
    for stored in load.stored():
        yield "uniform", data.uniform(stored)
        yield "skewed", data.skewed(stored)
    if load.real:
        yield from data.real_matrices("bcsstk16", "boyd1_A", "web-Stanford")


def cases(load: data.Load) -> Iterator[Case]:
    for name, A in matrices(load):
        yield Case("csr to csc", name, A.nnz, (A,), {"linnet": linnet} | WAYS, BAR)
        yield Case("transpose csr", name, A.nnz, (A,), {"linnet": linnet_kernel} | WAYS, BAR)
