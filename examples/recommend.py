"""Alternating least squares on ratings that are mostly missing, and the best items for each user.

Only the ratings that are stored count: NaN is the fill value, and `ln.isnan` says what is missing.
"""

from __future__ import annotations

import numpy as np

import linnet as ln


def step(ratings: ln.Tensor, known: ln.Tensor, factors: np.ndarray, weight: float) -> np.ndarray:
    """The best factors of every row, given those of the columns."""
    rank = factors.shape[1]
    right = (ratings @ factors).to_numpy()
    # for each row, the sum of f f' over its known columns: one contraction
    squares = ln.einsum("S[u,a,b] += K[u,i] * F[i,a] * G[i,b]", K=known, F=factors, G=factors)
    left = squares.to_numpy() + weight * np.eye(rank)
    return np.linalg.solve(left, right[..., None])[..., 0]


def main() -> None:
    rng = np.random.default_rng(0)
    users, items, rank = 60, 40, 3
    truth = rng.normal(size=(users, rank)) @ rng.normal(size=(rank, items))
    seen = rng.random((users, items)) < 0.4

    # missing ratings are NaN, which is not stored
    table = ln.asarray(np.where(seen, truth, np.nan), format="csr", fill_value=np.nan)
    known = ~ln.isnan(table)
    assert known.nnz == seen.sum()
    ratings = ln.where(known, table, 0.0)
    assert ratings.nnz == seen.sum()

    V = rng.normal(size=(items, rank))
    for _ in range(60):
        U = step(ratings, known.astype(float), V, 1e-6)
        V = step(ratings.T, known.T.astype(float), U, 1e-6)
    error = ln.sum((ratings - known * (U @ V.T)) ** 2)
    print("squared error on what is known:", round(float(error), 6))
    assert float(error) < 1e-3

    # of what a user has not seen, the five that fit best
    scores = ln.where(known, -np.inf, ln.asarray(U @ V.T))
    _, best = ln.topk(scores, 5)
    expected = np.argsort(-np.where(seen, -np.inf, U @ V.T), axis=1)[:, :5]
    assert np.array_equal(best.to_numpy(), expected)
    assert not seen[np.arange(users)[:, None], best.to_numpy()].any()
    print("user 0 would like", best.to_numpy()[0].tolist())


if __name__ == "__main__":
    main()
