"""Arithmetic of restricted Python: which type a result has, and which IR computes it.

Integer arithmetic is done in 64 bits, as Python's is exact; comparisons and bit operations keep
the width of their operands. A literal is *weak* (`"weak_int"`, …) until it meets something with a
type. What has no meaning here raises TypeError; the translator says where.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypeGuard

import numpy as np

from linnet import imp

_CONCRETE = {"weak_int": "int64", "weak_float": "float64", "weak_complex": "complex128"}
_PYTHON: dict[str, type[int] | type[float] | type[complex]] = {
    "i": int,
    "u": int,
    "f": float,
    "c": complex,
}
_FOLD: dict[str, Callable[..., int | float | complex]] = {
    "min": min,
    "max": max,
    "/": operator.truediv,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "**": operator.pow,
}


def concrete(dtype: str) -> str:
    """A type that a variable can have."""
    return _CONCRETE.get(dtype, dtype)


def kind(dtype: str) -> str:
    """The first letter of a type: b, i, u, f or c; a weak type's is its Python number's."""
    return dtype.removeprefix("weak_")[0]


def literal(value: bool | int | float | complex) -> imp.Const:
    """A number in the text of a program."""
    return imp.Const(value, "bool" if isinstance(value, bool) else f"weak_{type(value).__name__}")


def join(a: str, b: str) -> str:
    """The type of a variable that is given values of both types."""
    if a == b:
        return a
    weak_a, weak_b = a in _CONCRETE, b in _CONCRETE
    if weak_a and weak_b:
        return max(a, b, key=list(_CONCRETE).index)
    if kind(a) in "biu" and kind(b) in "biu":
        if "uint64" in (a, b):
            if kind(a) == kind(b) or weak_a or weak_b or "bool" in (a, b):
                return "uint64"
            raise TypeError(f"{a} and {b} do not meet; convert one of them")
        return "int64"
    if weak_a or weak_b:
        strong, weak = (b, a) if weak_a else (a, b)
        return str(np.result_type(strong, _PYTHON[kind(weak)](0)))
    return str(np.result_type(a, b))


def coerce(x: imp.Expr, dtype: str) -> imp.Expr:
    """`x` as a value of `dtype`, which may be narrower."""
    if x.dtype == dtype:
        return x
    if not isinstance(x, imp.Const):
        return imp.Cast(x, dtype)
    if dtype == imp.BOOL:
        return imp.Const(bool(x.value), dtype)
    if kind(dtype) in "iu":
        if isinstance(x.value, int) and not _fits(x.value, dtype):
            raise TypeError(f"{x.value} does not fit {dtype}")
        if not isinstance(x.value, int):
            return imp.Cast(imp.Const(x.value, concrete(x.dtype)), dtype)
    if isinstance(x.value, complex) and kind(dtype) != "c":
        raise TypeError(f"{x.value} is complex, and {dtype} is not")
    return imp.Const(_PYTHON[kind(dtype)](x.value), dtype)  # type: ignore[arg-type]


def condition(x: imp.Expr) -> imp.Expr:
    """`x` as a truth value."""
    return coerce(x, imp.BOOL)


def negate(x: imp.Expr) -> imp.Expr:
    """`-x`."""
    if isinstance(x, imp.Const):
        return imp.Const(-x.value, "weak_int" if x.dtype == imp.BOOL else x.dtype)
    x = coerce(x, join(x.dtype, "weak_int"))
    return imp.Unary("-", x, x.dtype)


def invert(x: imp.Expr) -> imp.Expr:
    """`~x`, of the bits of an integer."""
    if kind(x.dtype) not in "iu":
        raise TypeError(f"`~` is for integers, not {concrete(x.dtype)}; use `not` for truth values")
    if isinstance(x, imp.Const) and isinstance(x.value, int):
        return imp.Const(~x.value, x.dtype)
    return imp.Unary("~", x, x.dtype)


def absolute(x: imp.Expr) -> imp.Expr:
    """`abs(x)`."""
    if isinstance(x, imp.Const):
        return literal(abs(x.value))
    match kind(x.dtype):
        case "b" | "u":
            return x
        case "f":
            return imp.Call("fabs", (coerce(x, concrete(x.dtype)),), concrete(x.dtype))
        case "c":
            return imp.Call("abs", (x,), "float32" if x.dtype == "complex64" else "float64")
        case _:
            return imp.Select(combine("<", x, literal(0)), negate(x), coerce(x, negate(x).dtype))


def combine(op: str, a: imp.Expr, b: imp.Expr) -> imp.Expr:
    """`a op b` for an operator of Python, `min` or `max`."""
    if op in _FOLD and _weak_literal(a) and _weak_literal(b):
        try:
            return literal(_FOLD[op](a.value, b.value))
        except (ArithmeticError, ValueError) as error:
            raise TypeError(str(error)) from None
    match op:
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            a, b = _narrow(a, b)
            a, b = coerce(a, concrete(a.dtype)), coerce(b, concrete(b.dtype))
            if kind(a.dtype) == "c" and op not in ("==", "!="):
                raise TypeError("complex numbers have no order")
            return imp.Binary(op, a, b, imp.BOOL)
        case "min" | "max":
            a, b = _narrow(a, b)
        case "&" | "|" | "^":
            return _bits(op, a, b)
        case "<<" | ">>":
            return _shift(op, a, b)
        case "//" | "%":
            return _floor(op, a, b)
        case "**":
            return _power(a, b)
        case "/":
            a, b = _wide(a, b)
            if kind(a.dtype) in "iu":
                a, b = coerce(a, "float64"), coerce(b, "float64")
        case _:
            a, b = _wide(a, b)
    return imp.Binary(op, a, b, a.dtype)


def _weak_literal(x: imp.Expr) -> TypeGuard[imp.Const]:
    return isinstance(x, imp.Const) and x.dtype in _CONCRETE


def _fits(value: int, dtype: str) -> bool:
    limits = np.iinfo(concrete(dtype))
    return bool(limits.min <= value <= limits.max)


def _wide(a: imp.Expr, b: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
    """Both operands in the type in which they are added."""
    dtype = join(a.dtype, b.dtype)
    if kind(dtype) in "biu" and dtype not in ("uint64", "weak_int"):
        dtype = "int64"
    return coerce(a, dtype), coerce(b, dtype)


def _narrow(a: imp.Expr, b: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
    """Both operands in the type in which they are compared: a literal takes the other's."""
    if a.dtype == b.dtype:
        return a, b
    for one, other in ((a, b), (b, a)):
        value = one.value if _weak_literal(one) else None
        if isinstance(value, int) and kind(other.dtype) in "iu" and _fits(value, other.dtype):
            return coerce(a, other.dtype), coerce(b, other.dtype)
    return _wide(a, b)


