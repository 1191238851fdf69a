"""Programs beside another spelling of them, or beside what they store: how much work each takes.

A mark says which take more than their structure asks for. Whoever lifts one finds it failing here.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.visits import work

import linnet as ln
from linnet.frontend.text import parse_text

N = 60
VECTOR = ln.DENSE(1)
LIST = ln.CSF(1)
ELEMENT = ln.Element(0.0)


def too_much(reason: str) -> pytest.MarkDecorator:
    """What a program costs more than it should, today."""
    return pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason)


def matrix(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = np.zeros((N, N))
    found[np.arange(N).repeat(4), rng.integers(0, N, 4 * N)] = rng.random(4 * N)
    return found


def csr(seed: int) -> ln.Tensor:
    return ln.asarray(matrix(seed), format=ln.CSR)


def few(n: int, count: int) -> ln.Tensor:
    return ln.tensor([np.arange(0, n, n // count)], np.ones(count), (n,), format=LIST)


# -- masks -----------------------------------------------------------------------------------------

TESTED = too_much("every element is tested: a product with another index bounds no loop")
MASKS = [
    pytest.param("j == i - 2"),
    pytest.param("-1 <= j - i <= 1"),
    pytest.param("abs(i - j) <= 1"),
    pytest.param("i - j == 2"),
    pytest.param("i - j <= 1"),
    pytest.param("-1 <= i - j <= 1"),
    pytest.param("2 * j <= i"),
    pytest.param("2 * j == i"),
    pytest.param("i // 3 == j // 3"),
    pytest.param("i * j < 6", marks=TESTED),
]


@pytest.mark.parametrize("mask", MASKS)
def test_masks_bound_what_is_walked(mask):
    text = f"""def masked(s, A):
    s[...] = 0
    for i, j in ...:
        if {mask}:
            s[()] += A[i, j]
    return s
"""
    kernel = ln.Kernel(parse_text(text))
    inside = sum(bool(eval(mask)) for i in range(N) for j in range(N))
    assert kernel(ln.scalar(0.0), np.ones((N, N))).item() == inside
    assert work(kernel, ln.scalar(0.0), np.ones((N, N))) <= inside + 2 * N


# -- ways of looking into a vector -----------------------------------------------------------------


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def following(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[ln.follow(j)]


MERGED = too_much("what can be looked up is walked from its beginning in every row")
HEEDED = too_much("`follow` is heeded for dense levels and byte maps only")
LOOKS = [
    pytest.param(product, VECTOR),
    pytest.param(product, LIST),
    pytest.param(product, ln.SparseByteMap(ELEMENT), marks=MERGED),
    pytest.param(product, ln.SparseHash(ELEMENT), marks=MERGED),
    pytest.param(following, VECTOR),
    pytest.param(following, LIST, marks=HEEDED),
    pytest.param(following, ln.SparseByteMap(ELEMENT)),
    pytest.param(following, ln.SparseHash(ELEMENT), marks=HEEDED),
]


@pytest.mark.parametrize(("kernel", "format"), LOOKS)
def test_a_vector_is_looked_up(kernel, format):
    """Once for each entry of the matrix, by two or three probes of a table."""
    A, x = csr(0), np.where(np.arange(N) % 2, 1.0, 0)
    dense = work(kernel, ln.empty_tensor(VECTOR), A, x)
    assert dense == N + A.nnz
    assert work(kernel, ln.empty_tensor(VECTOR), A, ln.asarray(x, format=format)) <= 3 * dense


# -- what is read but does not change --------------------------------------------------------------


@ln.kernel
def moved(s, x):
    s[...] = 0
    for i in range(500):
        s[()] += x[i + 40]


@ln.kernel
def moved_by(s, x, lo):
    s[...] = 0
    for i in range(500):
        s[()] += x[i + lo[()]]


def test_an_offset_that_is_read_is_one_shift():
    x = few(1000, 10)
    written = work(moved, ln.scalar(0.0), x)
    assert written <= 20
    assert work(moved_by, ln.scalar(0.0), x, ln.scalar(40)) <= 2 * written


@ln.kernel
def each_twice(y, x):
    ln.declare(y, 0, (2 * x.shape[0],))
    for i in range(2 * x.shape[0]):
        y[i] = x[i // 2]


@too_much("a window whose index is divided is searched for at every index")
def test_a_window_is_walked_twice():
    x = few(1000, 10)
    assert work(each_twice, ln.empty_tensor(LIST), x) <= 4 * x.nnz


# -- ways of leaving, and of storing ---------------------------------------------------------------


@ln.kernel
def first_large(c, A):
    c[...] = -1
    for i in ...:
        for j in ...:
            if A[i, j] > 0.9:
                c[i] = j
                break


@too_much("a loop with a `break` goes through all columns, with a search at each")
def test_a_loop_that_is_left_walks_what_is_stored():
    A = csr(1)
    assert work(first_large, ln.empty_tensor(VECTOR), A) <= 2 * (N + N + A.nnz)


@ln.kernel
def with_else(C, A, B):
    C[...] = 0
    for i, j in ...:
        if i <= j:
            C[i, j] = A[i, j]
        else:
            C[i, j] = B[i, j]


@ln.kernel
def with_two_masks(C, A, B):
    C[...] = 0
    for i, j in ...:
        if i <= j:
            C[i, j] = A[i, j]
        if i > j:
            C[i, j] = B[i, j]


def test_two_branches_store_what_one_of_both_stores():
    A, B = csr(2), csr(3)
    assert work(with_else, ln.empty_tensor(ln.CSR), A, B) <= N + A.nnz + B.nnz + N * 12


@too_much("where two assignments write one sparse result, every place is stored")
def test_two_masks_are_as_good_as_two_branches():
    A, B = csr(2), csr(3)
    one = work(with_else, ln.empty_tensor(ln.CSR), A, B)
    assert work(with_two_masks, ln.empty_tensor(ln.CSR), A, B) <= 2 * one


@ln.kernel
def interleaved(y, x):
    ln.declare(y, 0, (2 * x.shape[0],))
    for i in range(x.shape[0]):
        y[2 * i] = x[i]
        y[2 * i + 1] = 2 * x[i]


@too_much("where two assignments write one sparse result, every place is stored")
def test_even_and_odd_places_store_what_is_stored():
    x = few(1000, 10)
    assert work(interleaved, ln.empty_tensor(LIST), x) <= 20 * x.nnz


# -- what is decided -------------------------------------------------------------------------------


@ln.kernel
def decided(t, s, a, b):
    t[...] = False
    s[...] = 0
    for i in ...:
        t[()] |= a[i] > 0
        s[()] += b[i]


@too_much("what a decided reduction reads is walked to its end")
def test_what_is_decided_reads_no_more():
    b = few(1000, 10)
    assert work(decided, ln.scalar(False), ln.scalar(0.0), few(1000, 1000), b) <= 3 * b.nnz
