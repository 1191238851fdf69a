"""Triangle counting on a graph's strictly lower triangle, without forming the product."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side
from benchmarks.peers import jit, peer

BAR = 0.9
GRAPH = ln.Dense(ln.SparseList(ln.Pattern()))


@ln.kernel
def triangles(t, L):
    t[...] = 0
    for i, j, k in ...:
        if L[i, j] and L[i, k] and L[j, k]:
            t[()] += 1
    return t


def linnet(L: sp.csr_array) -> Side:
    rows = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr))
    coords, edges = np.stack([rows, L.indices]), np.ones(L.nnz, bool)
    graph = ln.tensor(coords, edges, L.shape, format=GRAPH, fill_value=False)
    t = ln.scalar(0)
    return Side(lambda: triangles(t, graph), lambda t: t.to_numpy())


def c(L: sp.csr_array) -> Side:
    ptr, idx, _ = native.csr(L)
    return native.scalar("triangles", "triangles", L.shape[0], ptr, idx)


def scipy_product(L: sp.csr_array) -> Side:
    """What SciPy's users write: the product is formed, and then masked."""
    return Side(lambda: (L @ L).multiply(L).sum())


def graphblas(L: sp.csr_array) -> Side:
    gb = peer("graphblas")
    graph = gb.io.from_scipy_sparse(L)

    def run() -> float:
        C = gb.Matrix(float, *L.shape)
        C(graph.S) << graph.mxm(graph.T, gb.semiring.plus_pair)
        return C.reduce_scalar(gb.monoid.plus).new().value

    return Side(run)


def numba(L: sp.csr_array) -> Side:
    loop = jit(_loop)
    return Side(lambda: loop(L.indptr, L.indices))


def _loop(ptr, idx):
    count = 0
    for i in range(len(ptr) - 1):
        for e in range(ptr[i], ptr[i + 1]):
            j = idx[e]
            p, q = ptr[i], ptr[j]
            while p < ptr[i + 1] and q < ptr[j + 1]:
                a, b = idx[p], idx[q]
                count += a == b
                p += a <= b
                q += b <= a
    return count


WAYS = {"linnet": linnet, "c": c, "scipy": scipy_product, "graphblas": graphblas, "numba": numba}


def lower(A: sp.csr_array) -> sp.csr_array:
    """The undirected graph's edges, each once, from the larger vertex to the smaller."""
    L = sp.csr_array(sp.tril(A + A.T, k=-1))
    L.data[:] = 1.0
    L.sort_indices()
    return L


def cases(load: data.Load) -> Iterator[Case]:
    for stored in load.stored(most=2_000_000):
        L = lower(data.uniform(stored))
        yield Case("triangles", "uniform", L.nnz, (L,), WAYS, BAR, idiom=True)
    if load.real:
        for name, A in data.real_matrices("wing", "email-Enron", "wiki-Vote", "ego-twitter"):
            L = lower(A)
            yield Case("triangles", name, L.nnz, (L,), WAYS, BAR, idiom=True)
