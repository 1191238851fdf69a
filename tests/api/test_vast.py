"""Dimensions of billions: what is stored decides the time and the memory, not their size."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln


@pytest.mark.parametrize("count", [5, 5000])
def test_places_that_are_more_than_memory_holds(count):
    """Every place of a dimension was listed, or rows that are stored as a whole became one."""
    n = 2**33
    i = np.unique(np.random.default_rng(0).integers(0, n, count))
    x = ln.tensor([i], np.arange(1.0, len(i) + 1), (n,), format=ln.COO)
    for back in (ln.flip(x), x[::-1]):
        np.testing.assert_array_equal(back.coords[0], n - 1 - i[::-1])
        np.testing.assert_array_equal(back.data, np.arange(len(i), 0, -1.0))
    tall = ln.kron(x, ln.asarray(np.array([2.0, 0.0, 4.0])))
    np.testing.assert_array_equal(
        tall.coords[0], np.stack([3 * i, 3 * i + 1, 3 * i + 2], 1).ravel()
    )
    assert tall.format == x.format
    X = ln.tensor([i, i[::-1]], x.data, (n, n), format=ln.COO)
    wide = ln.kron(X, ln.asarray(np.array([[1.0, 2.0]])))
    assert wide.shape == (n, 2 * n)
    np.testing.assert_array_equal(wide.coords[1].reshape(-1, 2)[:, 0], 2 * i[::-1])


def test_rows_stored_as_a_whole_stay_so_where_they_are_kept():
    a = np.zeros((6, 4))
    a[[1, 4]] = 1.0
    levels = ln.SparseList(ln.SparseList(ln.Dense(ln.Element(0.0))))
    x = ln.asarray(a.reshape(2, 3, 4), format=levels)
    kept, other = ln.reshape(x, (6, 4)), ln.reshape(x, (24,))
    np.testing.assert_array_equal(kept.to_numpy(), a)
    np.testing.assert_array_equal(other.to_numpy(), a.ravel())
    assert kept.format.levels[-2].full
    assert not other.format.levels[-2].full
    assert other.nnz == 8
