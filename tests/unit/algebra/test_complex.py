"""Functions of complex numbers at zeros, infinities, NaN and the ends of the range, as NumPy's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.unit.algebra.samples import is_open

import linnet as ln

EDGES = (0.0, 1.0, 0.5, 3.0, np.inf)
ENDS = {  # too small for squares, too large for them, and where the exponential overflows
    "complex128": (5e-324, 1e-310, 1e-200, 1e-10, 1e200, 1.7e308, 710.0, 800.0),
    "complex64": (1e-45, 1e-40, 1e-30, 1e-6, 1e30, 3e38, 89.0, 120.0),
}
FUNCTIONS = (
    "sqrt exp exp2 log log2 log10 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh "
    "arctanh abs reciprocal sign expm1 log1p"
).split()
# At the ends of the range ours are nearer to the truth, in the function's own type or in both.
NEARER = {"sign", "expm1", "log1p"}
NEARER_IN_SINGLE = {"exp2", "reciprocal"}


def samples(dtype: str) -> np.ndarray:
    """All pairs of the numbers above, of either sign, and NaN."""
    values = [*EDGES, *ENDS[dtype]]
    both = [*values, *(-v for v in values), np.nan]
    return np.array([complex(x, y) for x in both for y in both], dtype)


def ordinary(z: np.ndarray) -> np.ndarray:
    """Where no part is at the ends of the range."""
    parts = np.abs(np.stack([z.real, z.imag]))
    return np.isin(parts, [*EDGES, np.nan]).all(0) | np.isnan(parts).any(0)


def computed(name: str, z: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(np, name)(ln.asarray(z)).to_numpy()


def assert_parts(mine: np.ndarray, theirs: np.ndarray, z: np.ndarray) -> None:
    """Each part to a few roundings, infinities, NaN and the signs of zeros included."""
    info = np.finfo(mine.dtype)
    for part in ("real", "imag"):
        a, b = getattr(mine, part), getattr(theirs, part)
        with np.errstate(all="ignore"):
            near = np.abs(a - b) <= 8 * info.eps * np.abs(b) + 4 * info.smallest_subnormal
        same = (a == b) | near | (np.isnan(a) & np.isnan(b))
        zeros = (a == 0) & (b == 0)
        same &= ~zeros | (np.signbit(a) == np.signbit(b))
        wrong = np.flatnonzero(~same)
        assert not len(wrong), [(z[k], mine[k], theirs[k]) for k in wrong[:5]]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_special_values_are_numpys(dtype, backend):
    z = samples(dtype)
    with np.errstate(all="ignore"), ln.config(backend=backend):
        for name in FUNCTIONS:
            mine, theirs = computed(name, z), getattr(np, name)(z)
            here = ~is_open(name, z)
            if name in NEARER or (dtype == "complex64" and name in NEARER_IN_SINGLE):
                here &= ordinary(z)
            if name == "expm1":  # NumPy's is NaN where that of exp is not, and -0 is +0 here
                here &= ~np.isnan(theirs) & (z != 0)
            if name in ("tan", "tanh"):  # the sign of a zero is the standard's: see test_taught
                here &= ~np.isinf(z.imag if name == "tan" else z.real)
            assert_parts(mine[here], theirs[here], z[here])


def test_logarithms_near_one():
    angles = np.linspace(0, 2 * np.pi, 2000)
    z = np.exp(1j * angles) * (1 + np.linspace(-1e-9, 1e-9, 2000))
    mine, theirs = computed("log", z), np.log(z)
    assert_parts(mine, theirs, z)


def test_signs_at_the_ends_of_the_range():
    z = np.array([1.7e308 + 1.7e308j, 5e-324 - 5e-324j, -3e-320 + 4e-320j])
    want = [np.sqrt(0.5) * (1 + 1j), np.sqrt(0.5) * (1 - 1j), -0.6 + 0.8j]
    np.testing.assert_allclose(computed("sign", z), want, rtol=1e-3)
    np.testing.assert_allclose(computed("sign", z)[:2], want[:2], rtol=1e-15)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_whole_powers_are_products(backend):
    random = np.random.default_rng(3)
    z = random.standard_normal(50) + 1j * random.standard_normal(50)
    with ln.config(backend=backend):
        for n in (1, 4, 5, 17, 50, -1, -3, -20):
            power = ln.asarray(np.full(50, complex(n)))
            np.testing.assert_allclose((ln.asarray(z) ** power).to_numpy(), z**n, rtol=1e-14)
        power = ln.asarray(np.full(50, 0.5 - 2j))
        np.testing.assert_allclose((ln.asarray(z) ** power).to_numpy(), z ** (0.5 - 2j), rtol=1e-13)
