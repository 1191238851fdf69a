"""What is computed of one part of a graph is not computed again of another that is the same."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.testing import dense

FORMATS = [ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.RLE, ln.BSR(2, 2), ln.DENSE]


def matrix(seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((8, 10)) < 0.4, rng.random((8, 10)) - 0.25, 0.0)


def plan(*arrays):
    from linnet.arrays.describe import explained

    return explained([array.node for array in arrays])["plan"]


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_means_and_variances_of_one_array(format, axis, dtype):
    x = matrix().astype(dtype)
    Y = ln.log1p(ln.lazy(ln.asarray(x, format=format)) * 2)
    y = np.log1p(x * 2)
    mean, var, total = ln.compute(Y.mean(axis=axis), Y.var(axis=axis), ln.sum(Y, axis=axis))
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(dense(mean), y.mean(axis), rtol=tolerance)
    np.testing.assert_allclose(dense(var), y.var(axis), rtol=tolerance, atol=1e-7)
    np.testing.assert_allclose(dense(total), y.sum(axis), rtol=tolerance)


def test_a_sum_is_taken_once():
    Y = ln.lazy(ln.asarray(matrix(), format=ln.CSR))
    columns = plan(Y.mean(axis=0), Y.var(axis=0))
    assert columns.count("add-reduce") == 2  # the second one of squares
    rows = plan(Y.mean(axis=1), Y.var(axis=1))
    assert rows.count("kernel") == 1  # over each row, while it is at hand


def test_rows_that_are_summed_for_two_results_are_summed_once():
    from linnet.arrays.describe import explained

    Y = ln.lazy(ln.asarray(matrix(), format=ln.CSR))
    found = explained([Y.mean(axis=1).node, Y.var(axis=1).node])
    assert found["program"].count("for j") == 2  # a sum, and one of squares


def test_results_that_are_the_same_are_two_objects():
    x = matrix()
    X = ln.lazy(ln.asarray(x, format=ln.CSR))
    for first, second in (
        ln.compute(X.sum(axis=0), X.sum(axis=0)),
        ln.compute(*[X.sum(axis=0)] * 2),
        ln.compute(X, X),
    ):
        want = dense(second).copy()
        first += 1
        np.testing.assert_array_equal(dense(first), want + 1)
        np.testing.assert_array_equal(dense(second), want)


def test_a_format_that_is_asked_for_is_of_one_result_only():
    x = matrix()
    A = ln.asarray(x, format=ln.CSR)
    i, j = ln.indices("i j")
    y = ln.output(ln.SparseList(ln.Element(0.0, "float32")))
    z = ln.output(ln.DENSE(1))
    y[i] = A[i, j] * 3.0
    z[i] = A[i, j] * 3.0
    first, second = ln.compute(y, z)
    assert first.dtype == "float32"
    assert second.dtype == "float64"
    np.testing.assert_allclose(dense(second), (x * 3).sum(1), rtol=1e-15)
    np.testing.assert_allclose(dense(first), (x * 3).sum(1), rtol=1e-6)


def test_slices_are_the_same_only_where_they_begin_alike():
    x = matrix()
    X = ln.lazy(ln.asarray(x, format=ln.CSR))
    for s, t in ((0, 0), (0, 3), (2, 1)):  # one plan for all
        one, two = ln.compute(X[s : s + 4].sum(axis=0) * 2, X[t : t + 4].sum(axis=0) * 3)
        np.testing.assert_allclose(dense(one), x[s : s + 4].sum(0) * 2)
        np.testing.assert_allclose(dense(two), x[t : t + 4].sum(0) * 3)


def test_products_that_are_written_twice_stay_under_their_masks():
    a, b, m, n = (matrix(seed)[:, :8] for seed in range(4))
    A, B, M, N = (ln.lazy(ln.asarray(x, format=ln.CSR)) for x in (a, b, m, n))
    found = ln.compute((A @ B) * M, (A @ B) * N)
    np.testing.assert_allclose(dense(found[0]), (a @ b) * m)
    np.testing.assert_allclose(dense(found[1]), (a @ b) * n)
    assert plan((A @ B) * M, (A @ B) * N).count("only where") == 2


def test_numbers_are_told_apart():
    x = matrix()
    X = ln.lazy(ln.asarray(x, format=ln.CSR))
    for c, d in ((2.0, 2.0), (2.0, 3.0), (0.0, -0.0), (1, True)):
        one, two = ln.compute((X * c).sum(axis=0), ((X * d).sum(axis=0) - 1) / 4)
        np.testing.assert_allclose(dense(one), (x * c).sum(0))
        np.testing.assert_allclose(dense(two), ((x * d).sum(0) - 1) / 4)
