"""Arithmetic on the integers that a user writes: it is Python's, and must not wrap unnoticed."""

from __future__ import annotations

from linnet import loops

_DEEPEST = 8  # nobody writes larger constants in more parts


def exceeds_64_bits(expr: loops.Expr) -> bool:
    """Whether an expression of integers that are written out has a value no type can hold."""
    try:
        value = _value(expr, _DEEPEST)
    except OverflowError:
        return True
    largest = 2**64 if isinstance(expr, loops.Literal) else 2**63  # what is computed is signed
    return value is not None and not -(2**63) <= value < largest


def _value(expr: loops.Expr, depth: int) -> int | None:
    """The value as Python has it; None if it is not of integers alone."""
    match expr:
        case loops.Literal(int() as value, None) if type(value) is int:
            return value
        case loops.Call(function, (left, right)) if depth > 0:
            a = _value(left, depth - 1)
            b = None if a is None else _value(right, depth - 1)
            return None if a is None or b is None else _combined(function.name, a, b)
        case _:
            return None


def _combined(name: str, a: int, b: int) -> int | None:
    match name:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "pow" if b >= 0:
            return _power(a, b)
        case "bitwise_left_shift" if b >= 0:
            return a * _power(2, b)
        case _:
            return None


def _power(a: int, b: int) -> int:
    """`a ** b`, if that is not too long to be computed, let alone held."""
    if abs(a) > 1 and b > 128:
        raise OverflowError
    return int(a**b)
