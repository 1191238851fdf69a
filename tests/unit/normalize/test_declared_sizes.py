"""Sizes of tensors that are declared, once or anew."""

from __future__ import annotations

from tests.unit.normalize.sizes import MATRIX, VECTOR, check

from linnet.frontend import words as ln

# -- sizes of declared tensors ---------------------------------------------------------------------


def test_a_result_that_only_fills_keeps_its_size():
    def before(y):
        y[...] = 0
        for i in ...:
            y[i] = 1

    def after(y):
        ln.declare(y, 0, (y.shape[0],))
        for i in range(y.shape[0]):
            y[i] = 1

    check(before, after, "y1")


def test_a_mode_without_a_plain_index_keeps_its_size():
    def before(y, x):
        y[...] = 0
        for i in ...:
            y[x[i], i] = 1

    def after(y, x):
        ln.declare(y, 0, (y.shape[0], x.shape[0]))
        for i in range(x.shape[0]):
            y[x[i], i] = 1

    check(before, after, "y2 x1")


def test_a_size_that_is_kept_must_fit_where_it_is_read():
    def before(y, z, x):
        y[...] = 0
        for i in ...:
            y[2 * i] = x[i]
        z[...] = 0
        for i in ...:
            z[i] = y[i] * x[i]

    def after(y, z, x):
        ln.declare(y, 0, (y.shape[0],))
        for i in range(x.shape[0]):
            y[2 * i] = x[i]
        ln.declare(z, 0, (y.shape[0],))
        for i in range(y.shape[0]):
            z[i] = y[i] * x[i]

    check(before, after, "y1 z1 x1", "y.shape[0] == x.shape[0]")


def test_a_temporary_that_nobody_uses_is_empty():
    def before(y, x):
        w = ln.temp(MATRIX)
        w[...] = 0
        for i in ...:
            y[i] += x[i]

    def after(y, x):
        w = ln.temp(MATRIX)
        ln.declare(w, 0, (0, 0))
        for i in range(x.shape[0]):
            y[i] += x[i]

    check(before, after, "y1 x1", "x.shape[0] == y.shape[0]")


def test_given_sizes_stay():
    def before(y, A):
        w = ln.temp(VECTOR)
        ln.declare(w, 0, (A.shape[0] - 1,))
        for i in range(1, 3):
            w[i] = A[i, i]
        y[...] = 0
        for i in ...:
            y[i] = w[i] * w.shape[0]

    def after(y, A):
        w = ln.temp(VECTOR)
        ln.declare(w, 0, (A.shape[0] - 1,))
        for i in range(1, 3):
            w[i] = A[i, i]
        ln.declare(y, 0, (A.shape[0] - 1,))
        for i in range(A.shape[0] - 1):
            y[i] = w[i] * (A.shape[0] - 1)

    check(
        before, after, "y1 A2", "0 <= A.shape[0] - 1",
        "3 <= A.shape[0]", "3 <= A.shape[1]", "3 <= A.shape[0] - 1",
    )  # fmt: skip


def test_the_shape_of_a_declared_tensor_is_an_expression_too():
    def before(y, A):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i, j in ...:
            w[j] += A[i, j]
        y[...] = 0
        for i in range(w.shape[0] - 1):
            y[i] = w[i + 1]

    def after(y, A):
        w = ln.temp(VECTOR)
        ln.declare(w, 0, (A.shape[1],))
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                w[j] += A[i, j]
        ln.declare(y, 0, (max(A.shape[1] - 1, 0),))
        for i in range(A.shape[1] - 1):
            y[i] = w[i + 1]

    check(before, after, "y1 A2")


# -- declared anew ---------------------------------------------------------------------------------


def test_a_result_that_is_read_first():
    def before(y, x):
        y[...] = 0
        for i in ...:
            y[i] = 2 * x[i]
        x[...] = 0
        for i in ...:
            x[i] = y[i]

    def after(y, x):
        ln.declare(y, 0, (x.shape[0],))
        for i in range(x.shape[0]):
            y[i] = 2 * x[i]
        ln.declare(x, 0, (x.shape[0],))
        for i in range(x.shape[0]):
            x[i] = y[i]

    check(before, after, "y1 x1")


