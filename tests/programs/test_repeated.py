"""Rows that are all the same are reduced at once, however many there are, and however nested."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

HUGE = 2**40
REDUCTIONS = {"max": np.max, "sum": np.sum, "prod": np.prod}


@pytest.mark.parametrize("format", [ln.COO(2), ln.DCSR, ln.DCSC], ids=str)
@pytest.mark.parametrize(
    ("name", "fill", "expected"),
    [("max", 0.0, 3.0), ("min", 0.0, -1.0), ("max", 5.0, 5.0), ("sum", 1.0, float(HUGE) * HUGE)],
)
def test_nobody_goes_through_empty_rows(name, fill, expected, format):
    values = [1.0, 3.0, -1.0]
    a = ln.tensor([[0, 5, HUGE - 1], [7, 0, HUGE - 1]], values, (HUGE, HUGE), format, fill)
    lazy = getattr(ln.lazy(a), name)()
    assert "++)\n      if (0 < n_" not in ln.explain(lazy)["code"]  # or else it takes for ever
    assert lazy.compute().to_numpy() == expected


@pytest.mark.parametrize("shape", [(6, 4), (6, 0), (0, 5), (4, 3, 5)], ids=str)
@pytest.mark.parametrize("fill", [0.0, -2.0, np.nan])
@pytest.mark.parametrize("family", [ln.COO, ln.CSF], ids=str)
def test_rows_without_anything_take_part(shape, fill, family):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random(shape) < 0.2, rng.integers(0, 4, shape), fill)
    dense[1:3] = fill
    a = ln.lazy(ln.asarray(dense, format=family, fill_value=fill))
    for name, reduce in REDUCTIONS.items():
        if dense.size or name != "max":
            found = getattr(ln, name)(a).compute().to_numpy()
            np.testing.assert_allclose(found, reduce(dense), err_msg=name)
