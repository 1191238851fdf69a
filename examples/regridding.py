"""A field with missing values on another grid: sparse weights, NaN where nothing is known.

The field has NaN as its fill value, so that only what was measured is stored. Where xarray is
installed, the arrays are used inside it.
"""

from __future__ import annotations

import numpy as np

import linnet as ln


def weights(old: np.ndarray, new: np.ndarray) -> ln.Tensor:
    """Linear interpolation from one line of points to another, as a CSR matrix."""
    right = np.clip(np.searchsorted(old, new), 1, len(old) - 1)
    share = (new - old[right - 1]) / (old[right] - old[right - 1])
    rows = np.arange(len(new))
    coords = np.r_[rows, rows], np.r_[right - 1, right]
    return ln.tensor(coords, np.r_[1 - share, share], (len(new), len(old)), format="csr")


def regrid(field: ln.Tensor, down: ln.Tensor, across: ln.Tensor) -> ln.Tensor:
    """The mean of what is known around each new point; NaN where nothing is."""
    known = ~ln.isnan(field)
    values = ln.where(known, field, 0.0)
    total = down @ values @ across.T
    share = down @ known.astype(float) @ across.T
    return ln.where(share > 0, total / share, np.nan)


def main() -> None:
    rng = np.random.default_rng(0)
    x, y = np.linspace(0, 1, 30), np.linspace(0, 1, 40)
    measured = np.where(rng.random((30, 40)) < 0.3, np.sin(3 * x)[:, None] + y, np.nan)
    field = ln.asarray(measured, format="csr", fill_value=np.nan)
    print(repr(field))
    down, across = weights(x, np.linspace(0, 1, 17)), weights(y, np.linspace(0, 1, 23))
    found = regrid(field, down, across)
    print(repr(found))

    known = ~np.isnan(measured)
    W, V = down.to_numpy(), across.to_numpy()
    with np.errstate(invalid="ignore"):
        expected = (W @ np.where(known, measured, 0) @ V.T) / (W @ known @ V.T)
    np.testing.assert_allclose(found.to_numpy(), expected)
    try:
        import xarray as xr
    except ImportError:
        return
    inside = xr.DataArray(field, dims=("x", "y"), coords={"x": x, "y": y})
    assert isinstance(inside.data, ln.Tensor)
    part = (inside * 2.0)[5:9]
    np.testing.assert_array_equal(part.data.to_numpy(), 2 * measured[5:9])


if __name__ == "__main__":
    main()
