"""Algebra on single expressions: what is known already is computed, what does nothing is dropped.

Every rule keeps the value to the last bit: integers wrap, and of the laws of numbers floats obey
only the few that hold for NaN, infinities and signed zeros as well. A rule may drop an evaluation,
but never adds one.
"""

from __future__ import annotations

import math

from linnet import imp
from linnet.imp.calculate import as_python, convert, operate
from linnet.imp.functions import TESTS

_EQUALITY = ("==", "!=")
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def fold(e: imp.Expr) -> imp.Expr:
    """A simpler expression of the same value; the operands are simple already."""
    match e:
        case imp.Binary(op, imp.Const(a), imp.Const(b), dtype):
            return _computed(e, op, a, b, dtype)
        case imp.Binary("and" | "or") | imp.Binary("&" | "|", dtype=imp.BOOL):
            return _logical(e)
        case imp.Binary(op, a) if op in imp.COMPARISONS:
            return _comparison(e)
        case imp.Binary(dtype=dtype) if dtype[0] in "iu":
            return _integer(e)
        case imp.Binary(dtype=dtype) if dtype[0] == "f":
            return _float(e)
        case imp.Unary("not", x):
            return negation(x)
        case imp.Unary(op, imp.Const(value), dtype) if dtype[0] in "iuf":
            number = convert(value, dtype)
            return _const(-number if op == "-" else ~int(number.real), dtype)
        case imp.Unary(op, imp.Unary(inner, x)) if op == inner:
            return x
        case imp.Cast():
            return _cast(e)
        case imp.Select():
            return _select(e)
        case imp.Call(name, (imp.Const(value, dtype),)) if name in TESTS and dtype[0] == "f":
            return imp.Const(bool(TESTS[name](convert(value, dtype))), imp.BOOL)
        case _:
            return e


def same(a: imp.Expr, b: imp.Expr) -> bool:
    """Are these one expression? Zeros of different signs are not."""
    return a is b or (a == b and repr(a) == repr(b))


def negation(x: imp.Expr) -> imp.Expr:
    """`not x`: a comparison is turned round, unless NaN could fail it both ways."""
    match x:
        case imp.Const(value):
            return imp.Const(not value, imp.BOOL)
        case imp.Unary("not", inner):
            return inner
        case imp.Binary(op, a, b, _) if op in _NEGATED and (
            op in _EQUALITY or a.dtype[0] not in "fc"
        ):
            return imp.Binary(_NEGATED[op], a, b, imp.BOOL)
        case _:
            return imp.Unary("not", x, imp.BOOL)


def _const(value: object, dtype: str) -> imp.Const:
    return imp.Const(as_python(convert(value, dtype)), dtype)


def _computed(
    e: imp.Binary,
    op: str,
    a: bool | int | float | complex,
    b: bool | int | float | complex,
    dtype: str,
) -> imp.Expr:
    """An operation on constants, if its result is an ordinary number."""
    given = e.a.dtype
    if given[0] == "c":
        return e
    value = operate(op, convert(a, given), convert(b, given), given)
    whole = isinstance(value, int)
    return imp.Const(as_python(value), dtype) if whole or math.isfinite(value.real) else e


def _logical(e: imp.Binary) -> imp.Expr:
    """TRUE and x -> x; FALSE and x -> FALSE; x and x -> x; and the like for `or`."""
    absorbing = imp.Const(e.op in ("or", "|"), imp.BOOL)
    for one, other in ((e.a, e.b), (e.b, e.a)):
        if isinstance(one, imp.Const):
            return absorbing if one.value == absorbing.value else other
    return e.a if same(e.a, e.b) else e


def _comparison(e: imp.Binary) -> imp.Expr:
    op, a, b, kind = e.op, e.a, e.b, e.a.dtype[0]
    if same(a, b):
        if op in ("<", ">"):
            return imp.FALSE
        if kind not in "fc":  # NaN differs from itself
            return imp.Const(op != "!=", imp.BOOL)
    if kind == "b" and op in _EQUALITY:
        for one, other in ((a, b), (b, a)):
            if isinstance(one, imp.Const):
                return other if one.value == (op == "==") else negation(other)
    match a, b:
        case imp.Binary("+" | "-" as inner, x, imp.Const(c), _), imp.Const(d) if (
            op in _EQUALITY and kind in "iu"
        ):  # x + c == d -> x == d - c, wrapping on both sides
            return imp.Binary(op, x, _const(d - c if inner == "+" else d + c, x.dtype), imp.BOOL)
    return e


def _integer(e: imp.Binary) -> imp.Expr:
    op, a, b, dtype = e.op, e.a, e.b, e.dtype
    if op in ("min", "max"):
        return a if same(a, b) else e
    if op in ("+", "-"):
        return _sum(e)
    if isinstance(a, imp.Const) and op in ("*", "&", "|", "^"):
        a, b = b, a
    match op, b:
        case "*" | "&", imp.Const(0):
            return b
        case "*" | "div", imp.Const(1):
            return a
        case "rem", imp.Const(1):
            return imp.Const(0, dtype)
        case "|" | "^" | "<<" | ">>", imp.Const(0):
            return a
        case "*", imp.Const(c):
            match a:
                case imp.Binary("*", x, imp.Const(d), _):
                    return imp.Binary("*", x, _const(c * d, dtype), dtype)
    return e


