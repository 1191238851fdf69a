"""Rows that have an element or none, in any number and order."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln

VALUES = ln.Dense(ln.SparsePinpoint(ln.Element(0.0)))


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def some_rows(y, A, x, ends):
    y[...] = 0
    for i in range(ends[0], ends[1]):
        for j in ...:
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def of_matrices(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


def rows(count: int, empty: tuple[int, ...], columns: int = 7) -> np.ndarray:
    a = np.zeros((count, columns))
    a[np.arange(count), np.arange(count) * 3 % columns] = np.arange(1, count + 1)
    a[list(empty)] = 0
    return a


def subject_of(kernel, a: np.ndarray, *more: object, format=VALUES):
    given = [np.zeros(len(a)), ln.asarray(a if format is VALUES else a != 0).to(format), *more]
    args = dict(zip(kernel.program.params, map(ln.asarray, given), strict=True))
    return Subject.of(kernel.program, args), args


@pytest.mark.parametrize("format", [VALUES, ln.PERM], ids=["values", "pattern"])
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 600])
@pytest.mark.parametrize("empty", [(), (0,), (255,), (256, 300)])
def test_rows_with_and_without_an_element(format, count, empty):
    a = rows(count, tuple(i for i in empty if i < count))
    subject, args = subject_of(product, a, np.arange(7.0) + 1, format=format)
    check(subject, args, BACKENDS)


@pytest.mark.parametrize("ends", [(0, 600), (3, 300), (300, 300), (400, 300), (255, 257)])
def test_ranges_of_rows(ends):
    subject, args = subject_of(some_rows, rows(600, (256, 299)), np.ones(7), np.array(ends))
    check(subject, args, BACKENDS)


def test_no_columns_at_all():
    subject, args = subject_of(product, np.zeros((300, 0)), np.zeros(0))
    check(subject, args, BACKENDS)


def test_rows_that_are_rows_of_a_matrix():
    a, b = rows(300, (5,)), np.arange(70.0).reshape(7, 10)
    C, A, B = ln.asarray(np.zeros((300, 10))), ln.asarray(a).to(VALUES), ln.asarray(b)
    subject = Subject.of(of_matrices.program, {"C": C, "A": A, "B": B})
    check(subject, {"C": C, "A": A, "B": B}, BACKENDS)
