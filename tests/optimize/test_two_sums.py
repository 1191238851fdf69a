"""Loops that add to a sum and update places all over take two steps at a time."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linnet as ln
from linnet.testing import assert_equal


@ln.kernel
def both_ways(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def dealt(y, s, I, x):
    y[...] = 0
    s[...] = 0
    for j in ...:
        if j < 5:
            s[()] += x[j]
            y[I[j]] += x[j]
        else:
            s[()] += 2 * x[j]
            y[I[j]] += x[j]
    return y, s


@ln.kernel
def counted(y, s, I):
    y[...] = 0
    s[...] = 0
    for j in ...:
        s[()] += I[j]
        y[I[j]] += 1
    return y, s


def vector() -> ln.Tensor:
    return ln.empty_tensor(ln.DENSE(1))


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_any_length(backend, dtype):
    n = 9
    a = np.tril(np.arange(n * n).reshape(n, n) % 7).astype(dtype)  # rows of 0 to 8 entries
    a += np.tril(a, -1).T
    A, x = ln.asarray(a, format=ln.SYMMETRIC), np.arange(n, dtype=dtype)
    code = both_ways.code(vector(), A, x)
    assert re.search(r"y_sum_odd \+= A_val\[A_q \+ 1\] \* x_val\[j_2\];", code)
    with ln.config(backend=backend):
        assert_equal(both_ways(vector(), A, x), a @ x)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("n", [0, 1, 4, 5, 6, 7, 12])
def test_two_such_loops_one_after_the_other(backend, n):
    places, x = np.arange(n) * 5 % 3, np.arange(1.0, n + 1)
    y = ln.asarray(np.zeros(3))
    assert (
        len(re.findall(r"double s_odd\w* = -0\.0;", dealt.code(y, ln.scalar(0.0), places, x))) == 2
    )
    with ln.config(backend=backend):
        y, s = dealt(y, ln.scalar(0.0), places, x)
    assert s.item() == x.sum() + x[5:].sum()
    assert_equal(y, np.bincount(places, x, 3).astype(float))


def test_the_first_place_out_of_bounds_ends_the_loop():
    y, s, x = ln.asarray(np.zeros(3)), ln.scalar(0.0), np.arange(4.0)
    with pytest.raises(ln.errors.LinnetError, match=r"y\[I\[j\]\]"):
        dealt(y, s, np.array([0, 3, 1, 1]), x)


def test_sums_of_integers_need_no_second():
    y, s, places = ln.asarray(np.zeros(3, int)), ln.scalar(0), np.array([0, 2, 2, 1, 2])
    assert "_odd" not in counted.code(y, s, places)
    y, s = counted(y, s, places)
    assert s.item() == 7
    assert_equal(y, np.array([1, 1, 3]))


def test_the_sign_of_zero_is_kept():
    @ln.kernel
    def total(y, s, I, x):
        s[...] = -0.0
        y[...] = 0
        for j in ...:
            s[()] += x[j]
            y[I[j]] += x[j]
        return y, s

    y, places = ln.asarray(np.zeros(2)), np.array([0, 1, 1])
    _, s = total(y, ln.scalar(-0.0), places, np.full(3, -0.0))
    assert np.signbit(s.item())
