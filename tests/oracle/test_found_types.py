"""Programs that went wrong once for dtypes and truth values: each is here so that it does not."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.oracle.check import KINDS, Subject, check
from tests.oracle.functions import one_of

import linnet as ln
from linnet.errors import DTypeError, FormatError


def test_a_truth_value_that_ends_a_loop_is_as_wide_as_its_scalar():
    @ln.kernel
    def some(y, A):
        w = ln.temp(ln.ShortCircuit(0, "int64"))
        y[...] = 0.0
        w[...] = 0
        for i in ...:
            w[()] = w[()] or A[i, i]
        y[()] += w[()]
        return y

    with ln.config(check=True):
        found = [some(ln.scalar(0.0), m).item() for m in (np.zeros((2, 2)), np.diag([0.0, 3.0]))]
    assert found == [0, 1]


def test_infinities_that_disagree_are_computed_in_any_order():
    """inf - x is inf and x - inf is -inf; where neither is stored, NumPy's NaN."""

    @ln.kernel
    def differences(y, A, B):
        y[...] = 0.0
        for i, j in ...:
            y[i, j] += A[j] - (B[i] + 1)
        return y

    held = np.array([np.inf, 2.0])
    A = ln.asarray(held, format=ln.SparseList(ln.Element(np.inf)))
    y = differences(ln.empty_tensor(ln.DENSE(2)), A, A)
    np.testing.assert_array_equal(y.to_numpy(), [[np.nan, -np.inf], [np.inf, -1.0]])
    assert np.isnan((A - A).fill_value)
    assert (A + A).fill_value == np.inf
    assert np.isnan((A + -A).fill_value)


def test_truth_values_of_numbers_are_not_idempotent():
    """`inf and inf` is 1: an update with what a tensor was declared with is not idle."""

    @ln.kernel
    def both(y, A):
        y[...] = np.inf
        for i in range(A.shape[0]):
            y[i] = y[i] and ln.coalesce(A[~(i - 1)], np.inf)
        return y

    A = ln.asarray(np.array([2.0, 0.0, 3.0]), format=ln.SparseList(ln.Element(0.0)))
    ln.testing.assert_equal(both(ln.empty_tensor(ln.DENSE(1)), A), np.array([1.0, 1.0, 0.0]))


@pytest.mark.parametrize("kind", [ln.SparseList, ln.SparseHash, ln.RunList])
@pytest.mark.parametrize("other", [np.int16(1), np.float32(2), np.complex64(1j), 3])
def test_a_value_that_is_held_has_the_type_of_its_company(kind, other):
    """Where nothing is stored, `coalesce(b[~i], 1)` is an integer 0, not False."""

    @ln.kernel
    def f(y, x, b, I):
        y[...] = 0
        for i in ...:
            y[i] = one_of(x[I[i]], ln.coalesce(b[~(I[i] - 1)], other))
        return y

    x = ln.asarray(np.array([1.0, 0.0, 2.0, 0.0]), format=kind(ln.Element(0.0)))
    b = ln.asarray(np.array([True, False, False, True]), format=kind(ln.Element(False)))
    y = ln.empty_tensor(ln.DENSE(1).with_dtype(np.result_type(x.dtype, other)))
    assert f(y, x, b, np.arange(4)).to_numpy().tolist() == [0, 1, 2, 0]


def test_a_remainder_of_nan():
    """LLVM takes `fmod` of integers for a number, whatever the divisor is."""
    nan = float("nan")

    @ln.kernel
    def remainders(y, x):
        y[...] = 0.0
        for i in ...:
            y[i] = x[i] % nan
        return y

    found = remainders(ln.empty_tensor(ln.DENSE(1)), ln.asarray(np.array([1, 2, 3])))
    assert np.isnan(found.to_numpy()).all()


def test_any_number_among_truth_values_is_true():
    """To write 2 where True is not stored changes nothing, and stores nothing."""

    @ln.kernel
    def two(y, x):
        y[...] = True
        for i in range(x.shape[0]):
            y[i] = bool(2)
        return y

    y = two(ln.empty_tensor(ln.SparseList(ln.Element(True, "bool"))), np.zeros(2))
    assert y.nnz == 0
    assert y.to_numpy().all()


@pytest.mark.parametrize("dtype", ["int8", "bool", "uint8"])
def test_a_sum_is_not_taken_apart_before_its_types_are_known(dtype):
    """Two bytes wrap before they meet an integer, and True + True is True."""

    @ln.kernel
    def total(y, a, b):
        s = ln.scalar(0)
        y[...] = 0
        for i in ...:
            s[()] = s[()] + a[i] + b[i]
        y[()] += s[()]
        return y

    a = np.array([100, 100, 1]).astype(dtype)
    assert total(ln.scalar(0), a, a).item() == 2 * a.sum(dtype=int)

    @ln.kernel
    def sums(y, a, b):
        y[...] = 0
        for i in ...:
            y[i] = y[i] + a[i] + b[i]
        return y

    y = ln.empty_tensor(ln.Dense(ln.Element(0, "int64")))
    assert np.array_equal(sums(y, a, a).to_numpy(), 2 * a.astype(int))
    with pytest.raises(DTypeError, match="int64"):
        sums(ln.empty_tensor(ln.Dense(ln.Element(0, dtype))), a.astype(int), a)


