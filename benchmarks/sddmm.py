"""Sampled dense-dense product: a dense product of rank 32, wanted only where A is stored."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import jit

BAR = 0.95
RANK = 32


@ln.kernel
def sddmm(C, A, U, V):
    s = ln.scalar(0.0)
    C[...] = 0
    for i, j in ...:
        s[...] = 0
        for k in ...:
            s[()] += U[i, k] * V[j, k]
        C[i, j] = A[i, j] * s[()]
    return C


def linnet(A: sp.csr_array, U: np.ndarray, V: np.ndarray) -> Side:
    given = ln.asarray(A), ln.asarray(U), ln.asarray(V)
    return Side(lambda: sddmm(ln.empty_tensor(ln.CSR), *given), lambda C: C.to_scipy())


def c(A: sp.csr_array, U: np.ndarray, V: np.ndarray) -> Side:
    read = native.read_csr(A.shape)
    return native.building("sddmm", "sddmm", read, A.shape[0], RANK, *native.csr(A), U, V)


def numpy_gather(A: sp.csr_array, U: np.ndarray, V: np.ndarray) -> Side:
    """SciPy has no such product: this is what its users write, a block of rows at a time."""
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))

    def run() -> sp.csr_array:
        values = np.empty(A.nnz)
        for k in range(0, A.nnz, 1 << 16):
            part = slice(k, k + (1 << 16))
            values[part] = np.einsum("qk,qk->q", U[rows[part]], V[A.indices[part]])
        return sp.csr_array((values * A.data, A.indices, A.indptr), shape=A.shape)

    return Side(run)


def numba(A: sp.csr_array, U: np.ndarray, V: np.ndarray) -> Side:
    loop, values = jit(_loop), np.empty(A.nnz)

    def run() -> sp.csr_array:
        loop(A.indptr, A.indices, A.data, U, V, values)
        return sp.csr_array((values, A.indices.copy(), A.indptr.copy()), shape=A.shape)

    return Side(run)


def _loop(ptr, idx, val, U, V, C):
    for i in range(len(ptr) - 1):
        for q in range(ptr[i], ptr[i + 1]):
            j, s = idx[q], 0.0
            for k in range(U.shape[1]):
                s += U[i, k] * V[j, k]
            C[q] = val[q] * s


WAYS = {"linnet": linnet, "c": c, "scipy": numpy_gather, "numba": numba}


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored():
        yield _case("uniform", data.uniform(stored))
    if load.real:
        for name, A in data.real_matrices("bcsstk16", "dlmc_tf_mp80_ffn2", "web-Stanford"):
            yield _case(name, A)


def _case(name: str, A: sp.csr_array) -> Case:
    rng = np.random.default_rng(6)
    U, V = rng.random((A.shape[0], RANK)), rng.random((A.shape[1], RANK))
    return Case("sddmm rank 32", name, A.nnz, (A, U, V), WAYS, BAR, idiom=True)
