"""Programs that went wrong once: each is here so that it does not again."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import IndexBoundsError

SPARSE = (ln.SparseList, ln.SparseByteMap, ln.SparseHash)


@pytest.mark.parametrize("level", SPARSE)
def test_two_elements_at_once(level):
    """While y[i] is being added up, y[i // 2] may be the same element."""

    @ln.kernel
    def f(y, x):
        y[...] = 0
        for i in ...:
            for j in ...:
                y[i] += x[j]
            y[i // 2] += x[i]
        return y

    x = np.array([1.0, 0.0, 2.0, 4.0, 0.0])
    expected = np.full(5, x.sum())
    np.add.at(expected, np.arange(5) // 2, x)
    ln.testing.assert_equal(f(ln.empty_tensor(level(ln.Element(0.0))), x), expected)


def test_a_branch_that_is_not_taken_does_not_look():
    @ln.kernel
    def f(y, x, c):
        y[...] = 0
        for i in ...:
            y[i] = x[2 * i] if c[i] else 7.0
        return y

    x, y = np.array([1.0, 2.0, 3.0]), ln.empty_tensor(ln.DENSE(1))
    assert f(y, x, np.array([True, True, False])).to_numpy().tolist() == [1, 3, 7]
    with pytest.raises(IndexBoundsError, match=r"`x` leaves"):
        f(y, x, np.array([True, True, True]))
