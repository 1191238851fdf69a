"""The laws that simplification relies on, tried on sampled values."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.algebra.samples import edges

from linnet.algebra import table
from linnet.algebra.dtypes import DTYPES
from linnet.algebra.exact import converter
from linnet.algebra.function import Function
from linnet.algebra.table import FUNCTIONS
from linnet.errors import DTypeError

BINARY = [f for f in FUNCTIONS.values() if f.arity == 2] + [table.choose(0), table.choose(3)]


def accepts(function: Function, dtype: str) -> bool:
    """Whether the function maps two values of this type to one of the same type."""
    try:
        return function.types((dtype, dtype))[0] == (dtype, dtype)
    except DTypeError:
        return False


def plain(dtype: str) -> np.ndarray:
    """Finite values, of moderate size if they are floats."""
    values = edges(dtype)
    if values.dtype.kind not in "fc":
        return values
    return values[np.isfinite(values) & (np.abs(values) < 1e6) & ~(np.abs(values) == 5e-324)]


def close(a: object, b: object, dtype: str) -> bool:
    if np.dtype(dtype).kind in "fc":
        return np.allclose(a, b, rtol=1e-4, atol=1e-30)
    return np.array_equal(a, b)


def constant(law, dtype: str) -> np.ndarray | None:
    value = law(dtype)
    if value is None:
        return None
    kinds = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
    assert type(value) is kinds[dtype[0]], f"{value!r} is no {dtype}"
    return np.full_like(plain(dtype), value)


@pytest.mark.parametrize("function", BINARY, ids=repr)
def test_identities_and_annihilators(function):
    for dtype in filter(lambda d: accepts(function, d), DTYPES):
        x, f, result = plain(dtype), function.numpy, function.types((dtype, dtype))[1]
        if (e := constant(function.identity, dtype)) is not None:
            assert close(f(x, e), x, result), dtype
            assert close(f(e, x), x, result), dtype
        if (e := constant(function.right_identity, dtype)) is not None:
            assert close(f(x, e), x, result), dtype
        if (z := constant(function.annihilator, dtype)) is not None:
            assert close(f(x, z), z, result), dtype
            assert close(f(z, x), z, result), dtype
        if (z := constant(function.left_annihilator, dtype)) is not None:
            nonzero = x != 0  # 0 / 0 is NaN, but a structural zero over anything is zero
            assert close(f(z, x)[nonzero], z[nonzero], result), dtype


@pytest.mark.parametrize("function", BINARY, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_identities_leave_nan_and_infinity(function, dtype):
    """What an identity is combined with is taken as it is, so that it may be anything."""
    if not accepts(function, dtype) or function.types((dtype, dtype))[1] != dtype:
        return
    x = np.array([np.nan, np.inf, -np.inf, 1, -2.5, 0], dtype)
    for law, sides in ((function.identity, "both"), (function.right_identity, "right")):
        if (e := law(dtype)) is not None:
            e = np.full_like(x, e)
            assert np.array_equal(function.numpy(x, e), x, equal_nan=True)
            assert sides == "right" or np.array_equal(function.numpy(e, x), x, equal_nan=True)


@pytest.mark.parametrize("function", BINARY, ids=repr)
def test_commutative_and_idempotent(function):
    for dtype in filter(lambda d: accepts(function, d), DTYPES):
        x = plain(dtype)
        a, b = (m.ravel() for m in np.meshgrid(x, x))
        result = function.types((dtype, dtype))[1]
        if function.commutative:
            assert close(function.numpy(a, b), function.numpy(b, a), result), dtype
        if function.idempotent:
            assert close(function.numpy(x, x), x, result), dtype


@pytest.mark.parametrize("function", [f for f in BINARY if f.associative], ids=repr)
def test_associative(function):
    f = function.numpy
    for dtype in filter(lambda d: accepts(function, d), DTYPES):
        x = plain(dtype)[::2] if dtype[0] in "iuc" else plain(dtype)
        a, b, c = (m.ravel() for m in np.meshgrid(x, x, x))
        result = function.types((dtype, dtype))[1]
        if dtype[0] in "fc":  # sums of small and large numbers lose digits
            keep = (np.abs(a) < 1e3) & (np.abs(b) < 1e3) & (np.abs(c) < 1e3)
            a, b, c = a[keep], b[keep], c[keep]
            assert np.allclose(f(f(a, b), c), f(a, f(b, c)), rtol=1e-4, atol=1e-3), dtype
        else:
            assert close(f(f(a, b), c), f(a, f(b, c)), result), dtype


@pytest.mark.parametrize("function", [f for f in BINARY if f.repeat], ids=repr)
def test_repeated_updates(function):
    """`n` updates with one value, at once."""
    f = function.numpy
    for dtype in filter(lambda d: accepts(function, d), DTYPES):
        x = plain(dtype)
        start, v = (m.ravel() for m in np.meshgrid(x, x))
        if dtype[0] in "fc":
            keep = (np.abs(v) > 1e-3) & (np.abs(v) < 1e3)
            start, v = start[keep], v[keep]
        n = np.asarray(converter(dtype)(3))
        with np.errstate(all="ignore"):
            at_once = {
                "times": lambda v=v, n=n: np.multiply(n, v),
                "power": lambda v=v: np.multiply(np.multiply(v, v), v),
                "once": lambda v=v: v,
            }[function.repeat]()
        repeated = f(f(f(start, v), v), v)
        assert close(repeated, f(start, at_once), function.types((dtype, dtype))[1]), dtype


def test_some_laws_by_hand():
    assert table.add.identity("float64") == 0.0
    assert table.add.annihilator("bool") is True
    assert table.add.annihilator("int64") is None
    assert table.multiply.annihilator("complex64") == 0j
    assert table.minimum.identity("int8") == 127
    assert table.minimum.identity("float32") == float("inf")
    assert table.minimum.identity("complex64") is None
    assert table.maximum.identity("uint8") == 0
    assert table.bitwise_and.identity("int16") == -1
    assert table.bitwise_and.identity("uint16") == 65535
    assert table.bitwise_and.identity("float64") is None
    assert table.logical_and.annihilator("float64") == 0.0
    assert table.logical_and.identity("float64") is None
    assert table.choose(0.5).identity("int64") is None
    assert table.choose(0.5).identity("float32") == 0.5
    assert table.floor_divide.right_identity("float64") is None
