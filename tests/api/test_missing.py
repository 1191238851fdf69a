"""NaN as what is missing: reductions that leave it out, in every format; borders."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from tests.api.operands import close, cube, filled_matrices, matrix, same

import linnet as ln

REDUCTIONS = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"]


def holed(format: str, fill: float) -> tuple[ln.Tensor, Any]:
    """A matrix some of whose stored values are NaN, and with a column of them."""
    x, a = matrix(format, fill)
    hole = np.zeros_like(a, bool)
    hole[1, ::2] = hole[:, 3] = True
    return ln.where(ln.asarray(hole), np.nan, x).to(x.format), np.where(hole, np.nan, a)


@filled_matrices
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(format: str, fill: float, name: str):
    x, a = holed(format, fill)
    for axis in (None, 0, 1):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = getattr(np, name)(a, axis=axis)
            dispatched = getattr(np, name)(x, axis=axis)
        found = getattr(ln, name)(x, axis=axis)
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dispatched.to_numpy(), expected, rtol=1e-12, atol=1e-12)
        kept = getattr(ln, name)(x, axis=axis, keepdims=True)
        assert kept.shape == tuple(1 if axis in (None, d) else n for d, n in enumerate(a.shape))


def test_what_is_missing_is_not_visited():
    x = ln.tensor([[3, 10**6], [5, 7]], [2.0, 4.0], (10**9, 10**9), fill_value=np.nan)
    assert float(ln.nansum(x)) == 6.0
    assert float(ln.nanmean(x)) == 3.0
    assert float(ln.nanvar(x, ddof=1)) == 2.0
    assert float(ln.nanmax(x)) == 4.0
    assert ln.nansum(x, axis=1).nnz <= 2


@pytest.mark.parametrize("dtype", ["int32", "bool", "float32", "uint8"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_types(dtype: str, name: str):
    a = np.array([[1, 0, 3], [0, 0, 1]], dtype)
    if dtype == "bool" and name in ("nanvar", "nanstd", "nanmean", "nanmax", "nanmin"):
        pytest.skip("NumPy has other rules for truth values")
    found = getattr(ln, name)(ln.asarray(a, format="csr"), axis=0)
    close(found, getattr(np, name)(a, axis=0), 1e-6)


def test_positions_and_running_sums():
    a = np.array([[np.nan, 3.0, 1.0], [2.0, np.nan, np.nan]])
    x = ln.asarray(a, format="csr", fill_value=np.nan)
    for name in ("nanargmax", "nanargmin", "nancumsum", "nancumprod"):
        same(getattr(ln, name)(x, axis=1), getattr(np, name)(a, axis=1))
        same(getattr(np, name)(x, axis=1), getattr(np, name)(a, axis=1))
    with pytest.raises(ValueError, match="all elements are NaN"):
        ln.nanargmax(ln.full((2, 2), np.nan, format="csr"))


def test_lazy_ones_stay_lazy():
    x, a = holed("csr", np.nan)
    found = ln.nanmean(ln.lazy(x), axis=1)
    assert isinstance(found, ln.Lazy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(found.compute(), np.nanmean(a, axis=1))


@filled_matrices
@pytest.mark.parametrize("value", [0.0, 1.5])
def test_borders(format: str, fill: float, value: float):
    x, a = matrix(format, fill)
    for widths in (1, (2, 0), ((1, 0), (0, 3))):
        same(ln.pad(x, widths, constant_values=value), np.pad(a, widths, constant_values=value))
        same(np.pad(x, widths, constant_values=value), np.pad(a, widths, constant_values=value))


def test_borders_of_the_fill_value_are_not_stored():
    x, a = cube("csf")
    found = ln.pad(x, 1000)
    assert found.shape == (2003, 2004, 2005)
    assert found.nnz == x.nnz
    same(found[1000:-1000, 1000:-1000, 1000:-1000], a)


def test_borders_that_are_refused():
    x, _ = matrix("csr")
    with pytest.raises(TypeError, match="mode 'edge'"):
        ln.pad(x, 1, mode="edge")
    with pytest.raises(TypeError, match="whole numbers"):
        ln.pad(x, -1)
    with pytest.raises(ValueError, match="do not fit 2 dimensions"):
        ln.pad(x, ((1, 2), (3, 4), (5, 6)))


def test_rounding_to_digits():
    x, a = matrix("csr")
    close(np.round(x * 1.234, 1), np.round(a * 1.234, 1))
    close(np.round(x * 123.4, -1), np.round(a * 123.4, -1))
    same(np.round(x), np.round(a))
