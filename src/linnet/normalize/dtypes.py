"""Dtypes and fill values that were left open: from what the program writes into a tensor."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import concrete, fits, kind, promote
from linnet.errors import DTypeError, FormatError, LinnetError
from linnet.formats.format import Format
from linnet.loops.rewrite import walk
from linnet.loops.types import dtype_of, look


def infer_dtypes(program: loops.Program, formats: Mapping[str, Format]) -> dict[str, Format]:
    """Formats in which every tensor that the program declares has a dtype and a fill value.

    The fill value of a declared tensor is what it is declared with; an open dtype is that in which
    all values written to it meet. Statements are read in order, so what is read is known by then.
    """
    known = {name: f.dtype for name, f in formats.items() if f.dtype is not None}
    types: dict[str, str] = dict(known)
    for _ in range(2):  # a value may come from a tensor that is written further down, in a loop
        look(program.body, lambda node: _infer(node, known, types))
    inits = {node.tensor: node for node in walk(program.body) if isinstance(node, loops.Declare)}
    result = dict(formats)
    for name, format in formats.items():
        if name in inits:
            result[name] = _declared(format, inits[name], concrete(types[name]))
    look(program.body, lambda node: _check(node, types))
    return result


def _infer(node: loops.Node, known: Mapping[str, str], types: dict[str, str]) -> None:
    """What a statement says of types that are not `known` from formats."""
    match node:
        case loops.Declare(tensor) if tensor not in known:
            _meet(types, tensor, dtype_of(node.init, types))
        case loops.Let(name, value):
            types[name] = dtype_of(value, types)
        case loops.Swap(a, b):
            for one, other in ((a, b), (b, a)):
                if one not in known and other in types:
                    _meet(types, one, types[other])
        case loops.Assign(target) if target.tensor not in known:
            assert isinstance(target.tensor, str)
            _meet(types, target.tensor, _value_dtype(node, types))


def _check(node: loops.Node, types: dict[str, str]) -> None:
    """Refuse functions of values that they are not defined for, and what loses digits."""
    match node:
        case loops.If(value):
            dtype_of(value, types)
        case loops.Assign():
            _check_assigned(node, types)


def _value_dtype(stmt: loops.Assign, types: dict[str, str]) -> str:
    assert isinstance(stmt.target.tensor, str)
    value = dtype_of(stmt.value, types)
    if stmt.op is None:
        return value
    return stmt.op.types((types.get(stmt.target.tensor, value), value))[1]


def _check_assigned(stmt: loops.Assign, types: dict[str, str]) -> None:
    """Refuse a value that its target cannot hold: a float in an integer, the sum of floats."""
    name = stmt.target.tensor
    assert isinstance(name, str)
    held = concrete(types[name])
    result = _value_dtype(stmt, types)
    result = concrete(result if stmt.op is not None else _beside(result, held))
    if not _holds(held, result, stmt):
        raise DTypeError(
            f"`{name}` has dtype {held}, and {_made(stmt)} {result}",
            at=stmt.at,
            why="digits would be lost without a word",
            hint=f"give `{name}` the dtype {result}, or convert the value: {_conversion(held)}",
        )
    if stmt.partial and result != held:
        raise DTypeError(
            f"`{name}` has dtype {held}, and what is computed from it here goes on as {result}",
            at=stmt.at,
            why=f"this is done in steps, and `{name}` would hold what is between them",
            hint=f"give `{name}` the dtype {result}, or write one update for each step",
        )


def _beside(value: str, held: str) -> str:
    """The type of a value that is assigned: a weak one takes that of its target, if it can."""
    return promote(value, held) if value.startswith("weak_") else value


def _holds(held: str, result: str, stmt: loops.Assign) -> bool:
    """Whether a target can hold values of a type; a number is what it is, as in a declaration."""
    if stmt.op is None and isinstance(stmt.value, loops.Literal) and kind(held) in "biu":
        return fits(stmt.value.value, held)
    return np.can_cast(result, held, "same_kind")


def _made(stmt: loops.Assign) -> str:
    return "what is assigned here is" if stmt.op is None else "this update makes it"


def _conversion(held: str) -> str:
    """What a user can write, so that a value has a type."""
    if kind(held) in "iu":
        cast = "int" if held == "int64" else f"np.{held}"
        return f"{cast}(…) cuts off, {cast}(ln.floor(…)) rounds down"
    return "bool(…)" if held == "bool" else f"np.{held}(…)"


def _meet(types: dict[str, str], name: str, dtype: str) -> None:
    types[name] = promote(types[name], dtype) if name in types else dtype


def _declared(format: Format, declare: loops.Declare, dtype: str) -> Format:
    """The format with the values of its declaration."""
    above = format.levels[-2] if format.ndim else None
    more = above and (above.full or above.covers or above.spans or above.pads)
    if format.leaf.selective and above and more:
        raise FormatError(
            f"`{declare.tensor}` would store more than is true",
            at=declare.at,
            why=f"a Pattern is true wherever something is stored, and {type(above).__name__} "
            "stores indices that were not written, too",
            hint="put another level directly above Pattern(), or use Element(False)",
        )
    if format.dtype is None:
        format = format.with_dtype(dtype)
    if isinstance(declare.init, loops.Literal):
        try:
            return format.with_fill(declare.init.value)
        except LinnetError as error:
            raise type(error)(
                error.message, at=declare.at, why=error.why, hint=error.hint
            ) from None
    if not all(level.full for level in format.levels[:-1]):
        raise FormatError(
            f"`{declare.tensor}` is declared with a value that is not a constant",
            at=declare.at,
            why="the fill value of a sparse tensor is part of its format",
            hint="declare it with a number, or store it dense",
        )
    return format if format.fill_value is not None else format.with_fill(0)
