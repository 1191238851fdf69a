"""Breadth-first search and shortest paths (FINCH §7.3, Fig. 24), from the vertex with most edges.

Everything from the first vertex to the last is timed: the loop over the steps is Python, and each
step is a call. Results are compared by depths, since a vertex may have several possible parents.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

import linnet as ln
from benchmarks import data, native
from benchmarks.harness import Case, Side, Unavailable
from benchmarks.peers import peer

BAR = None  # the loop over the steps is part of what is timed
GRAPH = ln.Dense(ln.SparseList(ln.Pattern()))
FRONTIER = ln.SparseByteMap(ln.Pattern())
VERTICES = ln.SparseList(ln.Pattern())
PARENTS = ln.Dense(ln.Element(-1, "int32"))
FOUND = ln.Dense(ln.Element(False))
FAR = np.inf
SWITCH = 0.05  # pull where this part of all edges leaves the frontier
SMALL = 100_000  # edges: SciPy's Bellman-Ford relaxes all of them n times


# G: the next frontier. edges: how many edges leave it. P: parents. V: what is found already.
@ln.kernel
def begin(G, edges, P, V, start, degrees):
    G[...] = False
    P[...] = -1
    V[...] = False
    edges[...] = 0
    for k in ...:
        if start[k]:
            G[k] |= True
            P[k] = k
            V[k] |= True
            edges[()] += degrees[k]
    return G, edges


@ln.kernel
def push(G, edges, P, V, F, A, degrees):
    G[...] = False
    edges[...] = 0
    for j, k in ...:
        if F[j] and A[j, k] and not V[k]:
            G[k] |= True
            P[k] = ln.choose(-1)(P[k], j)
    for k in ...:
        if G[k]:
            V[k] |= True
            edges[()] += degrees[k]
    return G, edges


@ln.kernel
def pull(G, edges, P, V, F, AT, degrees):
    p = ln.scalar(-1, short_circuit=True)
    G[...] = False
    edges[...] = 0
    for k in ...:
        if not V[k]:
            p[...] = -1
            for j in ...:
                if F[ln.follow(j)] and AT[k, j]:
                    p[()] = ln.choose(-1)(p[()], j)
            if p[()] != -1:
                G[k] |= True
                P[k] = p[()]
    for k in ...:
        if G[k]:
            V[k] |= True
            edges[()] += degrees[k]
    return G, edges


@ln.kernel
def relax(D, F, E, G, W):
    D[...] = FAR
    for i in ...:
        D[i] = E[i]
    F[...] = False
    for j in ...:
        if G[j]:
            for i in ...:
                d = E[j] + W[j, i]
                D[i] = min(D[i], d)
                F[i] |= d < E[i]
    return D, F


# -- breadth-first search ------------------------------------------------------------------------


def linnet_search(A: sp.csr_array, source: int, switch: float = SWITCH) -> Side:
    """Parents; a switch of infinity never pulls."""
    graph, turned = (ln.asarray(X.astype(bool)).to(GRAPH) for X in (A, sp.csr_array(A.T)))
    degrees, n, one = ln.asarray(np.diff(A.indptr)), A.shape[0], np.arange(2, dtype=np.int32)

    def run() -> ln.Tensor:
        P, V, edges = ln.empty_tensor(PARENTS), ln.empty_tensor(FOUND), ln.scalar(0)
        F, G = ln.empty_tensor(FRONTIER), ln.empty_tensor(FRONTIER)
        start = ln.from_buffers(VERTICES, (n,), {"ptr0": one, "idx0": one[1:] * source})
        begin(F, edges, P, V, start, degrees)
        while F.nnz:
            step, rows = (pull, turned) if int(edges) > switch * A.nnz else (push, graph)
            step(G, edges, P, V, F, rows, degrees)
            F, G = G, F
        return P

    return Side(run, lambda P: depths(P.to_numpy(), source))


def linnet_push(A: sp.csr_array, source: int) -> Side:
    return linnet_search(A, source, np.inf)


def c_search(A: sp.csr_array, source: int, never: int = 0) -> Side:
    n, B, parents = A.shape[0], sp.csr_array(A.T), np.empty(A.shape[0], np.int32)
    given = (n, source, never, *native.csr(A)[:2], *native.csr(B)[:2], parents)
    return Side(native.call("graphs", "search", *given), lambda _: depths(parents, source))


def c_push(A: sp.csr_array, source: int) -> Side:
    return c_search(A, source, never=1)


def scipy_search(A: sp.csr_array, source: int) -> Side:
    def read(found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        parents = np.where(found[1] < 0, -1, found[1])
        parents[source] = source
        return depths(parents, source)

    return Side(lambda: csgraph.breadth_first_order(A, source), read)


def graphblas_search(A: sp.csr_array, source: int) -> Side:
    """As LAGraph does it: the mask keeps out what is found, and large frontiers are pulled."""
    gb = peer("graphblas")
    n = A.shape[0]
    edges = gb.io.from_scipy_sparse(A.astype(bool))
    turned = gb.io.from_scipy_sparse(sp.csr_array(A.T).astype(bool))

    def run() -> object:
        parents, frontier = gb.Vector(int, n), gb.Vector(int, n)
        parents[source] = frontier[source] = source
        while frontier.nvals:
            if frontier.nvals > n // 20:
                step = turned.mxv(frontier, gb.semiring.any_secondi)
            else:
                step = frontier.vxm(edges, gb.semiring.any_secondi)
            frontier(~parents.S, replace=True) << step
            parents(frontier.S) << frontier
        return parents

    return Side(run, lambda P: depths(P.to_dense(-1), source))


def depths(parents: np.ndarray, source: int) -> np.ndarray:
    """How many steps from the source each vertex is; -1 where it was not found."""
    depth = np.full(len(parents), -1)
    depth[source] = level = 0
    waiting = np.flatnonzero((parents >= 0) & (depth < 0))
    while len(waiting):
        level += 1
        now = depth[parents[waiting]] == level - 1
        if not now.any():
            raise ValueError("parents that lead nowhere")
        depth[waiting[now]] = level
        waiting = waiting[~now]
    return depth


# -- shortest paths ------------------------------------------------------------------------------


def linnet_paths(A: sp.csr_array, source: int) -> Side:
    arrays = {"ptr1": A.indptr, "idx1": A.indices, "val": A.data}
    W, n = ln.from_buffers(ln.CSR.with_fill(FAR), A.shape, arrays), A.shape[0]

    def run() -> ln.Tensor:
        start = np.full(n, FAR)
        start[source] = 0
        D, E = ln.asarray(start), ln.empty_tensor(ln.DENSE(1))
        F, G = ln.tensor([[source]], [True], (n,), FRONTIER, False), ln.empty_tensor(FRONTIER)
        while len(F.buffers["idx0"]):
            (D, F), E, G = relax(E, G, D, F, W), D, F
        return D

    return Side(run, read_paths)


def c_paths(A: sp.csr_array, source: int) -> Side:
    out = np.empty(A.shape[0])
    run = native.call("graphs", "distances", A.shape[0], source, *native.csr(A), out)
    return Side(run, lambda _: read_paths(out))


def scipy_paths(A: sp.csr_array, source: int) -> Side:
    if A.nnz > SMALL:
        raise Unavailable("csgraph.bellman_ford would take minutes")
    return Side(lambda: csgraph.bellman_ford(A, indices=source), read_paths)


def dijkstra(A: sp.csr_array, source: int) -> Side:
    return Side(lambda: csgraph.dijkstra(A, indices=source), read_paths)


def graphblas_paths(A: sp.csr_array, source: int) -> Side:
    gb = peer("graphblas")
    edges, n = gb.io.from_scipy_sparse(A), A.shape[0]

    def run() -> object:
        found, changed = gb.Vector.from_scalar(FAR, n), gb.Vector(float, n)
        found[source] = changed[source] = 0.0
        while changed.nvals:
            reached = changed.vxm(edges, gb.semiring.min_plus).new()
            better = reached.ewise_mult(found, gb.binary.lt).new()
            changed = reached.dup(mask=better.V)
            found(changed.S) << changed
        return found

    return Side(run, lambda D: read_paths(D.to_dense(FAR)))


def read_paths(found: object) -> np.ndarray:
    """Distances, with -1 for infinitely far."""
    found = found.to_numpy() if isinstance(found, ln.Tensor) else np.asarray(found)
    return np.where(np.isinf(found), -1.0, found)


PATHS = {
    "linnet": linnet_paths,
    "c": c_paths,
    "scipy": scipy_paths,
    "dijkstra": dijkstra,
    "graphblas": graphblas_paths,
}
SEARCH = {
    "linnet": linnet_search,
    "c": c_search,
    "scipy": scipy_search,
    "graphblas": graphblas_search,
}
PUSH = {"linnet": linnet_push, "c": c_push, "scipy": scipy_search}


def graphs(load: data.Load) -> Iterator[tuple[str, sp.csr_array, bool]]:
    """A name, a graph with both directions of every edge, and whether it is scale-free."""
    for stored in load.stored(most=10_000_000):
        yield "skewed", both_ways(data.skewed(stored // 2)), True
    if load.real:
        for name, A in data.real_matrices("wiki-Vote", "email-Enron", "ego-twitter", "wing"):
            yield name, both_ways(A), name != "wing"


def both_ways(A: sp.csr_array) -> sp.csr_array:
    B = sp.csr_array(sp.coo_array(A).maximum(sp.coo_array(A.T)))
    B.setdiag(0)
    B.eliminate_zeros()
    B.sort_indices()
    return B


def cases(load: data.Load) -> Iterator[Case]:
    for name, A, scale_free in graphs(load):
        source = int(np.argmax(np.diff(A.indptr)))
        goals = {"scipy": 2.0, "graphblas": 5.0} if scale_free else {}
        yield Case("bfs both ways", name, A.nnz, (A, source), SEARCH, BAR, goals=goals)
        yield Case("bfs push", name, A.nnz, (A, source), PUSH, BAR, idiom=True)
        goals = {"scipy": 2.0, "graphblas": 2.0} if scale_free else {}
        yield Case(
            "bellman-ford", name, A.nnz, (A, source), PATHS, BAR,
            expected=lambda A=A, s=source: read_paths(csgraph.dijkstra(A, indices=s)), goals=goals,
        )  # fmt: skip
