"""What the functions mean on NumPy values: for constants, and for the reference interpreters.

Arguments have the types that `algebra.types` asks for, as scalars or arrays. Where NumPy warns,
raises or depends on the machine, these give what the compiled code gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linnet.algebra.dtypes import Number, as_python, canonical, concrete, kind, weak_dtype
from linnet.algebra.function import Function
from linnet.errors import DTypeError
from linnet.imp.functions import MATH

Array = NDArray[np.generic]
Meaning = Callable[..., object]


def apply(function: Function, values: tuple[Number, ...], dtypes: tuple[str, ...]) -> Number:
    """The value of a call on constants; its dtype is `function.types(dtypes)[1]`."""
    wanted, result = function.types(dtypes)
    args = (_argument(*each) for each in zip(values, dtypes, wanted, strict=True))
    value: Number = np.asarray(function.numpy(*args)).astype(concrete(result)).item()
    return value


def of_numbers(function: Function, args: tuple[object, ...]) -> object | None:
    """The value of a call on numbers, of Python or NumPy; None if there is anything else."""
    if not all(isinstance(a, bool | int | float | complex | np.generic) for a in args):
        return None
    if len(args) != function.arity:
        raise DTypeError(f"{function.name} takes {function.arity} arguments, not {len(args)}")
    dtypes = tuple([_dtype(a) for a in args])
    values = tuple([a.item() if isinstance(a, np.generic) else a for a in args])
    value = apply(function, values, dtypes)  # type: ignore[arg-type]
    result = function.types(dtypes)[1]
    return value if result.startswith("weak_") else np.dtype(result).type(value)


def _dtype(value: object) -> str:
    if isinstance(value, np.generic):
        return canonical(value.dtype)
    return weak_dtype(value)  # type: ignore[arg-type]


def _argument(value: Number, dtype: str, wanted: str) -> object:
    wanted = concrete(wanted)
    if not dtype.startswith("weak_"):
        return converter(wanted)(np.dtype(dtype).type(value))
    # a Python number must fit the type of its company; for its truth any will do
    return np.dtype(wanted).type(bool(value) if wanted == "bool" else as_python(value, wanted))


def same(a: Number, b: Number | None) -> bool:
    """Whether two numbers are equal, NaN included; 0.0 and -0.0 are."""
    return b is not None and (a == b or (a != a and b != b))


def identical(a: Number, b: Number) -> bool:
    """Whether two numbers are the same to the last bit; 0.0 and -0.0 are not."""
    if not same(a, b):
        return False
    parts = (a.real, b.real), (a.imag, b.imag)
    return all(
        p != p if q != q else p == q and math.copysign(1, p) == math.copysign(1, q)
        for p, q in parts
    )


def quiet(function: Meaning) -> Meaning:
    """A function of NumPy that does not warn of overflow, NaN or division by zero."""

    @wraps(function, assigned=("__name__", "__doc__"), updated=())
    def call(*args: object) -> object:
        with np.errstate(all="ignore"):
            return function(*args)

    return call


def converter(dtype: str) -> Meaning:
    """Conversion to a dtype. Floats too large for an integer become its limits, and NaN 0."""

    def convert(value: ArrayLike) -> object:
        x = np.asarray(value)
        if x.dtype.kind == "c" and kind(dtype) not in "bc":
            x = x.real
        if x.dtype.kind == "f" and kind(dtype) in "iu":
            return _saturate(x, dtype)[()]
        return x.astype(dtype)[()]

    return quiet(convert)


def _saturate(x: Array, dtype: str) -> Array:
    limits = np.iinfo(dtype)
    # the power of two above the greatest integer is a float, unlike that integer
    below, above = np.less(x, float(limits.min)), np.greater_equal(x, float(limits.max + 1))
    inside = np.where(below | above | np.isnan(x), 0, x).astype(dtype)
    return np.where(below, limits.min, np.where(above, limits.max, inside)).astype(dtype)


@quiet
def power(x: Array, n: Array) -> object:
    """`x ** n`; of integers, a negative power is rounded toward zero."""
    x, n = np.asarray(x), np.asarray(n)
    below = np.less(n, 0) if x.dtype.kind == "i" else np.False_
    if not below.any():
        return np.power(x, n)
    # an odd negative power of 0, 1, -1 is its first, an even one its second
    base, exponent = np.asarray(reciprocal(x)), 2 - np.bitwise_and(n, 1)
    return np.power(np.where(below, base, x), np.where(below, exponent, n))


@quiet
def reciprocal(x: Array) -> object:
    """`1 / x`; of an integer rounded toward zero, and 0 for 0."""
    x = np.asarray(x)
    if x.dtype.kind not in "iu":
        return np.reciprocal(x)
    return np.where((x == 1) | (x == -1), x, 0).astype(x.dtype)[()]


@quiet
def sign(x: Array) -> object:
    """-1, 0, 1 or NaN; of a complex number `z / |z|`, of one infinite part only that counts."""
    x = np.asarray(x)
    if x.dtype.kind != "c":
        return np.sign(x)
    parts = np.stack([x.real, x.imag])
    infinite = np.isinf(parts)
    parts = np.where(infinite.any(0), np.where(infinite, np.sign(parts), 0), parts)
    parts = np.where(infinite.all(0), np.nan, parts)
    largest = np.abs(parts).max(0)
    parts = np.where(largest == 0, 0, parts / np.where(largest == 0, 1, largest))
    size = np.hypot(*parts)
    result = np.empty_like(x)
    result.real, result.imag = parts / np.where(size == 0, 1, size)
    return result[()]


def part(name: str) -> Meaning:
    """The real or imaginary part."""

    def take(x: Array) -> object:
        return getattr(np.asarray(x), name)[()]

    return take


def rounding(function: Meaning) -> Meaning:
    """What makes whole numbers of floats; integers stay, which NumPy may round as floats."""

    @wraps(function, assigned=("__name__", "__doc__"), updated=())
    def call(x: object) -> object:
        x = np.asarray(x)
        return function(x) if x.dtype.kind in "fc" else x[()]

    return call


floor, ceil, trunc = rounding(np.floor), rounding(np.ceil), rounding(np.trunc)
rounded = rounding(np.rint)  # halves to the even one


def clip(x: Array, low: Array, high: Array) -> object:
    """`min(max(x, low), high)`."""
    return np.minimum(np.maximum(x, low), high)


def where(cond: Array, a: Array, b: Array) -> object:
    """`a if cond else b`."""
    return np.where(cond, a, b)[()]


def first(a: Array, b: Array) -> object:
    """`a`."""
    return np.broadcast_arrays(a, b)[0][()]


def last(a: Array, b: Array) -> object:
    """`b`."""
    return np.broadcast_arrays(a, b)[1][()]


def pair(a: Array, b: Array) -> object:
    """1 where neither is zero, else 0."""
    a, b = np.asarray(a), np.asarray(b)
    return ((a != 0) & (b != 0)).astype(a.dtype)[()]


def of_math(name: str) -> Meaning:
    """A function of C's math.h that NumPy does not have, element by element."""
    meaning = MATH[name].meaning

    def call(x: Array) -> object:
        x = np.asarray(x)
        values = [meaning(value) for value in x.ravel().tolist()]
        return np.array(values, np.float64).astype(x.dtype).reshape(x.shape)[()]

    return call


def choose(z: Number) -> Meaning:
    """The first argument that is not z."""

    def pick(a: Array, b: Array) -> object:
        a = np.asarray(a)
        if z != z and a.dtype.kind in "fc":
            return np.where(a == a, a, b)[()]
        try:
            return np.where(a != as_python(z, str(a.dtype)), a, b)[()]
        except DTypeError:  # no value of this type is z
            return first(a, b)

    return pick
