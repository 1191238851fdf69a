"""Sums of two and of three sparse matrices (CSR), each in one pass."""

from __future__ import annotations

from collections.abc import Iterator

import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import peer

BAR = 0.9


@ln.kernel
def add2(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] + B[i, j]
    return C


@ln.kernel
def add3(D, A, B, C):
    D[...] = 0
    for i, j in ...:
        D[i, j] = A[i, j] + B[i, j] + C[i, j]
    return D


def linnet(*operands: sp.csr_array) -> Side:
    kernel, tensors = (add2, add3)[len(operands) - 2], [ln.asarray(A) for A in operands]
    return Side(lambda: kernel(ln.empty_tensor(ln.CSR), *tensors), lambda C: C.to_scipy())


def c(*operands: sp.csr_array) -> Side:
    arrays = [array for A in operands for array in native.csr(A)]
    shape = operands[0].shape
    function = f"add{len(operands)}"
    return native.building("add", function, native.read_csr(shape), shape[0], *arrays)


def scipy_sum(first: sp.csr_array, *others: sp.csr_array) -> Side:
    def run() -> sp.csr_array:
        total = first
        for other in others:
            total = total + other
        return total

    return Side(run)


def pydata(*operands: sp.csr_array) -> Side:
    first, *others = (peer("sparse").GCXS.from_scipy_sparse(A) for A in operands)
    return Side(lambda: sum(others, first), lambda C: sp.csr_array(C.to_scipy_sparse()))


def graphblas(*operands: sp.csr_array) -> Side:
    gb = peer("graphblas")
    first, *others = (gb.io.from_scipy_sparse(A) for A in operands)

    def run() -> object:
        total = first
        for other in others:
            total = total.ewise_add(other, gb.binary.plus).new()
        total.wait()
        return total

    return Side(run, gb.io.to_scipy_sparse)


WAYS = {"linnet": linnet, "c": c, "scipy": scipy_sum, "graphblas": graphblas, "sparse": pydata}


def operands(load: data.Load) -> Iterator[tuple[str, list[sp.csr_array]]]:
    for stored in load.stored():
        for name, make in (("uniform", data.uniform), ("skewed", data.skewed)):
            yield name, [make(stored, 10, seed) for seed in range(3)]
    if load.real:
        for name, A in data.real_matrices("bcsstk16", "memplus", "web-Stanford"):
            # The same structure, shifted a little: parts coincide and parts do not.
            shifted = [sp.csr_array(sp.eye_array(*A.shape, k=k) @ A) for k in (0, 1, 3)]
            for B in shifted:
                B.sort_indices()
            yield name, shifted


def cases(load: data.Load) -> Iterator[Case]:
    for name, (A, B, C) in operands(load):
        yield Case("add 2 csr", name, A.nnz + B.nnz, (A, B), WAYS, BAR)
        yield Case("add 3 csr", name, A.nnz + B.nnz + C.nnz, (A, B, C), WAYS, BAR)