def _sum(e: imp.Binary) -> imp.Expr:
    """Constants are gathered at the right, and a term that is added and taken away goes."""
    op, a, b, dtype = e.op, e.a, e.b, e.dtype
    if op == "+" and isinstance(a, imp.Const):
        a, b = b, a
    if isinstance(b, imp.Const):
        x, constant = _split(a)
        total = convert(constant + (b.value if op == "+" else -b.value), dtype)
        twice = b.value.real < 0 and _fits(-b.value, dtype)  # a sign of its own, as in x - -1
        return _plus(x, int(total.real), dtype) if x is not a or not total or twice else e
    match op, a, b:
        case "-", _, _ if same(a, b):
            return imp.Const(0, dtype)
        case "-", imp.Binary("+", x, y, _), z if same(y, z):  # (x + z) - z
            return x
        case "-", imp.Binary("+", x, y, _), z if same(x, z):  # (z + y) - z
            return y
        case "+", imp.Binary("-", x, y, _), z if same(y, z):  # (x - z) + z
            return x
        case "+", z, imp.Binary("-", x, y, _) if same(y, z):  # z + (x - z)
            return x
        case "-", z, imp.Binary("-", x, y, _) if same(x, z):  # z - (z - y)
            return y
    return e


def _split(x: imp.Expr) -> tuple[imp.Expr, int]:
    """`x` as an expression and a constant that is added to it."""
    match x:
        case imp.Binary("+", a, imp.Const(int(c)), _):
            return a, c
        case imp.Binary("-", a, imp.Const(int(c)), _):
            return a, -c
        case _:
            return x, 0


def _plus(x: imp.Expr, constant: int, dtype: str) -> imp.Expr:
    if constant == 0:
        return x
    if constant < 0 and _fits(-constant, dtype):
        return imp.Binary("-", x, imp.Const(-constant, dtype), dtype)
    return imp.Binary("+", x, imp.Const(constant, dtype), dtype)


def _fits(value: complex, dtype: str) -> bool:
    return convert(value, dtype) == value


def _float(e: imp.Binary) -> imp.Expr:
    """`x * 1`, `x / 1`, `x - 0` and `x + -0` are x; `x + 0` is not, for it turns -0 into 0."""
    if e.op in ("min", "max"):
        return e.a if same(e.a, e.b) else e
    for a, b in ((e.a, e.b), (e.b, e.a)):
        if isinstance(b, imp.Const):
            if e.op == "*" and b.value == 1:
                return a
            if e.op == "+" and b.value == 0 and math.copysign(1, b.value.real) < 0:
                return a
    if isinstance(e.b, imp.Const):
        if e.op == "/" and e.b.value == 1:
            return e.a
        if e.op == "-" and e.b.value == 0 and math.copysign(1, e.b.value.real) > 0:
            return e.a
    return e


def _cast(e: imp.Cast) -> imp.Expr:
    x, dtype = e.x, e.dtype
    if x.dtype == dtype:
        return x
    match x:
        case imp.Const(value, given) if given[0] != "c" and dtype[0] != "c":
            result = _const(convert(value, given), dtype)
            rounded = dtype[0] == "f" and given[0] in "iu" and result.value != value
            return e if rounded or not math.isfinite(result.value.real) else result
        case imp.Cast(inner, through) if _harmless(inner.dtype, through, dtype):
            return fold(imp.Cast(inner, dtype))
        case _:
            return e


def _harmless(first: str, through: str, last: str) -> bool:
    """Is a detour through a type the same as the direct way?"""
    match first[0], through[0]:
        case "b", _:
            return True
        case (("i" | "u"), ("i" | "u")):
            return _holds(through, first) or (last[0] in "iu" and _width(through) >= _width(last))
        case (("i" | "u"), "f"):  # exact; but floats saturate on the way back, and integers wrap
            exact = _width(first) <= (32 if through == "float64" else 16)
            return exact and (last[0] in "bfc" or _holds(last, first))
        case "f", "f":
            return through == "float64"
        case _:
            return False


def _holds(outer: str, inner: str) -> bool:
    """Are all values of one integer type also values of another?"""
    if outer[0] == inner[0]:
        return _width(outer) >= _width(inner)
    return outer[0] == "i" and _width(outer) > _width(inner)


def _width(dtype: str) -> int:
    return int(dtype.lstrip("uintfloa"))


def _select(e: imp.Select) -> imp.Expr:
    match e:
        case imp.Select(imp.Const(value), a, b):
            return a if value else b
        case imp.Select(_, a, b) if same(a, b):
            return a
        case imp.Select(imp.Unary("not", cond), a, b):
            return fold(imp.Select(cond, b, a))
        case imp.Select(cond, imp.Const(True, "bool"), imp.Const(False)):
            return cond
        case imp.Select(cond, imp.Const(False, "bool"), imp.Const(True)):
            return negation(cond)
        case _:
            return e
