"""Extents and dimensions, before and after; both are written as kernels."""

from __future__ import annotations

from tests.unit.normalize.sizes import MATRIX, VECTOR, check, inferred

from linnet.frontend import words as ln
from linnet.frontend.parse import parse


def test_what_is_known_stays_as_it_is():
    def kernel(C, A, B, x):
        w = ln.temp(VECTOR)
        C[...] = 0
        for i in ...:
            w[...] = 0
            for k, j in ...:
                w[j] += A[i, k] * B[k, j]
            for j in range(2, x.shape[0]):
                C[i, j] = w[j]
        x[...] = 0
        for i in ...:
            x[i] = C[i, 0]

    once, _ = inferred(parse(kernel), "C2 A2 B2 x1")
    twice, _ = inferred(once, "C2 A2 B2 x1")
    assert twice == once


# -- FINCH -----------------------------------------------------------------------------------------


def test_finch_figure_11():
    def before(C, A, B):
        C[...] = 0
        for i in range(3):
            for j in ...:
                for k in ...:
                    C[i, j] += A[i, k] * B[k, j]

    def after(C, A, B):
        ln.declare(C, 0, (3, B.shape[1]))
        for i in range(3):
            for j in range(B.shape[1]):
                for k in range(A.shape[1]):
                    C[i, j] += A[i, k] * B[k, j]

    check(before, after, "C2 A2 B2", "A.shape[1] == B.shape[0]", "3 <= A.shape[0]")


def test_finch_gustavson():
    def before(C, A, B):
        w = ln.temp(VECTOR)
        C[...] = 0
        for i in ...:
            w[...] = 0
            for k, j in ...:
                w[j] += A[i, k] * B[k, j]
            for j in ...:
                C[i, j] = w[j]

    def after(C, A, B):
        w = ln.temp(VECTOR)
        ln.declare(C, 0, (A.shape[0], B.shape[1]))
        for i in range(A.shape[0]):
            ln.declare(w, 0, (B.shape[1],))
            for k in range(A.shape[1]):
                for j in range(B.shape[1]):
                    w[j] += A[i, k] * B[k, j]
            for j in range(B.shape[1]):
                C[i, j] = w[j]

    check(before, after, "C2 A2 B2", "A.shape[1] == B.shape[0]")


# -- where an index gets its extent ----------------------------------------------------------------


def test_a_read_gives_the_extent():
    def before(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]

    def after(y, A, x):
        ln.declare(y, 0, (A.shape[0],))
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                y[i] += A[i, j] * x[j]

    check(before, after, "y1 A2 x1", "A.shape[1] == x.shape[0]")


def test_an_output_that_is_not_declared_gives_the_extent():
    def before(y):
        for i in ...:
            y[i] += 1

    def after(y):
        for i in range(y.shape[0]):
            y[i] += 1

    check(before, after, "y1")


def test_an_output_that_is_not_declared_must_fit():
    def before(y, x):
        for i in ...:
            y[i] += x[i]

    def after(y, x):
        for i in range(x.shape[0]):
            y[i] += x[i]

    check(before, after, "y1 x1", "x.shape[0] == y.shape[0]")


def test_conditions_lets_and_indices_are_reads():
    def before(y, a, b, c, d):
        y[...] = 0
        for i in ...:
            t = a[i]
            if b[i] > 0:
                y[c[i]] += t
        for k in ...:
            y[k] += d[k]

    def after(y, a, b, c, d):
        ln.declare(y, 0, (d.shape[0],))
        for i in range(a.shape[0]):
            t = a[i]
            if b[i] > 0:
                y[c[i]] += t
        for k in range(d.shape[0]):
            y[k] += d[k]

    check(
        before, after, "y1 a1 b1 c1 d1", "a.shape[0] == b.shape[0]", "a.shape[0] == c.shape[0]"
    )  # fmt: skip


def test_computed_and_permissive_indices_say_nothing():
    def before(y, x, z, A):
        y[...] = 0
        for i in ...:
            y[i] = x[i + 1] + x[2 * i] + x[~i] + z[i] + A[0, i]

    def after(y, x, z, A):
        ln.declare(y, 0, (z.shape[0],))
        for i in range(z.shape[0]):
            y[i] = x[i + 1] + x[2 * i] + x[~i] + z[i] + A[0, i]

    check(before, after, "y1 x1 z1 A2", "z.shape[0] == A.shape[1]")


