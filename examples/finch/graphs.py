"""Breadth-first search in both directions, and shortest paths (FINCH §7.3, Fig. 24).

A search keeps a frontier: the vertices found last. *Push* goes through the edges that leave it;
*pull* goes through the vertices not yet found, and leaves each at the first edge from the frontier.
While the frontier is small, pushing looks at less; when it is a large part of the graph, pulling
does. Switching between the two is direction optimization. All steps are one kernel: a loop that
`break` ends, in which one frontier and the next change places.

`python examples/finch/graphs.py`
"""

from __future__ import annotations

from collections import deque

import numpy as np

import linnet as ln

GRAPH = ln.Dense(ln.SparseList(ln.Pattern()))  # row j holds the neighbours of j
FRONTIER = ln.SparseByteMap(ln.Pattern())
FOUND = ln.Dense(ln.Element(False))
LENGTHS = ln.Dense(ln.Element(0.0))
NOBODY = -1
FAR = np.inf


# P: parents. A, AT: edges by where they begin, and by where they lead: row k of AT holds the
# vertices from which k is reached. A step pulls if more than `limit` edges leave the frontier.
@ln.kernel
def search_all(P, steps, pulls, A, AT, degrees, source, limit):
    now = ln.temp(FRONTIER)
    new = ln.temp(FRONTIER)
    found = ln.temp(FOUND)
    edges = ln.scalar(0)
    parent = ln.scalar(NOBODY, short_circuit=True)  # one is enough: the loop over j ends
    steps[...] = 0
    pulls[...] = 0
    P[...] = NOBODY
    found[...] = False
    now[...] = False
    P[source[()]] = source[()]
    found[source[()]] |= True
    now[source[()]] |= True
    edges[...] = degrees[source[()]]
    for _step in range(A.shape[0]):
        if edges[()] == 0:
            break
        steps[()] += 1
        new[...] = False
        if edges[()] > limit[()]:
            pulls[()] += 1
            for k in ...:
                if not found[k]:
                    parent[...] = NOBODY
                    for j in ...:
                        if now[ln.follow(j)] and AT[k, j]:
                            parent[()] = ln.choose(NOBODY)(parent[()], j)
                    if parent[()] != NOBODY:
                        new[k] |= True
                        P[k] = parent[()]
        else:
            for j, k in ...:
                if now[j] and A[j, k] and not found[k]:
                    new[k] |= True
                    P[k] = ln.choose(NOBODY)(P[k], j)
        edges[...] = 0
        for k in ...:
            if new[k]:
                found[k] |= True
                edges[()] += degrees[k]
        now, new = new, now
    return P


# Bellman and Ford: a round relaxes the edges that leave what changed in the round before. D, and
# `before` that round: distances. W: lengths of edges, infinite where there is none.
@ln.kernel
def relax_all(D, rounds, W, source):
    before = ln.temp(LENGTHS)
    now = ln.temp(FRONTIER)
    new = ln.temp(FRONTIER)
    more = ln.scalar(True)
    rounds[...] = 0
    D[...] = FAR
    before[...] = FAR
    now[...] = False
    D[source[()]] = 0
    before[source[()]] = 0
    now[source[()]] |= True
    for _round in range(W.shape[0]):
        if not more[()]:
            break
        rounds[()] += 1
        new[...] = False
        for j in ...:
            if now[j]:
                for i in ...:
                    d = before[j] + W[j, i]
                    if d < before[i]:
                        D[i] = min(D[i], d)
                        new[i] |= True
        more[...] = False
        for i in ...:
            if new[i]:
                before[i] = D[i]
                more[()] |= True
        now, new = new, now
    return D


# A parent of i is any j from which its distance comes.
@ln.kernel
def parents(P, D, W):
    P[...] = NOBODY
    for j, i in ...:
        if D[j] < FAR and D[j] + W[j, i] == D[i]:
            P[i] = ln.choose(NOBODY)(P[i], j)
    return P


def search(
    A: ln.Tensor, AT: ln.Tensor, source: int, switch: float = 0.05
) -> tuple[np.ndarray, int, int]:
    """Parents of all vertices, the number of steps, and how many of them pulled.

    A step pulls when the edges that leave the frontier are more than `switch` of all edges:
    0 pulls always, 1 never.
    """
    degrees = np.diff(A.buffers["ptr1"])
    P, steps, pulls = ln.empty_tensor(ln.DENSE(1)), ln.scalar(0), ln.scalar(0)
    search_all(P, steps, pulls, A, AT, degrees, np.array(source), np.array(int(switch * A.nnz)))
    return P.to_numpy(), int(steps), int(pulls)


