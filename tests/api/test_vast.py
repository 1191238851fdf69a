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


@pytest.mark.parametrize("count", [5, 5000])
def test_elements_between_more_places_than_memory_holds(count):
    """With many entries, those that stay were listed place by place: it was refused as dense."""
    n = 2**34
    i = np.unique(np.random.default_rng(0).integers(1, n - 1, count))
    x = ln.tensor([i], np.ones(len(i)), (n,), format=ln.COO)
    x[[0, n - 1]] = [4.0, 5.0]
    assert (x.nnz, x[0].item(), x[n - 1].item(), x.sum().item()) == (
        len(i) + 2,
        4.0,
        5.0,
        len(i) + 9,
    )


def test_points_of_which_one_index_is_the_same():
    """One index for all takes no memory; to sort so many was an internal error."""
    i = np.arange(5000)
    x, a = ln.asarray(np.ones((3, 5000)), format=ln.CSC), np.ones((3, 5000))
    x[2, i[::-1]], a[2, i[::-1]] = i + 1.0, i + 1.0
    np.testing.assert_array_equal(x.to_numpy(), a)
