"""A loop is left when all that its iterations update is final, not what one case of them does."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln

ELEMENT = ln.Element(0.0)
ROWS = {
    "lists": ln.SparseList,
    "hashes": ln.SparseHash,
    "bytes": ln.SparseByteMap,
    "bands": ln.SparseBand,
    "runs": ln.SparseRunList,
}


@ln.kernel
def compared(least, sums, A, B):
    """Where one of them stores nothing, the sum has nothing to add: the next product has."""
    least[...] = True
    sums[...] = 0.0
    for i, j in ...:
        least[()] = min(least[()], A[i, j] > B[i, j])
        sums[i] += A[i, j] * B[i, j]
    return least, sums


@pytest.mark.parametrize("b", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("a", ROWS.values(), ids=ROWS)
def test_a_sum_beside_a_value_that_is_final(a, b):
    x = np.array([[0.0, 0.0, 0.0, 0.0, -1.0, 0.0], [1.0, 2.0, 0.0, 4.0, 0.0, 5.0]])
    y = np.array([[2.0, 0.0, -1.0, 3.0, 3.0, 0.0], [0.0, 2.0, 7.0, 0.0, 6.0, 8.0]])
    args = {
        "least": ln.empty_tensor(ln.Element(True)),
        "sums": ln.empty_tensor(ln.Dense(ELEMENT)),
        "A": ln.asarray(x, format=ln.Dense(a(ELEMENT))),
        "B": ln.asarray(y, format=ln.Dense(b(ELEMENT))),
    }
    check(Subject.of(compared.program, args), args, BACKENDS)
    least, sums = compared(*args.values())
    assert not least.item()
    np.testing.assert_array_equal(sums.to_numpy(), (x * y).sum(axis=1))