@pytest.mark.parametrize(("function", "limit"), [(ln.fmin, math.inf), (ln.fmax, -math.inf)])
@pytest.mark.parametrize("level", [ln.Dense, ln.SparseList])
def test_the_limit_of_what_ignores_nan_is_a_number(function, limit, level):
    """fmin(inf, nan) is inf: what a result begins with was left out, and the NaN was the result."""

    @ln.kernel
    def f(y, z, A):
        y[...] = limit
        z[...] = 0.0
        for i in ...:
            y[i] = function(y[i], A[i])
            z[i] = function(limit, A[i])
        return y, z

    args = {"y": ln.empty_tensor(ln.Dense(ln.Element(limit)))}
    args["z"] = ln.empty_tensor(ln.Dense(ln.Element(0.0)))
    args["A"] = ln.asarray(np.array([math.nan, 1.0, 0.0]), format=level(ln.Element(0.0)))
    check(Subject.of(f.program, args), args)


def test_a_float_that_is_true_changes_no_truth_value():
    """`Y and inf` is Y: elements that stay False were stored."""

    @ln.kernel
    def f(Y, A):
        Y[...] = False
        for i in range(1, A.shape[0]):
            for j in range(2):
                for k in range(2):
                    Y[i, j, k] = Y[i, j, k] and A[i, i]
        return Y

    args = {"Y": ln.empty_tensor(ln.Dense(ln.SparseList(ln.Dense(ln.Element(False, "bool")))))}
    args["A"] = ln.asarray(np.full((2, 2), math.inf), format=ln.COO.with_fill(math.inf))
    check(Subject.of(f.program, args), args)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *itertools.product(("isinf", "isnan", "isfinite"), ("float32", "float64", "complex64")),
        *(("signbit", "float32"), ("signbit", "float64")),
    ],
)
def test_what_is_true_counts_as_one(name, dtype, backend):
    """C's own tests of an infinity and of a sign are -1 and 128: sums of them went wrong."""
    test = getattr(ln, name)

    @ln.kernel
    def count(s, t, x, y):
        s[...] = 0
        t[...] = False
        for i in ...:
            s[()] += test(x[i])
            t[i] = test(x[i]) == test(y[i])
        return s, t

    values = np.array([-np.inf, np.inf, np.nan, -0.0, 0.0, -1.5], dtype)
    with ln.config(backend=backend):
        s, t = count(
            ln.scalar(0), ln.empty_tensor(ln.DENSE(1).with_dtype("bool")), values, values[::-1]
        )
    told = getattr(np, name)(values)
    assert s.item() == told.sum()
    assert (t.to_numpy() == (told == told[::-1])).all()


# -- integers that are cut -------------------------------------------------------------------------

WIDE = np.array([-32768, -32768, -40000, -40000, 2**32 - 1, 2**32 - 1])


@ln.kernel
def least(y, x):
    y[...] = 32767
    for i in ...:
        y[()] = min(y[()], x[i])
    return y


@ln.kernel
def greatest(y, x):
    y[...] = -32768
    for i in ...:
        y[()] = ln.fmax(y[()], x[i])
    return y


@ln.kernel
def divisor(y, x):
    y[...] = 0
    for i in ...:
        y[()] = ln.gcd(y[()], x[i])
    return y


@pytest.mark.parametrize("level", [ln.Dense, ln.SparseList, ln.RunList, ln.SparseRunList])
@pytest.mark.parametrize(("kernel", "init"), [(least, 32767), (greatest, -32768), (divisor, 0)])
def test_what_is_cut_after_every_update_follows_no_law(kernel, init, level):
    """Of 16 bits, 32767 is no identity of minima of 64, nor -32768 the last word."""
    for held in (WIDE, WIDE[::-1], WIDE[:2], WIDE[2:4], WIDE[4:]):
        x = ln.asarray(held, format=level(ln.Element(0, "int64")))
        args = {"y": ln.empty_tensor(ln.Element(init, "int16")), "x": x}
        check(Subject.of(kernel.program, args), args)


@pytest.mark.parametrize("level", [ln.SparseList, ln.SparseHash, ln.SparseByteMap])
def test_elements_that_are_cut_meet_what_is_there(level):
    """Updates of a workspace are cut before they meet: minima that are would not be the same."""

    @ln.kernel
    def scattered(y, x, at):
        ln.declare(y, 32767, (x.shape[0],))
        for i in ...:
            y[at[i]] = min(y[at[i]], x[i])
        return y

    at = ln.asarray(np.array([3, 3, 0, 3, 5, 5]))
    for held in (WIDE, WIDE[::-1]):
        y = ln.empty_tensor(level(ln.Element(32767, "int16")))
        args = {"y": y, "x": ln.asarray(held), "at": at}
        for kinds in KINDS:
            check(Subject.of(scattered.program, args, kinds), args)


def test_a_workspace_refuses_minima_that_it_would_cut():
    @ln.kernel
    def f(y, x):
        w = ln.temp(ln.SparseWorkspace(1, ln.Coord(), ln.Element(32767, "int16")))
        ln.declare(w, 32767, (x.shape[0],))
        for i in ...:
            w[i] = min(w[i], x[i])
        y[...] = 0
        for i in ...:
            y[i] += w[i]
        return y

    y = ln.empty_tensor(ln.Dense(ln.Element(0, "int64")))
    with pytest.raises(FormatError, match="the updates of `w` cannot be combined"):
        f(y, WIDE)
    assert f(y, np.array([3, 40], "int16")).to_numpy().tolist() == [3, 40]


def test_a_truth_value_is_subtracted_from_an_index():
    """A comparison narrows the loop to where `j - 1` or `j - 0` is 2."""

    @ln.kernel
    def f(y, x):
        y[...] = 0
        for i in ...:
            for j in range(x.shape[0]):
                if j - (i > 1) == 2:
                    y[i, j] += x[j]
        return y

    x = np.arange(5.0) + 1
    y = f(ln.asarray(np.zeros((4, 5))), x)
    expected = np.zeros((4, 5))
    expected[:2, 2], expected[2:, 3] = 3, 4
    ln.testing.assert_equal(y, expected)
