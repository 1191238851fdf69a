"""Calls that are alike share what was worked out for the first, and nothing that may change."""

import numpy as np
import pytest

import linnet as ln
from linnet.errors import IndexBoundsError, ShapeError
from linnet.runtime.call import _FRAMES


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def increase(n):
    n[()] += 1
    return n


def entry_of(kernel):
    (entry,) = kernel._entries.values()
    return entry


def matrix(n=4):
    return ln.asarray(np.diag(np.arange(1.0, n + 1)), format=ln.CSR)


def test_a_loop_that_swaps_two_tensors_prepares_two_calls():
    product._entries.clear()
    A, x, y = matrix(), ln.zeros(4), ln.zeros(4)
    ones = ln.asarray(np.ones(4))
    product(x, A, ones)
    for _ in range(5):
        product(y, A, x)
        x, y = y, x
    np.testing.assert_array_equal(x.to_numpy(), np.arange(1.0, 5) ** 6)
    assert len(entry_of(product).frames) == 3


def test_few_calls_are_remembered():
    product._entries.clear()
    y, A = ln.empty_tensor(ln.DENSE(1)), matrix()
    operands = [ln.asarray(np.full(4, float(k))) for k in range(3 * _FRAMES)]
    for _ in range(2):
        for k, x in enumerate(operands):
            np.testing.assert_array_equal(product(y, A, x).to_numpy(), k * np.arange(1.0, 5))
    assert len(entry_of(product).frames) == _FRAMES


def test_other_shapes_are_checked_after_many_calls():
    y, A, x = ln.empty_tensor(ln.DENSE(1)), matrix(), ln.asarray(np.ones(4))
    for _ in range(3):
        product(y, A, x)
    with pytest.raises(ShapeError, match="`j`"):
        product(y, A, ln.asarray(np.ones(5)))
    assert product(y, matrix(5), ln.asarray(np.ones(5))).shape == (5,)


def test_sizes_that_a_tensor_holds_are_read_in_every_call():
    """The tensor is updated where it is: its address says nothing about its value."""

    @ln.kernel
    def count(y, n):
        y[...] = 0
        for i in range(n[()]):
            y[i] = i
        return y

    n, y = ln.asarray(np.int64(2)), ln.empty_tensor(ln.DENSE(1))
    for size in range(3, 7):
        increase(n)
        assert count(y, n).to_numpy().tolist() == list(range(size))


def test_an_output_that_others_see_survives_a_call_that_fails():
    """Its memory is not the kernel's to write to."""

    @ln.kernel
    def scatter(y, at, x):
        y[...] = 0
        for i in ...:
            y[at[i]] = x[i]
        return y

    given = np.ones(3)
    y, x = ln.asarray(given), ln.asarray(np.arange(3.0))
    with pytest.raises(IndexBoundsError):
        scatter(y, ln.asarray(np.array([0, 1, 7])), x)
    assert y.to_numpy().tolist() == given.tolist() == [1.0, 1.0, 1.0]


def test_a_scalar_that_begins_with_an_element_changes_no_size():
    @ln.kernel
    def rest(y, x):
        s = ln.scalar(0.0)
        s[...] = x[0]
        for i in ...:
            s[()] += x[i]
        y[...] = 0
        y[()] = s[()]
        return y

    x = ln.asarray(np.arange(5.0) + 1)
    assert float(rest(ln.empty_tensor(ln.DENSE(0)), x)) == 16
    assert float(rest(ln.empty_tensor(ln.DENSE(0)), x)) == 16
    assert len(entry_of(rest).frames) == 1
