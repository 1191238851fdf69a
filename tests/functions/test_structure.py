"""Iteration spaces that are given, over structured formats: omitters, runs, blocks, bands."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

X = np.repeat([0, 2.0, 0, 3, 3, 0], 4)
Y = np.repeat([0, 0, 1.0, 1, 0, 0], 4)
EXPECTED = np.where((X != 0) & (Y != 0), 0, X + Y)
ELEMENT = ln.Element(0.0)
FIRST = [
    ln.CSF(1),
    ln.DENSE(1),
    ln.RunList(ELEMENT),
    ln.SparseRunList(ELEMENT),
    ln.SparseBand(ELEMENT),
    ln.SparseBlockList(ELEMENT),
    ln.SparseByteMap(ELEMENT),
]
SECOND = [ln.CSF(1), ln.DENSE(1), ln.RunList(ELEMENT), ln.SparseBlockList(ELEMENT)]
RESULTS = [ln.CSF(1), ln.DENSE(1), ln.RunList(ELEMENT), ln.SparseHash(ELEMENT)]


@ln.function(commutative=True, iteration_space="(x | y) & ~(x & y)")
def one_of(x, y):
    if x != 0 and y != 0:
        return 0 * x
    return x + y


@ln.kernel
def apply(r, a, b):
    r[...] = 0
    for i in ...:
        r[i] = one_of(a[i], b[i])


@ln.kernel
def total(s, a, b):
    s[...] = 0
    for i in ...:
        s[()] += one_of(a[i], b[i])


@pytest.mark.parametrize("second", SECOND, ids=str)
@pytest.mark.parametrize("first", FIRST, ids=str)
def test_symmetric_difference(first, second):
    a, b = ln.asarray(X, format=first), ln.asarray(Y, format=second)
    for out in RESULTS:
        np.testing.assert_array_equal(apply(ln.empty_tensor(out), a, b).to_numpy(), EXPECTED)
    assert total(ln.scalar(0.0), a, b).to_numpy() == EXPECTED.sum()
