"""PageRank of a random graph: a sparse matrix, a vector, and a loop."""

from __future__ import annotations

import numpy as np

import linnet as ln


def pagerank(links: ln.Tensor, damping: float = 0.85, tolerance: float = 1e-12) -> ln.Tensor:
    """The share of each page: `links[i, j]` is stored if page i links to page j."""
    n = links.shape[0]
    out = ln.sum(links, axis=1)
    weight = ln.where(out > 0, 1.0 / out, 0.0)
    rank = ln.full((n,), 1.0 / n)
    for _ in range(1000):
        flow = (rank * weight) @ links
        lost = 1.0 - float(flow.sum())  # of pages without links: everyone gets a part
        new = damping * flow + (1.0 - damping + damping * lost) / n
        if float(ln.sum(abs(new - rank))) < tolerance:
            return new
        rank = new
    return rank


def main() -> None:
    n = 500
    links = ln.random((n, n), 0.01, format="csr", rng=1, sampler=np.ones)
    found = pagerank(links).to_numpy()

    # by definition: the eigenvector of the dense transition matrix
    A = links.to_numpy()
    out = A.sum(1)
    P = np.where(out[:, None] > 0, A / np.maximum(out, 1)[:, None], 1 / n)
    G = 0.85 * P + 0.15 / n
    x = np.full(n, 1 / n)
    for _ in range(200):
        x = x @ G
    assert np.allclose(found, x / x.sum(), atol=1e-10)
    print("shares add up to", round(float(found.sum()), 12))
    print("first:", np.argsort(-found)[:5].tolist())


if __name__ == "__main__":
    main()
