"""Sums of rows, in rows that strips fill and in others: matrices, tensors, minima, every dtype."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

WIDTHS = (8, 10, 24, 32, 40, 72, 128, 136)
MATRIX = ln.Dense(ln.Dense(ln.Element(0.0)))
ROWS = ln.SparseList(ln.SparseList(ln.Dense(ln.Element(0.0))))


@ln.kernel
def spmm(Y, A, X):
    Y[...] = 0
    for i, j, k in ...:
        Y[i, k] += A[i, j] * X[j, k]
    return Y


@ln.kernel
def nearest(Y, A, X):
    Y[...] = np.inf
    for i, j, k in ...:
        Y[i, k] = min(Y[i, k], A[i, j] + X[j, k])
    return Y


@ln.kernel
def mttkrp(Y, A, B, C):
    Y[...] = 0
    for i, j, k, r in ...:
        Y[i, r] += A[i, j, k] * B[j, r] * C[k, r]
    return Y


@ln.kernel
def ttm(Y, A, M):
    Y[...] = 0
    for i, j, k, r in ...:
        Y[i, j, r] += A[i, j, k] * M[k, r]
    return Y


def drawn(shape: tuple[int, ...], dtype: str, share: float = 1.0) -> np.ndarray:
    """Small whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(len(shape))
    return (rng.integers(1, 9, shape) * (rng.random(shape) < share)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int8", "complex128"])
@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO], ids=repr)
def test_matrices(format: ln.Format, dtype: str, backend: None):
    A = drawn((7, 6), dtype, 0.3)
    A[2] = 0
    for width in WIDTHS:
        X = drawn((6, width), dtype)
        Y = spmm(ln.empty_tensor(MATRIX), ln.asarray(A, format=format), ln.asarray(X))
        np.testing.assert_array_equal(Y.to_numpy(), A @ X)


@pytest.mark.parametrize("width", WIDTHS)
def test_minima(width: int, backend: None):
    A, X = drawn((5, 6), "float64", 0.4), drawn((6, width), "float64")
    A[A == 0] = np.inf
    operand = ln.asarray(A, format=ln.CSR, fill_value=np.inf)
    Y = nearest(ln.empty_tensor(MATRIX), operand, ln.asarray(X))
    np.testing.assert_array_equal(Y.to_numpy(), (A[:, :, None] + X).min(1))


@pytest.mark.parametrize("width", WIDTHS)
def test_tensors(width: int, backend: None):
    A = drawn((4, 5, 6), "float64", 0.2)
    A[1], A[2, 3] = 0, 0
    B, C = drawn((5, width), "float64"), drawn((6, width), "float64")
    tensor = ln.asarray(A, format=ln.CSF(3))
    Y = mttkrp(ln.empty_tensor(MATRIX), tensor, ln.asarray(B), ln.asarray(C))
    np.testing.assert_array_equal(Y.to_numpy(), np.einsum("ijk,jr,kr->ir", A, B, C))
    Z = ttm(ln.empty_tensor(ROWS), tensor, ln.asarray(C))
    np.testing.assert_array_equal(Z.to_numpy(), A @ C)
    assert len(Z.buffers["val"]) == A.any(2).sum() * width
