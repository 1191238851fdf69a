"""Kernels that call kernels."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet.errors import KernelSyntaxError, LinnetError

SMALL = np.array([[0.0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 4, 0]])


@ln.kernel
def add_row(y, A, i, scale):
    for j in ...:
        y[j] += scale[()] * A[i[()], j]


@ln.kernel
def of_rows(y, A, w):
    y[...] = 0
    for i in ...:
        add_row(y, A, i, w[i] + 1)
    return y


@ln.kernel
def dot(s, x, z):
    s[...] = 0
    for i in ...:
        s[()] += x[i] * z[i]
    return s


@ln.kernel
def total(s, x):
    """Makes something of its own, under names that the callers have, too."""
    i = ln.scalar(0.0)
    w = ln.temp(ln.Dense(ln.Element(0.0)))
    w[...] = 0
    for k in ...:
        w[k] = 2 * x[k]
    for k in ...:
        i[()] += w[k]
    s[()] = i[()] / 2


@ln.kernel
def several(y, z, x):
    k = ln.scalar(0.0)
    w = ln.temp(ln.Dense(ln.Element(0.0)))
    w[...] = 0
    for i in ...:
        w[i] = x[i] + 1
    total(k, x)
    y[...] = 0
    for i in ...:
        y[i] = w[i] + k[()]
    total(k, w)
    dot(z, w, w)
    for i in ...:
        y[i] += k[()]
    return y, z


@ln.kernel
def step(now, new, A):
    new[...] = 0
    for j, i in ...:
        new[i] += A[j, i] * now[j]
    now, new = new, now


@ln.kernel
def powers(y, A, x, times):
    now = ln.temp(ln.Dense(ln.Element(0.0)))
    new = ln.temp(ln.Dense(ln.Element(0.0)))
    now[...] = 0
    for i in ...:
        now[i] = x[i]
    for _round in range(times[()]):
        if times[()] < 0:
            break
        step(now, new, A)
    y[...] = 0
    for i in ...:
        y[i] = now[i]
    return y


@ln.kernel
def through_two(y, A, w):
    of_rows(y, A, w)
    for i in ...:
        y[i] *= 2
    return y


def checked(kernel: ln.Kernel, *given: object) -> list[np.ndarray]:
    args = dict(zip(kernel.program.params, map(ln.asarray, given), strict=True))
    check(Subject.of(kernel.program, args), args, BACKENDS)
    results = kernel(*args.values())
    return [r.to_numpy() for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE(2), ln.BAND, ln.RLE, ln.DCSR])
def test_tensors_indices_and_values(format):
    A, w = ln.asarray(SMALL).to(format), np.array([1.0, 5, 7])
    (y,) = checked(of_rows, np.zeros(4), A, w)
    np.testing.assert_array_equal(y, (w + 1) @ SMALL)


def test_names_of_the_called_are_its_own():
    x = np.array([1.0, 2, 4])
    y, z = checked(several, np.zeros(3), np.zeros(()), x)
    np.testing.assert_array_equal(y, x + 1 + x.sum() + (x + 1).sum())
    assert z == (x + 1) @ (x + 1)


def test_calls_in_loops_that_end_early_and_swap():
    A = np.array([[0.0, 1, 0], [2, 0, 1], [0, 3, 1]])
    (y,) = checked(powers, np.zeros(3), A, np.ones(3), np.array(5))
    np.testing.assert_array_equal(y, np.linalg.matrix_power(A.T, 5) @ np.ones(3))


def test_calls_of_what_calls():
    w = np.array([1.0, 5, 7])
    (y,) = checked(through_two, np.zeros(4), ln.asarray(SMALL).to(ln.CSR), w)
    np.testing.assert_array_equal(y, 2 * ((w + 1) @ SMALL))


def test_the_code_is_that_of_one_kernel():
    """An index stays one: its row is walked, and no index is tested."""

    @ln.kernel
    def by_hand(y, A, w):
        y[...] = 0
        for i in ...:
            scale = w[i] + 1
            for j in ...:
                y[j] += scale * A[i, j]
        return y

    args = (ln.zeros(4), ln.asarray(SMALL).to(ln.CSR), ln.ones(3))
    assert "add_row" not in of_rows.code(*args)
    assert of_rows.code(*args).count("for (") == by_hand.code(*args).count("for (")


# -- what is refused -------------------------------------------------------------------------------


def refused(define) -> KernelSyntaxError:
    with pytest.raises(KernelSyntaxError) as caught:
        define()
    assert caught.value.at.file == __file__
    return caught.value


def test_a_kernel_that_calls_itself():
    def define():
        @ln.kernel
        def again(y, x):
            y[...] = 0
            again(y, x)

    error = refused(define)
    assert "the kernel `again` cannot call itself" in str(error)
    assert error.at.text.strip() == "again(y, x)"


def test_a_kernel_of_the_same_name_from_before():
    def define():
        for _ in range(2):

            @ln.kernel
            def again(y, x):
                y[...] = 0
                again(y, x)

    assert "cannot call itself" in str(refused(define))


def test_a_tensor_that_is_two_parameters():
    """The line that calls is marked: the called kernel is right by itself."""

    @ln.kernel
    def sums(y, a, b):
        for i in ...:
            y[i] = a[i] + b[i]

    def define():
        @ln.kernel
        def twice(y, x):
            sums(y, x, y)

    with pytest.raises(ln.LinnetError, match="`y` cannot be both `y` and `b` of `sums`") as caught:
        define()
    assert caught.value.at.text.strip() == "sums(y, x, y)"
    assert "y is read and written in the loop over `i`" in caught.value.why

    @ln.kernel
    def doubled(y, x):  # which is only read twice
        sums(y, x, x)

    y = ln.asarray(np.zeros(3))
    doubled(y, ln.asarray(np.arange(3.0)))
    np.testing.assert_array_equal(y.to_numpy(), [0, 2, 4])


def test_a_kernel_that_is_not_yet_defined():
    def statement():
        @ln.kernel
        def early(y, x):
            afterwards(y, x)  # noqa: F821

    def value():
        @ln.kernel
        def early(y, x):
            for i in ...:
                y[i] = afterwards(x[i])  # noqa: F821

    for define in (statement, value):
        error = refused(define)
        assert "`afterwards` is not defined" in str(error)
        assert error.hint == "define it first"


def test_arguments():
    def too_few():
        @ln.kernel
        def f(s, x):
            dot(s, x)

    def by_name():
        @ln.kernel
        def f(s, x):
            dot(s, x, z=x)

    def no_tensor():
        @ln.kernel
        def f(s, x):
            for i in ...:
                dot(s, x, x[i])

    def no_result():
        @ln.kernel
        def f(s, x):
            dot(1, x, x)

    def too_many_indices():
        @ln.kernel
        def f(s, A):
            dot(s, A, A)
            for i, j in ...:
                s[()] += A[i, j]

    assert "`dot` takes 3 arguments, not 2" in str(refused(too_few))
    assert "in order" in str(refused(by_name))
    assert "`x[i]` is a value, and `dot` wants a tensor" in str(refused(no_tensor))
    assert "`s` is written to in `dot`" in str(refused(no_result))
    assert "`A` has 2 indices here and 1 index" in str(refused(too_many_indices))


def test_a_call_is_no_value():
    def in_an_expression():
        @ln.kernel
        def f(y, x):
            y[()] = dot(y, x, x)

    assert "give it a line of its own" in str(refused(in_an_expression))


def test_what_is_read_where_it_is_written():
    """As if it were written out: a tensor is read or updated in a scope, not both."""

    def define():
        @ln.kernel
        def f(y, A, w):
            for i in ...:
                add_row(y, A, i, y[i])

    with pytest.raises(LinnetError):
        define()
