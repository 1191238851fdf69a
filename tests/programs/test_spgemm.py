"""Products of sparse matrices: by inner products, by rows (Gustavson), by outer products.

FINCH Fig. 21, with the temporaries it names and with those that the compiler inserts.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.programs.cases import Case, cases, program
from tests.programs.formats import APPENDED
from tests.programs.meaning import einsum

import linnet as ln


@ln.kernel
def inner(C, A, B):
    C[...] = 0
    for i, j, k in ...:
        C[i, j] += A[i, k] * B[k, j]


@ln.kernel
def rows(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]


@ln.kernel
def outer(C, A, B):
    C[...] = 0
    for k, i, j in ...:
        C[i, j] += A[i, k] * B[k, j]


@ln.kernel
def gustavson_bytemap(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]


@ln.kernel
def gustavson_hash(C, A, B):
    w = ln.temp(ln.SparseHash(ln.Element(0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]


@ln.kernel
def gustavson_dense(C, A, B):
    w = ln.temp(ln.Dense(ln.Element(0)))
    C[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]


@ln.kernel
def outer_hash(C, A, B):
    w = ln.temp(ln.SparseHash(ln.SparseHash(ln.Element(0))))
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]


@ln.kernel
def outer_bytemap(C, A, B):
    w = ln.temp(ln.SparseByteMap(ln.SparseByteMap(ln.Element(0))))
    w[...] = 0
    for k, i, j in ...:
        w[i, j] += A[i, k] * B[k, j]
    C[...] = 0
    for i, j in ...:
        C[i, j] = w[i, j]


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return einsum("ij,jk->ik", a, b)


PLAIN = [program("ik", "ij", "jk")(k)(product) for k in (inner, rows, outer)]
TEMPORARIES = [
    program("ik", "ij", "jk", results=tuple(APPENDED))(k)(product)
    for k in (gustavson_bytemap, gustavson_hash, gustavson_dense, outer_hash, outer_bytemap)
]


@pytest.mark.parametrize("case", cases(PLAIN))
def test_without_temporaries(case: Case):
    case.check()


@pytest.mark.parametrize("case", cases(TEMPORARIES))
def test_with_temporaries(case: Case):
    case.check()


@ln.kernel
def more(C, A, B):
    for k, i, j in ...:
        C[i, j] += A[i, k] * B[k, j]


FLAGS = ln.SparseByteMap(ln.SparseByteMap(ln.Element(0.0)))


def wide(columns: int) -> tuple[sp.csc_array, sp.csr_array, np.ndarray]:
    """Two matrices, in whose product a row has more than are sorted one by one.

    They are too few to look at all flags: they are sorted by bits.
    """
    rng = np.random.default_rng(columns)
    A = sp.random_array((9, 12), density=0.5, rng=rng, format="csc")
    B = sp.random_array((12, columns), density=60 / columns, rng=rng, format="csr")
    return A, B, (A @ B).toarray()


@pytest.mark.parametrize("columns", [3000, 300_000])
@pytest.mark.parametrize("kernel", [gustavson_bytemap, outer_bytemap])
def test_wide_rows(backend, kernel: ln.Kernel, columns: int):
    """One fiber at a time, and several."""
    A, B, expected = wide(columns)
    C = ln.empty_tensor(ln.CSR)
    kernel(C, ln.asarray(A if kernel is outer_bytemap else A.tocsr()), ln.asarray(B))
    np.testing.assert_allclose(C.to_numpy(), expected, rtol=1e-14)
    assert C.nnz == np.count_nonzero(expected)


def test_wide_rows_that_are_gone_on_with(backend):
    A, B, expected = wide(3000)
    C = ln.zeros(expected.shape, format=FLAGS)
    for k in (1, 2):
        more(C, ln.asarray(A), ln.asarray(B))
        np.testing.assert_allclose(C.to_numpy(), k * expected, rtol=1e-14)


@pytest.mark.parametrize("kernel", [rows, gustavson_bytemap])
def test_rows_that_a_single_one_adds_to(backend, kernel: ln.Kernel):
    """Rows of none, one and more; what is added to 0 is not -0.0."""
    rng = np.random.default_rng(5)
    A = sp.csr_array(np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3], [-1, 0, 0], [0, 0, 5]], float))
    B = sp.random_array((3, 200), density=0.4, rng=rng, format="csr")
    B.data = np.round(9 * B.data)
    B.data[:5] = 0.0
    C, a, b = ln.empty_tensor(ln.CSR), ln.asarray(A), ln.asarray(B)
    kernel(C, a, b)
    np.testing.assert_array_equal(C.to_numpy(), A.toarray() @ B.toarray())
    stored = sp.csr_array((np.ones(B.nnz), B.indices, B.indptr), B.shape)
    assert C.nnz == (abs(A) @ stored).nnz
    assert not np.signbit(C.to_numpy()[3][B.toarray()[0] == 0]).any()
    found = C.to_scipy()
    assert all(np.diff(row).min(initial=1) > 0 for row in np.split(found.indices, found.indptr[1:]))


@ln.kernel
def least(C, A, B):
    C[...] = np.inf
    for i, k, j in ...:
        C[i, j] = min(C[i, j], A[i, k] + B[k, j])


def test_single_rows_of_other_sums(backend):
    infinite = ln.Dense(ln.SparseList(ln.Element(np.inf)))
    a = np.full((6, 5), np.inf)
    a[[0, 2, 2, 4, 5], [1, 0, 3, 4, 4]] = [1, 2, 3, 4, np.inf]
    b = np.where(np.random.default_rng(6).random((5, 40)) < 0.3, 7.0, np.inf)
    C = ln.empty_tensor(infinite)
    operands = [ln.asarray(x).to(infinite) for x in (a, b)]
    least(C, *operands)
    np.testing.assert_array_equal(C.to_numpy(), (a[:, :, None] + b).min(axis=1))


def stretches(rows: int, columns: int, seed: int) -> sp.csr_array:
    """A matrix whose entries lie side by side, some across the end of a word of flags."""
    rng = np.random.default_rng(seed)
    x = np.zeros((rows, columns))
    for row in x:
        for begin in rng.integers(0, columns, 4):
            row[begin : begin + rng.integers(1, 30)] = rng.integers(1, 5)
        row[58:68] = 1.0
    return sp.csr_array(x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64"])
@pytest.mark.parametrize("columns", [70, 300])
def test_entries_side_by_side(backend, dtype: str, columns: int):
    """All there already, none of them, some of them; long rows and short ones."""
    A = stretches(12, 9, 1).astype(dtype)
    B = stretches(9, columns, 2).astype(dtype)
    B.data[B.indptr[3] : B.indptr[4]] = 0
    B.eliminate_zeros()
    C, a, b = ln.empty_tensor(ln.CSR), ln.asarray(A), ln.asarray(B)
    rows(C, a, b)
    expected = A @ B
    np.testing.assert_array_equal(C.to_numpy(), expected.toarray())
    assert C.nnz == expected.nnz


def test_entries_side_by_side_across_the_end_of_a_word(backend):
    """Those of one word are there, those of the next are not."""
    B = np.zeros((24, 90))
    B[0, 40:64] = 1.0
    for row, begin in enumerate(range(41, 64), 1):
        B[row, begin : begin + 20] = 2.0
    A = np.hstack([np.ones((23, 1)), np.eye(23)])
    C = ln.empty_tensor(ln.CSR)
    rows(C, ln.asarray(A).to(ln.CSR), ln.asarray(B).to(ln.CSR))
    np.testing.assert_array_equal(C.to_numpy(), A @ B)
    assert C.nnz == np.count_nonzero(A @ B)


@ln.kernel
def drained_twice(C, D, A, B):
    w = ln.temp(ln.SparseByteMap(ln.Element(0)))
    C[...] = 0
    D[...] = 0
    for i in ...:
        w[...] = 0
        for k, j in ...:
            w[j] += A[i, k] * B[k, j]
        for j in ...:
            C[i, j] = w[j]
        for j in ...:
            D[i, j] = 2 * w[j]


def test_rows_that_are_read_again(backend):
    A = ln.asarray(np.array([[0.0, 2, 0], [1, 0, 3], [0, 0, 5], [0, 0, 0]])).to(ln.CSR)
    B = ln.asarray(np.arange(30.0).reshape(3, 10) % 4).to(ln.CSR)
    C, D = ln.empty_tensor(ln.CSR), ln.empty_tensor(ln.CSR)
    drained_twice(C, D, A, B)
    np.testing.assert_array_equal(C.to_numpy(), A.to_numpy() @ B.to_numpy())
    np.testing.assert_array_equal(D.to_numpy(), 2 * C.to_numpy())
