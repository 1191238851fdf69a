"""Freezes and thaws, before and after; both are written as kernels."""

from __future__ import annotations

from tests.unit.normalize.lifecycles import check

from linnet import loops
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.named import stack
from linnet.frontend import words as ln
from linnet.frontend.parse import parse
from linnet.loops.printer import show
from linnet.normalize.lifecycles import insert_lifecycles, updated_params

VECTOR = stack(Dense(Element(0.0)))


# -- FINCH -----------------------------------------------------------------------------------------


def test_finch_figure_13():
    def before(x, y):
        y[...] = 0
        for i in ...:
            y[i] = x[i] + 1
        for i in ...:
            x[i] += 1
            y[i] += 1
        for i in ...:
            x[i] += y[i]

    def after(x, y):
        y[...] = 0
        for i in ...:
            y[i] = x[i] + 1
        ln.thaw(x)
        for i in ...:
            x[i] += 1
            y[i] += 1
        ln.freeze(y)
        for i in ...:
            x[i] += y[i]
        ln.freeze(x)
        return x, y

    check(before, after)


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
        return C

    def after(C, A, B):
        w = ln.temp(VECTOR)
        C[...] = 0
        for i in ...:
            w[...] = 0
            for k, j in ...:
                w[j] += A[i, k] * B[k, j]
            ln.freeze(w)
            for j in ...:
                C[i, j] = w[j]
        ln.freeze(C)
        return C

    check(before, after)


def test_finch_figure_17():
    def before(s, A):
        s[...] = 0.0
        for i, j in ...:
            if i <= j:
                s[()] += A[i, j]

    def after(s, A):
        s[...] = 0.0
        for i, j in ...:
            if i <= j:
                s[()] += A[i, j]
        ln.freeze(s)
        return s

    check(before, after)


# -- modes -----------------------------------------------------------------------------------------


def test_an_output_that_is_not_declared():
    def before(y, A, x):
        for i, j in ...:
            y[i] += A[i, j] * x[j]

    def after(y, A, x):
        ln.thaw(y)
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        ln.freeze(y)
        return y

    check(before, after)


def test_back_and_forth():
    def before(x, y):
        y[...] = 0
        y[0] = x[0]
        x[0] = y[0]
        y[1] = x[1]
        x[1] = y[1]

    def after(x, y):
        y[...] = 0
        y[0] = x[0]
        ln.freeze(y)
        ln.thaw(x)
        x[0] = y[0]
        ln.freeze(x)
        ln.thaw(y)
        y[1] = x[1]
        ln.freeze(y)
        ln.thaw(x)
        x[1] = y[1]
        ln.freeze(x)
        return x, y

    check(before, after)


def test_declared_anew_after_reading():
    def before(y, z, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[i] = x[i]
        y[...] = 0
        for i in ...:
            y[i] = w[i]
        w[...] = 0
        for i in ...:
            w[i] = y[i]
        z[...] = 0
        for i in ...:
            z[i] = w[i]

    def after(y, z, x):
        w = ln.temp(VECTOR)
        w[...] = 0
        for i in ...:
            w[i] = x[i]
        y[...] = 0
        ln.freeze(w)
        for i in ...:
            y[i] = w[i]
        w[...] = 0
        ln.freeze(y)
        for i in ...:
            w[i] = y[i]
        z[...] = 0
        ln.freeze(w)
        for i in ...:
            z[i] = w[i]
        ln.freeze(z)
        return y, z

    check(before, after)


def test_declared_anew_without_reading():
    def before(y):
        y[...] = 0
        y[0] = 1
        y[...] = 2

    def after(y):
        y[...] = 0
        y[0] = 1
        ln.freeze(y)
        y[...] = 2
        ln.freeze(y)
        return y

    check(before, after)


def test_a_temporary_that_nobody_reads_is_frozen():
    def before(y, x):
        w = ln.temp(VECTOR)
        y[...] = 0
        for i in ...:
            w[...] = 0
            w[i] = x[i]
            y[i] = x[i]

    def after(y, x):
        w = ln.temp(VECTOR)
        y[...] = 0
        for i in ...:
            w[...] = 0
            w[i] = x[i]
            y[i] = x[i]
            ln.freeze(w)
        ln.freeze(y)
        return y

    check(before, after)


def test_updates_with_any_function_do_not_read():
    def before(y, x):
        for i in ...:
            y[i] = min(y[i], x[i])
            y[i] = y[i] * x[i]

    def after(y, x):
        ln.thaw(y)
        for i in ...:
            y[i] = min(y[i], x[i])
            y[i] *= x[i]
        ln.freeze(y)
        return y

    check(before, after)


def test_conditions_extents_and_indices_are_reads():
    def before(y, a, b, n):
        for i in ...:
            a[i] += 1
            b[i] += 1
        n[...] = 0
        n[()] += 3
        for i in range(n[()]):
            if a[i] > 0:
                y[b[i]] += 1

    def after(y, a, b, n):
        ln.thaw(a)
        ln.thaw(b)
        for i in ...:
            a[i] += 1
            b[i] += 1
        n[...] = 0
        n[()] += 3
        ln.freeze(n)
        ln.freeze(a)
        ln.freeze(b)
        ln.thaw(y)
        for i in range(n[()]):
            if a[i] > 0:
                y[b[i]] += 1
        ln.freeze(y)
        return y, a, b, n

    check(before, after)


def test_sizes_and_initial_values_are_reads():
    def before(y, n):
        n[()] += 1
        ln.declare(y, n[()], (n[()],))

    def after(y, n):
        ln.thaw(n)
        n[()] += 1
        ln.freeze(n)
        ln.declare(y, n[()], (n[()],))
        ln.freeze(y)
        return y, n

    check(before, after)


# -- results ---------------------------------------------------------------------------------------


def test_results_are_what_is_returned():
    def kernel(x, y, z):
        for i in ...:
            x[i] += z[i]
            y[i] += z[i]
        return y

    assert insert_lifecycles(parse(kernel)).results == ("y",)


def test_without_a_return_results_are_what_is_written_in_the_order_of_parameters():
    def kernel(x, y, z):
        z[...] = 0
        for i in ...:
            x[i] += y[i]

    assert updated_params(parse(kernel)) == ("x", "z")
    assert insert_lifecycles(parse(kernel)).results == ("x", "z")


def test_nothing_is_updated_by_an_empty_program():
    assert updated_params(loops.Program("f", ("x",), (), loops.NOTHING, ())) == ()


def test_long_programs_are_walked_once_per_block():
    body = loops.NOTHING
    for depth in range(60):
        index = loops.Access("x", (loops.Index(f"i{depth}"),))
        write = loops.Assign(loops.Access("y", ()), None, index)
        body = loops.Loop(f"i{depth}", None, loops.Block((write, body)))
    program = insert_lifecycles(loops.Program("f", ("y", "x"), (), body, ()))
    assert show(program.body).splitlines()[0] == "ln.thaw(y)"
    assert show(program.body).count("ln.") == 2
