"""Indices that a loop can walk: its own, scaled, plus what is known before it; and comparisons."""

from __future__ import annotations

from linnet import imp, loops
from linnet.algebra.table import astype, negative
from linnet.loops.types import dtype_of

Affine = tuple[int, loops.Expr]
"""A factor and a shift: `factor * index + shift`."""


def affine_of(expr: loops.Expr, index: str, inner: set[str]) -> Affine | None:
    """An index as a multiple of the loop's own, plus something known before the loop.

    The multiple is positive, or taken from something: `n - 1 - i`, but not `-i`.
    """
    factor = _multiple(expr, index)
    if factor:
        return factor, loops.Literal(0)
    match expr:
        case loops.Call(function, (a, b)) if function.name == "add":
            if _multiple(a, index) and is_known(b, index, inner):
                return _multiple(a, index), b
            if _multiple(b, index) and is_known(a, index, inner):
                return _multiple(b, index), a
        case loops.Call(function, (a, b)) if function.name == "subtract":
            if _multiple(a, index) and is_known(b, index, inner):
                return _multiple(a, index), _opposite(b)
            if _multiple(b, index) and is_known(a, index, inner):
                return -_multiple(b, index), a
    return None


def _opposite(shift: loops.Expr) -> loops.Expr:
    """What is subtracted; of a truth value, the number that it is beside an index."""
    if dtype_of(shift, {}) == "bool":
        shift = loops.Call(astype[imp.INT], (shift,))
    return loops.Call(negative, (shift,))


def _multiple(expr: loops.Expr, index: str) -> int:
    """The factor of `factor * index`, or 0."""
    match expr:
        case loops.Index(name):
            return int(name == index)
        case loops.Call(function, (loops.Literal(value), loops.Index(name))) | loops.Call(
            function, (loops.Index(name), loops.Literal(value))
        ):
            is_factor = function.name == "multiply" and name == index
            return int(value) if is_factor and type(value) is int and value > 0 else 0
        case _:
            return 0


def is_shift(expr: loops.Expr, index: str, inner: set[str]) -> bool:
    """Whether an index is the loop's own, plus or minus something that is known before the loop."""
    found = affine_of(expr, index, inner)
    return found is not None and found[0] == 1


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


def residue_of(call: loops.Call, index: str, inner: set[str]) -> tuple[loops.Expr, int, int] | None:
    """`x % m == r` where x is the index plus something known: x, m and r."""
    match call:
        case loops.Call(equal, (loops.Call(rest, (x, loops.Literal(m))), loops.Literal(r))):
            named = equal.name == "equal" and rest.name == "remainder"
            whole = type(m) is int and type(r) is int and m > 0
            if named and whole and is_shift(x, index, inner):
                return x, int(m), int(r)  # type: ignore[arg-type]
    return None


def is_mask(call: loops.Call, index: str, inner: set[str]) -> bool:
    """Whether a call compares the loop's index, plus something, with something known before."""
    if call.function.name not in MIRRORED:
        return False
    if residue_of(call, index, inner) is not None:
        return True
    a, b = call.args
    if is_shift(a, index, inner):
        return is_known(b, index, inner)
    return is_shift(b, index, inner) and is_known(a, index, inner)
