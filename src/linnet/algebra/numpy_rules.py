"""The rules of users' functions: operators and functions are those of the table, with its types.

Python numbers are weak, and so are loop counters and what `int(…)` or `math.floor(…)` give: they
take the type of their company, as in NumPy. While a function is translated, variables may have weak
types; at the end they get those that memory can hold.
"""

from __future__ import annotations

import builtins
import math
from dataclasses import replace
from types import FunctionType
from typing import TypeVar

import numpy as np

from linnet import imp
from linnet.algebra import emit, table
from linnet.algebra.dtypes import DTYPES, as_python, concrete, promote, weak_dtype
from linnet.algebra.exact import apply, converter
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_symbol, lookup
from linnet.imp.rewrite import rewrite
from linnet.python.rules import Once, Rules

T = TypeVar("T", bound=imp.Const | imp.Var | imp.Unary | imp.Binary | imp.Cast | imp.Call)

_OPERATORS = by_symbol | {"min": table.minimum, "max": table.maximum}
_UNARY = {"-": table.negative, "+": table.positive, "~": table.bitwise_invert}
_TO_NUMBER: dict[object, tuple[Function, str]] = {
    builtins.int: (table.astype["int64"], "weak_int"),
    builtins.float: (table.astype["float64"], "weak_float"),
    builtins.complex: (table.astype["complex128"], "weak_complex"),
}
_ROUNDING: dict[object, Function] = {
    math.floor: table.floor,
    math.ceil: table.ceil,
    math.trunc: table.trunc,
    builtins.round: table.rounded,
}


def literal(value: object) -> imp.Const | None:
    """A number of Python, which is weak, or one of NumPy, which has a type."""
    if isinstance(value, np.generic):
        dtype = str(value.dtype)
        return imp.Const(value.item(), dtype) if dtype in DTYPES else None
    if isinstance(value, bool):
        return imp.Const(value, imp.BOOL)
    if isinstance(value, int | float | complex):
        return imp.Const(value, weak_dtype(value))
    return None


def coerce(x: imp.Expr, dtype: str) -> imp.Expr:
    """`x` as a value of `dtype`; a Python number must fit."""
    if x.dtype == dtype:
        return x
    if not isinstance(x, imp.Const):
        return emit.conversion((x,), dtype)
    held = concrete(dtype)
    if held == imp.BOOL:
        return imp.Const(bool(x.value), imp.BOOL)
    if x.dtype.startswith("weak_"):
        return emit.constant(as_python(x.value, held), dtype)
    value = converter(held)(np.dtype(x.dtype).type(x.value))
    return emit.constant(np.asarray(value).item(), dtype)


def applied(function: Function, args: tuple[imp.Expr, ...]) -> imp.Expr:
    """A function of the table on values; on constants, its value."""
    dtypes = tuple([a.dtype for a in args])
    wanted, result = function.types(dtypes)
    constants = [a for a in args if isinstance(a, imp.Const)]
    if len(constants) == len(args):
        value = apply(function, tuple([a.value for a in constants]), dtypes)
        return emit.constant(value, result)
    given = tuple([coerce(a, t) for a, t in zip(args, wanted, strict=True)])
    return function.emit(given, result)


def combine(op: str, a: imp.Expr, b: imp.Expr) -> imp.Expr:
    """`a op b`."""
    return applied(_OPERATORS[op], (a, b))


def unary(op: str, x: imp.Expr) -> imp.Expr:
    """`-x`, `+x`, `~x`."""
    return applied(_UNARY[op], (x,))


def call(function: object, args: list[imp.Expr], once: Once) -> imp.Expr | None:
    """A function of Python, `math`, NumPy or Linnet."""
    if function in _TO_NUMBER and len(args) == 1:
        convert, weak = _TO_NUMBER[function]
        return _weakened(applied(convert, (args[0],)), weak)
    if function in _ROUNDING and len(args) == 1:
        return _weakened(applied(_ROUNDING[function], (args[0],)), "weak_int")
    if function is builtins.complex and len(args) == 2:
        return _complex(args[0], args[1])
    found = lookup(function)
    if found is None or found.body is not None:
        return None
    if found in (table.minimum, table.maximum) and len(args) > 2:
        first, *rest = args
        for arg in rest:
            first = applied(found, (first, arg))
        return first
    if len(args) != found.arity:
        raise TypeError(f"{found.name} takes {found.arity} arguments, not {len(args)}")
    return applied(found, tuple([once(a) for a in args]))


def _weakened(x: imp.Expr, weak: str) -> imp.Expr:
    """A number of Python that has been computed."""
    return emit.constant(x.value, weak) if isinstance(x, imp.Const) else coerce(x, weak)


def _complex(re: imp.Expr, im: imp.Expr) -> imp.Expr:
    """`complex(re, im)`."""
    parts = [coerce(x, "weak_float") for x in (re, im)]
    if all(isinstance(x, imp.Const) for x in parts):
        return imp.Const(complex(*(x.value for x in parts)), "weak_complex")  # type: ignore[union-attr]
    return imp.Call("complex", tuple(parts), "weak_complex")


def text(function: object) -> tuple[FunctionType, str | None] | None:
    """The text of a function of the user, or of a plain Python function."""
    if isinstance(function, FunctionType):
        return None if lookup(function) is not None else (function, None)
    if isinstance(function, Function) and function.body is not None:
        return function.body.pinned(), function.body.dtype
    return None


def strip(function: imp.Function) -> imp.Function:
    """Types that memory can hold, in place of weak ones."""

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Cast(x, dtype) if x.dtype == concrete(dtype):
                return x
            case imp.Let(var) | imp.Assign(var) if var.dtype.startswith("weak_"):
                return replace(node, var=_strong(var))
            case imp.Const() | imp.Var() | imp.Unary() | imp.Binary() | imp.Cast() | imp.Call():
                return _strong(node) if node.dtype.startswith("weak_") else None
            case _:
                return None

    params = tuple(_strong(p) if isinstance(p, imp.Var) else p for p in function.params)
    result = None if function.dtype is None else concrete(function.dtype)
    return replace(function, params=params, body=rewrite(function.body, rule), dtype=result)


def _strong(node: T) -> T:
    return replace(node, dtype=concrete(node.dtype))


NUMPY = Rules(
    literal=literal,
    join=lambda a, b: promote(a, b),
    held=lambda dtype: dtype,
    coerce=coerce,
    combine=combine,
    unary=unary,
    call=call,
    text=text,
    passed=lambda x: x,
    finish=strip,
    counter="weak_int",
)
