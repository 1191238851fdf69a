"""From what a user writes — an operator, a name, a function of Python or NumPy — to the table."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from linnet.algebra import table
from linnet.algebra.dtypes import canonical
from linnet.algebra.function import Function
from linnet.algebra.table import FUNCTIONS, astype
from linnet.errors import DTypeError

# Python's operators. A sign before one argument is written "unary -" or "unary +".
by_symbol: dict[str, Function] = {
    f.symbol: f
    for f in FUNCTIONS.values()
    if f.symbol and (f.arity == 2 or f.symbol in ("~", "not"))
} | {"unary -": table.negative, "unary +": table.positive}

# Assignments that update. On booleans `|=` is `or`, since `|` is.
by_update: dict[str, Function] = {
    f"{symbol}=": by_symbol[symbol]
    for symbol in ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "and", "or")
} | {"min=": table.minimum, "max=": table.maximum}

# What a function is on booleans, where another row says more about it.
_ON_BOOLEANS = {
    table.add: table.logical_or,
    table.maximum: table.logical_or,
    table.fmax: table.logical_or,
    table.bitwise_or: table.logical_or,
    table.multiply: table.logical_and,
    table.minimum: table.logical_and,
    table.fmin: table.logical_and,
    table.bitwise_and: table.logical_and,
    table.bitwise_xor: table.logical_xor,
    table.not_equal: table.logical_xor,
    table.bitwise_invert: table.logical_not,
}

# Other names by which a function is asked for.
_NAMES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "astype_bool": "bool",
    "astype_complex128": "complex",
    "astype_float64": "float",
    "astype_int64": "int",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_and": "and_",
    "bitwise_invert": "invert inv bitwise_not",
    "bitwise_left_shift": "left_shift lshift",
    "bitwise_or": "or_",
    "bitwise_right_shift": "right_shift rshift",
    "bitwise_xor": "xor",
    "conj": "conjugate",
    "deg2rad": "radians",
    "divide": "true_divide truediv div",
    "equal": "eq",
    "floor_divide": "floordiv",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "logical_and": "and",
    "logical_not": "not not_",
    "logical_or": "or",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "positive": "pos",
    "pow": "power",
    "rad2deg": "degrees",
    "remainder": "mod",
    "subtract": "sub",
}
_ALIASES = {name: FUNCTIONS[row] for row, names in _NAMES.items() for name in names.split()}
by_name: dict[str, Function] = FUNCTIONS | astype | _ALIASES

# These are not what their names say: `np.min` reduces, `math.remainder` rounds to nearest.
_OTHERS = (np.min, np.max, math.remainder)


def _objects() -> dict[object, Function]:
    """The functions of Python and NumPy that are called as those of the table are."""
    found = {
        getattr(module, name): function
        for name, function in by_name.items()
        for module in (np, operator, math, builtins)
        if hasattr(module, name)
    }
    for other in _OTHERS:
        del found[other]
    return found | {math.pow: table.float_power}


_by_object: dict[object, Function] = _objects()


def lookup(obj: object) -> Function | None:
    """The function that `obj` stands for: a name, or a callable of Python or NumPy, or a dtype."""
    if isinstance(obj, Function):
        return obj
    if isinstance(obj, str):
        return by_name.get(obj)
    try:
        found = _by_object.get(obj)
    except TypeError:  # not hashable
        return None
    if found is None and isinstance(linked := getattr(obj, "function", None), Function):
        return linked  # a function of arrays that knows which function of values it is
    if found is None and isinstance(obj, type) and issubclass(obj, np.generic):
        try:
            return astype[canonical(obj)]
        except DTypeError:
            return None
    return found


def on(function: Function, dtype: str) -> Function:
    """The row that says most about a function whose arguments are converted to `dtype`."""
    return _ON_BOOLEANS.get(function, function) if dtype == "bool" else function
