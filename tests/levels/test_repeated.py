"""Updates over a run: a few steps, whatever its length, and what one after the other would give."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import linnet as ln
from linnet.errors import IndexBoundsError
from linnet.testing import assert_equal

RUNS = ln.RunList(ln.Element())


@ln.kernel
def product(s, x):
    s[...] = 1
    for i in ...:
        s[()] *= x[i]
    return s


@ln.kernel
def from_start(s, x, start):
    s[...] = 0
    s[()] += start[()]
    for i in ...:
        s[()] *= x[i]
    return s


@ln.kernel
def quotient(s, x):
    s[...] = 1
    for i in ...:
        s[()] /= x[i]
    return s


@ln.kernel
def total(s, x):
    s[...] = 0
    for i in ...:
        s[()] += x[i]
    return s


@ln.kernel
def difference(s, x):
    s[...] = 0
    for i in ...:
        s[()] -= x[i]
    return s


@ln.kernel
def parity(s, x):
    s[...] = 0
    for i in ...:
        s[()] ^= x[i]
    return s


@ln.kernel
def length(s, x):
    s[...] = 0
    for i in ...:
        s[()] = ln.hypot(s[()], x[i])
    return s


@ln.kernel
def count(s, x):
    s[...] = 0
    for i in ...:
        s[()] += x[i] > 1
    return s


def one_after_the_other(kernel, *args):
    """The same on a dense vector, where nothing is repeated."""
    s, x, *rest = args
    return kernel(s, ln.asarray(x, format=ln.DENSE(1)), *rest).to_numpy()


def no_loop(kernel, *args) -> bool:
    return not re.search(r"for \(i64 [it]", kernel.code(*args))


INTEGERS = np.repeat([3, -2, 7, 1, 5], [9, 64, 1, 1000, 31])


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint32"])
@pytest.mark.parametrize("kernel", [product, total, difference, parity], ids=lambda k: k.__name__)
def test_integers_are_exact(kernel, dtype):
    x = INTEGERS.astype(dtype)
    s = ln.empty_tensor(ln.Element(None, dtype))
    X = ln.asarray(x, format=RUNS)
    assert_equal(
        kernel(s, X), one_after_the_other(kernel, ln.empty_tensor(ln.SCALAR.with_dtype(dtype)), x)
    )
    assert no_loop(kernel, s, X)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("kernel", [product, quotient, total, difference], ids=lambda k: k.__name__)
def test_numbers(kernel, dtype):
    x = np.repeat([1.25, -0.5, 2.0, 0.875], [5, 9, 8, 33]).astype(dtype)
    s = ln.empty_tensor(ln.SCALAR.with_dtype(dtype))
    X = ln.asarray(x, format=RUNS)
    result = kernel(s, X).to_numpy()
    expected = one_after_the_other(kernel, ln.empty_tensor(ln.SCALAR.with_dtype(dtype)), x)
    np.testing.assert_allclose(result, expected, rtol=1e-4 if dtype == "float32" else 1e-12)


def test_other_associative_functions():
    x = np.repeat([3.0, 1.0, 2.0], [7, 100, 12])
    X, s = ln.asarray(x, format=RUNS), ln.scalar(0.0)
    np.testing.assert_allclose(length(s, X).to_numpy(), np.linalg.norm(x))
    assert no_loop(length, s, X)


def test_values_of_another_type():
    x = np.repeat([1, 2, 3], [4, 5, 6])
    for made in (ln.scalar(0), ln.scalar(0.0)):
        X = ln.asarray(x, format=RUNS)
        assert count(made, X).item() == 11
        assert no_loop(count, made, X)


@ln.kernel
def in_several_ways(s, t, x):
    s[...] = 0
    t[...] = 0
    for i in ...:
        s[()] *= x[i]
        s[()] += x[i]
        t[()] = 2
        t[()] += x[i]
        t[()] -= 1
    return s, t


def test_one_scalar_in_several_ways():
    x = np.repeat([1.5, -2.0], [3, 4])
    s, t = in_several_ways(ln.scalar(0.0), ln.scalar(0.0), ln.asarray(x, format=RUNS))
    expected = 0.0
    for value in x:
        expected = expected * value + value
    assert s.item() == expected
    assert t.item() == 2 + x[-1] - 1


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e200, 1e-200, 1e300, -1e-310, 10.0]


@pytest.mark.parametrize("start", [1.0, -1e-300, 1e300, 0.0, np.inf])
@pytest.mark.parametrize("value", SPECIAL)
def test_powers_that_are_no_numbers(value, start):
    """`s * x * x * …` may be a number where `x ** n` is none."""
    for n in (1, 2, 3, 40):
        x = np.full(n, value)
        result = from_start(ln.scalar(0.0), ln.asarray(x, format=RUNS), ln.scalar(start)).item()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = np.float64(start)
            for factor in x:
                expected = expected * factor
        np.testing.assert_allclose(result, expected, rtol=1e-9)


@pytest.mark.parametrize("value", [complex(np.inf, 0), complex(0, -np.inf), complex(1, np.nan)])
def test_sums_of_complex_infinities(value):
    x = np.full(5, value)
    result = total(ln.scalar(0j), ln.asarray(x, format=RUNS)).item()
    expected = sum(x[1:], x[0])
    assert repr(result) == repr(complex(expected))


@ln.kernel
def looked_up(y, x, places):
    y[...] = 0
    for i in range(places.shape[0]):
        p = ln.coalesce(places[~(i - 1)], 0)
        y[i] = x[p]
    return y


def test_what_is_known_beside_the_bounds_is_not_known_within():
    x, places = np.arange(5.0), np.array([4, 3, 2, 1, 0])
    assert_equal(looked_up(ln.empty_tensor(ln.DENSE(1)), x, places), x[[0, 4, 3, 2, 1]])
    places[1] = 9
    with pytest.raises(IndexBoundsError):
        looked_up(ln.empty_tensor(ln.DENSE(1)), x, places)
