"""Breadth-first search and shortest paths (FINCH §7.3, Fig. 24), from the vertex with most edges.

Everything from the first vertex to the last is timed, and is one kernel. Results are compared by
depths, since a vertex may have several possible parents.
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

BAR = 0.9
GRAPH = ln.Dense(ln.SparseList(ln.Pattern()))
FRONTIER = ln.SparseByteMap(ln.Pattern())
ROWS = ln.SparseList(ln.Pattern())
PARENTS = ln.Dense(ln.Element(-1, "int32"))
FLAGS = ln.Dense(ln.Element(False))
LENGTHS = ln.Dense(ln.Element(0.0))
FAR = np.inf
SMALL = 100_000  # edges: SciPy's Bellman-Ford relaxes all of them n times


@ln.kernel
def begin(P, found, here, now, source):
    P[...] = -1
    found[...] = False
    here[...] = False
    now[...] = False
    P[source[()]] = source[()]
    found[source[()]] |= True
    now[source[()]] |= True


@ln.kernel
def pull_all(P, AT, here, found):
    """Look at the edges of each vertex that waits, up to the first that leads to the frontier."""
    parent = ln.scalar(-1, short_circuit=True)
    waits = ln.temp(ROWS)
    waits[...] = False
    for k in ...:
        if not found[k]:
            waits[k] = True
    for k in ...:
        if waits[k]:
            parent[...] = -1
            for j in ...:
                if here[ln.follow(j)] and AT[k, j]:
                    parent[()] = ln.choose(-1)(parent[()], j)
            if parent[()] != -1:
                P[k] = parent[()]


@ln.kernel
def push_all(P, A, here, found):
    """In order: what is kept is the last that leads to a vertex, without a look at the others."""
    toward = ln.temp(PARENTS)
    toward[...] = -1
    front = ln.temp(ROWS)
    front[...] = False
    for j in ...:
        if here[j]:
            front[j] = True
    for j, k in ...:
        if front[j] and A[j, k]:
            toward[k] = j
    for k in ...:
        P[k] = max(P[k], ln.where(found[k], -1, toward[k]))


@ln.kernel
def push_each(P, new, A, now, found):
    for j, k in ...:
        if now[j] and A[j, k] and not found[k]:
            new[k] |= True
            P[k] = max(P[k], j)  # any will do, and this one is found in any order


@ln.kernel
def look_at_all(P, here, found, edges, degrees):
    for k in ...:
        fresh = found[k] != (P[k] != -1)
        here[k] = fresh
        edges[()] += degrees[k] * fresh
    for k in ...:
        found[k] = P[k] != -1


@ln.kernel
def look_at_new(new, found, edges, degrees):
    for k in ...:
        if new[k]:
            found[k] |= True
            edges[()] += degrees[k]


# A pull looks at the edges of each vertex up to the first that leads to the frontier: of every
# count / edges one does, if they are as good as drawn by lot. `left` leave the n * left / count
# vertices that are not found, so that a pull looks at n * left / edges. An edge that is tested
# takes as long as four that are not, one that is pulled as long as two.
@ln.kernel
def choose(wide, pull, pulls, edges, left, n):
    push = min(edges[()] + 2 * n[()], 4 * edges[()])
    pull[...] = pulls[()] and edges[()] * push > 2 * n[()] * (edges[()] + left[()])
    wide[...] = pull[()] or 3 * edges[()] > 2 * n[()]


# P: parents. A, AT: edges by where they begin, and by where they lead; `count` is how many there
# are. A narrow step pushes along the `edges` that leave the frontier, which is a list (`now`), and
# tests each. A wide one tests no edge, or pulls; nobody can foresee what it finds, so that all
# vertices are looked at afterwards, in vectors, and the frontier is a flag for each (`here`).
# Both list the vertices whose edges they look at, by which their rows are asked for ahead.
@ln.kernel
def search(P, A, AT, degrees, source, count, pulls):
    now = ln.temp(FRONTIER)
    new = ln.temp(FRONTIER)
    here = ln.temp(FLAGS)
    found = ln.temp(FLAGS)
    edges = ln.scalar(0)
    left = ln.scalar(0)
    wide = ln.scalar(False)
    pull = ln.scalar(False)
    begin(P, found, here, now, source)
    edges[...] = degrees[source[()]]
    left[...] = count[()] - degrees[source[()]]
    for _step in range(A.shape[0]):
        if edges[()] == 0:
            break
        new[...] = False
        if pull[()]:
            pull_all(P, AT, here, found)
        elif wide[()]:
            push_all(P, A, here, found)
        else:
            push_each(P, new, A, now, found)
        edges[...] = 0
        if wide[()]:
            look_at_all(P, here, found, edges, degrees)
        else:
            look_at_new(new, found, edges, degrees)
        left[()] -= edges[()]
        was_wide = wide[()]
        choose(wide, pull, pulls, edges, left, A.shape[0])
        if wide[()] and not was_wide:
            here[...] = False
            for k in ...:
                if new[k]:
                    here[k] |= True
        if was_wide and not wide[()]:
            front = ln.temp(ROWS)
            front[...] = False
            for k in ...:
                if here[k]:
                    front[k] = True
            for k in ...:
                if front[k]:
                    new[k] |= True
        now, new = new, now
    return P


# D: distances. In a round, the edges that leave what changed in the round before are relaxed. Of
# many edges none is tested: what has changed is looked for afterwards.
@ln.kernel
def distances(D, W, degrees, source):
    before = ln.temp(LENGTHS)
    now = ln.temp(FRONTIER)
    new = ln.temp(FRONTIER)
    edges = ln.scalar(0)
    D[...] = FAR
    before[...] = FAR
    now[...] = False
    D[source[()]] = 0
    before[source[()]] = 0
    now[source[()]] |= True
    edges[...] = degrees[source[()]]
    for _round in range(W.shape[0]):
        if edges[()] == 0:
            break
        new[...] = False
        if 4 * edges[()] > W.shape[0]:
            for j in ...:
                if now[j]:
                    for i in ...:
                        D[i] = min(D[i], before[j] + W[j, i])
            for i in ...:
                if D[i] < before[i]:
                    new[i] |= True
        else:
            for j in ...:
                if now[j]:
                    for i in ...:
                        d = before[j] + W[j, i]
                        if d < before[i]:
                            D[i] = min(D[i], d)
                            new[i] |= True
        edges[...] = 0
        for i in ...:
            if new[i]:
                before[i] = D[i]
                edges[()] += degrees[i]
        now, new = new, now
    return D


# -- breadth-first search ------------------------------------------------------------------------


def linnet_search(A: sp.csr_array, source: int, pulls: bool = True) -> Side:
    graph, turned = (ln.asarray(X.astype(bool)).to(GRAPH) for X in (A, sp.csr_array(A.T)))
    degrees = ln.asarray(np.diff(A.indptr))
    given = (graph, turned, degrees, *(ln.asarray(np.array(x)) for x in (source, A.nnz, pulls)))
    parents = ln.empty_tensor(PARENTS)
    return Side(lambda: search(parents, *given), lambda P: depths(P.to_numpy(), source))


def linnet_push(A: sp.csr_array, source: int) -> Side:
    return linnet_search(A, source, pulls=False)


def c_search(A: sp.csr_array, source: int, never: int = 0, function: str = "search") -> Side:
    n, B, parents = A.shape[0], sp.csr_array(A.T), np.empty(A.shape[0], np.int32)
    given = (n, source, never, *native.csr(A)[:2], *native.csr(B)[:2], parents)
    return Side(native.call("graphs", function, *given), lambda _: depths(parents, source))


def c_bits(A: sp.csr_array, source: int) -> Side:
    """With bits for what waits and what is in the frontier, and the wide pushes of the program."""
    return c_search(A, source, function="search_by_bits")


def c_flags(A: sp.csr_array, source: int) -> Side:
    """With bytes for both, as in the program, and lists of those whose edges are looked at."""
    return c_search(A, source, function="search_by_flags")


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
    W = ln.from_buffers(ln.CSR.with_fill(FAR), A.shape, arrays)
    given = (W, ln.asarray(np.diff(A.indptr)), ln.asarray(np.array(source)))
    found = ln.empty_tensor(ln.DENSE(1))
    return Side(lambda: distances(found, *given), read_paths)


def c_paths(A: sp.csr_array, source: int, function: str = "distances") -> Side:
    out = np.empty(A.shape[0])
    run = native.call("graphs", function, A.shape[0], source, *native.csr(A), out)
    return Side(run, lambda _: read_paths(out))


def c_rounds(A: sp.csr_array, source: int) -> Side:
    """As the program has it: with distances of the round before, and not of the same round."""
    return c_paths(A, source, "distances_by_rounds")


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
    "c-rounds": c_rounds,
    "scipy": scipy_paths,
    "dijkstra": dijkstra,
    "graphblas": graphblas_paths,
}
SEARCH = {
    "linnet": linnet_search,
    "c": c_search,
    "c-bits": c_bits,
    "c-flags": c_flags,
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
