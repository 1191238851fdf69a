"""FINCH, Table 1, last column: conditions and masks, over every structure."""

from __future__ import annotations

import numpy as np
import pytest
from tests.papers.structures import CASES, body, empty, every_structure, places, values

import linnet as ln
from linnet.testing import assert_equal

FEW = [case for case in CASES if case.id in ("dense-0", "list-0", "runs-0", "blocks-0")]
MANY = [case for case in CASES if case not in FEW]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@ln.kernel
def cases(y, A, t):
    y[...] = 0
    for i, j in ...:
        if A[i, j] > t[()] and i <= j:
            y[i] += A[i, j]
        elif i == j + 1 or (A[i, j] == 0 and not i < j):
            y[i] += 100
        else:
            y[i] -= 1
    return y


@ln.kernel
def mask_upper(y, A):
    y[...] = 0
    for i, j in ...:
        if i <= j:
            y[i] += A[i, j]


@ln.kernel
def mask_lower(y, A):
    y[...] = 0
    for i, j in ...:
        if i > j:
            y[i] += A[i, j]


@ln.kernel
def mask_diagonal(y, A):
    y[...] = 0
    for i, j in ...:
        if i == j:
            y[i] += A[i, j]


@ln.kernel
def mask_off_diagonal(y, A):
    y[...] = 0
    for i, j in ...:
        if i != j:
            y[i] += A[i, j]


@ln.kernel
def mask_subdiagonal(y, A):
    y[...] = 0
    for i, j in ...:
        if i == j + 1:
            y[i] += A[i, j]


@ln.kernel
def mask_shifted(y, A):
    y[...] = 0
    for i, j in ...:
        if i < j + 2:
            y[i] += A[i, j]


@ln.kernel
def mask_band(y, A):
    y[...] = 0
    for i, j in ...:
        if abs(i - j) <= 2:
            y[i] += A[i, j]


@ln.kernel
def mask_residue(y, A):
    y[...] = 0
    for i, j in ...:
        if j % 3 == 1:
            y[i] += A[i, j]


@ln.kernel
def mask_conjunction(y, A):
    y[...] = 0
    for i, j in ...:
        if i < j and j <= i + 3:
            y[i] += A[i, j]


@ln.kernel
def mask_negation(y, A):
    y[...] = 0
    for i, j in ...:
        if not (i <= j):
            y[i] += A[i, j]


@ln.kernel
def mask_window(y, A):
    y[...] = 0
    for i, j in ...:
        if 2 <= j < 7:
            y[i] += A[i, j]


MASKED = (
    (mask_upper, lambda i, j: i <= j),
    (mask_lower, lambda i, j: i > j),
    (mask_diagonal, lambda i, j: i == j),
    (mask_off_diagonal, lambda i, j: i != j),
    (mask_subdiagonal, lambda i, j: i == j + 1),
    (mask_shifted, lambda i, j: i < j + 2),
    (mask_band, lambda i, j: abs(i - j) <= 2),
    (mask_residue, lambda i, j: j % 3 == 1),
    (mask_conjunction, lambda i, j: (i < j) & (j <= i + 3)),
    (mask_negation, lambda i, j: i > j),
    (mask_window, lambda i, j: (j >= 2) & (j < 7)),
)


@every_structure
def test_if_conditions(rng, make, format):
    a = make(rng)
    y = cases(empty(), ln.asarray(a, format=format), ln.scalar(2.0))
    i, j = places()
    first = (a > 2) & (i <= j)
    second = ~first & ((i == j + 1) | ((a == 0) & ~(i < j)))
    assert_equal(y, np.where(first, a, np.where(second, 100, -1)).sum(1))


every_mask = pytest.mark.parametrize(
    ("kernel", "holds"), MASKED, ids=[k.__name__ for k, _ in MASKED]
)


@every_mask
@pytest.mark.parametrize(("make", "format"), FEW)
def test_masks(rng, make, format, kernel, holds):
    a, y = make(rng), empty()
    kernel(y, ln.asarray(a, format=format))
    assert_equal(y, np.where(holds(*places()), a, 0).sum(1))


@pytest.mark.slow
@every_mask
@pytest.mark.parametrize(("make", "format"), MANY)
def test_masks_of_every_structure(rng, make, format, kernel, holds):
    test_masks(rng, make, format, kernel, holds)


@every_mask
def test_masks_narrow_loops(rng, kernel, holds):
    """No mask of a dense matrix is a test in its loop."""
    code = body(kernel, empty(), values(rng))
    assert "if (" not in code.replace("if (grow(", "").replace("if (j_s", "")
