"""Linear forms of the loop language: an expression of integers as a form, and back.

What is assumed of overflow is said in `imp.linear`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from linnet.algebra.table import add, astype, multiply, negative, subtract
from linnet.imp.linear import FAR, Atom, Linear, atom, product
from linnet.imp.values import INT
from linnet.loops.nodes import Call, Dimension, Expr, Index, Literal, Value
from linnet.loops.types import Types, dtype_of

Meaning = Callable[[Expr], Linear | None]
"""What an expression stands for, if it is known."""

WHOLE = ("int64", "weak_int")
_NEAR = frozenset(("add", "subtract", "negative", "multiply", "floor_divide", "remainder"))
_NEAR |= {"minimum", "maximum", "abs", "where", "bitwise_right_shift"}


def nothing(expr: Expr) -> None:
    """The meaning where nothing is known."""


def linear(expr: Expr, types: Types | None, meaning: Meaning = nothing) -> Linear:
    """An expression as a form. A sum in fewer than 64 bits is not taken apart: it may wrap.

    Without `types`, where nothing is known of them yet, all are taken to be 64-bit integers.
    """
    known = meaning(expr)
    if known is not None:
        return known
    match expr:
        case Literal(bool(value) | int(value)) if abs(value) < FAR:
            return Linear({}, int(value))
        case Call(function, args) if function.name in _SUMS and _is_whole(expr, types):
            parts = [linear(a, types, meaning) for a in args]
            return _SUMS[function.name](parts) or atom(expr)
    return atom(expr)


_SUMS: dict[str, Callable[[list[Linear]], Linear | None]] = {
    "add": lambda parts: parts[0].plus(parts[1]),
    "subtract": lambda parts: parts[0].plus(parts[1], -1),
    "negative": lambda parts: parts[0].times(-1),
    "multiply": lambda parts: product(parts[0], parts[1]),
}


def _is_whole(expr: Expr, types: Types | None) -> bool:
    return types is None or type_of(expr, types) in WHOLE


def type_of(expr: Expr, types: Types) -> str | None:
    """The type of a value; None for that of a name that is not known here."""
    try:
        return dtype_of(expr, types)
    except KeyError:
        return None


def as_expr(form: Linear, types: Types | None = None) -> Expr:
    """A form whose atoms are expressions, as an expression: what is taken away comes last."""
    result: Expr | None = None
    number = form.number
    for term, n in sorted(form.terms.items(), key=lambda item: item[1] < 0):
        part = _as_whole(cast(Expr, term), types)
        if abs(n) != 1:
            part = Call(multiply, (Literal(abs(n)), part))
        if result is None and n < 0 and number:
            result, number = Literal(number), 0
        if result is None:
            result = part if n > 0 else Call(negative, (part,))
        else:
            result = Call(add if n > 0 else subtract, (result, part))
    if result is None:
        return Literal(number)
    if number:
        result = Call(add if number > 0 else subtract, (result, Literal(abs(number))))
    return result


def _as_whole(expr: Expr, types: Types | None) -> Expr:
    """An atom as it is beside an index: in 64 bits."""
    if types is None or type_of(expr, types) in WHOLE:
        return expr
    return Call(astype[INT], (expr,))


def is_far(expr: Atom) -> bool:
    """Whether a number may be any at all; indices, and what is near them, are small."""
    match expr:
        case Index() | Dimension():
            return False
        case Literal(bool(value) | int(value)):
            return abs(value) >= FAR
        case Value(code):
            return code.dtype in (INT, "uint64")
        case Call(function, args) if function.name in _NEAR or function is astype[INT]:
            return any(map(is_far, args))
    return True
