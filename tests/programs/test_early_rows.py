"""Loops over the entries of rows that end early, where one decides."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln

PATTERN = ln.Dense(ln.SparseList(ln.Pattern()))
LENGTHS = (0, 1, 2, 8, 9, 10, 16, 17, 18, 30)  # of rows


@ln.kernel
def some(y, A, x):
    s = ln.scalar(False, short_circuit=True)
    y[...] = False
    for i in ...:
        s[...] = False
        for j in ...:
            s[()] |= A[i, j] and x[j]
        y[i] = s[()]
    return y


@ln.kernel
def none(y, A, x):
    s = ln.scalar(True, short_circuit=True)
    y[...] = False
    for i in ...:
        s[...] = True
        for j in ...:
            s[()] &= not (A[i, j] and x[j])
        y[i] = s[()]
    return y


@ln.function
def slow(a):
    n = 0
    while a > 1:
        a = a // 2
        n = n + 1
    return n == 3


@ln.kernel
def some_slow(y, A, x):
    s = ln.scalar(False, short_circuit=True)
    y[...] = False
    for i in ...:
        s[...] = False
        for j in ...:
            s[()] |= A[i, j] and slow(x[j])
        y[i] = s[()]
    return y


def rows() -> np.ndarray:
    """Rows of these lengths, the entries of each in other places."""
    a = np.zeros((len(LENGTHS), 40), bool)
    for i, length in enumerate(LENGTHS):
        a[i, np.random.default_rng(i).permutation(40)[:length]] = True
    return a


def subject_of(kernel: ln.Kernel, x: np.ndarray) -> tuple[Subject, dict[str, ln.Tensor]]:
    y = ln.asarray(np.zeros(len(LENGTHS), bool))
    args = {"y": y, "A": ln.asarray(rows()).to(PATTERN), "x": ln.asarray(x)}
    return Subject.of(kernel.program, args), args


@pytest.mark.parametrize("kernel", [some, none], ids=["some", "none"])
@pytest.mark.parametrize("density", [0.0, 0.05, 0.3, 1.0])
def test_rows_of_any_length(kernel, density):
    subject, args = subject_of(kernel, np.random.default_rng(7).random(40) < density)
    check(subject, args, BACKENDS)


def test_what_decides_may_be_anywhere_in_a_row():
    subject, args = subject_of(some, np.zeros(40, bool))
    for at in range(40):
        check(subject, args | {"x": ln.asarray(np.arange(40) == at)}, ())


def test_functions_that_take_long_are_not_called_in_vain():
    subject, args = subject_of(some_slow, np.arange(40))
    check(subject, args, BACKENDS)


@ln.kernel
def some_number(y, ends):
    s = ln.scalar(False, short_circuit=True)
    y[...] = False
    for i in range(ends[0], ends[1]):
        s[()] |= (i & 1023) == 5
    y[()] = s[()]
    return y


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(("first", "last"), [(2**63 - 5, 2**63 - 1), (2**63 - 1, 2**63 - 1)])
def test_numbers_up_to_the_last_one(backend, first, last):
    """Beyond them there are none."""
    with ln.config(backend=backend):
        assert not some_number(ln.scalar(False), np.array([first, last])).item()


@ln.kernel
def one_of(y, A, x):
    s = ln.scalar(-1, short_circuit=True)
    y[...] = -1
    for i in ...:
        s[...] = -1
        for j in ...:
            if A[i, j] and x[j]:
                s[()] = ln.choose(-1)(s[()], j)
        y[i] = s[()]
    return y


@pytest.mark.parametrize("density", [0.0, 0.05, 0.3, 1.0])
def test_rows_that_look_for_one_value(density):
    x = np.random.default_rng(8).random(40) < density
    y = ln.asarray(np.zeros(len(LENGTHS), np.int64))
    args = {"y": y, "A": ln.asarray(rows()).to(PATTERN), "x": ln.asarray(x)}
    check(Subject.of(one_of.program, args), args, BACKENDS)
