"""Typed expressions, and how large their values can get.

Floats stay small whole numbers, so that sums are exact in any order: a call that could leave that
range is not made. Integers may wrap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from tests.oracle.functions import USER, WHOLE, clipped, larger, unless

from linnet import loops
from linnet.algebra import table
from linnet.algebra.dtypes import DTYPES, Number, as_python, concrete, kind, weak_dtype
from linnet.algebra.exact import apply
from linnet.algebra.function import Function
from linnet.errors import DTypeError, KernelSyntaxError

EXACT = 2.0**23  # whole numbers up to here, and some beyond, are exact in a float32


@dataclass(frozen=True)
class Typed:
    """An expression, its dtype, and the largest magnitude of its finite values.

    `value` is that of a Python number, which has to fit the type of its company.
    """

    expr: loops.Expr
    dtype: str
    bound: float
    value: Number | None = None


BINARY = (
    *(table.multiply, table.add) * 3,
    *(table.subtract, table.minimum, table.maximum) * 2,
    *(table.logical_and, table.logical_or, table.logical_xor),
    *(table.less, table.less_equal, table.equal, table.not_equal, table.greater),
    *(table.bitwise_and, table.bitwise_or, table.bitwise_xor),
    *(table.floor_divide, table.remainder, table.fmod, table.first, table.last, table.choose(0)),
    *(table.fmin, table.fmax, table.gcd, table.left_shift, table.right_shift, table.choose(1)),
    *(*USER, *WHOLE),
)
UNARY = (
    *(table.absolute, table.negative, table.logical_not, table.bitwise_invert, table.square),
    *(table.sign, table.isnan, table.isinf, table.isfinite, table.positive, table.bitwise_count),
    *(table.floor, table.trunc, table.rint, table.real, table.imag, table.conj),
    *(clipped, *table.astype.values()),
)
UPDATES = (
    *(table.add,) * 4,
    *(table.minimum, table.maximum, table.multiply) * 2,
    *(table.logical_or, table.logical_and, table.subtract),
    *(table.bitwise_and, table.bitwise_or, table.bitwise_xor, table.choose(0)),
    *(table.first, table.last, table.fmin, table.fmax, table.logical_xor, table.choose(1)),
    *(table.gcd, larger, unless),
)
COMPARISONS = (
    *(table.less, table.less_equal, table.equal, table.not_equal),
    *(table.greater, table.greater_equal),
)


def call(function: Function, *args: Typed) -> Typed | None:
    """A call, if these types have one and its values stay exact."""
    try:
        given, result = function.types(tuple(a.dtype for a in args))
    except (DTypeError, KernelSyntaxError):
        return None
    if function.name == "abs" and kind(given[0]) == "c":
        return None  # a square root
    if function in (table.floor_divide, table.remainder, table.fmod) and kind(result) not in "iu":
        return None  # a division by zero tells 0.0 from -0.0
    if function in WHOLE and kind(result) not in "iu":
        return None
    bounds = [converted(a, dtype) for a, dtype in zip(args, given, strict=True)]
    exact = [b for b in bounds if b is not None]
    if len(exact) < len(bounds):
        return None
    bound = limited(_bound(function, exact, result), result)
    if bound is None:
        return None
    values = tuple(a.value for a in args if a.value is not None)
    known = (
        apply(function, values, tuple(a.dtype for a in args)) if len(values) == len(args) else None
    )
    return Typed(loops.Call(function, tuple(a.expr for a in args)), result, bound, known)


def converted(value: Typed, dtype: str) -> float | None:
    """The bound of a value after conversion to a type; None if that is not to be done."""
    if value.value is not None:
        return limited(value.bound, dtype) if _fits(value.value, concrete(dtype)) else None
    if kind(dtype) == "u" and kind(value.dtype) not in "bu":
        return _whole(dtype)
    return limited(value.bound, dtype)


def _fits(value: Number, dtype: str) -> bool:
    """Whether a Python number may meet values of a type; as a truth value any may."""
    try:
        as_python(value, dtype)
    except DTypeError:
        return dtype == "bool"
    return True


def limited(bound: float, dtype: str) -> float | None:
    """The bound of a value of a type: integers wrap; None if a float would not be exact."""
    match kind(dtype):
        case "b":
            return 1
        case "i" | "u":
            return min(bound, _whole(dtype))
        case _:
            return bound if bound <= EXACT else None


def updated(held: Typed, op: Function | None, value: Typed, times: int) -> float | None:
    """The bound of a tensor's values after `times` updates; None if that is not to be done."""
    if op is None:
        bound = converted(value, held.dtype)
        return None if bound is None else max(bound, held.bound)
    grown = _grown(held, op, value, times)
    computed = call(op, Typed(held.expr, held.dtype, grown), value)
    if computed is None or not np.can_cast(concrete(computed.dtype), held.dtype, "same_kind"):
        return None
    bound = converted(computed, held.dtype)
    return None if bound is None else max(bound, grown)


def _grown(held: Typed, op: Function, value: Typed, times: int) -> float:
    """How large values get before the last update."""
    match op.name:
        case "add" | "subtract":
            return held.bound + times * value.bound
        case "multiply" if value.bound > 1:
            return limited(math.inf, held.dtype) or math.inf
        case _:
            return max(held.bound, value.bound)


def _whole(dtype: str) -> float:
    return float(np.iinfo(concrete(dtype)).max) + 1


def _bound(function: Function, bounds: list[float], result: str) -> float:
    match function.name:
        case "subtract" | "negative" | "bitwise_invert" if kind(result) == "u":
            return _whole(result)
        case "add" | "subtract":
            return sum(bounds)
        case "multiply":
            return bounds[0] * bounds[1]
        case "square":
            return bounds[0] ** 2
        case "left_shift":
            return _whole(result)
        case "bitwise_count":
            return 64
        case "bitwise_and" | "bitwise_or" | "bitwise_xor" | "bitwise_invert":
            return _whole(result) if kind(result) in "iu" else 1
        case _:
            return max(*bounds, 1)


def literals() -> st.SearchStrategy[Typed]:
    """Constants: Python numbers, which take the type of their company, and numbers with a type."""
    odd = (math.inf, math.nan, -math.inf)
    weak = st.sampled_from((1, 0, 2, 3, 1.0, 0.0, 2.0, -1.0, True, False, *odd))
    typed = st.tuples(st.sampled_from((1, 0, 2)), st.sampled_from(DTYPES))
    return st.one_of(weak.map(_weak), weak.map(_weak), typed.map(lambda t: _typed(*t)))


def _weak(value: Number) -> Typed:
    bound = float(abs(value)) if math.isfinite(value.real) else 0.0
    return Typed(loops.Literal(value), weak_dtype(value), bound, value)


def _typed(value: int, dtype: str) -> Typed:
    held = np.dtype(dtype).type(value).item()
    return Typed(loops.Literal(held, dtype), dtype, abs(held))
