"""Reductions whose result has gaps, whatever the fill value: only what is stored is visited."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linnet as ln

V = ln.Element()
FORMATS = {
    "csf": ln.CSF(3),
    "coo": ln.COO(3),
    "rows": ln.Dense(ln.SparseList(ln.SparseList(V))),
    "columns": ln.CSF(3).with_order(2, 0, 1),
    "hash": ln.SparseHash(ln.SparseHash(ln.SparseList(V))),
    "tiles": ln.SparseList(ln.Dense(ln.SparseTiles(3, 7, V))),
    "runs": ln.SparseList(ln.SparseList(ln.SparseRunList(V))),
    "vectors": ln.SparseList(ln.SparseByteMap(ln.Dense(V))),
}
CASES = [("float64", 0.0), ("float64", np.inf), ("float64", np.nan), ("float32", 1.5),
         ("int32", 2), ("uint8", 0), ("bool", False), ("bool", True)]  # fmt: skip


def drawn(dtype: str, fill: Any, format: ln.Format) -> tuple[ln.Tensor, Any]:
    """A cube that stores little, and all of one line of it."""
    rng = np.random.default_rng(0)
    dense = np.full((5, 6, 7), fill, dtype)
    some = rng.random(dense.shape) < 0.1
    some[2, :, 3] = True
    dense[some] = rng.integers(0, 3, some.sum()).astype(dtype)
    return ln.asarray(dense, format=format, fill_value=np.dtype(dtype).type(fill)), dense


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "any", "all", "mean"])
@pytest.mark.parametrize(("dtype", "fill"), CASES, ids=str)
def test_any_reduction_of_any_fill_value(op: str, dtype: str, fill: Any):
    x, dense = drawn(dtype, fill, ln.CSF(3))
    with np.errstate(all="ignore"):
        expected = getattr(np, op)(dense, axis=1)
    found = getattr(ln, op)(x, axis=1)
    assert found.shape == expected.shape
    assert np.allclose(found.to_numpy(), expected, equal_nan=True)


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("name", FORMATS)
def test_any_format(name: str, axis: int):
    x, dense = drawn("float64", 0.5, FORMATS[name])
    found = ln.max(x, axis=axis, keepdims=True)
    assert np.array_equal(found.to_numpy(), dense.max(axis, keepdims=True))


@pytest.mark.parametrize(("op", "fill"), [("max", np.inf), ("min", -np.inf), ("max", 0.0)])
@pytest.mark.parametrize("name", FORMATS)
def test_a_fill_value_does_not_hide_a_nan(name: str, op: str, fill: float):
    _, dense = drawn("float64", fill, FORMATS[name])
    dense[2, 1:4, 3] = dense[1, 0, 0] = np.nan
    x = ln.asarray(dense, format=FORMATS[name], fill_value=fill)
    for axis in (None, 0, 1, 2, (0, 1), (0, 2)):
        expected = getattr(dense, op)(axis)
        found = getattr(ln, op)(x, axis=axis).to_numpy()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("op", ["max", "min", "prod", "all", "any", "sum"])
def test_a_result_that_stores_little_needs_no_memory_for_the_rest(op: str):
    """The result has 10¹² elements."""
    rng = np.random.default_rng(0)
    at = rng.integers(0, 10**6, (3, 50))
    x = ln.tensor(at, rng.random(50), (10**6, 10**6, 10**6), format=ln.CSF)
    found = getattr(ln, op)(x, axis=1)
    assert found.shape == (10**6, 10**6)
    assert found.nnz == 50
    assert found.fill_value == 0
    expected = x.data if op in ("max", "sum") else op == "any"
    assert np.array_equal(np.sort(found.data), np.sort(np.broadcast_to(expected, 50)))


def test_a_pattern_has_gaps_too():
    x = ln.asarray(np.eye(40, dtype=bool).reshape(40, 8, 5), format=ln.CSF(3)).to(
        ln.SparseList(ln.SparseList(ln.SparseList(ln.Pattern())))
    )
    assert np.array_equal(ln.all(x, axis=2).to_numpy(), np.zeros((40, 8)))
    assert np.array_equal(ln.max(x.astype(int), axis=2).to_numpy(), x.to_numpy().max(2))


def test_the_fill_value_counts_as_often_as_it_is_not_stored():
    x = ln.tensor([[0, 3], [1, 1], [2, 2]], [5.0, 7.0], (4, 3, 100), format=ln.CSF, fill_value=2.0)
    found = ln.sum(x, axis=2)
    assert found.fill_value == 200.0
    assert found.nnz == 2
    assert found[0, 1].item() == 203.0
    assert ln.prod(x[:, :, :4], axis=2)[3, 1].item() == 56.0


@pytest.mark.parametrize("op", ["mean", "var", "std", "nanmean", "nanvar"])
@pytest.mark.parametrize("format", [ln.DENSE, ln.COO, ln.CSF], ids=str)
def test_a_mean_of_nothing_is_nan_however_it_is_stored(format: Any, op: str):
    x = ln.zeros((2, 0, 3), dtype="float32", format=format(3))
    found = getattr(ln, op)(x, axis=1)
    assert found.dtype == np.float32
    assert np.isnan(found.to_numpy()).tolist() == [[True] * 3] * 2
