"""Sparse vectors that meet every row of a matrix are looked up, where that pays and is the same."""

import numpy as np
import pytest

import linnet as ln

LIST = ln.SparseList(ln.Element())
N, M = 300, 400


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def scaled(C, A, x):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[i, j] * x[j]
    return C


@ln.kernel
def nearest(y, A, x):
    y[...] = np.inf
    for i, j in ...:
        y[i] = min(y[i], A[i, j] + x[j])
    return y


@ln.kernel
def contracted(Y, T, x):
    Y[...] = 0
    for i, k, j in ...:
        Y[i, k] += T[i, k, j] * x[j]
    return Y


def sparse(shape, share, seed, dtype="float64", fill=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 9, shape).astype(dtype)
    return np.where(rng.random(shape) < share, values, np.dtype(dtype).type(fill))


def unpacks(kernel, *args):
    return "unpacked" in [kind for e in kernel._entries.values() for _, kind in e.kinds]


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO(2), ln.CSF(2)], ids=str)
@pytest.mark.parametrize("vector", [LIST, ln.COO(1), ln.CSF(1)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64", "bool"])
def test_a_product_by_rows(format, vector, dtype):
    A, x = sparse((N, M), 0.02, 0, dtype), sparse(M, 0.2, 1, dtype)
    y = ln.empty_tensor(ln.DENSE(1))
    given = ln.asarray(A, format=format), ln.asarray(x, format=vector)
    product(y, *given)
    assert "x_w[j_2] = x[j_2]" in product.loops(y, *given).replace("x_0", "j_2")
    np.testing.assert_array_equal(y.to_numpy(), A.astype(y.dtype) @ x.astype(y.dtype))


def test_patterns():
    x = ln.asarray(sparse(M, 0.2, 1, "bool"), format=ln.SparseList(ln.Pattern()))
    A = sparse((N, M), 0.02, 0, "int64")
    y = ln.empty_tensor(ln.DENSE(1))
    product(y, ln.asarray(A, format=ln.CSR), x)
    assert "x_w" in product.loops(y, ln.asarray(A, format=ln.CSR), x)
    np.testing.assert_array_equal(y.to_numpy(), A @ x.to_numpy())


def test_a_sparse_result():
    A, x = sparse((N, M), 0.02, 2), sparse(M, 0.2, 3)
    C = ln.empty_tensor(ln.CSR)
    given = ln.asarray(A, format=ln.CSR), ln.asarray(x, format=LIST)
    scaled(C, *given)
    assert "follow" in scaled.loops(C, *given)
    np.testing.assert_array_equal(C.to_numpy(), A * x)
    assert C.nnz == np.count_nonzero(A * x)


def test_another_fill_value():
    A, x = sparse((N, M), 0.02, 4, fill=np.inf), sparse(M, 0.2, 5, fill=np.inf)
    y = ln.empty_tensor(ln.DENSE(1))
    given = [ln.asarray(A, format=ln.CSR.with_fill(np.inf))]
    given.append(ln.asarray(x, format=ln.SparseList(ln.Element(np.inf))))
    nearest(y, *given)
    assert "x_w" in nearest.loops(y, *given)
    np.testing.assert_array_equal(y.to_numpy(), (A + x).min(1))


def test_three_dimensions():
    T, x = sparse((20, 30, M), 0.01, 6), sparse(M, 0.2, 7)
    Y = ln.empty_tensor(ln.DENSE(2))
    given = ln.asarray(T, format=ln.CSF(3)), ln.asarray(x, format=LIST)
    contracted(Y, *given)
    assert "x_w" in contracted.loops(Y, *given)
    np.testing.assert_array_equal(Y.to_numpy(), T @ x)


def test_what_is_not_stored_takes_no_part():
    """NaN times nothing is nothing, looked up or merged."""
    A, x = sparse((N, M), 0.02, 0), sparse(M, 0.2, 1)
    A[A != 0] = np.nan
    x[:] = np.where(np.arange(M) % 7 == 0, 1.0, 0.0)
    y = ln.empty_tensor(ln.DENSE(1))
    given = ln.asarray(A, format=ln.CSR), ln.asarray(x, format=LIST)
    product(y, *given)
    assert "x_w" in product.loops(y, *given)
    expected = np.where((np.isnan(A) & (x != 0)).any(1), np.nan, 0.0)
    np.testing.assert_array_equal(y.to_numpy(), expected)


def test_sizes_decide():
    """One kernel, and one code for each kind."""
    y = ln.empty_tensor(ln.DENSE(1))
    small = ln.asarray(sparse((4, 5), 0.5, 0), format=ln.CSR), ln.asarray(np.ones(5), format=LIST)
    large = (
        ln.asarray(sparse((N, M), 0.02, 0), format=ln.CSR),
        ln.asarray(sparse(M, 0.2, 1), format=LIST),
    )
    for given in (small, large, small, large):
        product(y, *given)
        np.testing.assert_array_equal(y.to_numpy(), given[0].to_numpy() @ given[1].to_numpy())
    assert "x_w" in product.loops(y, *large)
    assert "x_w" not in product.loops(y, *small)


def test_few_entries_in_a_wide_space_are_merged():
    rows = np.arange(1000)
    A = ln.tensor([rows, rows * 10**6], np.ones(1000), (1000, 10**9), format=ln.CSR)
    x = ln.tensor([rows * 10**6], np.ones(1000), (10**9,), format=LIST)
    y = ln.empty_tensor(ln.DENSE(1))
    assert "x_w" not in product.loops(y, A, x)
    assert product(y, A, x).to_numpy().tolist() == [1.0] * 1000


@ln.kernel
def total(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] + x[j]
    return y


@ln.kernel
def galloping(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[ln.gallop(j)]
    return y


@ln.kernel
def columns(y, A, x):
    y[...] = 0
    for j, i in ...:
        y[i] += A[i, j] * x[j]
    return y


@pytest.mark.parametrize("kernel", [total, galloping, columns], ids=lambda k: k.__name__)
def test_what_the_rows_do_not_lead_stays(kernel):
    """A union needs all of x; a protocol is the user's word; by columns x is walked once."""
    A, x = sparse((N, M), 0.02, 0), sparse(M, 0.2, 1)
    form = ln.CSC if kernel is columns else ln.CSR
    given = ln.asarray(A, format=form), ln.asarray(x, format=LIST)
    y = ln.empty_tensor(ln.DENSE(1))
    assert "x_w" not in kernel.loops(y, *given)
    expected = (A + x).sum(1) if kernel is total else A @ x
    np.testing.assert_array_equal(kernel(y, *given).to_numpy(), expected)


def test_it_is_explained():
    A, x = sparse((N, M), 0.02, 0), sparse(M, 0.2, 1)
    given = ln.asarray(A, format=ln.CSR), ln.asarray(x, format=LIST)
    said = ln.explain(product, ln.empty_tensor(ln.DENSE(1)), *given)["results"]
    assert "x is unpacked before the loop over i: " in said
