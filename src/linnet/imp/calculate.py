"""The meaning of operators and casts: what they make of numbers of a type.

Integers wrap, division by zero gives 0, and floats are computed in their own precision, as in
every back end. The interpreter of imperative code and the folding of constants ask here: the
interpreter once for each node (`operation`, `conversion`), for a function that it calls often.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from linnet.errors import InternalError

# Integers are Python's, wrapped to their type; so are floats of 64 bits. Others are NumPy scalars.
Scalar: TypeAlias = bool | int | float | np.floating | np.complexfloating
Convert: TypeAlias = Callable[[Any], Scalar]
Operate: TypeAlias = Callable[[Any, Any], Any]


def convert(value: object, dtype: str) -> Scalar:
    """A number as a value of a type: integers wrap, floats saturate on becoming integers."""
    return converter(dtype)(value)


def operate(op: str, a: Scalar, b: Scalar, dtype: str) -> Scalar:
    """`a op b` for operands of one type."""
    found: Scalar = operation(op, dtype)(a, b)
    return found


def apply_unary(op: str, x: Scalar, dtype: str) -> Scalar:
    """`op x`: `not`, the complement of bits, or the negative."""
    return unary(op, dtype)(x)


def as_python(value: Scalar) -> bool | int | float | complex:
    """The same number as one of Python's."""
    found: bool | int | float | complex
    found = value if isinstance(value, (int, float)) else value.item()
    return found


# -- conversions -----------------------------------------------------------------------------------


def conversion(given: str, wanted: str) -> Convert | None:
    """What makes a value of one type one of another; None where it is the same number."""
    if given == wanted:
        return None
    if given[0] in "iu" and wanted[0] in "iu":
        (low, high), (least, most) = limits(given), limits(wanted)
        return None if least <= low and high <= most else converter(wanted)
    if given == "bool" and wanted[0] in "iu":
        return int
    if given[0] in "biu" and wanted == "float64":
        return float
    return converter(wanted)


@lru_cache(maxsize=64)
def converter(dtype: str) -> Convert:
    """What makes any number a value of a type."""
    match dtype[0]:
        case "b":
            return bool
        case "i" | "u":
            return _to_integer(*limits(dtype))
        case "f":
            make: Convert = float if dtype == "float64" else np.dtype(dtype).type
            return lambda value: make(_real(value))
        case _:
            return np.dtype(dtype).type


def limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    bits = int(dtype.lstrip("uint"))
    low = -(1 << bits - 1) if dtype[0] == "i" else 0
    return low, low + (1 << bits) - 1


def _real(value: Any) -> Any:
    return value.real if isinstance(value, (complex, np.complexfloating)) else value


def _to_integer(low: int, high: int) -> Convert:
    def whole(value: Any) -> int:
        value = _real(value)
        if isinstance(value, (float, np.floating)):
            if math.isnan(value):
                return 0
            return low if value <= low else high if value >= high else int(value)
        found = int(value)
        return found if low <= found <= high else (found - low) % (high - low + 1) + low

    return whole


# -- operators -------------------------------------------------------------------------------------

_COMPARE: dict[str, Operate] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "and": lambda a, b: bool(a) and bool(b),
    "or": lambda a, b: bool(a) or bool(b),
}
_ARITHMETIC: dict[str, Operate] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_BITS: dict[str, Operate] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
_TRUTHS: dict[str, Operate] = {**_BITS, "+": operator.or_, "*": operator.and_}


@lru_cache(maxsize=256)
def operation(op: str, dtype: str) -> Operate:
    """`op` for two operands of a type, as a function of them."""
    if op in _COMPARE:
        return _comparison(op, dtype)
    if op in ("min", "max"):
        return _extreme(op, dtype)
    if dtype == "bool" and op in _TRUTHS:
        return _TRUTHS[op]
    if dtype[0] in "iu":
        return _integer(op, dtype)
    if dtype[0] in "fc":
        return _float(op, dtype)
    raise InternalError(f"there is no {op} of {dtype}")


def _comparison(op: str, dtype: str) -> Operate:
    compare = _COMPARE[op]
    if dtype[0] in "biu" or dtype == "float64":  # which compare to a truth value of Python
        return compare
    return lambda a, b: bool(compare(a, b))


def _extreme(op: str, dtype: str) -> Operate:
    if dtype[0] != "f":
        return min if op == "min" else max
    numpy, finish = np.minimum if op == "min" else np.maximum, converter(dtype)
    first, second = (operator.lt, operator.gt) if op == "min" else (operator.gt, operator.lt)

    def extreme(a: Any, b: Any) -> Scalar:
        if first(a, b):
            return a  # type: ignore[no-any-return]
        # of zeros, and where there is NaN, NumPy knows: NaN wins
        return b if second(a, b) else finish(numpy(a, b))

    return extreme


def _integer(op: str, dtype: str) -> Operate:
    low, high = limits(dtype)
    if op in _BITS:
        return _BITS[op]
    if op in ("<<", ">>"):
        compute = _shift(op, int(dtype.lstrip("uint")))
    elif op in ("div", "rem"):
        compute = _quotient if op == "div" else _rest
    elif op in _ARITHMETIC:
        compute = _ARITHMETIC[op]
    else:
        raise InternalError(f"there is no {op} of {dtype}")

    def wrapped(a: Any, b: Any) -> int:
        found: int = compute(a, b)
        return found if low <= found <= high else (found - low) % (high - low + 1) + low

    return wrapped


def _quotient(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return 0 if b == 0 else (-1 if a < 0 else 1) * (abs(a) % abs(b))


def _shift(op: str, bits: int) -> Operate:
    def shift(a: int, b: int) -> int:
        if 0 <= b < bits:
            return a << b if op == "<<" else a >> b
        return -1 if op == ">>" and a < 0 else 0

    return shift


def _float(op: str, dtype: str) -> Operate:
    if op in _ARITHMETIC:
        return _ARITHMETIC[op]  # two of a type give one of it
    numpy = {"/": np.divide, "rem": np.fmod}.get(op)
    if numpy is None:
        raise InternalError(f"there is no {op} of floats")
    finish = converter(dtype)
    return lambda a, b: finish(numpy(a, b))


@lru_cache(maxsize=64)
def unary(op: str, dtype: str) -> Convert:
    """`op` for an operand of a type, as a function of it."""
    finish = converter(dtype)
    match op:
        case "not":
            return operator.not_
        case "~":
            return operator.not_ if dtype == "bool" else lambda x: finish(~int(x))
        case "-":
            return lambda x: finish(-x)
    raise InternalError(f"there is no unary {op}")
