"""Explicit ranges: the sizes that they give, and what has to fit into them."""

from __future__ import annotations

from tests.unit.normalize.sizes import VECTOR, check

from linnet.frontend import words as ln

# -- explicit ranges -------------------------------------------------------------------------------


def test_a_range_gives_the_size_of_what_it_fills():
    def before(y, x):
        y[...] = 0
        for i in range(2, 5):
            y[i] = x[i]

    def after(y, x):
        ln.declare(y, 0, (5,))
        for i in range(2, 5):
            y[i] = x[i]

    check(before, after, "y1 x1", "5 <= x.shape[0]")


def test_of_several_ranges_the_last_end_counts():
    def before(y):
        y[...] = 0
        for i in range(2, 5):
            y[i] = 1
        for i in range(5, 9):
            y[i] = 2
        for i in range(3):
            y[i] = 3

    def after(y):
        ln.declare(y, 0, (9,))
        for i in range(2, 5):
            y[i] = 1
        for i in range(5, 9):
            y[i] = 2
        for i in range(3):
            y[i] = 3

    check(before, after, "y1")


def test_a_range_lies_within_what_loops_without_an_extent_fill():
    def before(y, x):
        y[...] = 0
        for i in range(1, 4):
            y[i] = 1
        for i in ...:
            y[i] += x[i]

    def after(y, x):
        ln.declare(y, 0, (x.shape[0],))
        for i in range(1, 4):
            y[i] = 1
        for i in range(x.shape[0]):
            y[i] += x[i]

    check(before, after, "y1 x1", "4 <= x.shape[0]")


def test_what_a_range_has_filled_must_fit_where_it_is_read():
    def before(y, z, x):
        y[...] = 0
        for i in range(4):
            y[i] = 1
        z[...] = 0
        for i in ...:
            z[i] = y[i] + x[i]

    def after(y, z, x):
        ln.declare(y, 0, (4,))
        for i in range(4):
            y[i] = 1
        ln.declare(z, 0, (x.shape[0],))
        for i in range(x.shape[0]):
            z[i] = y[i] + x[i]

    check(before, after, "y1 z1 x1", "4 == x.shape[0]")


def test_a_range_of_computed_size():
    def before(y, x):
        y[...] = 0
        for i in range(x.shape[0] - 2):
            y[i] = x[i + 2]

    def after(y, x):
        ln.declare(y, 0, (max(x.shape[0] - 2, 0),))
        for i in range(x.shape[0] - 2):
            y[i] = x[i + 2]

    check(before, after, "y1 x1")


def test_a_scalar_as_the_end_of_a_range():
    def before(y, n, x):
        y[...] = 0
        for i in range(n[()]):
            y[i] = x[i]

    def after(y, n, x):
        ln.declare(y, 0, (max(n[()], 0),))
        for i in range(n[()]):
            y[i] = x[i]

    check(before, after, "y1 n0 x1")


def test_a_scalar_that_changes_in_between_gives_no_size():
    def before(y, n):
        y[...] = 0
        n[()] += 1
        for i in range(n[()]):
            y[i] = 1

    def after(y, n):
        ln.declare(y, 0, (y.shape[0],))
        n[()] += 1
        for i in range(n[()]):
            y[i] = 1

    check(before, after, "y1 n0")


def test_a_scalar_that_changes_in_a_loop_gives_no_size():
    def before(y, n):
        y[...] = 0
        for _t in range(3):
            for i in range(n[()]):
                y[i] = 1
            n[...] = 0

    def after(y, n):
        ln.declare(y, 0, (y.shape[0],))
        for _t in range(3):
            for i in range(n[()]):
                y[i] = 1
            ln.declare(n, 0, ())

    check(before, after, "y1 n0")


def test_triangular_loops():
    def before(y, A):
        w = ln.temp(VECTOR)
        y[...] = 0
        for i in ...:
            w[...] = 0
            for j in range(i):
                w[j] += A[i, j]
            for j in ...:
                y[i] += w[j]

    def after(y, A):
        w = ln.temp(VECTOR)
        ln.declare(y, 0, (A.shape[0],))
        for i in range(A.shape[0]):
            ln.declare(w, 0, (i,))
            for j in range(i):
                w[j] += A[i, j]
            for j in range(i):
                y[i] += w[j]

    check(before, after, "y1 A2")


def test_a_triangle_in_a_result_keeps_the_result_as_it_is():
    def before(L, A):
        L[...] = 0
        for i in ...:
            for j in range(i):
                L[i, j] = A[i, j]

    def after(L, A):
        ln.declare(L, 0, (A.shape[0], L.shape[1]))
        for i in range(A.shape[0]):
            for j in range(i):
                L[i, j] = A[i, j]

    check(before, after, "L2 A2")


def test_a_named_size():
    def before(y, x):
        n = x.shape[0] // 2
        y[...] = 0
        for i in range(n):
            y[i] = x[2 * i]

    def after(y, x):
        n = x.shape[0] // 2
        ln.declare(y, 0, (max(n, 0),))
        for i in range(n):
            y[i] = x[2 * i]

    check(before, after, "y1 x1")


def test_a_name_that_is_not_known_at_the_declaration():
    def before(y, x):
        y[...] = 0
        for k in ...:
            n = x[k]
            for i in range(n):
                y[i] = 1

    def after(y, x):
        ln.declare(y, 0, (y.shape[0],))
        for k in range(x.shape[0]):
            n = x[k]
            for i in range(n):
                y[i] = 1

    check(before, after, "y1 x1")


def test_hand_written_csr():
    def before(y, ptr, idx, val, x):
        y[...] = 0
        for i in range(ptr.shape[0] - 1):
            for p in range(ptr[i], ptr[i + 1]):
                y[i] += val[p] * x[idx[p]]

    def after(y, ptr, idx, val, x):
        ln.declare(y, 0, (max(ptr.shape[0] - 1, 0),))
        for i in range(ptr.shape[0] - 1):
            for p in range(ptr[i], ptr[i + 1]):
                y[i] += val[p] * x[idx[p]]

    check(before, after, "y1 ptr1 idx1 val1 x1", "ptr.shape[0] - 1 <= ptr.shape[0]")
