"""Rows of uneven lengths: what a strip of them adds up is computed before it is summed."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet import imp, target
from linnet.backend import llvm, machine
from linnet.backend.identifiers import symbol
from linnet.formats.insertion import DENSE
from linnet.imp.rewrite import walk
from linnet.normalize.choice import MERGED
from linnet.options import Options
from linnet.target import plain

UNEVEN = (DENSE, MERGED)
"""Kinds of which the oracle says that rows are uneven, too."""

masked = pytest.mark.skipif(not target.of(Options()).masks, reason="no sum ends under a mask")


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def residual(y, A, x, b):
    y[...] = 0
    for i in ...:
        y[i] = b[i]
        for j in ...:
            y[i] += -(A[i, j] * x[j])
    return y


@ln.kernel
def two_sums(y, z, A, x):
    y[...] = 0
    z[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
        z[i] += A[i, j] * A[i, j] * x[j]
    return y, z


@ln.kernel
def two_matrices(y, A, B, x):
    y[...] = 0
    for i in ...:
        for j in ...:
            y[i] += A[i, j] * x[j]
        for k in ...:
            y[i] += B[i, k] * x[k]
    return y


@ln.kernel
def some_rows(y, A, x, ends):
    y[...] = 0
    for i in range(ends[0], ends[1]):
        for j in ...:
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def of_tensors(y, A, x):
    y[...] = 0
    for i, j, k in ...:
        y[i, j] += A[i, j, k] * x[k]
    return y


@ln.kernel
def weighted(y, A, x, w):
    y[...] = 0
    for i, j in ...:
        y[i] += (A[i, j] - w[i]) * x[j]
    return y


@ln.kernel
def squares(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * A[i, j]
    return y


def matrix(lengths: list[int], columns: int, dtype: str = "float64") -> np.ndarray:
    """Small whole numbers, so that sums are exact in any order; so many of them in each row."""
    rng = np.random.default_rng(len(lengths))
    a = np.zeros((len(lengths), columns), dtype)
    for row, length in zip(a, lengths, strict=True):
        row[rng.permutation(columns)[:length]] = rng.integers(1, 9, length)
    return a


def uneven(count: int, most: int = 9) -> list[int]:
    return [int(n) for n in np.random.default_rng(count).integers(0, most, count)]


def subject_of(kernel, *operands: ln.Tensor, kinds=UNEVEN):
    outputs = [ln.empty_tensor(ln.Dense(ln.Element(0.0)))] * len(kernel.outputs)
    if kernel is of_tensors:
        outputs = [ln.empty_tensor(ln.Dense(ln.Dense(ln.Element(0.0))))]
    args = dict(zip(kernel.program.params, [*outputs, *operands], strict=True))
    return Subject.of(kernel.program, args, kinds), args


def parts(kernel: imp.Kernel) -> int:
    return sum(s.buffer.name.startswith("part") for s in kernel.scratch)


def vector(count: int, dtype: str = "float64") -> ln.Tensor:
    return ln.asarray((np.arange(count) % 7 + 1).astype(dtype))


@masked
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 130])
def test_any_number_of_rows(count, dtype):
    a = matrix(uneven(count), 20, dtype)
    subject, args = subject_of(product, ln.asarray(a, format=ln.CSR), vector(20, dtype))
    assert parts(subject.code) == 1
    check(subject, args, BACKENDS)


@masked
@pytest.mark.parametrize(
    "lengths",
    [[0] * 70, [1] * 70, [1024] + [0] * 63, [1025] + [3] * 69, [3] * 69 + [1100], [17] * 70],
    ids=["empty", "ones", "room", "more than room", "in the last strip", "together"],
)
def test_rows_for_which_there_is_room_or_not(lengths):
    a = matrix(lengths, 1200)
    subject, args = subject_of(product, ln.asarray(a, format=ln.CSR), vector(1200))
    check(subject, args, BACKENDS)


@masked
@pytest.mark.parametrize("format", ["CSR", "DCSR", "pattern"])
def test_formats(format):
    a = matrix(uneven(100), 15)
    a[40:70] = 0
    formats = {"CSR": ln.CSR, "DCSR": ln.DCSR, "pattern": ln.Dense(ln.SparseList(ln.Pattern()))}
    A = ln.asarray(a if format != "pattern" else a != 0).to(formats[format])
    subject, args = subject_of(product, A, vector(15))
    assert parts(subject.code) == 1
    check(subject, args, BACKENDS)


@masked
def test_values_that_are_no_numbers_stay_in_their_rows():
    a = matrix(uneven(90), 12)
    x = np.array([1.0, -0.0, math.inf, 2, math.nan, 3, 0, -math.inf, 4, 5, 6, 7])
    a[3, 1], a[3, 2:] = 1, 0
    subject, args = subject_of(product, ln.asarray(a, format=ln.CSR), ln.asarray(x))
    assert parts(subject.code) == 1
    check(subject, args, BACKENDS)


@masked
def test_sums_that_go_on_and_several_sums():
    a = matrix(uneven(150), 15)
    A, B = (ln.asarray(part, format=ln.CSR) for part in (a, a[::-1].copy()))
    for kernel, given, count in (
        (residual, (A, vector(15), vector(150)), 1),
        (two_sums, (A, vector(15)), 2),
        (two_matrices, (A, B, vector(15)), 2),
    ):
        subject, args = subject_of(kernel, *given)
        assert parts(subject.code) == count, kernel
        check(subject, args, BACKENDS)


@masked
@pytest.mark.parametrize("ends", [(0, 200), (3, 190), (64, 64), (100, 40), (63, 65)])
def test_ranges_of_rows(ends):
    A = ln.asarray(matrix(uneven(200), 15), format=ln.CSR)
    subject, args = subject_of(some_rows, A, vector(15), ln.asarray(np.array(ends)))
    args["y"] = ln.asarray(np.zeros(200))
    subject = Subject.of(some_rows.program, args, UNEVEN)
    assert parts(subject.code) == 1
    check(subject, args, BACKENDS)


def test_tensors():
    a = matrix(uneven(150), 12).reshape(10, 15, 12)
    format = ln.Dense(ln.Dense(ln.SparseList(ln.Element(0.0))))
    subject, args = subject_of(of_tensors, ln.asarray(a).to(format), vector(12))
    check(subject, args, BACKENDS)


def test_what_stays_as_it_is():
    """Values of a row, neighbours, which are under a mask anyway, and sums of integers."""
    a = matrix(uneven(100), 15)
    A = ln.asarray(a, format=ln.CSR)
    for kernel, given in (
        (weighted, (A, vector(15), vector(100))),
        (squares, (A,)),
        (product, (ln.asarray(a.astype("int64"), format=ln.CSR), vector(15, "int64"))),
    ):
        subject, args = subject_of(kernel, *given)
        assert not subject.code.scratch
        check(subject, args, BACKENDS)


def test_even_rows_have_the_code_that_they_had():
    A = ln.asarray(matrix(uneven(100), 15), format=ln.CSR)
    subject, _ = subject_of(product, A, vector(15), kinds=None)
    assert not subject.code.scratch
    assert not any(
        isinstance(n, imp.For) and n.var.name == "strip" for n in walk(subject.code.body)
    )


@masked
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("masks", ["all", "load", ""])
def test_whatever_a_machine_can_do_in_part(masks, dtype):
    lengths = [*uneven(100, 40), 1100, *uneven(70, 30)]
    a, x = matrix(lengths, 1200, dtype), vector(1200, dtype)
    A = ln.asarray(a, format=ln.CSR)
    subject, _ = subject_of(product, A, x)
    text = llvm.render(subject.code, plain(masks))
    assert ("llvm.masked.load" in text) == bool(masks)
    address, owner = machine.load(machine.compile(text), symbol(subject.code))
    y = np.empty(len(a), dtype)
    slots = [len(a), y.ctypes.data, y.size, 0, *A.contents().slots, *x.contents().slots]
    block = np.array(slots, "int64")
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)(block.ctypes.data) == imp.OK
    assert owner
    np.testing.assert_array_equal(y, a @ x.to_numpy())
