"""Sums over equal rows: each is taken once, and not for every row."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet import imp
from linnet.imp.rewrite import walk

FORMATS = {
    "lists": ln.RunList(ln.SparseList(ln.Element(0.0))),
    "runs": ln.RunList(ln.SparseRunList(ln.Element(0.0))),
    "some rows": ln.SparseRunList(ln.SparseList(ln.Element(0.0))),
    "dense": ln.RunList(ln.Dense(ln.Element(0.0))),
}
ROWS = np.repeat([[0.0, 2, 2, 1], [0, 0, 0, 0], [3, 0, 4, 4]], (3, 2, 4), axis=0)


@ln.kernel
def scaled(y, A, v):
    y[...] = 0
    for i in ...:
        t = ln.scalar(0.0)
        for j in ...:
            t[()] += A[i, j]
        y[i] = t[()] * v[i]
    return y


@ln.kernel
def products(y, A, v):
    """Two sums of a row, and a merge of two lists."""
    y[...] = 0
    for i in ...:
        t = ln.scalar(0.0)
        u = ln.scalar(0.0)
        for j in ...:
            t[()] += A[i, j] * A[i, j]
            u[()] = max(u[()], A[i, j])
        y[i] = t[()] + u[()] * v[i]
    return y


@ln.kernel
def running(y, A, v):
    """The sum goes on from row to row."""
    t = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        for j in ...:
            t[()] += A[i, j]
        y[i] = t[()] * v[i]
    return y


@ln.kernel
def changed(y, A, v):
    """The sum is changed by what follows it."""
    t = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        t[...] = 0
        for j in ...:
            t[()] += A[i, j]
        t[()] += v[i]
        y[i] = t
    return y


@ln.kernel
def with_rows(y, A, v):
    """What is summed depends on the row."""
    y[...] = 0
    for i in ...:
        t = ln.scalar(0.0)
        for j in ...:
            t[()] += A[i, j] * v[i]
        y[i] = t[()] * v[i]
    return y


@ln.kernel
def last(y, A, v):
    """The sum of the last row is read after the loop."""
    t = ln.scalar(7.0)
    y[...] = 0
    for i in ...:
        t[...] = 0
        for j in ...:
            t[()] += A[i, j]
        y[i] = t[()] * v[i]
    for i in ...:
        y[i] += t[()]
    return y


def subject_of(kernel, a: np.ndarray, format: ln.Format):
    v = ln.asarray(np.arange(1.0, len(a) + 1))
    args = {"y": ln.asarray(np.zeros(len(a))), "A": ln.asarray(a).to(format), "v": v}
    return Subject.of(kernel.program, args), args


def sums_of_rows(code: imp.Kernel) -> int:
    """How many sums over `j` are taken within a loop that walks `i` one by one."""
    rows = [n for n in walk(code.body) if isinstance(n, imp.For) and n.var.name.startswith("i")]
    return sum(isinstance(n, imp.For | imp.While) for row in rows for n in walk(row.body))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kernel", [scaled, products, last], ids=lambda k: k.__name__)
def test_sums_of_equal_rows_are_taken_once(kernel, name):
    subject, args = subject_of(kernel, ROWS, FORMATS[name])
    assert sums_of_rows(subject.code) == 0
    check(subject, args, BACKENDS)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kernel", [running, changed, with_rows], ids=lambda k: k.__name__)
def test_sums_that_differ_are_not(kernel, name):
    subject, args = subject_of(kernel, ROWS, FORMATS[name])
    assert sums_of_rows(subject.code) > 0
    check(subject, args, BACKENDS)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (1, 1)])
@pytest.mark.parametrize("kernel", [scaled, last], ids=lambda k: k.__name__)
def test_no_rows_and_no_columns(kernel, shape):
    subject, args = subject_of(kernel, np.ones(shape), FORMATS["lists"])
    check(subject, args, BACKENDS)