def _bits(op: str, a: imp.Expr, b: imp.Expr) -> imp.Expr:
    if a.dtype == b.dtype == imp.BOOL:
        return imp.Binary({"&": "and", "|": "or", "^": "!="}[op], a, b, imp.BOOL)
    a, b = _narrow(a, b)
    if kind(a.dtype) not in "iu":
        raise TypeError(f"`{op}` is for integers, not {concrete(a.dtype)}")
    return imp.Binary(op, a, b, a.dtype)


def _shift(op: str, a: imp.Expr, b: imp.Expr) -> imp.Expr:
    if kind(a.dtype) not in "biu" or kind(b.dtype) not in "biu":
        raise TypeError(f"`{op}` is for integers")
    if op == "<<" or a.dtype == imp.BOOL:
        a = coerce(a, join(a.dtype, "weak_int"))
    if b.dtype not in _CONCRETE:
        a = coerce(a, concrete(a.dtype))
    return imp.Binary(op, a, coerce(b, a.dtype), a.dtype)


def _floor(op: str, a: imp.Expr, b: imp.Expr) -> imp.Expr:
    """Division that rounds down: `//` and `%` of Python, from those of C, which round to zero."""
    power = b.value.bit_length() - 1 if isinstance(b, imp.Const) and type(b.value) is int else -1
    a, b = _wide(a, b)
    if kind(a.dtype) not in "iu":
        raise TypeError(f"`{op}` is for integers, not {concrete(a.dtype)}; use math.floor(a / b)")
    if power >= 0 and isinstance(b, imp.Const) and b.value == 1 << power:
        if op == "//":
            return imp.Binary(">>", a, imp.Const(power, a.dtype), a.dtype)
        return imp.Binary("&", a, imp.Const(b.value - 1, a.dtype), a.dtype)
    quotient = imp.Binary("div", a, b, a.dtype)
    rest = imp.Binary("rem", a, b, a.dtype)
    if kind(a.dtype) == "u":
        return quotient if op == "//" else rest
    zero = imp.Const(0, a.dtype)
    opposite = imp.ne(imp.Binary("<", rest, zero, imp.BOOL), imp.Binary("<", b, zero, imp.BOOL))
    down = imp.Binary("!=", rest, zero, imp.BOOL) & opposite
    if op == "//":
        return quotient - imp.Cast(down, a.dtype)
    return imp.Select(down, rest + b, rest)


def _power(a: imp.Expr, b: imp.Expr) -> imp.Expr:
    if isinstance(b, imp.Const) and b.value in (2, 3) and kind(b.dtype) == "i":
        square = combine("*", a, a)
        return square if b.value == 2 else combine("*", square, a)
    a, b = _wide(a, b)
    if kind(a.dtype) in "iu":
        raise TypeError("an integer is raised only to the powers 2 and 3")
    return imp.Call("pow", (a, b), a.dtype)
