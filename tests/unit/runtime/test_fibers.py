"""Entries of fibers that come in any order, put in order where they are."""

import numpy as np
import pytest

import linnet as ln
from linnet.runtime.fibers import arrange_fibers

LENGTHS = [0, 1, 2, 15, 16, 17, 3, 40, 16, 0, 16, 5, 1]  # the last ones have few behind them


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float64", "uint8", "bool", "complex64", None])
def test_fibers_of_any_length(backend, index, dtype):
    rng = np.random.default_rng(0)
    ptr = np.cumsum([0, *LENGTHS]).astype(index)
    rows = [rng.permutation(1000)[:n] for n in LENGTHS]
    idx = np.concatenate(rows).astype(index)
    values = None if dtype is None else (idx % 251).astype(dtype)
    with ln.config(backend=backend):
        arrange_fibers(ptr, idx, values)
    np.testing.assert_array_equal(idx, np.concatenate([np.sort(row) for row in rows]))
    if values is not None:
        np.testing.assert_array_equal(values, (idx % 251).astype(dtype))
