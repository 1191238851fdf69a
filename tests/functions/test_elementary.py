"""Elementary functions that are codelets: how far off they are, everywhere and at the edges."""

from __future__ import annotations

import hashlib
import math
from functools import partial

import numpy as np
import pytest

import linnet as ln
from linnet import imp, target
from linnet.algebra.elementary import ELEMENTARY, is_elementary
from linnet.algebra.lookup import lookup
from linnet.imp.floats import bits, fma, from_bits
from linnet.options import Options

NAMES = sorted({name for name, _ in ELEMENTARY})
EXP = imp.Call("exp", (imp.Var("x", "float64"),), "float64")
WORST = {"float64": 1.05, "float32": 0.9}  # units in the last place
EXTENDED = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="NumPy has no precision beyond double here"
)


def meaning(name: str) -> np.ufunc:
    """NumPy's function of this name."""
    return getattr(np, name if hasattr(np, name) else f"arc{name[1:]}")


def samples(dtype: str, count: int = 20_000) -> np.ndarray:
    """Numbers of every size, many of them where polynomials and reductions change."""
    rng, limits = np.random.default_rng(0), np.finfo(dtype)
    sizes = np.exp2(rng.uniform(limits.minexp - limits.nmant, limits.maxexp, count))
    near_one = np.exp2(rng.uniform(-60, 0, count))
    parts = [
        *(rng.uniform(-most, most, count) for most in (1, 2, 30, 120, 800)),
        rng.choice([-1, 1], count) * sizes,
        1 + rng.choice([-1, 1], count) * near_one,
        rng.uniform(0.7, 0.72, count),
        rng.uniform(1.4, 1.42, count),
        np.arange(-1000, 1000) * (np.pi / 4),
        np.arange(-1100, 1100) * (np.log(2) / 2),
        np.exp2(np.arange(limits.minexp, limits.maxexp)),
    ]
    with np.errstate(all="ignore"):
        return np.concatenate(parts).astype(dtype)


def edges(dtype: str) -> np.ndarray:
    """Zeros, infinities, NaN, and the first and last numbers."""
    limits = np.finfo(dtype)
    sizes = [0, np.inf, 1, 0.5, 2, limits.tiny, limits.smallest_subnormal, limits.max, limits.eps]
    return np.array([*sizes, *(-s for s in sizes), np.nan], dtype)


def errors(found: np.ndarray, name: str, x: np.ndarray) -> np.ndarray:
    """How many units of the last place results are off, and infinitely many if not at all right."""
    with np.errstate(all="ignore"):
        exact = meaning(name)(x.astype(np.longdouble))
        nearest = exact.astype(x.dtype)
        unit = np.spacing(np.abs(nearest)).astype(np.longdouble)
        off = np.abs(found - exact) / unit
    same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    finite = np.isfinite(found) & np.isfinite(nearest)
    return np.where(finite, off, np.where(same, 0, np.inf)).astype(float)


@EXTENDED
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_error_is_below_the_last_place(name, dtype, backend):
    if not target.of(Options()).fused or (name, dtype) not in ELEMENTARY:
        pytest.skip("a function of math.h in this precision")
    x = samples(dtype)
    with ln.config(backend=backend):
        found = getattr(ln, name)(ln.asarray(x)).to_numpy()
    off = errors(found, name, x)
    worst = int(np.argmax(off))
    assert off[worst] < WORST[dtype], (x[worst], found[worst])


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_edges_are_those_of_numpy(name, dtype, backend):
    x = edges(dtype)
    with np.errstate(all="ignore"):
        expected = meaning(name)(x)
    with ln.config(backend=backend):
        found = getattr(ln, name)(ln.asarray(x)).to_numpy()
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=0)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(expected)[known])


@pytest.mark.parametrize("name", [name for name, dtype in ELEMENTARY if dtype == "float64"])
def test_codelets_mean_the_same_in_python(name):
    for x in (0.3, -0.7, 1.5, 25.0, 1e-9, 5e-324):
        with np.errstate(all="ignore"):
            expected = float(meaning(name)(np.longdouble(x)))
        if not math.isnan(expected):
            assert ELEMENTARY[name, "float64"](x) == pytest.approx(expected, rel=5e-16, abs=0)


def test_elementary_functions_are_in_the_table():
    assert {lookup(meaning(name)).name for name in NAMES} == set(NAMES)


def test_large_angles_are_reduced_exactly():
    x = np.array([1e5, 1e9, 1e10, 1e22, 1e300, -1e22])
    np.testing.assert_allclose(ln.sin(ln.asarray(x)).to_numpy(), np.sin(x), rtol=1e-15)
    y = np.array([1e5, 1e10, 1e22, 1e30, 3e38, -3e38], np.float32)
    wide = y.astype(np.float64)
    np.testing.assert_allclose(ln.cos(ln.asarray(y)).to_numpy(), np.cos(wide), rtol=1e-7)
    np.testing.assert_allclose(ln.tan(ln.asarray(y)).to_numpy(), np.tan(wide), rtol=1e-7)


def test_fma_rounds_once():
    a = 1 + 2.0**-30
    assert fma(a, a, -1.0) == 2.0**-29 + 2.0**-60
    assert fma(1e308, 10.0, -math.inf) == -math.inf
    assert fma(1e308, 10.0, 0.0) == math.inf
    assert math.copysign(1, fma(-0.0, 1.0, -0.0)) == -1


def patterns(dtype: str, count: int = 4000) -> np.ndarray:
    """Numbers of all sizes that are the same on every system: made of integers, and products."""
    bits = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # which wraps around
    bits, one = (bits, 0x3FF << 52) if dtype == "float64" else (bits >> np.uint64(32), 0x7F << 23)
    words = bits.astype(f"uint{dtype[5:]}")
    of_one = words >> words.dtype.type(12 if dtype == "float64" else 9)
    near = (of_one | words.dtype.type(one)).view(dtype) * 2 - 3  # from -1 to 1
    with np.errstate(all="ignore"):
        return np.concatenate([words.view(dtype), near, near * 40, near * 700, edges(dtype)])


@pytest.mark.skipif(not target.of(Options()).fused, reason="this processor leaves them to math.h")
def test_all_processors_compute_the_same_bits(golden):
    lines = []
    for name, dtype in sorted(ELEMENTARY):
        found = getattr(ln, name)(ln.asarray(patterns(dtype))).to_numpy()
        found = np.where(np.isnan(found), found.dtype.type(np.nan), found)  # their signs differ
        lines.append(f"{name} {dtype} {hashlib.sha256(found.tobytes()).hexdigest()[:12]}")
    golden("elementary.txt", "\n".join(lines))


@pytest.mark.parametrize("listed", [{"FMA3": True}, {"NEON_VFPV4": True}, {"X86_V3": True}, {}])
def test_they_are_compiled_wherever_numpy_lists_the_instruction(listed, monkeypatch):
    module = np._core._multiarray_umath
    everywhere = {} if not listed else dict.fromkeys(module.__cpu_features__, False)
    monkeypatch.setattr(module, "__cpu_features__", everywhere | listed)
    here = partial(target._here.__wrapped__, without=frozenset())
    assert here("llvm").fused
    assert here("c").fused
    monkeypatch.setattr(module, "__cpu_features__", dict.fromkeys(("FMA3", "NEON_VFPV4"), False))
    assert not here("llvm").fused
    assert is_elementary(EXP, here("llvm")) is False


@pytest.mark.parametrize("x", [0.0, -0.0, 1.5, -math.inf, 5e-324])
def test_bits_come_back(x):
    assert from_bits(bits(x)) == x
    assert bits(-0.0) == -(2**63)
