"""Loops of every length: vectors and what is left behind them, and loops that are unrolled."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

RUNS = ln.Dense(ln.SparseRunList(ln.Pattern()))


@ln.kernel
def window(out, a):
    out[...] = 0
    for x in ...:
        left = ln.coalesce(a[~(x - 2)], 255) & ln.coalesce(a[~(x - 1)], 255)
        out[x] = left & a[x] & ln.coalesce(a[~(x + 1)], 255)
    return out


@ln.kernel
def count(bins, image, mask):
    ln.declare(bins, 0, (16,))
    for y, x in ...:
        if mask[y, x]:
            bins[image[y, x] // 16] += 1
    return bins


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64"])
@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_windows(dtype, backend):
    for n in [*range(40), 63, 64, 65, 70, 127, 131, 200]:
        a = np.random.default_rng(n).integers(0, 256, n).astype(dtype)
        wide = np.concatenate([np.full(2, 255, dtype), a, np.full(1, 255, dtype)])
        expected = wide[:n] & wide[1 : n + 1] & a & wide[3 : n + 3]
        with ln.config(backend=backend):
            assert np.array_equal(window(ln.empty_tensor(ln.DENSE(1)), a).to_numpy(), expected)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_histograms(backend):
    lengths = np.arange(80)
    mask = np.arange(81) < lengths[:, None]
    image = np.random.default_rng(0).integers(0, 256, mask.shape).astype(np.uint8)
    for rows in (slice(None), slice(31, 35)):
        with ln.config(backend=backend):
            given = ln.asarray(mask[rows]).to(RUNS)
            bins = count(ln.empty_tensor(ln.DENSE(1)), image[rows], given)
        expected = np.bincount(image[rows][mask[rows]] // 16, minlength=16)
        assert np.array_equal(bins.to_numpy(), expected)
