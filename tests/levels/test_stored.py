"""What is stored and what is not: truth that is taken back, fill values that change their type."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import FormatError
from linnet.testing import assert_equal

PATTERNS = [
    ln.Dense(ln.SparseList(ln.Pattern())),
    ln.SparseList(ln.SparseList(ln.Pattern())),
    ln.Dense(ln.SparseByteMap(ln.Pattern())),
    ln.SparseList(ln.SparseHash(ln.Pattern())),
    ln.SparseCOO(2, ln.Pattern()),
    ln.Dense(ln.SparseRunList(ln.Pattern())),
    ln.Dense(ln.SparseBlockList(ln.Pattern())),
]


@ln.kernel
def last_of_all(C, A):
    C[...] = False
    for k, i, j in ...:
        C[i, j] = A[k, i, j] > 0
    return C


@ln.kernel
def in_all(C, A):
    C[...] = False
    for i, j in ...:
        C[i, j] |= A[0, i, j] > 0
    for k, i, j in ...:
        C[i, j] &= A[k, i, j] > 0
    return C


@pytest.mark.parametrize("format", PATTERNS, ids=repr)
def test_truth_is_taken_back(format):
    a = np.random.default_rng(0).integers(0, 2, (3, 4, 5))
    C = last_of_all(ln.empty_tensor(format), a)
    assert_equal(C, a[-1] > 0)
    assert C.nnz == (a[-1] > 0).sum()
    assert_equal(in_all(ln.empty_tensor(format), a), (a > 0).all(0))


@ln.kernel
def mark(V, x):
    for i in ...:
        V[i] = x[i] > 0


@ln.kernel
def mark_only(V, x):
    for i in ...:
        if x[i] > 0:
            V[i] = True


def test_truth_is_not_taken_back_in_place():
    V = ln.asarray([True, False, True], format=ln.SparseByteMap(ln.Pattern()), copy=True)
    with pytest.raises(FormatError, match="`V` is updated without being declared"):
        mark(V, np.array([0, 1, 0]))
    mark_only(V, np.array([0, 1, 0]))
    assert_equal(V, np.array([True, True, True]))


@ln.kernel
def diagonal(y, B):
    y[...] = 0
    for i in ...:
        y[i] = B[i, i]
    return y


@ln.kernel
def whole_diagonal(y, B):
    y[...] = 0
    for i in ...:
        y[i] = int(B[i, i])
    return y


def test_nan_that_is_not_stored_is_no_integer():
    b = np.array([[1.0, np.nan], [np.nan, np.nan]])
    B = ln.asarray(b, format=ln.CSR, fill_value=np.nan)
    y = whole_diagonal(ln.empty_tensor(ln.SparseList(ln.Element(0, "int64"))), B)
    assert_equal(y, np.array([1, 0]))
    assert y.nnz == 1
    assert diagonal(ln.empty_tensor(ln.SparseList(ln.Element(0.0))), B).nnz == 2  # NaN is not 0


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.DCSR, ln.COO(2)], ids=repr)
def test_fill_values_that_are_the_same_once_converted(format):
    a = np.array([[1.0, np.inf, np.inf], [np.inf, np.inf, 0.0]])
    A = ln.asarray(a, format=ln.CSR, fill_value=np.inf)
    B = A.to(format.with_dtype("bool").with_fill(True))
    assert_equal(B, a != 0)
    assert B.nnz == A.nnz == 2
