"""Entries that are put in place are counted by the code that writes them, without the writing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import linnet as ln

MIN, NAN = -np.inf, np.nan


@ln.kernel
def transpose(C, A):
    C[...] = 0
    for i, j in ...:
        C[j, i] = A[i, j]
    return C


@ln.kernel
def large(C, A):
    C[...] = 0
    for i, j in ...:
        if A[i, j] > 1:
            C[j, i] = A[i, j]
    return C


@ln.kernel
def choice(C, A, B):
    C[...] = 0
    for i, j in ...:
        C[j, i] = A[i, j] * B[i, j] if i < j else B[i, j]
    return C


@ln.kernel
def scaled(C, A):
    C[...] = 1
    for i, j in ...:
        C[j, i] *= A[i, j]
    return C


@ln.kernel
def picked(C, A, x, p):
    C[...] = 0
    for i, j in ...:
        if x[p[i]] > 0:
            C[j, i] = A[i, j]
    return C


def counting(code: str) -> str:
    """The part of the code of a kernel that counts: between the zeros and the places."""
    begin, end = code.index("C_count_val[k] = 0"), code.index("C_n = allot")
    return code[begin:end]


def operand(seed: int, fill: float = 0.0) -> ln.Tensor:
    dense = np.random.default_rng(seed).integers(-2, 4, (7, 5)).astype(float)
    return ln.asarray(np.where(dense < 0, fill, dense), format=ln.CSR.with_fill(fill))


def test_values_are_not_read_to_count_them():
    code = counting(transpose.code(ln.empty_tensor(ln.CSR), operand(0)))
    assert "C_count_val[j_2]++" in code
    assert "A_val" not in code
    assert "C_val" not in code


def test_what_decides_is_looked_at():
    code = counting(large.code(ln.empty_tensor(ln.CSR), operand(0)))
    assert "A_val[" in code
    assert "C_val" not in code


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("kernel", [transpose, large, scaled])
@pytest.mark.parametrize("fill", [0.0, 1.0, 3.0, MIN, NAN])
def test_as_many_are_written_as_are_counted(kernel, fill, backend):
    A = operand(1, fill)
    with ln.config(backend=backend):
        C = kernel(ln.empty_tensor(ln.CSR), A)
    wanted = kernel.reference(ln.empty_tensor(ln.CSR), A)
    np.testing.assert_array_equal(C.to_numpy(), wanted["C"])
    ptr, idx, val = C.buffers["ptr1"], C.buffers["idx1"], C.buffers["val"]
    assert ptr[-1] == len(idx) == len(val)
    assert all(np.all(np.diff(idx[b:e]) > 0) for b, e in pairwise(ptr))


def test_a_choice_is_counted_where_it_stores_something():
    A, B = operand(2), operand(3)
    a, b = A.to_numpy(), B.to_numpy()
    i, j = np.indices(a.shape)
    C = choice(ln.empty_tensor(ln.CSR), A, B)
    np.testing.assert_array_equal(C.to_numpy(), np.where(i < j, a * b, b).T)
    assert C.nnz == np.count_nonzero(np.where(i < j, a * b, b))


def test_an_index_is_checked_before_it_is_used_to_count():
    A, x = operand(4), np.array([1.0, 0.0, 2.0])
    p = np.array([0, 1, 2, 0, 1, 2, 0])
    C = picked(ln.empty_tensor(ln.CSR), A, x, p)
    np.testing.assert_array_equal(C.to_numpy(), (A.to_numpy() * (x[p] > 0)[:, None]).T)
    p[3] = 10**9
    with pytest.raises(ln.errors.IndexBoundsError):
        picked(ln.empty_tensor(ln.CSR), A, x, p)


def test_counting_is_a_second_walk():
    """What is stored is gone through twice, and where each row begins is summed up once."""
    A = operand(5)
    rows, columns = A.shape
    found = transpose.visits(ln.empty_tensor(ln.CSR), A)
    assert found["j in A[i, j]"] == 2 * A.nnz
    assert found.total == 2 * A.nnz + rows + 2 * columns
