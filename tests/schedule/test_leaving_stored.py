"""A `break` in a loop over all that a tensor stores ends that loop, whatever loops it becomes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import agree as agree_on

import linnet as ln
from linnet.errors import ScheduleError
from linnet.formats.assemble import unpack
from linnet.formats.named import stack

VALUE = ln.Element(0.0)
MATRICES = {
    "CSR": ln.CSR,
    "DCSR": ln.DCSR,
    "COO": ln.COO,
    "CSC": ln.CSC,
    "DCSC": ln.DCSC,
    "DENSE": ln.DENSE(2),
    "columns": ln.DENSE(2).with_order(1, 0),
    "lists": stack(ln.Dense(ln.SparseCOO(1, VALUE))),
    "bands": stack(ln.Dense(ln.SparseBand(VALUE))),
    "rows": stack(ln.SparseList(ln.Dense(VALUE))),
}
CUBES = {
    "CSF": ln.CSF(3),
    "COO": stack(ln.SparseCOO(3, VALUE)),
    "pairs": stack(ln.SparseList(ln.SparseCOO(2, VALUE))),
    "pairs first": stack(ln.SparseCOO(2, ln.SparseList(VALUE))),
    "rows": stack(ln.Dense(ln.Dense(ln.SparseList(VALUE))), (2, 0, 1)),
}


@ln.kernel
def until(s, A):
    s[...] = 0
    for i, j in ln.stored(A):
        if A[i, j] > 6:
            break
        s[()] += A[i, j]
    return s


@ln.kernel
def until_in_cube(s, A):
    s[...] = 0
    for i, j, k in ln.stored(A):
        if A[i, j, k] > 6:
            break
        s[()] += A[i, j, k]
    return s


@ln.kernel
def in_rows(y, s, A, x):
    y[...] = 0
    s[...] = 0
    for _ in range(2):
        for i, j in ln.stored(A):
            s[()] += A[i, j]
            if A[i, j] * x[j] > 20:
                break
            y[i] += A[i, j] * x[j]
    return y, s


@ln.kernel
def copied(C, A):
    C[...] = 0
    for i, j in ln.stored(A):
        C[i, j] = A[i, j]
        if A[i, j] > 6:
            break
    return C


@ln.kernel
def flat(y, A):
    y[...] = 0
    for i, j in ln.flat(ln.stored(A)):
        if A[i, j] > 6:
            break
        y[i] += A[i, j]
    return y


@ln.kernel
def of_each_part(y, A):
    y[...] = 0
    for p in range(ln.parts(ln.stored(A), 6)):
        for i, j in ln.part(ln.stored(A), p, 6):
            if A[i, j] > 6:
                break
            y[i] += A[i, j]
    return y


@ln.kernel
def pairs(s, A):
    s[...] = 0
    for i, j in ln.product(range(A.shape[0]), range(A.shape[1])):
        s[()] += A[i, j]
        if A[i, j] > 6:
            break
    return s


def drawn(shape, seed=1, most=8):
    rng = np.random.default_rng(seed)
    return (rng.integers(1, most + 1, shape) * (rng.random(shape) < 0.4)).astype(float)


def agree(kernel, *args):
    """The first result, which is the same in all ways."""
    tensors = [arg if isinstance(arg, ln.Tensor) else ln.asarray(arg) for arg in args]
    given = dict(zip(kernel.params, tensors, strict=True))
    return agree_on(kernel, given, ("llvm",))[kernel.params[0]]


def before(A):
    """The values that come before one that is greater than 6, in the order of storage."""
    _, values = unpack(A)
    beyond = np.flatnonzero(values > 6)
    return values[: beyond[0]] if len(beyond) else values


@pytest.mark.parametrize("most", [6, 7, 20])
@pytest.mark.parametrize("format", MATRICES)
def test_a_break_ends_all_of_it(format, most):
    for seed in range(3):
        A = ln.asarray(drawn((6, 7), seed, most), format=MATRICES[format])
        found = agree(until, ln.scalar(0.0), A)
        assert found.item() == before(A).sum()


@pytest.mark.parametrize("most", [6, 7, 20])
@pytest.mark.parametrize("format", CUBES)
def test_a_break_ends_three_loops(format, most):
    A = ln.asarray(drawn((3, 4, 5), 1, most), format=CUBES[format])
    assert agree(until_in_cube, ln.scalar(0.0), A).item() == before(A).sum()


@pytest.mark.parametrize("format", MATRICES)
def test_the_loops_around_go_on(format):
    A, x = ln.asarray(drawn((6, 7)), format=MATRICES[format]), np.arange(7.0)
    agree(in_rows, ln.empty_tensor(ln.DENSE(1)), ln.scalar(0.0), A, x)


@pytest.mark.parametrize("result", [ln.DENSE(2), ln.CSR, ln.CSC, ln.COO(2)], ids=str)
@pytest.mark.parametrize("format", ["CSR", "COO", "CSC"])
def test_what_is_written_before_a_break_stays(format, result):
    A = ln.asarray(drawn((6, 7)), format=MATRICES[format])
    agree(copied, ln.empty_tensor(result), A)


@pytest.mark.parametrize("most", [6, 7, 20])
@pytest.mark.parametrize("kernel", [flat, of_each_part])
@pytest.mark.parametrize("format", ["CSR", "DCSR", "COO", "CSC"])
def test_a_break_in_one_loop_or_in_a_part(format, kernel, most):
    A = ln.asarray(drawn((6, 7), 1, most), format=MATRICES[format])
    agree(kernel, ln.empty_tensor(ln.DENSE(1)), A)


def test_no_entry_behind_it_is_visited():
    A = ln.asarray(drawn((6, 7)), format=ln.CSR)
    given = ln.scalar(0.0), A
    visits = until.visits(*given)
    assert visits["j in A[i, j]"] == len(before(A)) + 1
    rows = np.flatnonzero(A.to_numpy().max(axis=1) > 6)
    assert visits["i"] == rows[0] + 1


@pytest.mark.parametrize("format", ["CSR", "DENSE", "CSC"])
def test_a_break_ends_a_loop_over_pairs(format):
    values = drawn((6, 7))
    A = ln.asarray(values, format=MATRICES[format])
    last = np.flatnonzero(values.ravel() > 6)[0]
    assert agree(pairs, ln.scalar(0.0), A).item() == values.ravel()[: last + 1].sum()


@ln.kernel
def first_of_rows(y, A):
    y[...] = 0
    for i in ...:
        for j in ...:
            y[i] += A[i, j]
            if A[i, j] > 6:
                break
    return y


@pytest.mark.parametrize("text", ["pos(f, p, A)", "split(f, g, h, 4)"])
def test_one_of_several_loops_is_left_and_they_are_not_one(text):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(drawn((6, 7)), format=ln.CSR)
    with pytest.raises(ScheduleError, match="the innermost of `f` may be left by `break`"):
        first_of_rows.schedule().apply(f"collapse(i, j, f) {text}")(*given)
