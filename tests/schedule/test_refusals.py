"""What commands refuse, and what they say to write instead, where no other page of tests does."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ScheduleError

M = np.arange(12.0).reshape(4, 3) % 5
SQUARE = np.arange(9.0).reshape(3, 3) % 4


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def product(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def both_ways(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * A[j, i]
    return y


@ln.kernel
def some(y, A, x):
    y[...] = 0
    for i, j in ...:
        if A[i, j] > 2:
            y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def first_above(y, A):
    y[...] = -1
    for i in ...:
        for j in ...:
            if A[i, j] > 2:
                y[i] = j
                break
    return y


@ln.kernel
def through_a_row(y, A):
    y[...] = 0
    for i in ...:
        w = ln.temp(ln.SparseList(ln.Element(0.0)))
        w[...] = 0
        for j in ...:
            w[j] += A[i, j]
        for k in ...:
            y[i] += w[k]
    return y


@ln.kernel
def in_two_ways(y, A):
    y[...] = 0
    for i, j in ...:
        y[j] += A[i, j]
        y[j] *= 2
    return y


@ln.kernel
def carried(y, A):
    y[...] = 0
    c = ln.scalar(0.0)
    for i, j in ...:
        c[()] += A[i, j]
        y[i] += c[()]
    return y


@ln.kernel
def remainders(y, A):
    y[...] = 100
    for i, j in ...:
        y[i] %= A[i, j] + 1
    return y


@ln.kernel
def triangle(y, A):
    y[...] = 0
    for i in range(A.shape[0]):
        for j in range(i + 1):
            y[j] += A[i, j]
    return y


VECTOR = ln.DENSE(1)
CASES = [
    (first_above, VECTOR, (M,), "bound(j, MaxExact, 3)", "or one that may be left"),
    (some, VECTOR, (M, M[0]), "precompute(A[i, j] * x[j], j, q, w)", "and the update stands `if"),
    (
        spmv,
        VECTOR,
        (M, M[0]),
        "precompute(A[i, j] * x[j], (i, j), q, w)",
        "not as many names as there are",
    ),
    (spmv, VECTOR, (M, M[0]), "precompute(A[i, j] *, j, q, w)", "this is not a command"),
    (
        spmv,
        VECTOR,
        (M, M[0]),
        "collapse(i, j, f) split(f, a, b, 5) precompute(A[i, j] * x[j], b, q, w)",
        "`b` are 2 loops that have been collapsed",
    ),
    (through_a_row, VECTOR, (M,), "pos(k, p, w)", "`w` is written, and has no positions"),
    (both_ways, VECTOR, (SQUARE,), "pos(j, p, A[i, j])", "`A` is read at several places"),
    (spmv, VECTOR, (M, M[0]), "pos(i, p, x[j])", "`x[j]` is not indexed by `i`"),
    (product, ln.DENSE(2), (M, SQUARE), "reorder(k, i)", "over `i` is that over `j`"),
    (first_above, VECTOR, (M,), "reorder(j, i)", "may be left by `break` keeps its order"),
    (in_two_ways, VECTOR, (M,), "reorder(j, i)", "`y` is updated in several ways"),
    (carried, VECTOR, (M,), "reorder(j, i)", "`c[()]` reads what other iterations write"),
    (remainders, VECTOR, (M,), "reorder(j, i)", "updates by a function whose order counts"),
    (triangle, VECTOR, (M,), "reorder(j, i)", "how far `j` runs depends on `i`"),
    (
        spmv,
        VECTOR,
        (M, M[0]),
        "parallelize(j, CPUVector, ParallelReduction) parallelize(j, CPUVector, NoRaces)",
        "has done so already",
    ),
    (spmv, VECTOR, (M, M[0]), "split(i, i0, 1x, 3)", "this is not a command"),
    (
        spmv,
        VECTOR,
        (M, M[0]),
        "pos(j, p, A) split(p, p0, p1, 2) coord(p1, c) bound(c, b, 1, Divisible) pos(b, q, A)",
        "the coordinates between these positions of `A` are bound",
    ),
]


@pytest.mark.parametrize(("kernel", "result", "given", "text", "message"), CASES)
def test_what_is_refused(kernel, result, given, text, message):
    """The message has the command, where it was given, and what to try."""
    A = ln.asarray(given[0], format=ln.CSR)
    with pytest.raises(ScheduleError) as error:
        kernel.schedule().apply(text)(ln.empty_tensor(result), A, *given[1:])
    said = str(error.value)
    assert message in said.splitlines()[0]
    assert "kernel.schedule().apply(text)" in said
    assert "try:" in said or "is not as many" in said


FORMATS = [
    (ln.RLE, "pos(j, p, A)", "level 1 of `A`, RunList, has no positions to go through"),
    (ln.COO, "pos(i, p, A)", "level 0 of `A` stores several dimensions together"),
    (ln.CSC, "pos(j, p, A)", "level 0 of `A` stores all coordinates"),
    (ln.CSC, "collapse(i, j, f) pos(f, p, A)", "`A` is stored in the order j, i"),
]


@pytest.mark.parametrize(("format", "text", "message"), FORMATS)
def test_positions_that_a_format_does_not_have(format, text, message):
    with pytest.raises(ScheduleError) as error:
        spmv.schedule().apply(text)(ln.empty_tensor(VECTOR), ln.asarray(M, format=format), M[0])
    assert message in str(error.value)
    assert "try:" in str(error.value)
