"""Indices that a loop can walk: its own, plus or minus what is known before it; and comparisons."""

from __future__ import annotations

from linnet import imp, loops
from linnet.algebra.table import negative
from linnet.errors import InternalError


def is_shift(expr: loops.Expr, index: str, inner: set[str]) -> bool:
    """Whether an index is the loop's own, plus or minus something that is known before the loop."""
    match expr:
        case loops.Index(name):
            return name == index
        case loops.Call(function, (a, b)) if function.name == "add":
            if a == loops.Index(index):
                return is_known(b, index, inner)
            return b == loops.Index(index) and is_known(a, index, inner)
        case loops.Call(function, (a, b)) if function.name == "subtract":
            return a == loops.Index(index) and is_known(b, index, inner)
        case _:
            return False


def shift_of(expr: loops.Expr, index: str) -> loops.Expr:
    """What is added to the index."""
    match expr:
        case loops.Index():
            return loops.Literal(0)
        case loops.Call(function, (a, b)) if function.name == "add":
            return b if a == loops.Index(index) else a
        case loops.Call(_, (_, b)):
            return loops.Call(negative, (b,))
        case _:
            raise InternalError(f"{expr} is not {index} plus something")


def is_known(expr: loops.Expr, index: str, inner: set[str]) -> bool:
    """Whether an integer expression has a value before the loop over `index` begins."""
    match expr:
        case loops.Index(name):
            return name != index and name not in inner
        case loops.Call(_, args):
            return all(is_known(a, index, inner) for a in args)
        case loops.Literal(value):
            return isinstance(value, int)
        case loops.Value(code):
            return code.dtype == imp.INT
        case loops.Dimension():
            return True
        case _:
            return False


MIRRORED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}


def is_mask(call: loops.Call, index: str, inner: set[str]) -> bool:
    """Whether a call compares the loop's index, plus something, with something known before."""
    if call.function.name not in MIRRORED:
        return False
    a, b = call.args
    if is_shift(a, index, inner):
        return is_known(b, index, inner)
    return is_shift(b, index, inner) and is_known(a, index, inner)
