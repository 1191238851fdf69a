"""Reductions of long arrays read them at four places at once."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.optimize.accumulators import _LONG
from linnet.testing import assert_equal

SIZES = (0, 1, 5, _LONG - 1, _LONG, _LONG + 1, _LONG + 3, 3 * _LONG + 2)


@ln.kernel
def dot(s, x, y):
    s[...] = 0
    for i in ...:
        s[()] += x[i] * y[i]
    return s


@ln.kernel
def extremes(least, most, x):
    least[...] = np.inf
    most[...] = -np.inf
    for i in range(2, x.shape[0] - 1):
        least[()] = min(least[()], x[i])
        most[()] = max(most[()], x[i])
    return least, most


@ln.kernel
def backwards(s, x, n):
    s[...] = 0
    for i in range(x.shape[0], n[()]):
        s[()] += x[i]
    return s


@ln.kernel
def rows(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j]
    return y


@ln.kernel
def gathered(s, x, I):
    s[...] = 0
    for i in ...:
        s[()] += x[I[i]]
    return s


@ln.kernel
def horner(s, x):
    s[...] = 0
    for i in ...:
        s[()] = s[()] * 0.5 + x[i]
    return s


def values(n: int, dtype: str) -> np.ndarray:
    return (np.arange(n) * 7 % 11 - 3).astype(dtype)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_sums_of_any_length(n, dtype, backend):
    x, y = values(n, dtype), values(n, dtype)[::-1].copy()
    s = ln.scalar(np.zeros((), dtype)[()])
    assert "s_part_3" in dot.code(s, x, y)
    with ln.config(backend=backend):
        assert dot(s, x, y).item() == x @ y


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("n", SIZES[2:])
def test_extremes_wherever_they_are(n, backend):
    given = ln.scalar(0.0), ln.scalar(0.0)
    assert "most_part_3" in extremes.code(*given, np.zeros(n))
    for at in (2, n // 4, n // 2, 3 * n // 4, n - 2):
        x = values(n, "float64")
        x[at], x[n - 1 - at] = 100, -100
        inner = x[2:-1]
        with ln.config(backend=backend):
            least, most = extremes(*given, x)
        assert (least.item(), most.item()) == (inner.min(), inner.max())


@pytest.mark.parametrize("at", [0, _LONG // 2, _LONG, 2 * _LONG])
def test_what_is_no_number_is_the_extreme_wherever_it_is(at):
    x = np.ones(2 * _LONG + 1)
    x[at] = np.nan
    assert np.isnan(ln.asarray(x).max().item())
    assert np.isnan(ln.asarray(x).min().item())


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("stop", [-(2**63), -1, 0, 5])
def test_ranges_that_end_before_they_begin(stop, backend):
    with ln.config(backend=backend):
        found = backwards(ln.scalar(0.0), np.ones(5), ln.scalar(stop))
    assert found.item() == 0


def test_a_negative_zero_stays():
    x = np.full(2 * _LONG, -0.0)
    assert np.signbit(ln.asarray(x).max().item())
    assert ln.asarray(x + 0.0).sum().item() == 0


def test_only_what_is_long_and_nothing_else():
    """Rows are short; places that are looked up, and what is looked at meanwhile, stay in order."""
    x, places = np.ones(5), np.array([3, 1])
    A = ln.asarray(np.eye(5), format=ln.CSR)
    s = ln.scalar(0.0)
    assert "_part" not in rows.code(ln.empty_tensor(ln.DENSE(1)), A)
    assert "_part" not in gathered.code(s, x, places)
    assert "_part" not in horner.code(s, x)
    assert "_part" not in dot.code(ln.scalar(0), np.arange(5), np.arange(5))
    assert_equal(rows(ln.empty_tensor(ln.DENSE(1)), A), np.ones(5))
    assert gathered(s, x, places).item() == 2
    assert horner(s, x).item() == 1.9375
