"""What is known of a choice of values that may not be stored: no part of it is forgotten."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracle.check import Subject, check
from tests.oracle.functions import both, clipped, unless

import linnet as ln

N = 6
PLACES = np.array([3, 1, 0, 5, 2, 4])
TESTS = np.array([1.0, -1.0, -2.0, 3.0, 1.0, -1.0])


def some(fill, dtype="float64"):
    """A list that stores little."""
    values = np.full(N, fill, dtype)
    values[[1, 4]] = [True, True] if dtype == "bool" else [7, 8]
    return ln.asarray(values, format=ln.SparseList(ln.Element(fill, dtype)))


def rows(fill, dtype):
    """The same in every other row."""
    values = np.full((N, N), fill, dtype)
    values[::2, 1] = values[::2, 4] = True
    return ln.asarray(values, format=ln.Dense(ln.SparseList(ln.Element(fill, dtype))))


@ln.kernel
def product(y, a, b, c, x, P):
    y[...] = 0
    for i in ...:
        y[i] = (a[P[i]] if c[i] > 0 else b[P[i]]) * x[i]
    return y


@pytest.mark.parametrize("level", [ln.Dense, ln.SparseList])
@pytest.mark.parametrize("fills", [(0.0, -0.0), (-0.0, 0.0)])
def test_either_nothing_takes_no_part_in_arithmetic(level, fills):
    """Where one of them was ruled out, the other one was multiplied by infinity."""
    x = np.array([np.nan, np.inf, 1, -np.inf, np.nan, 2])
    args = {"y": ln.empty_tensor(level(ln.Element(0.0))), "a": some(fills[0]), "b": some(fills[1])}
    args |= {"c": ln.asarray(TESTS), "x": ln.asarray(x), "P": ln.asarray(PLACES)}
    check(Subject.of(product.program, args), args)


@ln.kernel
def opposite(y, a, b, c, P):
    y[...] = 0
    for i in ...:
        y[i] = ~(a[P[i]] if c[i] > 0 else b[P[i]])
    return y


@ln.kernel
def imaginary(y, a, b, c, P):
    y[...] = 0
    for i in ...:
        y[i] = np.imag(a[P[i]] if c[i] > 0 else b[P[i]])
    return y


@pytest.mark.parametrize("level", [ln.Dense, ln.SparseList])
@pytest.mark.parametrize(("kernel", "dtype"), [(opposite, "int64"), (imaginary, "float64")])
def test_functions_of_one_argument_do_not_tell_storage(level, kernel, dtype):
    """Whether they do was asked with a float, which `~` refuses; of that, `imag` is constant."""
    args = {"y": ln.empty_tensor(level(ln.Element(0, dtype)))}
    args |= {"a": some(0, dtype), "b": some(-1, dtype)}
    args |= {"c": ln.asarray(TESTS), "P": ln.asarray(PLACES)}
    check(Subject.of(kernel.program, args), args)


@ln.kernel
def junctions(Y, A, B, c, P):
    Y[...] = 0
    for i, j in ...:
        Y[j, i] = (A[i, P[j]] or B[i, P[j]]) if c[j] > 0 else (A[P[i], j] and B[P[i], j])
    return Y


@pytest.mark.parametrize("fill", [math.inf, math.nan, 2.0, 0.0])
def test_any_number_decides_as_the_truth_that_it_is(fill):
    """`inf or x` was neither true nor left, and looked at for ever; here, entries are counted."""
    args = {"Y": ln.empty_tensor(ln.Dense(ln.SparseList(ln.Element(False, "bool"))))}
    args |= {"A": rows(fill, "float64"), "B": rows(False, "bool")}
    args |= {"c": ln.asarray(TESTS), "P": ln.asarray(PLACES)}
    check(Subject.of(junctions.program, args), args)


@ln.kernel
def difference(y, a, b):
    y[...] = 0
    for i in ...:
        y[i] = (b[()] > 1) - (a[i] != i if i < i else a[i])
    return y


@pytest.mark.parametrize("level", [ln.Dense, ln.SparseList])
def test_what_is_known_of_a_choice_has_the_type_of_the_choice(level):
    """A difference of truth values was refused, where numbers are subtracted."""
    args = {"y": ln.empty_tensor(level(ln.Element(0, "complex64"))), "a": some(0, "complex64")}
    args["b"] = ln.scalar(2.0)
    check(Subject.of(difference.program, args), args)


@ln.kernel
def told_twice(Y, b, c, x):
    Y[...] = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            d = unless(2.0, c[j]) * (i if i == j else b[i])
            Y[i, j] = d if x[j] > 0 else x[j]
    return Y


def test_a_value_that_is_told_in_two_steps_has_two_names_for_it():
    """What was known first was taken for what was known later: zeros were stored."""
    args = {"Y": ln.empty_tensor(ln.SparseList(ln.SparseList(ln.Element(0.0)))), "b": some(0.0)}
    args |= {"c": ln.asarray(np.array([0, -1, -1, 1, 0, 2])), "x": ln.asarray(TESTS * math.inf)}
    check(Subject.of(told_twice.program, args), args)


@ln.kernel
def with_itself(Y, a, b):
    Y[...] = 0
    for i in ...:
        Y[i] += both(unless(a[i] * b[()], (i <= i) * b[()]), a[i] != b[()])
    return Y


def test_a_comparison_of_an_index_with_itself_is_known():
    args = {"Y": ln.empty_tensor(ln.SparseList(ln.Element(0.0))), "a": ln.asarray(np.zeros(N))}
    args["b"] = ln.scalar(1.0)
    check(Subject.of(with_itself.program, args), args)


@ln.kernel
def opposite(y, a):
    y[...] = 0
    for i in ...:
        y[i] = -a[i]
    return y


@ln.kernel
def signed(y, a, b):
    y[...] = 0
    for i in ...:
        y[i] = ln.copysign(a[i], b[i])
    return y


def test_nothing_has_no_sign():
    """The opposite of what is not stored is -0.0, which is not written over 0.0."""
    a, b = some(0.0), some(-1.0)
    for kernel, operands in ((opposite, {"a": a}), (signed, {"a": a, "b": b})):
        args = {"y": ln.empty_tensor(ln.CSF(1)), **operands}
        check(Subject.of(kernel.program, args), args)
        assert kernel(*args.values()).nnz == a.nnz


@pytest.mark.parametrize(("dtype", "whole"), [("int64", int), ("int8", np.int8)])
def test_what_is_left_of_a_choice_has_the_type_of_the_choice(dtype, whole):
    """Integers that are chosen among floats are floats: they are rounded, and may be too large."""

    @ln.kernel
    def whole_or_not(y, a, b, c):
        y[...] = 0
        for i in ...:
            y[i] = whole(a[i] if c[i] > 0 else b[i])
        return y

    b = np.array([0, 3, 2**53 + 1, -1, 0, 2**60 + 1])
    args = {"y": ln.empty_tensor(ln.CSF(1).with_dtype(dtype)), "a": some(0.0), "b": b, "c": TESTS}
    args = {name: ln.asarray(x) if isinstance(x, np.ndarray) else x for name, x in args.items()}
    check(Subject.of(whole_or_not.program, args), args)


@ln.kernel
def clip_chosen(y, a, b):
    y[...] = 0.0
    y[()] += a[0] * a[0] if not a[0] < a[0] else clipped(a[0] if a[0] < b[0] else np.uint16(1))
    return y


def test_a_number_that_is_left_of_a_choice_has_its_type():
    """As a uint16 the function of it would be refused."""
    a = ln.asarray(np.arange(-2.0, 4.0))
    args = {"y": ln.scalar(0.0), "a": a, "b": some(0.0)}
    check(Subject.of(clip_chosen.program, args), args)


@ln.kernel
def behind(Y, A, B):
    Y[...] = 0.0
    for i, j in ...:
        Y[i, j] += A[i, j] - ln.coalesce(B[i, ~(j + 2)], 0.0)
    return Y


@pytest.mark.parametrize("level", [ln.SparseList, ln.SparseBlockList, ln.SparseHash, ln.Dense])
def test_what_is_beyond_a_row_that_is_not_stored_is_known(level):
    """The bounds of such a row were asked for with a variable, not with the size of a tensor."""
    held = np.zeros((N, N))
    held[1, 2] = held[4, 4] = 1
    stored = ln.SparseList(ln.SparseList(ln.Element(0.0)))
    other = ln.asarray(np.roll(held, 1, axis=0), format=level(ln.SparseList(ln.Element(0.0))))
    args = {"Y": ln.empty_tensor(stored), "A": ln.asarray(held, format=stored), "B": other}
    check(Subject.of(behind.program, args), args)
    assert behind(*args.values()).nnz == 4