def test_a_protocol_is_still_a_plain_index():
    def before(s, a, b):
        s[...] = 0
        for i in ...:
            s[()] += a[ln.gallop(i)] * b[ln.walk(i)]

    def after(s, a, b):
        ln.declare(s, 0, ())
        for i in range(a.shape[0]):
            s[()] += a[ln.gallop(i)] * b[ln.walk(i)]

    check(before, after, "s0 a1 b1", "a.shape[0] == b.shape[0]")


def test_one_tensor_twice():
    def before(s, A):
        s[...] = 0
        for i, j, k in ...:
            s[()] += A[i, j] * A[j, k]

    def after(s, A):
        ln.declare(s, 0, ())
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                for k in range(A.shape[1]):
                    s[()] += A[i, j] * A[j, k]

    check(before, after, "s0 A2", "A.shape[1] == A.shape[0]")


def test_an_outer_index_in_an_inner_block():
    def before(y, A):
        w = ln.temp(VECTOR)
        y[...] = 0
        for i in ...:
            w[...] = 0
            for j in ...:
                w[j] += A[i, j]
            y[i] = w[i]

    def after(y, A):
        w = ln.temp(VECTOR)
        ln.declare(y, 0, (A.shape[0],))
        for i in range(A.shape[0]):
            ln.declare(w, 0, (A.shape[1],))
            for j in range(A.shape[1]):
                w[j] += A[i, j]
            y[i] = w[i]

    check(before, after, "y1 A2", "A.shape[0] == A.shape[1]")


def test_an_extent_may_come_from_what_follows():
    def before(y, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[i] = 1
        y[...] = 0
        for j in ...:
            y[j] = w[j] * x[j]

    def after(y, x):
        w = ln.temp(VECTOR)
        ln.declare(w, 0, (x.shape[0],))
        for i in range(x.shape[0]):
            w[i] = 1
        ln.declare(y, 0, (x.shape[0],))
        for j in range(x.shape[0]):
            y[j] = w[j] * x[j]

    check(before, after, "y1 x1")


def test_a_histogram_has_the_size_of_what_it_is_copied_to():
    def before(y, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[x[i]] += 1
        for b in ...:
            y[b] += w[b]

    def after(y, x):
        w = ln.temp(VECTOR)
        ln.declare(w, 0, (y.shape[0],))
        for i in range(x.shape[0]):
            w[x[i]] += 1
        for b in range(y.shape[0]):
            y[b] += w[b]

    check(before, after, "y1 x1")


def test_sizes_go_through_several_temporaries():
    def before(y, A):
        u = ln.temp(MATRIX)
        v = ln.temp(VECTOR)
        u[...] = 0
        for i, j in ...:
            u[j, i] = A[i, j]
        v[...] = 0
        for k, l in ...:
            v[k] += u[k, l]
        y[...] = 0
        for m in ...:
            y[m] = v[m]

    def after(y, A):
        u = ln.temp(MATRIX)
        v = ln.temp(VECTOR)
        ln.declare(u, 0, (A.shape[1], A.shape[0]))
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                u[j, i] = A[i, j]
        ln.declare(v, 0, (A.shape[1],))
        for k in range(A.shape[1]):
            for l in range(A.shape[0]):
                v[k] += u[k, l]
        ln.declare(y, 0, (A.shape[1],))
        for m in range(A.shape[1]):
            y[m] = v[m]

    check(before, after, "y1 A2")


# -- checks ----------------------------------------------------------------------------------------


def test_checks_are_evaluated_on_shapes():
    def kernel(C, A, B):
        C[...] = 0
        for i, j, k in ...:
            C[i, j] += A[i, k] * B[k, j]

    _, (agree,) = inferred(parse(kernel), "C2 A2 B2")
    assert agree.holds({"A": (3, 4), "B": (4, 5), "C": (0, 0)})
    assert not agree.holds({"A": (3, 4), "B": (5, 4)})


def test_checks_with_arithmetic():
    def kernel(y, x):
        for i in range(1, x.shape[0] - 1):
            y[i] += 1

    _, (fits,) = inferred(parse(kernel), "y1 x1")
    assert fits.holds({"y": (4,), "x": (5,)})
    assert not fits.holds({"y": (4,), "x": (6,)})


def test_as_many_checks_as_needed_and_no_more():
    def kernel(s, a, b, c, d):
        s[...] = 0
        for i in ...:
            s[()] += a[i] * b[i] * c[i]
        for i in ...:
            s[()] += a[i] * d[i] * c[i]

    _, checks = inferred(parse(kernel), "s0 a1 b1 c1 d1")
    assert len(checks) == 3
