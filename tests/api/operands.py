"""Arrays to test functions of arrays with: every format, several fill values, small and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.formats.named import permute, stack

MATRIX_FORMATS: dict[str, Any] = {
    "dense": ln.DENSE(2),
    "dense by columns": permute(ln.DENSE(2), (1, 0)),
    "csr": ln.CSR,
    "csc": ln.CSC,
    "dcsr": ln.DCSR,
    "coo": ln.COO(2),
    "coo by columns": permute(ln.COO(2), (1, 0)),
    "runs": ln.RLE,
    "band": ln.BAND,
    "block": ln.BLOCK,
    "bytemap": ln.Dense(ln.SparseByteMap(ln.Element())),
    "hash": ln.SparseList(ln.SparseHash(ln.Element())),
}
CUBE_FORMATS: dict[str, Any] = {
    "dense": ln.DENSE(3),
    "dense of 1, 2, 0": permute(ln.DENSE(3), (1, 2, 0)),
    "coo": ln.COO(3),
    "coo of 2, 0, 1": stack(ln.SparseCOO(3, ln.Element()), (2, 0, 1)),
    "rows of coo": stack(ln.Dense(ln.SparseCOO(2, ln.Element())), (1, 2, 0)),
    "coo of rows": stack(ln.SparseCOO(2, ln.Dense(ln.Element())), (2, 0, 1)),
    "csf": ln.CSF(3),
    "csf of 1, 2, 0": stack(ln.Dense(ln.SparseList(ln.SparseList(ln.Element()))), (1, 2, 0)),
    "runs": ln.Dense(ln.Dense(ln.RunList(ln.Element()))),
}
FILLS = [0.0, 1.5, float("inf"), float("nan")]

SOME = [(format, 0.0) for format in ("dense", "csr", "csc", "coo", "runs", "band", "hash")]
SOME += [("csr", 1.5), ("csr", FILLS[2]), ("coo", FILLS[3]), ("csc", 1.5), ("runs", 1.5)]
SOME += [("coo by columns", 1.5)]
filled_matrices = pytest.mark.parametrize(("format", "fill"), SOME, ids=str)

matrix_formats = pytest.mark.parametrize("format", list(MATRIX_FORMATS))
cube_formats = pytest.mark.parametrize("format", list(CUBE_FORMATS))
fills = pytest.mark.parametrize("fill", FILLS, ids=str)


def dense_matrix(fill: float = 0.0, shape: tuple[int, ...] = (4, 6), seed: int = 0) -> Any:
    """Mostly the fill value; a few halves of small integers."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-4, 5, shape) / 2
    return np.where(rng.random(shape) < 0.35, values, fill)


def stored(array: Any, format: Any, fill: float = 0.0) -> ln.Tensor:
    return ln.asarray(array, format=format, fill_value=fill)


def matrix(format: str, fill: float = 0.0, seed: int = 0) -> tuple[ln.Tensor, Any]:
    array = dense_matrix(fill, seed=seed)
    return stored(array, MATRIX_FORMATS[format], fill), array


def cube(format: str, fill: float = 0.0, seed: int = 0) -> tuple[ln.Tensor, Any]:
    array = dense_matrix(fill, (3, 4, 5), seed)
    return stored(array, CUBE_FORMATS[format], fill), array


def same(found: Any, expected: Any) -> None:
    """Equal elements, shape and dtype."""
    expected = np.asarray(expected)
    assert isinstance(found, ln.Tensor)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.to_numpy(), expected)


def close(found: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Elements that differ by rounding only; equal shape and dtype."""
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=rtol)
