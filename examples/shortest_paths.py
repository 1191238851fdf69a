"""Other fill values: shortest paths, where what is not stored is infinitely far away.

`python examples/shortest_paths.py`
"""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
from market import read

import linnet as ln

FAR = np.inf
FRONTIER = ln.SparseByteMap(ln.Pattern())  # truth values: stored means true


# One round of Bellman and Ford: relax the edges that leave the vertices whose distance has changed.
@ln.kernel
def relax(new, changed, old, frontier, W):
    new[...] = FAR
    for i in ...:
        new[i] = old[i]
    changed[...] = False
    for j in ...:
        if frontier[j]:
            for i in ...:
                d = old[j] + W[j, i]
                new[i] = min(new[i], d)
                changed[i] |= d < old[i]
    return new, changed


# All paths of two edges: a product in which `min` adds and `+` multiplies.
@ln.kernel
def two_edges(P, W):
    P[...] = FAR
    for i, k, j in ...:
        P[i, j] = min(P[i, j], W[i, k] + W[k, j])
    return P


def distances(W: ln.Tensor, source: int) -> tuple[np.ndarray, int]:
    """Distances from one vertex, and the number of rounds."""
    n, rounds = W.shape[0], 0
    distance = ln.asarray(np.where(np.arange(n) == source, 0.0, FAR))
    frontier = ln.asarray(np.arange(n) == source, format=FRONTIER)
    while frontier.nnz:
        distance, frontier = relax(
            ln.empty_tensor(ln.DENSE(1)), ln.empty_tensor(FRONTIER), distance, frontier, W
        )
        rounds += 1
    return distance.to_numpy(), rounds


def dijkstra(weights: dict[int, list[tuple[int, float]]], n: int, source: int) -> np.ndarray:
    """The same by other means, to check against."""
    distance = np.full(n, FAR)
    queue = [(0.0, source)]
    while queue:
        d, j = heapq.heappop(queue)
        if d < distance[j]:
            distance[j] = d
            for i, w in weights[j]:
                heapq.heappush(queue, (d + w, i))
    return distance


def main() -> None:
    A = read(Path(__file__).parent / "data" / "bcsstk13.mtx.gz").to_numpy()
    n = len(A)
    # An edge where the matrix has an entry; short where it is large.
    weights = np.where(A != 0, 1 + 50 / (1 + np.log1p(abs(A))), FAR)
    W = ln.asarray(weights, format=ln.CSR.with_fill(FAR))
    print(f"graph: {W!r}")

    found, rounds = distances(W, 0)
    edges = {j: [(i, weights[j, i]) for i in np.flatnonzero(A[j])] for j in range(n)}
    assert np.allclose(found, dijkstra(edges, n, 0))
    reached = found[np.isfinite(found)]
    print(f"{len(reached)} of {n} reached in {rounds} rounds, the last at {reached.max():.2f}")

    P = two_edges(ln.empty_tensor(ln.CSR), W)
    for i in (0, 1000, n - 1):
        assert np.allclose(P.to_numpy()[i], (weights[i][:, None] + weights).min(0))
    print(f"pairs at most two edges apart: {P!r}")


if __name__ == "__main__":
    main()
