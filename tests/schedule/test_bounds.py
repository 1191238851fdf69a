"""`bound`: what is known of ranges shows in the code, and is checked by every call."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ArgumentError, KernelSyntaxError, ScheduleError
from linnet.frontend.text import parse_text
from linnet.loops.printer import show


@ln.kernel
def spmv(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def spmm(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, k] += A[i, j] * B[j, k]
    return C


@ln.kernel
def affine(z, x):
    z[...] = 0
    for i in ...:
        z[i] = 2 * x[i] + 1
    return z


@pytest.fixture
def A():
    rng = np.random.default_rng(1)
    return rng.integers(1, 9, (30, 37)) * (rng.random((30, 37)) < 0.3) * 1.0


def run(kernel, text, *given, ndim=1):
    return kernel.schedule().apply(text)(ln.empty_tensor(ln.DENSE(ndim)), *given)


def code(kernel, text, *given, ndim=1):
    lines = kernel.schedule().apply(text).code(ln.empty_tensor(ln.DENSE(ndim)), *given)
    return lines[lines.index("i64 " + kernel.__name__) :]


HOLD = [
    "bound(j, MaxExact, 37)",
    "bound(j, jb, 37, MaxExact)",
    "bound(i, MinExact, 0)",
    "bound(i, MinConstraint, -1)",
    "bound(i, MaxConstraint, 30)",
    "bound(i, Divisible, 10) split(i, i0, i1, 5)",
    "bound(i, MaxExact, 30) split(i, i0, i1, 10) bound(i1, MaxExact, 10) bound(i0, MaxExact, 3)",
    "split(i, i0, i1, 8) bound(i0, i2, 4, MaxExact) bound(i1, MaxConstraint, 8)",
    "split(i, i0, i1, 7, up) bound(i1, MaxConstraint, 5)",
    "collapse(i, j, f) split(f, f0, f1, 10) bound(f0, MaxExact, 111) bound(f1, Divisible, 10)",
]
POSITIONS = [
    "pos(j, p, A) bound(p, MaxConstraint, 37)",
    "pos(j, p, A) split(p, p0, p1, 4) bound(p1, MaxConstraint, 4)",
    "collapse(i, j, f) pos(f, p, A) bound(p, MaxConstraint, 1110)",
    "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 7) bound(p1, MaxConstraint, 7)",
]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("text", HOLD + POSITIONS)
@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE, ln.DCSR], ids=str)
def test_bounds_that_hold_change_nothing(A, format, text, backend):
    if text in POSITIONS and format is ln.DENSE:
        format = ln.CSR
    x = np.arange(37.0)
    with ln.config(backend=backend):
        assert np.array_equal(run(spmv, text, ln.asarray(A, format=format), x).to_numpy(), A @ x)


FAIL = [
    ("bound(j, MaxExact, 38)", "`range(A.shape[1])` does not end at 38"),
    ("bound(i, MinExact, 1)", "`range(A.shape[0])` does not begin at 1"),
    ("bound(i, MinConstraint, 1)", "does not begin at least at 1"),
    ("bound(i, MaxConstraint, 29)", "does not end at most at 29"),
    ("bound(i, Divisible, 4)", "does not have a length that can be divided by 4"),
    ("split(i, i0, i1, 8) bound(i1, MaxExact, 8)", "counted from 0, does not end at 8"),
    ("split(i, i0, i1, 8) bound(i0, MaxExact, 3)", "does not end at 3"),
    ("pos(j, p, A) bound(p, MaxExact, 8)", "`ln.stored(A[i, :])`, counted from 0, does not end"),
    ("collapse(i, j, f) pos(f, p, A) bound(p, MaxConstraint, 9)", "does not end at most at 9"),
]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(("text", "message"), FAIL)
def test_bounds_that_do_not_hold_are_told_by_the_call(A, text, message, backend):
    x, given = np.arange(37.0), ln.asarray(A, format=ln.CSR)
    with ln.config(backend=backend), pytest.raises(ScheduleError) as error:
        run(spmv, text, given, x)
    assert message in str(error.value)
    assert text.split(") ")[-1] in str(error.value)
    assert "why:  the code is made for operands of which this holds" in str(error.value)


def test_sizes_are_checked_before_anything_is_written():
    z, x = ln.asarray(np.zeros(4)), np.arange(9.0)
    with pytest.raises(ScheduleError, match="does not end at 8"):
        affine.schedule().bound("i", ln.MaxExact, 8)(z, x)
    assert np.array_equal(z.to_numpy(), np.zeros(4))


def test_rows_of_one_length():
    A = np.arange(1.0, 13).reshape(4, 3)
    given = ln.asarray(A, format=ln.CSR)
    text = "pos(j, p, A) bound(p, MaxExact, 3) unroll(p, 3)"
    assert np.array_equal(run(spmv, text, given, np.ones(3)).to_numpy(), A.sum(1))
    assert "A_begin + 3" in code(spmv, text, given, np.ones(3))


def test_an_exact_end_is_a_literal(A):
    x, given = np.arange(37.0), ln.asarray(A)
    text = code(spmv, "bound(j, MaxExact, 37)", given, x)
    assert "for (i64 j = 0; j < 37; j++)" in text
    assert "UNBOUND" in text


def test_where_a_bound_divides_there_is_no_tail():
    x = np.arange(64.0)
    for text in ("bound(i, MaxExact, 64)", "bound(i, Divisible, 32)"):
        found = code(affine, f"{text} split(i, i0, i1, 16) split(i1, i2, i3, 4)", x)
        assert "min(" not in found
        assert np.array_equal(run(affine, f"{text} split(i, i0, i1, 16)", x).to_numpy(), 2 * x + 1)
    assert "min(" in code(affine, "bound(i, Divisible, 32) split(i, i0, i1, 48)", x)


def test_programs_are_read_back():
    text = """def f(y, x):
    y[...] = 0
    for i in ln.bound(range(x.shape[0]), "MaxExact", 8):
        y[i] = x[i] * 2
    return y"""
    assert show(parse_text(text)) == text


# -- what is refused -------------------------------------------------------------------------------

WRONG = [
    ("bound(i, Divisible, 0)", "0 is no number that a range may have to do with"),
    ("bound(i, Exactly, 8)", "`Exactly` is not a kind of bound"),
    ("bound(i, j, 8, MaxExact)", "there is a loop over `j` already"),
    ("bound(i, MaxExact)", "this command has 2 arguments"),
    ("collapse(i, j, f) bound(f, MaxExact, 8)", "are 2 loops that have been collapsed"),
    ("pos(j, p, A) bound(p, MinExact, 3)", "is counted from 0"),
    ("split(i, i0, i1, 4) bound(i1, MaxExact, -1)", "has no fewer than 0 indices"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_refused(A, text, message):
    with pytest.raises(ScheduleError) as error:
        run(spmv, text, ln.asarray(A, format=ln.CSR), np.arange(37.0))
    assert message in str(error.value)


def test_a_bound_that_contradicts_a_number_in_the_program():
    @ln.kernel
    def four(z, x):
        z[...] = 0
        for i in range(4):
            z[i] = x[i]
        return z

    with pytest.raises(ScheduleError, match="`range\\(4\\)` does not end at 5"):
        run(four, "bound(i, MaxExact, 5)", np.arange(9.0))


def test_wrong_arguments():
    for said in (("MaxExact",), (8, ln.MaxExact), ("ib", "8", ln.MaxExact), (ln.MaxExact, 8.0)):
        with pytest.raises(ArgumentError, match="a bound has a kind and a number"):
            spmv.schedule().bound("i", *said)
    for line in ('ln.bound(range(4), "Max", 1)', 'ln.bound(range(4), "Divisible", 0)'):
        with pytest.raises(KernelSyntaxError):
            parse_text(f"def f(y, x):\n    for i in {line}:\n        y[i] = x[i]")
