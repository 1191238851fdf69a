"""What results store, not only their values: nothing that the program did not write.

A function of what is known to be a fill value is simplified before there is code; what is stored is
then the set of places at which an update remains (ARRAY §4, FINCH §3.2). Values that happen to be
the fill value are not looked at: where an operand stores one, so does the result.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.programs.cases import interpreted
from tests.programs.formats import nest
from tests.programs.storing import PAIRS, SIZE, SPARSE, check, drawn, stored

import linnet as ln
from linnet.testing import assert_equal

# -- unions and intersections --------------------------------------------------------------------


@ln.kernel
def union(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] = a[i] + b[i]


@ln.kernel
def intersection(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] = a[i] * b[i]


@ln.kernel
def difference_of_itself(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] = a[i] - a[i]


@ln.kernel
def product_and_sum(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] = a[i] * b[i] + a[i]


@ln.kernel
def two_updates(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] += a[i]
        c[i] += b[i]


@ln.kernel
def scaled(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] = 2 * a[i] / 4


@ln.kernel
def zero_times(c, a, b):
    c[...] = 0
    for i in ...:
        c[i] = 0 * a[i] * b[i]


ARITHMETIC = [
    (union, lambda a, b: a + b, lambda p, q: p | q),
    (intersection, lambda a, b: a * b, lambda p, q: p & q),
    (difference_of_itself, lambda a, b: 0 * a, lambda p, q: p),
    (product_and_sum, lambda a, b: a * b + a, lambda p, q: p),
    (two_updates, lambda a, b: a + b, lambda p, q: p | q),
    (scaled, lambda a, b: a / 2, lambda p, q: p),
    (zero_times, lambda a, b: 0 * a, lambda p, q: p & q),  # 0 * nan is nan, where it is stored
]


@pytest.mark.parametrize(
    ("kernel", "value", "place"), ARITHMETIC, ids=lambda x: getattr(x, "__name__", "")
)
def test_arithmetic(kernel, value, place):
    (a, p), (b, q) = drawn(1), drawn(2)
    for n, (f, g) in enumerate(PAIRS):
        check(kernel, SPARSE[n % 4], [stored(f, a, p), stored(g, b, q)], value(a, b), place(p, q))


# -- other fill values ---------------------------------------------------------------------------


@ln.kernel
def smaller(c, a, b):
    c[...] = np.inf
    for i in ...:
        c[i] = min(a[i], b[i])


@ln.kernel
def path_length(c, a, b):
    c[...] = np.inf
    for i in ...:
        c[i] = a[i] + b[i]


@ln.kernel
def product_of_factors(c, a, b):
    c[...] = 1
    for i in ...:
        c[i] = a[i] * b[i]


@ln.kernel
def quotient(c, a, b):
    c[...] = 1
    for i in ...:
        c[i] = a[i] / b[i]


@ln.kernel
def plus_one(c, a, b):
    c[...] = 1
    for i in ...:
        c[i] = a[i] + 1


@ln.kernel
def power(c, a, b):
    c[...] = 1
    for i in ...:
        c[i] = a[i] ** b[i]


@ln.kernel
def larger(c, a, b):
    c[...] = 5
    for i in ...:
        c[i] = max(a[i], b[i])


FILLS = [  # kernel, fills of a, b and c, value, places
    (smaller, (np.inf, np.inf, np.inf), np.minimum, lambda p, q: p | q),
    (path_length, (np.inf, np.inf, np.inf), np.add, lambda p, q: p & q),
    (product_of_factors, (1.0, 1.0, 1.0), np.multiply, lambda p, q: p | q),
    (quotient, (1.0, 1.0, 1.0), np.divide, lambda p, q: p | q),
    (plus_one, (0.0, 0.0, 1.0), lambda a, b: a + 1, lambda p, q: p),
    (power, (0.0, 0.0, 1.0), np.power, lambda p, q: q),
    (larger, (5.0, 3.0, 5.0), np.maximum, lambda p, q: p | q),
]


@pytest.mark.parametrize(
    ("kernel", "fills", "value", "place"), FILLS, ids=lambda x: getattr(x, "__name__", "")
)
def test_other_fill_values(kernel, fills, value, place):
    (a, p), (b, q) = drawn(6, fills[0]), drawn(7, fills[1])
    for n, (f, g) in enumerate(PAIRS):
        operands = [stored(f, a, p, fills[0]), stored(g, b, q, fills[1])]
        check(kernel, SPARSE[n % 4], operands, value(a, b), place(p, q), fills[2])


@ln.kernel
def shortest(C, A, B):
    C[...] = np.inf
    for i, k, j in ...:
        C[i, j] = min(C[i, j], A[i, k] + B[k, j])


@pytest.mark.parametrize("letters", ["DS", "SS", "2", "HH", "DB", "DS 10"])
def test_min_plus_product(letters):
    rng = np.random.default_rng(8)
    a, b = (
        np.where(rng.random((6, 6)) < 0.25, rng.integers(1, 9, (6, 6)), np.inf) for _ in range(2)
    )
    A, B = (ln.asarray(x, format=ln.CSR.with_fill(np.inf)) for x in (a, b))
    made = interpreted(shortest, ln.empty_tensor(nest(letters)), [A, B], (6, 6), np.inf)
    reached = np.isfinite(a).astype(int) @ np.isfinite(b).astype(int) > 0
    assert_equal(made, (a[:, :, None] + b[None]).min(1))
    assert made.nnz == reached.sum()


# -- rows, reductions, products ------------------------------------------------------------------


@ln.kernel
def row_sums(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j]


@ln.kernel
def rows_of_product(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]


@ln.kernel
def last_of_each(C, T):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] = T[i, j, k]


@pytest.mark.parametrize("letters", ["DS", "SS", "2", "HH", "SB", "DS 10", "1S"])
def test_rows_that_store_nothing_are_not_stored(letters):
    a = np.zeros((SIZE, 3))
    a[[3, 7, 8], [0, 2, 1]] = [1, -1, 4]
    A = ln.tensor(*_entries(a, [(11, 1)]), a.shape, nest(letters))
    rows = a.any(1)
    rows[11] = True  # an entry that holds 0 is an entry
    for result in SPARSE:
        check(row_sums, result, [A], a.sum(1), rows)


def _entries(a: np.ndarray, zeros: list[tuple[int, int]]) -> tuple[list[list[int]], list[float]]:
    places = [*zip(*np.nonzero(a), strict=True), *zeros]
    i, j = zip(*places, strict=True)
    return [list(map(int, i)), list(map(int, j))], [a[place] for place in places]


@pytest.mark.parametrize("letters", ["DS", "SS", "2", "HH", "DB", "SB", "DS 10", "SS 10", "BH"])
def test_product_stores_what_meets(letters):
    rng = np.random.default_rng(9)
    a, b = (
        np.where(rng.random((8, 8)) < 0.2, rng.choice([-1.0, 1.0], (8, 8)), 0) for _ in range(2)
    )
    A, B = ln.asarray(a, format=ln.CSR), ln.asarray(b, format=ln.CSR)
    made = interpreted(rows_of_product, ln.empty_tensor(nest(letters)), [A, B], (8, 8))
    assert_equal(made, a @ b)
    assert made.nnz == (np.abs(a) @ np.abs(b) > 0).sum()  # also where products cancel
    levels = made.buffers
    if letters.startswith("SS"):  # no row without entries
        assert (np.diff(levels["ptr1"]) > 0).all()


@pytest.mark.parametrize("letters", ["SSS", "3", "DSS", "DDD", "HHH", "SSS 210"])
def test_the_last_write_wins_even_if_nothing_is_stored_there(letters):
    rng = np.random.default_rng(10)
    t = np.where(rng.random((4, 5, 3)) < 0.4, rng.integers(1, 9, (4, 5, 3)), 0).astype(float)
    for result in ["DD", "DS", "SS", "HH", "2"]:
        T = ln.asarray(t, format=nest(letters))
        made = interpreted(last_of_each, ln.empty_tensor(nest(result)), [T], (4, 5))
        assert_equal(made, t[:, :, -1])
