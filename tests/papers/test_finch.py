"""FINCH, by section: every worked example of the paper that the formats of today can hold.

Indices start at 0 here, and matrices are stored by rows: the paper's `for j, i` over `A[i, j]` is
`for i, j`.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import linnet as ln
from linnet.errors import DiscordanceWarning
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


# -- §1: the even integers of two lists (Fig. 2) -------------------------------------------------


@ln.kernel
def evens_first(c, a, b):
    c[...] = 0
    for i in ...:
        if i % 2 == 0:
            c[i] = a[i] * b[i]


@ln.kernel
def evens_of_one(c, ap, a, b):
    ap[...] = 0
    for i in ...:
        if i % 2 == 0:
            ap[i] = a[i]
    c[...] = 0
    for i in ...:
        c[i] = ap[i] * b[i]


@ln.kernel
def evens_last(c, cp, a, b):
    cp[...] = 0
    for i in ...:
        cp[i] = a[i] * b[i]
    c[...] = 0
    for i in ...:
        if i % 2 == 0:
            c[i] = cp[i]


@ln.kernel
def evens_as_a_tensor(c, f, a, b):
    f[...] = 0
    for i in ...:
        if i % 2 == 0:
            f[i] = a[i] * 0 + 1
    c[...] = 0
    for i in ...:
        c[i] = a[i] * b[i] * f[i]


@pytest.mark.parametrize("middle", [SPARSE, ln.DENSE(1), ln.SparseHash(ln.Element(0.0))], ids=str)
def test_fig2_four_strategies(rng, middle):
    a, b = sparse(rng, 20, density=0.7), sparse(rng, 20, density=0.7)
    A, B = ln.asarray(a, format=SPARSE), ln.asarray(b, format=SPARSE)
    expected = np.where(np.arange(20) % 2 == 0, a * b, 0)
    c = empty(SPARSE)
    evens_first(c, A, B)
    assert_equal(c, expected)
    assert c.nnz == (expected != 0).sum()
    for strategy in (evens_of_one, evens_last, evens_as_a_tensor):
        c = empty(SPARSE)
        strategy(c, empty(middle), A, B)
        assert_equal(c, expected)


# -- §3.3: a product of all elements (Fig. 7) ----------------------------------------------------


@ln.kernel
def product(p, A):
    p[...] = 1
    for j in ...:
        p[()] *= A[j]


@pytest.mark.parametrize("zeros", [0, 3])
def test_fig7_product(rng, zeros):
    a = rng.integers(1, 4, 12).astype(float)
    a[:zeros] = 0
    for format in (SPARSE, ln.DENSE(1), ln.SparseCOO(1, ln.Element(0.0))):
        p = ln.scalar(0.0)
        product(p, ln.asarray(a, format=format))
        assert_equal(p, np.asarray(a.prod()))


# -- §4: dimensions (Fig. 11) --------------------------------------------------------------------


@ln.kernel
def three_rows(C, A, B):
    C[...] = 0
    for i in range(3):
        for j, k in ...:
            C[i, j] += A[i, k] * B[k, j]


def test_fig11_dimensions_meet(rng):
    a, b = sparse(rng, 3, 4), sparse(rng, 4, 5)
    C = empty(ln.CSR)
    A, B = ln.asarray(a, format=ln.CSR), ln.asarray(b, format=ln.CSC)
    three_rows(C, A, B)
    assert C.shape == (3, 5)
    assert_equal(C, a @ b)
    with pytest.raises(ln.LinnetError):
        three_rows(C, A, ln.asarray(b.T, format=ln.CSC))


# -- §5.2: wrappers and masks (Fig. 10) ----------------------------------------------------------


@ln.kernel
def shifted_triangle(s, A):
    s[...] = 0
    for i in range(1, A.shape[0] + 1):
        for j in ...:
            if i <= j:
                s[()] += A[i - 1, j]


@pytest.mark.parametrize("format", ["dense", "csr", "csc", "coo"])
def test_fig10_shifted_triangle(rng, format):
    a = sparse(rng, 6, 7, density=0.6)
    s = ln.scalar(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shifted_triangle(s, ln.asarray(a, format=format))
    i, j = np.indices(a.shape)
    assert_equal(s, np.asarray(a[i + 1 <= j].sum()))


# -- §5.4: concordance (Fig. 12) -----------------------------------------------------------------


@ln.kernel
def against_the_order(s, A):
    s[...] = 0
    for j, i in ...:
        s[()] += A[i, j]


def test_fig12_against_the_order(rng):
    a = sparse(rng, 5, 6)
    s, A = ln.scalar(0.0), ln.asarray(a, format=ln.CSR)
    assert "for j_2 in range(j, j + 1):" in against_the_order.loops(s, A)
    with pytest.warns(DiscordanceWarning, match="goes against the order"):
        against_the_order(s, A)
    assert_equal(s, np.asarray(a.sum()))


# -- §5.5: life cycles (Fig. 13) -----------------------------------------------------------------


@ln.kernel
def life_cycle(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i] + 1
    for i in ...:
        x[i] += 1
        y[i] += 1
    for i in ...:
        x[i] += y[i]


def test_fig13_life_cycle():
    x = ln.asarray(np.arange(5.0)).copy()
    y = empty(ln.DENSE(1))
    life_cycle(y, x)
    assert_equal(y, np.arange(5.0) + 2)
    assert_equal(x, 2 * np.arange(5.0) + 3)


# -- §6: the upper triangle (Figs. 17 and 18) ----------------------------------------------------


@ln.kernel
def upper_triangle(s, A):
    s[...] = 0
    for i, j in ...:
        if i <= j:
            s[()] += A[i, j]


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "dense"])
def test_fig18_upper_triangle(rng, format):
    a = sparse(rng, 7, 7, density=0.6)
    s = ln.scalar(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        upper_triangle(s, ln.asarray(a, format=format))
    assert_equal(s, np.asarray(np.triu(a).sum()))


# -- §7.1: SpMV (Fig. 19) ------------------------------------------------------------------------


@ln.kernel
def spmv_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def spmv_columns(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[j] += A[i, j] * x[i]


@ln.kernel
def spmv_symmetric(y, A, D, x):
    y_i = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        x_i = x[i]
        y_i[...] = 0
        for j in ...:
            a = A[i, j]
            y[j] += x_i * a
            y_i[()] += a * x[j]
        y[i] += y_i[()] + D[i] * x_i


def test_fig19_spmv(rng):
    a, x = sparse(rng, 6, 6), rng.integers(0, 9, 6).astype(float)
    y, A = empty(ln.DENSE(1)), ln.asarray(a, format=ln.CSR)
    spmv_rows(y, A, x)
    assert_equal(y, a @ x)
    spmv_columns(y, A, x)
    assert_equal(y, a.T @ x)
    both = np.triu(a, 1) + np.triu(a, 1).T + np.diag(np.diag(a))
    spmv_symmetric(y, ln.asarray(np.triu(a, 1), format=ln.CSR), np.diag(a).copy(), x)
    assert_equal(y, both @ x)


# -- §7.2: SpGEMM (Fig. 21) is tests/programs/test_spgemm.py -------------------------------------

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
