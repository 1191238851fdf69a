"""FINCH §7, case studies: graphs and images; and control flow of Table 1, a program for each row.

§7.1 (SpMV) is in test_finch.py, §7.2 (SpGEMM) in tests/programs/test_spgemm.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.testing import assert_equal, dense

SPARSE = ln.SparseList(ln.Element(0.0))
FALSE = ln.SparseByteMap(ln.Pattern())


def sparse(rng: np.random.Generator, *shape: int, density: float = 0.4) -> np.ndarray:
    values = rng.integers(1, 9, shape).astype(float)
    return np.where(rng.random(shape) < density, values, 0.0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2025)


def empty(format: object) -> ln.Tensor:
    return ln.empty_tensor(format)  # type: ignore[arg-type]


# -- §7.3: graphs (Fig. 24) ----------------------------------------------------------------------


@ln.kernel
def bfs_push(G, P, F, A, V):
    G[...] = False
    P[...] = -1
    for j, k in ...:
        if F[j] and A[j, k] and not V[k]:
            G[k] |= True
            P[k] = ln.choose(-1)(P[k], j)


@ln.kernel
def bfs_pull(G, P, F, AT, V):
    p = ln.scalar(-1)
    G[...] = False
    P[...] = -1
    for k in ...:
        if not V[k]:
            p[...] = -1
            for j in ...:
                if F[ln.follow(j)] and AT[k, j]:
                    p[()] = ln.choose(-1)(p[()], j)
            if p[()] != -1:
                G[k] |= True
                P[k] = p[()]


@pytest.mark.parametrize("step", [bfs_push, bfs_pull])
def test_fig24_breadth_first_search(rng, step):
    n = 30
    graph = rng.random((n, n)) < 0.08
    stored = graph if step is bfs_push else graph.T
    A = ln.asarray(stored.copy(), format=ln.Dense(ln.SparseList(ln.Pattern())))
    visited, parents = np.zeros(n, bool), np.full(n, -1)
    depths, frontier = np.full(n, -1), np.zeros(n, bool)
    frontier[0] = visited[0] = True
    depths[0] = depth = 0
    while frontier.any():
        G, P = empty(FALSE), empty(ln.DENSE(1))
        step(G, P, ln.asarray(frontier, format=FALSE), A, visited)
        new, depth = dense(G), depth + 1
        assert (new == ((graph[frontier].any(0)) & ~visited)).all()
        found = dense(P)
        assert ((found >= 0) == new).all()
        assert all(graph[found[k], k] and frontier[found[k]] for k in np.flatnonzero(new))
        parents[new], depths[new] = found[new], depth
        frontier, visited = new, visited | new
    assert (depths == shortest(np.where(graph, 1.0, np.inf), 0, missing=-1)).all()


def shortest(weights: np.ndarray, source: int, missing: float = np.inf) -> np.ndarray:
    """Distances from one vertex, by relaxing every edge n times."""
    distance = np.full(len(weights), np.inf)
    distance[source] = 0
    for _ in weights:
        distance = np.minimum(distance, (distance[:, None] + weights).min(0))
    return np.where(np.isinf(distance), missing, distance)


@ln.kernel
def bellman_ford(D, F, E, A, G):
    D[...] = np.inf
    for i in ...:
        D[i] = E[i]
    F[...] = False
    for j in ...:
        if G[j]:
            for i in ...:
                d = E[j] + A[j, i]
                D[i] = min(D[i], d)
                F[i] |= d < E[i]


def test_fig24_bellman_ford(rng):
    n = 25
    weights = np.where(rng.random((n, n)) < 0.1, rng.integers(1, 20, (n, n)), np.inf)
    A = ln.asarray(weights, format=ln.CSR.with_fill(np.inf))
    assert A.nnz == np.isfinite(weights).sum()
    distance = np.full(n, np.inf)
    distance[0] = 0
    changed = np.arange(n) == 0
    while changed.any():
        D, F = empty(ln.DENSE(1)), empty(FALSE)
        bellman_ford(D, F, distance, A, ln.asarray(changed, format=FALSE))
        distance, changed = dense(D), dense(F)
    assert (distance == shortest(weights, 0)).all()


# -- §7.4: images (Fig. 26) ----------------------------------------------------------------------


@ln.kernel
def erode(out, tmp, img):
    tmp[...] = False
    for y, x in ...:
        tmp[y, x] = (
            ln.coalesce(img[~(y - 1), x], True) & img[y, x] & ln.coalesce(img[~(y + 1), x], True)
        )
    out[...] = False
    for y, x in ...:
        out[y, x] = (
            ln.coalesce(tmp[y, ~(x - 1)], True) & tmp[y, x] & ln.coalesce(tmp[y, ~(x + 1)], True)
        )


@ln.kernel
def masked_histogram(bins, img, mask):
    ln.declare(bins, 0, (16,))
    for y, x in ...:
        if mask[y, x]:
            bins[img[y, x] // 16] += 1


def test_fig26_erosion(rng):
    img = rng.random((9, 11)) < 0.8
    out = empty(ln.DENSE(2))
    erode(out, empty(ln.DENSE(2)), img)
    padded = np.pad(img, 1, constant_values=True)
    expected = padded[:-2, 1:-1] & img & padded[2:, 1:-1]
    wide = np.pad(expected, 1, constant_values=True)
    assert_equal(out, wide[1:-1, :-2] & expected & wide[1:-1, 2:])


@pytest.mark.parametrize("format", ["dense", "csr", "coo"])
def test_fig26_masked_histogram(rng, format):
    img = rng.integers(0, 256, (9, 11)).astype("uint8")
    mask = rng.random(img.shape) < 0.5
    bins = empty(ln.DENSE(1))
    masked_histogram(bins, img, ln.asarray(mask, format=format))
    assert_equal(bins, np.bincount(img[mask] // 16, minlength=16))


# -- Table 1: control flow, row by row -----------------------------------------------------------


@ln.kernel
def two_left_hand_sides(total, largest, rows, A):
    total[...] = 0
    largest[...] = -np.inf
    rows[...] = 0
    for i, j in ...:
        a = A[i, j]
        total[()] += a
        largest[()] = max(largest[()], a)
        rows[i] += a


def test_table1_multiple_left_hand_sides(rng):
    a = sparse(rng, 5, 6)
    total, largest, rows = ln.scalar(0.0), ln.scalar(0.0), empty(ln.DENSE(1))
    two_left_hand_sides(total, largest, rows, ln.asarray(a, format=ln.CSR))
    assert_equal(total, np.asarray(a.sum()))
    assert_equal(largest, np.asarray(a.max()))
    assert_equal(rows, a.sum(1))


@ln.kernel
def convolve(y, x, w):
    y[...] = 0
    for i in range(x.shape[0] - w.shape[0] + 1):
        for k in ...:
            y[i] += x[i + k] * w[k]


@pytest.mark.parametrize("weights", [SPARSE, ln.DENSE(1)], ids=str)
def test_table1_affine_indices(rng, weights):
    x, w = rng.integers(0, 9, 12).astype(float), np.array([1.0, 0.0, -2.0])
    y = empty(ln.DENSE(1))
    convolve(y, x, ln.asarray(w, format=weights))
    assert_equal(y, np.convolve(x, w[::-1], "valid"))


@ln.kernel
def add_at(y, I, x, J):
    for i in ...:
        y[J[i]] += x[I[i]]


def test_table1_scatter_and_gather(rng):
    x = rng.integers(0, 9, 6).astype(float)
    gather, scatter = rng.integers(0, 6, 10), rng.integers(0, 4, 10)
    expected = np.zeros(4)
    np.add.at(expected, scatter, x[gather])
    y = ln.asarray(np.zeros(4)).copy()
    add_at(y, gather, x, scatter)
    assert_equal(y, expected)


@ln.kernel
def sign_split(positive, negative, A):
    positive[...] = 0
    negative[...] = 0
    for i, j in ...:
        if A[i, j] > 0 and i < j:
            positive[i, j] = A[i, j]
        elif A[i, j] < 0 or i == j:
            negative[i, j] = A[i, j]


def test_table1_conditions_and_masks(rng):
    a = sparse(rng, 6, 6) * rng.choice([-1, 1], (6, 6))
    P, N = empty(ln.CSR), empty(ln.CSR)
    sign_split(P, N, ln.asarray(a, format=ln.CSR))
    i, j = np.indices(a.shape)
    first = (a > 0) & (i < j)
    assert_equal(P, np.where(first, a, 0))
    assert_equal(N, np.where(~first & ((a < 0) | (i == j)), a, 0))


@ln.kernel
def smooth_twice(y, t):
    t[...] = 0
    for i in ...:
        t[i] = y[i] + ln.coalesce(y[~(i + 1)], 0)
    for i in ...:
        y[i] = t[i] + ln.coalesce(t[~(i + 1)], 0)


def test_table1_read_and_write_in_turn(rng):
    """A tensor is written, read, and written again: each in its own scope."""
    x = rng.integers(0, 9, 8).astype(float)
    y = ln.asarray(x).copy()
    again = empty(ln.DENSE(1))
    smooth_twice(y, again)
    once = x + np.append(x[1:], 0)
    assert_equal(y, once + np.append(once[1:], 0))