def test_a_result_that_is_read_first_and_changes_its_size():
    def before(y, x, A):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        x[...] = 0
        for i in ...:
            x[i] = y[i]

    def after(y, x, A):
        ln.declare(y, 0, (A.shape[0],))
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                y[i] += A[i, j] * x[j]
        ln.declare(x, 0, (A.shape[0],))
        for i in range(A.shape[0]):
            x[i] = y[i]

    check(before, after, "y1 x1 A2", "A.shape[1] == x.shape[0]")


def test_power_iteration_keeps_the_size():
    def before(y, x, A):
        for _t in range(10):
            y[...] = 0
            for i, j in ...:
                y[i] += A[i, j] * x[j]
            x[...] = 0
            for i in ...:
                x[i] = y[i]

    def after(y, x, A):
        for _t in range(10):
            ln.declare(y, 0, (A.shape[0],))
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    y[i] += A[i, j] * x[j]
            ln.declare(x, 0, (A.shape[0],))
            for i in range(A.shape[0]):
                x[i] = y[i]

    check(before, after, "y1 x1 A2", "A.shape[1] == x.shape[0]", "A.shape[0] == A.shape[1]")


def test_two_declarations_have_sizes_of_their_own():
    def before(y, z, a, b):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[i] = a[i]
        y[...] = 0
        for i in ...:
            y[i] = w[i]
        w[...] = 0
        for i in ...:
            w[i] = b[i]
        z[...] = 0
        for i in ...:
            z[i] = w[i]

    def after(y, z, a, b):
        w = ln.temp(VECTOR)
        ln.declare(w, 0, (a.shape[0],))
        for i in range(a.shape[0]):
            w[i] = a[i]
        ln.declare(y, 0, (a.shape[0],))
        for i in range(a.shape[0]):
            y[i] = w[i]
        ln.declare(w, 0, (b.shape[0],))
        for i in range(b.shape[0]):
            w[i] = b[i]
        ln.declare(z, 0, (b.shape[0],))
        for i in range(b.shape[0]):
            z[i] = w[i]

    check(before, after, "y1 z1 a1 b1")


def test_a_second_declaration_keeps_the_size_of_the_first():
    def before(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        y[...] = 0
        for i in ...:
            y[i] = 1

    def after(y, x):
        ln.declare(y, 0, (x.shape[0],))
        for i in range(x.shape[0]):
            y[i] = x[i]
        ln.declare(y, 0, (x.shape[0],))
        for i in range(x.shape[0]):
            y[i] = 1

    check(before, after, "y1 x1")


def test_a_declaration_under_a_condition_must_fit_where_it_is_read():
    def before(y, x, a):
        if a[0] > 0:
            x[...] = 0
            for i in ...:
                x[i] = a[i]
        y[...] = 0
        for i in ...:
            y[i] = x[i]

    def after(y, x, a):
        if a[0] > 0:
            ln.declare(x, 0, (a.shape[0],))
            for i in range(a.shape[0]):
                x[i] = a[i]
        ln.declare(y, 0, (x.shape[0],))
        for i in range(x.shape[0]):
            y[i] = x[i]

    check(before, after, "y1 x1 a1", "a.shape[0] == x.shape[0]")


def test_a_declaration_in_a_branch_that_is_not_read_need_not_fit():
    def before(x, a, b):
        if a[0] > 0:
            x[...] = 0
            for i in ...:
                x[i] = a[i]
        else:
            x[...] = 0
            for i in ...:
                x[i] = b[i]

    def after(x, a, b):
        if a[0] > 0:
            ln.declare(x, 0, (a.shape[0],))
            for i in range(a.shape[0]):
                x[i] = a[i]
        else:
            ln.declare(x, 0, (b.shape[0],))
            for i in range(b.shape[0]):
                x[i] = b[i]

    check(before, after, "x1 a1 b1")


def test_the_old_size_can_be_named_before():
    def before(x):
        w = ln.temp(MATRIX)
        w[...] = 0
        for i, j in ...:
            w[j, i] = x[i, j]
        n = x.shape[1]
        m = x.shape[0]
        x[...] = 0
        for i in range(n):
            for j in range(m):
                x[i, j] = w[i, j]

    def after(x):
        w = ln.temp(MATRIX)
        ln.declare(w, 0, (x.shape[1], x.shape[0]))
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                w[j, i] = x[i, j]
        n = x.shape[1]
        m = x.shape[0]
        ln.declare(x, 0, (max(n, 0), max(m, 0)))
        for i in range(n):
            for j in range(m):
                x[i, j] = w[i, j]

    check(before, after, "x2")