def distances(W: ln.Tensor, source: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Distances from one vertex, parents, and the number of rounds."""
    D, rounds = ln.empty_tensor(ln.DENSE(1)), ln.scalar(0)
    relax_all(D, rounds, W, np.array(source))
    P = parents(ln.empty_tensor(ln.DENSE(1)), D, W)
    return D.to_numpy(), P.to_numpy(), int(rounds)


# -- plain Python, to check against --------------------------------------------------------------


def levels(neighbours: list[list[int]], source: int) -> list[int]:
    """How many steps each vertex is away."""
    level = [-1] * len(neighbours)
    level[source] = 0
    queue = deque([source])
    while queue:
        j = queue.popleft()
        for k in neighbours[j]:
            if level[k] < 0:
                level[k] = level[j] + 1
                queue.append(k)
    return level


def depth(found: np.ndarray, k: int, source: int) -> int:
    """How many steps from the source the parents say that k is."""
    count = 0
    while k != source:
        k, count = int(found[k]), count + 1
    return count


def scale_free(n: int, per_vertex: int, rng: np.random.Generator) -> np.ndarray:
    """Edges of a graph in which a few vertices have very many, both ways each."""
    ends = (n * rng.random((2, n * per_vertex)) ** 3).astype(int)
    both = np.concatenate([ends, ends[::-1]], axis=1)
    return np.unique(both[:, both[0] != both[1]], axis=1)


def grid(side: int) -> np.ndarray:
    """Edges of a grid of streets, both ways each."""
    at = np.arange(side * side).reshape(side, side)
    right, down = at[:, :-1].ravel(), at[:-1].ravel()
    ends = np.concatenate([[right, right + 1], [down, down + side]], axis=1)
    return np.concatenate([ends, ends[::-1]], axis=1)


def check_search(name: str, edges: np.ndarray, n: int, source: int) -> None:
    """Search one graph by pushing, by pulling and by both; all must find the same levels."""
    here = np.ones(edges.shape[1], bool)
    A = ln.tensor(edges, here, (n, n), format=GRAPH, fill_value=False)
    AT = ln.tensor(edges[::-1], here, (n, n), format=GRAPH, fill_value=False)
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for j, k in edges.T.tolist():
        neighbours[j].append(k)
    expected = levels(neighbours, source)
    for switch in (1, 0, 0.05):
        found, steps, pulls = search(A, AT, source, switch)
        assert ((found >= 0) == (np.array(expected) >= 0)).all()
        for k in range(0, n, 7):
            assert found[k] < 0 or depth(found, k, source) == expected[k]
    reached = int((found >= 0).sum())
    print(f"{name:10} {reached} of {n} found in {steps} steps, {pulls} by pulling")


def check_paths(edges: np.ndarray, n: int, rng: np.random.Generator) -> None:
    """Shortest paths, against relaxing every edge until nothing changes."""
    lengths = rng.integers(1, 20, edges.shape[1]).astype(float)
    W = ln.tensor(edges, lengths, (n, n), format=ln.CSR.with_fill(FAR), fill_value=FAR)
    found, parent, rounds = distances(W, 0)
    expected, before = np.where(np.arange(n) == 0, 0.0, FAR), None
    while before is None or (before != expected).any():
        before = expected.copy()
        np.minimum.at(expected, edges[1], before[edges[0]] + lengths)
    assert (found == expected).all()
    cost = dict(zip(map(tuple, edges.T.tolist()), lengths.tolist(), strict=True))
    for k in np.flatnonzero(np.isfinite(found)).tolist()[1:]:
        assert found[parent[k]] + cost[int(parent[k]), k] == found[k]
    print(f"shortest paths: the farthest vertex is {found[np.isfinite(found)].max():.0f} away")
    print(f"                {rounds} rounds of relaxing what changed")


def main() -> None:
    rng = np.random.default_rng(0)
    n = 4000
    check_search("scale-free", scale_free(n, 8, rng), n, source=0)
    check_search("grid", grid(60), 60 * 60, source=0)
    check_paths(scale_free(n, 8, rng), n, rng)


if __name__ == "__main__":
    main()
