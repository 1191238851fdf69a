"""FINCH §7: how much work its programs are, by what their operands store and not by their sizes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.papers.test_finch_studies import (
    FALSE,
    bellman_ford,
    bfs_pull,
    bfs_push,
    empty,
    erode,
    masked_histogram,
)
from tests.visits import work

import linnet as ln

EACH = 4  # edges that leave a vertex
VERTICES = ln.DENSE(1)


def graph(n: int) -> np.ndarray:
    found = np.zeros((n, n), bool)
    found[np.arange(n).repeat(EACH), np.random.default_rng(n).integers(0, n, n * EACH)] = True
    return found


def first(n: int, count: int) -> np.ndarray:
    return np.arange(n) < count


# -- §7.3: graphs (Fig. 24) ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [100, 1600])
@pytest.mark.parametrize("active", [3, 30])
def test_fig24_pushing_takes_the_edges_of_the_frontier(n, active):
    """Results are cleared, of P and the bytes and words of G; the rest is a few turns per edge."""
    A = ln.asarray(graph(n), format=ln.Dense(ln.SparseList(ln.Pattern())))
    F = ln.asarray(first(n, active), format=FALSE)
    found = bfs_push.visits(empty(FALSE), empty(VERTICES), F, A, first(n, active))
    cleared = found["fill P"] + found["fill G"]
    assert cleared <= n + (n + n / 32 + 3)
    assert found.total - cleared <= 6 * (active + active * EACH)


@pytest.mark.parametrize("n", [100, 1600])
def test_fig24_pulling_takes_every_edge_once(n):
    A = ln.asarray(graph(n).T.copy(), format=ln.Dense(ln.SparseList(ln.Pattern())))
    F = ln.asarray(first(n, 3), format=FALSE)
    found = bfs_pull.visits(empty(FALSE), empty(VERTICES), F, A, first(n, 3))
    assert found["k"] == n
    assert found.total - found["fill G"] <= n + A.nnz + 3 * EACH


@pytest.mark.parametrize("n", [100, 1600])
@pytest.mark.parametrize("active", [3, 30])
def test_fig24_bellman_ford_relaxes_the_edges_of_what_has_changed(n, active):
    weights = np.where(graph(n), 2.0, np.inf)
    A = ln.asarray(weights, format=ln.CSR.with_fill(np.inf))
    distance = np.where(first(n, 1), 0, np.inf)
    changed = ln.asarray(first(n, active), format=FALSE)
    found = bellman_ford.visits(empty(VERTICES), empty(FALSE), distance, A, changed)
    assert found["i"] == n
    assert found["i_2 in A[j, i]"] <= active * EACH
    assert found.total - found["fill F"] <= n + 2 * (active + active * EACH)


# -- §7.4: images (Fig. 26) ------------------------------------------------------------------------


def image(width: int) -> np.ndarray:
    """A picture whose columns are so wide."""
    small = np.zeros((16, 16), bool)
    small[3:9, 2:12] = small[11:14, 5:7] = True
    return small.repeat(width, 1)


@pytest.mark.parametrize("format", [ln.RLE, ln.SRLE], ids=str)
def test_fig26_erosion_takes_the_runs_of_an_image(format):
    found = set()
    for width in (4, 64):
        img = ln.asarray(image(width), format=format)
        found.add(work(erode, empty(format), empty(format), img))
        assert max(found) <= 8 * (img.nnz + 16)
    assert len(found) == 1


def test_fig26_erosion_of_what_is_stored():
    for width in (4, 64):
        listed = ln.asarray(image(width), format=ln.CSR)
        assert work(erode, empty(ln.CSR), empty(ln.CSR), listed) <= 2 * listed.nnz + 16 * 16
        dense = ln.asarray(image(width))
        places = 16 * (16 * width)
        assert work(erode, empty(ln.DENSE(2)), empty(ln.DENSE(2)), dense) <= 3 * places + 2 * 16


@pytest.mark.parametrize("format", ["dense", "csr", "coo"])
@pytest.mark.parametrize("n", [20, 80])
def test_fig26_a_histogram_takes_what_the_mask_stores(n, format):
    rng = np.random.default_rng(n)
    img = rng.integers(0, 256, (n, n)).astype("uint8")
    mask = ln.asarray(rng.random(img.shape) < 0.05, format=format)
    found = masked_histogram.visits(empty(ln.DENSE(1)), img, mask)
    assert found["fill bins"] == 16
    rows = mask.nnz if format == "coo" else n  # those of COO are looked for where they end
    assert found.total - 16 <= mask.nnz + (2 if format == "coo" else 1) * rows
