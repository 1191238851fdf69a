"""Lists of coordinates and lists in fibers: converted without a copy of what both have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import linnet as ln
from linnet.errors import InternalError
from linnet.testing import dense

BY_ROWS = [ln.COO(2), ln.CSR, ln.DCSR]
BY_COLUMNS = [ln.Format(f.levels, (1, 0)) for f in BY_ROWS]
PATTERN = ln.Pattern()
DEEP = [
    ln.COO(3),
    ln.CSF(3),
    ln.Dense(ln.SparseList(ln.SparseList(ln.Element()))),
    ln.Dense(ln.Dense(ln.SparseList(ln.Element()))),
    ln.SparseList(ln.SparseCOO(2, ln.Element())),
]


def array(shape, density=0.3, dtype="float64"):
    rng = np.random.default_rng(len(shape))
    return np.where(rng.random(shape) < density, rng.integers(1, 9, shape), 0).astype(dtype)


def check(x, format, expected):
    found = x.to(format)
    np.testing.assert_array_equal(dense(found), expected)
    assert found.nnz == x.nnz
    assert found.fill_value == x.fill_value
    assert found.dtype == x.dtype
    ln.from_buffers(found.format, found.shape, dict(found.buffers))  # which looks at every array
    return found


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (1, 1), (6, 9), (90, 70)], ids=str)
def test_matrices(shape, dtype):
    for density in (0, 0.1, 1):
        a = array(shape, density, dtype)
        for formats in (BY_ROWS, BY_COLUMNS):
            for one, other in itertools.permutations(formats, 2):
                x = ln.asarray(a, format=one)
                check(check(x, other, a), one, a)
                y = ln.asarray(a, format=one, fill_value=3)
                check(y, other, a)


@pytest.mark.parametrize("shape", [(4, 5, 6), (3, 0, 2), (1, 1, 1)], ids=str)
def test_more_dimensions(shape):
    a = array(shape)
    for one, other in itertools.permutations(DEEP, 2):
        check(check(ln.asarray(a, format=one), other, a), one, a)


def test_patterns():
    a = array((8, 9)) != 0
    one, other = ln.Dense(ln.SparseList(PATTERN)), ln.SparseCOO(2, PATTERN)
    for source, target in ((one, other), (other, one), (one, ln.COO), (ln.COO, one)):
        check(ln.asarray(a, format=source), target, a)


def test_what_both_have_is_not_copied():
    A = ln.asarray(array((50, 40)), format=ln.CSR)
    for B in (A.to(ln.COO), A.to(ln.COO).to(ln.CSR)):
        for name in ("idx1", "val"):
            other = name if name in B.buffers else "idx0_1"
            assert np.shares_memory(A.buffers[name], B.buffers[other])
    assert not np.shares_memory(A.to(ln.CSC).buffers["val"], A.buffers["val"])
    assert not np.shares_memory(A.to(ln.COO).buffers["val"], A.to(ln.DCSR).buffers["val"])


def test_wide_indices_become_narrow():
    given = sp.coo_array(array((50, 40)))
    wide = sp.coo_array((given.data, tuple(idx.astype(np.int64) for idx in given.coords)), (50, 40))
    for source, format, name in ((wide, ln.CSR, "idx1"), (wide.tocsr(), ln.COO, "idx0_1")):
        x = ln.asarray(source)
        assert x.buffers["idx1" if format == ln.COO else "idx0_1"].dtype == np.int64
        assert x.to(format).buffers[name].dtype == np.int32
        np.testing.assert_array_equal(dense(x.to(format)), given.toarray())


@ln.kernel
def scaled(B, A, c):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j] * c[()]
    return B


def test_what_is_shared_is_not_written_to():
    a = array((50, 40))
    for one, other in itertools.permutations((ln.CSR, ln.COO(2)), 2):
        x, A = ln.asarray(a, format=one), ln.empty_tensor(one)
        scaled(A, x, 2.0)
        B = A.to(other)
        scaled(A, x, 4.0)  # where it was, if nobody else had it
        np.testing.assert_array_equal(dense(B), 2 * a)
        C = B.to(one)
        B[0, 0] = 77.0
        C *= 2
        np.testing.assert_array_equal(dense(A), 4 * a)
        np.testing.assert_array_equal(dense(C), 4 * a)
        assert dense(B)[0, 0] == 77


def test_a_copy_is_a_copy():
    A = ln.asarray(array((50, 40)), format=ln.CSR)
    B = ln.asarray(A, format=ln.COO, copy=True)
    assert not np.shares_memory(A.buffers["val"], B.buffers["val"])
    given = A.to_scipy("coo").copy()
    C = ln.asarray(given, format=ln.CSR, copy=True)
    given.data[:] = 7
    np.testing.assert_array_equal(dense(C), dense(A))


def test_coordinates_that_were_changed_afterwards_write_nothing_elsewhere():
    given = sp.coo_array(array((50, 40)))
    A = ln.asarray(given)
    given.coords[0][-1] = 2**30
    with pytest.raises(InternalError, match=r"level1\.ptr ends with 0"):
        A.to(ln.CSR)  # tests have results verified
    with ln.config(check=False):
        ptr = A.to(ln.CSR).buffers["ptr1"].tolist()
    assert len(ptr) == 51
    assert ptr == sorted(ptr)
    assert ptr[-1] <= A.nnz


@pytest.mark.parametrize("made", [sp.csr_array, sp.csc_array])
def test_lists_that_scipy_has_shortened_where_they_are(made):
    theirs = made(array((60, 50)))
    theirs.data[::3] = 0
    x, expected = ln.asarray(theirs), theirs.toarray()
    listed = ln.COO(2) if made is sp.csr_array else BY_COLUMNS[0]
    theirs.eliminate_zeros()  # pointers, columns and values, in the memory that we share
    found = x.to(listed)
    np.testing.assert_array_equal(dense(found), expected)
    assert found.nnz == theirs.nnz < x.nnz
    ln.from_buffers(found.format, found.shape, dict(found.buffers))
