"""Where positions are looked up: as early as they are known, and no earlier than they may be."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import IndexBoundsError

A = np.arange(20.0).reshape(4, 5) * (np.arange(20).reshape(4, 5) % 3 > 0)
FORMATS = [ln.CSR, ln.DCSR, ln.COO(2), ln.Dense(ln.SparseHash(ln.Element())), ln.RLE]


@ln.kernel
def rows(C, A, P):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[P[i], j]


@ln.kernel
def columns(C, A, P):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, P[j]]


@ln.kernel
def scatter(C, A, P):
    C[...] = 0
    for i, j in ...:
        C[P[i], j] += A[i, j]


@ln.kernel
def cubes(C, T, P):
    C[...] = 0
    for i, j, k in ...:
        C[i, j, k] = T[i, P[j], k]


@ln.kernel
def above(C, A, P):
    C[...] = 0
    for i in range(P.shape[0]):
        for j in range(A.shape[1]):
            if j > i:
                C[i, j] = A[P[i + 1], j]


@ln.kernel
def wide(C, A, P):
    C[...] = 0
    for i, j in ...:
        if j > 3:
            C[i, j] = A[P[i], j]


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_rows_are_looked_up_and_then_walked(format):
    x, P = ln.asarray(A, format=format), np.array([3, 0, 3, 1, 2, 0])
    C = ln.empty_tensor(ln.CSR)
    text = rows.loops(C, x, P)
    assert text.index("for at in range(P[i], P[i] + 1)") < text.index("for j in")
    assert "follow(j" not in text
    rows(C, x, P)
    np.testing.assert_array_equal(C.to_numpy(), A[P])


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_columns_are_searched_for_and_rows_scattered(format):
    x, P = ln.asarray(A, format=format), np.array([4, 0, 4])
    C = ln.empty_tensor(ln.CSR)
    columns(C, x, P)
    np.testing.assert_array_equal(C.to_numpy(), A[:, P])
    D = ln.tensor(([], []), np.zeros(0), (6, 5), format=ln.CSR)
    scatter(D, x, np.array([5, 0, 2, 0]))
    expected = np.zeros((6, 5))
    np.add.at(expected, [5, 0, 2, 0], A)
    np.testing.assert_array_equal(D.to_numpy(), expected)


@pytest.mark.parametrize("format", [ln.CSF(3), ln.COO(3)], ids=str)
def test_middle_dimensions(format):
    T = np.arange(24.0).reshape(2, 4, 3) * (np.arange(24).reshape(2, 4, 3) % 2)
    C, P = ln.empty_tensor(ln.CSF(3)), np.array([3, 1, 1])
    cubes(C, ln.asarray(T, format=format), P)
    np.testing.assert_array_equal(C.to_numpy(), T[:, P])


def test_positions_that_may_be_missing_are_read_where_they_are_used():
    C, x = ln.empty_tensor(ln.CSR), ln.asarray(A, format=ln.CSR)
    P = np.array([0, 3, 1, 2, 0])
    above(C, x, P)  # in the last rows no column is left, and P[i + 1] is beyond its end
    expected = np.triu(A[P[[1, 2, 3, 4, 4]]], 1)
    np.testing.assert_array_equal(C.to_numpy(), expected)


def test_a_position_out_of_bounds_is_an_error_only_where_it_is_used():
    narrow, broad = ln.asarray(A[:, :4], format=ln.CSR), ln.asarray(A, format=ln.CSR)
    C = ln.empty_tensor(ln.CSR)
    wide(C, narrow, np.array([0, 9]))
    assert C.nnz == 0
    with pytest.raises(IndexBoundsError):
        wide(C, broad, np.array([0, 9]))
    with pytest.raises(IndexBoundsError):
        rows(C, broad, np.array([0, -1]))


def test_few_entries_of_a_wide_matrix_take_no_time():
    x = ln.tensor(([0, 2], [7, 10**9]), [1.0, 2.0], (3, 2 * 10**9), format=ln.CSR)
    C = ln.empty_tensor(ln.CSR)
    rows(C, x, np.array([2, 1, 0, 2]))
    assert C.coords[1].tolist() == [10**9, 7, 10**9]
