"""The meaning of operators and casts: what they make of numbers of a type.

Integers wrap, division by zero gives 0, and floats are computed in their own precision, as in
every back end. The interpreter of imperative code and the folding of constants ask here.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from linnet.errors import InternalError

# Integers are Python's, wrapped to their type; floats and complex numbers are NumPy scalars.
Scalar: TypeAlias = bool | int | np.floating | np.complexfloating


def convert(value: object, dtype: str) -> Scalar:
    """A number as a value of a type: integers wrap, floats saturate on becoming integers."""
    match dtype[0]:
        case "b":
            return bool(value)
        case "i" | "u":
            bits = int(dtype.lstrip("uint"))
            low = -(1 << bits - 1) if dtype[0] == "i" else 0
            high = low + (1 << bits) - 1
            if isinstance(value, (complex, np.complexfloating)):
                value = value.real
            if isinstance(value, (float, np.floating)):
                if math.isnan(value):
                    return 0
                return low if value <= low else high if value >= high else int(value)
            whole: int = int(value)  # type: ignore[call-overload]
            return whole if low <= whole <= high else (whole - low) % (1 << bits) + low
        case "f":
            if isinstance(value, (complex, np.complexfloating)):
                value = value.real
            return np.dtype(dtype).type(value)  # type: ignore[no-any-return]
        case _:
            return np.dtype(dtype).type(value)  # type: ignore[no-any-return]


def operate(op: str, a: Scalar, b: Scalar, dtype: str) -> Scalar:
    """`a op b` for operands of one type."""
    match op:
        case "==":
            return bool(a == b)
        case "!=":
            return bool(a != b)
        case "<":
            return bool(a < b)
        case "<=":
            return bool(a <= b)
        case ">":
            return bool(a > b)
        case ">=":
            return bool(a >= b)
        case "and":
            return bool(a) and bool(b)
        case "or":
            return bool(a) or bool(b)
        case "min" | "max":
            return _extreme(op, a, b, dtype)
    if dtype == "bool":
        return bool(_BITS[{"+": "|", "*": "&"}.get(op, op)](bool(a), bool(b)))
    if isinstance(a, int) and isinstance(b, int):
        return convert(_integer(op, a, b, dtype), dtype)
    return convert(_float(op, a, b), dtype)


_BITS = {"&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b}


def _extreme(op: str, a: Scalar, b: Scalar, dtype: str) -> Scalar:
    if dtype[0] == "f":
        return convert((np.minimum if op == "min" else np.maximum)(a, b), dtype)  # NaN wins
    return min(a, b) if op == "min" else max(a, b)


def _integer(op: str, a: int, b: int, dtype: str) -> int:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "div":
            return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case "rem":
            return 0 if b == 0 else int(math.copysign(1, a)) * (abs(a) % abs(b))
        case "<<" | ">>":
            if 0 <= b < int(dtype.lstrip("uint")):
                return a << b if op == "<<" else a >> b
            return -1 if op == ">>" and a < 0 else 0
        case "&" | "|" | "^":
            return int(_BITS[op](a, b))
    raise InternalError(f"there is no {op} of {dtype}")


def _float(op: str, a: Scalar, b: Scalar) -> object:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return np.divide(a, b)
        case "rem":
            return np.fmod(a, b)
    raise InternalError(f"there is no {op} of floats")


def apply_unary(op: str, x: Scalar, dtype: str) -> Scalar:
    """`op x`: `not`, the complement of bits, or the negative."""
    match op:
        case "not":
            return not x
        case "~":
            return not x if dtype == "bool" else convert(~int(x), dtype)
        case "-":
            return convert(-x, dtype)
    raise InternalError(f"there is no unary {op}")
