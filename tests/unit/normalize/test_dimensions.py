"""Extents and dimensions, before and after; both are written as kernels."""

from __future__ import annotations

from collections.abc import Callable

from linnet import loops
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.named import stack
from linnet.frontend import words as ln
from linnet.frontend.parse import parse
from linnet.loops.check import check_dimensions
from linnet.loops.printer import show
from linnet.normalize.dimensions import infer_dimensions
from linnet.normalize.shape_checks import Check

SCALAR = stack(Element(0.0))
VECTOR = stack(Dense(Element(0.0)))
MATRIX = stack(Dense(Dense(Element(0.0))))


def inferred(program: loops.Program, ndims: str) -> tuple[loops.Program, tuple[Check, ...]]:
    """`ndims` says how many dimensions the parameters have: "C2 A2 x1"."""
    ranks = {word[:-1]: int(word[-1]) for word in ndims.split()}
    ranks |= {name: format.ndim for name, format in program.temporaries}
    return infer_dimensions(program, ranks)


def check(
    before: Callable[..., object], after: Callable[..., object], ndims: str, *checks: str
) -> None:
    program, found = inferred(parse(before), ndims)
    expected = parse(after)
    assert show(program.body) == show(expected.body)
    assert program.body == expected.body
    check_dimensions(program)
    assert [f"{show(c.a)} {c.relation} {show(c.b)}" for c in found] == list(checks)


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
