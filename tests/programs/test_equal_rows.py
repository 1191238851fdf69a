"""Rows that are equal are looked at once, whatever is computed of them, however many there are."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import Subject, check
from tests.visits import work

import linnet as ln
from linnet.frontend.text import parse_text

ROWS = {
    "runs of runs": ln.RunList(ln.RunList(ln.Element(0.0))),
    "sparse runs of lists": ln.SparseRunList(ln.SparseList(ln.Element(0.0))),
    "runs of dense rows": ln.RunList(ln.Dense(ln.Element(0.0))),
    "runs of blocks": ln.RunList(ln.SparseBlockList(ln.Element(0.0))),
    "runs of bands": ln.SparseRunList(ln.SparseBand(ln.Element(0.0))),
}
VECTOR = ln.Dense(ln.Element(0.0))
UPDATES = {
    "sum": "s[()] += A[i, j]",
    "difference": "s[()] -= 2 * A[i, j]",
    "product": "s[()] *= A[i, j] + 1",
    "quotient": "s[()] /= A[i, j] + 1",
    "largest": "s[()] = max(s[()], A[i, j])",
    "last": "s[()] = A[i, j]",
    "where": "if A[i, j] > 1:\n                s[()] += A[i, j]",
    "named": "a = A[i, j]\n            s[()] += a * a",
    "both": "s[()] += A[i, j]\n            s[()] += 3 * A[i, j]",
}


def array(length: int) -> np.ndarray:
    """Some rows, each of them `length` times; one more than any value is a power of two."""
    rows = np.zeros((4, 30))
    rows[0, 3:9] = 3.0
    rows[1, 5:20] = 1.0
    rows[1, 22:30] = -0.5
    rows[3, 0:7] = 7.0
    return np.repeat(rows, length, axis=0)


def reducing(update: str) -> str:
    return f"""def reducing(s, A):
    ln.declare(s, 1, ())
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            {update}
    return s
"""


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("update", UPDATES)
def test_reductions(update, rows):
    for length in (1, 3):
        given = {"s": ln.scalar(0.0), "A": ln.asarray(array(length), format=ROWS[rows])}
        check(Subject.of(parse_text(reducing(UPDATES[update])), given), given)


@ln.kernel
def total(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] += A[i, j]


@ln.kernel
def product(s, A):
    s[...] = 1
    for i, j in ...:
        s[()] *= A[i, j] + 1


@ln.kernel
def many(s, A):
    s[...] = 0
    for i, j in ...:
        if A[i, j] > 1:
            s[()] += 1


@ln.kernel
def columns(y, A):
    y[...] = 0
    for i, j in ...:
        y[j] += A[i, j]


@ln.kernel
def squares(s, A):
    row = ln.scalar(0.0)
    s[...] = 0
    for i in ...:
        row[...] = 0
        for j in ...:
            row[()] += A[i, j]
        s[()] += row[()] * row[()]


@ln.kernel
def by_columns(y, A):
    w = ln.temp(VECTOR)
    y[...] = 0
    for i in ...:
        w[...] = 0
        for j in ...:
            w[j] += A[i, j]
        for j in ...:
            y[j] += w[j] * w[j]


@ln.kernel
def length(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] = ln.hypot(s[()], A[i, j])


MORE_OF_SQUARES = 5
"""How many turns the root of twenty equal squares takes, by doubling; that of two takes one."""

RESULTS = {
    total: lambda a: a.sum(),
    product: lambda a: (a + 1).prod(),
    length: np.linalg.norm,
    many: lambda a: (a > 1).sum(),
    columns: lambda a: a.sum(0),
    squares: lambda a: (a.sum(1) ** 2).sum(),
    by_columns: lambda a: (a * a).sum(0),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("kernel", RESULTS, ids=lambda k: k.__name__)
def test_a_row_is_read_once_for_all_that_are_equal(kernel, rows):
    counts = []
    for size in (2, 20):
        given = array(size)
        result = ln.empty_tensor(VECTOR) if kernel in (columns, by_columns) else ln.scalar(0.0)
        A = ln.asarray(given, format=ROWS[rows])
        counts.append(work(kernel, result, A))
        np.testing.assert_allclose(kernel(result, A).to_numpy(), RESULTS[kernel](given), rtol=1e-12)
    assert counts[0] <= counts[1] <= counts[0] * (MORE_OF_SQUARES if kernel is length else 1)


def test_rows_that_are_too_many_to_be_gone_through():
    n = 2**40
    arrays = {"ptr0": [0, 2], "right0": [5, n], "ptr1": [0, 1, 3], "right1": [n, 7, n]}
    arrays = {name: np.array(a) for name, a in arrays.items()} | {"val": np.array([1.0, 2.0, 0.0])}
    A = ln.from_buffers(ROWS["runs of runs"], (n, n), arrays)
    s = total(ln.scalar(0.0), A)
    assert s.item() == 5 * float(n) + 14 * float(n - 5)
    assert ln.sum(A).item() == s.item()


@ln.kernel
def digits(s, A):
    s[...] = 0
    for i, j in ...:
        s[()] = s[()] * 10 + A[i, j]


def test_what_goes_by_order_goes_through_all_rows():
    """The rows are written one behind the other, and not each digit twice."""
    given = np.repeat([[1, 1, 2], [3, 0, 0]], 2, axis=0)
    A = ln.asarray(given, format=ln.RunList(ln.RunList(ln.Element(0))))
    assert digits(ln.scalar(0), A).item() == 112112300300
