"""The functions of C's math.h that generated code may call: how many arguments, what they mean.

One table for the checker, the interpreter and all back ends. Each function exists in double and in
single precision; the meaning given here is NumPy's or Python's, and agrees with C's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from linnet.imp.floats import bits, count_bits, fma, from_bits, lowest_bit
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class MathFunction:
    """A function of math.h. `intrinsic` ones are instructions on most machines."""

    name: str
    arity: int
    meaning: Callable[..., object]
    intrinsic: str = ""


def _python(function: Callable[..., float]) -> Callable[..., object]:
    """A function of Python's `math` that gives NaN or inf where that one raises."""

    def call(*args: float) -> float:
        try:
            return function(*map(float, args))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return call


def _gamma(x: float) -> float:
    """Infinite at zero, with its sign; NaN at the other poles."""
    if x == 0:
        return math.copysign(math.inf, x)
    try:
        return math.gamma(x)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.copysign(math.inf, x)


def _lgamma(x: float) -> float:
    """Infinite at the poles, and where it is too large."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def _round(x: float) -> object:
    """Halves away from zero, as in C."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x) if np.abs(x) < 2**51 else x


_NUMPY = {
    1: """arccos:acos arccosh:acosh arcsin:asin arcsinh:asinh arctan:atan arctanh:atanh cbrt:cbrt
        cos:cos cosh:cosh exp:exp exp2:exp2 expm1:expm1 log:log log10:log10 log1p:log1p log2:log2
        sin:sin sinh:sinh tan:tan tanh:tanh""",
    2: """arctan2:atan2 fmod:fmod hypot:hypot nextafter:nextafter power:pow fmax:fmax fmin:fmin""",
}
_TABLE = [
    *(
        MathFunction(c_name, arity, getattr(np, numpy_name))
        for arity, pairs in _NUMPY.items()
        for numpy_name, c_name in (pair.split(":") for pair in pairs.split())
    ),
    MathFunction("erf", 1, _python(math.erf)),
    MathFunction("erfc", 1, _python(math.erfc)),
    MathFunction("lgamma", 1, _lgamma),
    MathFunction("tgamma", 1, _gamma),
    MathFunction("remainder", 2, _python(math.remainder)),
    MathFunction("fdim", 2, lambda a, b: np.maximum(a - b, 0)),
    MathFunction("sqrt", 1, np.sqrt, "sqrt"),
    MathFunction("fabs", 1, np.fabs, "fabs"),
    MathFunction("floor", 1, np.floor, "floor"),
    MathFunction("ceil", 1, np.ceil, "ceil"),
    MathFunction("trunc", 1, np.trunc, "trunc"),
    MathFunction("rint", 1, np.rint, "rint"),
    MathFunction("nearbyint", 1, np.rint, "nearbyint"),
    MathFunction("round", 1, _round, "round"),
    MathFunction("copysign", 2, np.copysign, "copysign"),
    MathFunction("fma", 3, lambda *args: fma(*map(float, args)), "fma"),
]
MATH = {function.name: function for function in _TABLE}

# These give a bool, whatever the type of their argument.
TESTS: dict[str, Callable[[object], object]] = {
    "isnan": np.isnan,  # type: ignore[dict-item]
    "isinf": np.isinf,  # type: ignore[dict-item]
    "isfinite": np.isfinite,  # type: ignore[dict-item]
    "signbit": np.signbit,  # type: ignore[dict-item]
}
# These tell the bits of a number in double precision, as an integer of 64, and the other way round.
BITS: dict[str, Callable[..., object]] = {
    "bits": lambda x: bits(float(x)),
    "from_bits": lambda n: from_bits(int(n)),
}
# These are for integers of 64 bits.
WORDS: dict[str, Callable[..., object]] = {
    "count_bits": count_bits,
    "lowest_bit": lowest_bit,
}
# These look inside a complex number, or make one; `abs` takes any number.
COMPLEX = frozenset({"real", "imag", "conj", "abs", "complex"})
