"""The dtype of an expression of the loop language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from linnet.algebra.dtypes import weak_dtype
from linnet.errors import DTypeError
from linnet.formats.fiber import Fiber, Register
from linnet.loops.nodes import (
    Access,
    Call,
    Dimension,
    Expr,
    Index,
    Let,
    Literal,
    Name,
    Node,
    Parts,
    Place,
    Stmt,
    Value,
)
from linnet.loops.rewrite import walk

Types = Mapping[str, str]
"""The dtypes of tensors and of let names."""


def dtype_of(expr: Expr, types: Types) -> str:
    """The type of a value; weak for Python numbers and what is computed from them alone."""
    match expr:
        case Literal(value, None):
            return weak_dtype(value)
        case Literal(_, dtype):
            assert dtype is not None
            return dtype
        case Index() | Dimension() | Parts() | Place():
            return "int64"
        case Name(name):
            return types[name]
        case Access(Fiber(storage) | Register(storage)):
            assert storage.format.dtype is not None
            return storage.format.dtype
        case Access(tensor):
            assert isinstance(tensor, str)
            return types[tensor]
        case Call(function, args):
            return function.types(tuple([dtype_of(a, types) for a in args]))[1]
        case Value(code):
            return code.dtype
        case _:
            assert_never(expr)


def look(body: Stmt, at: Callable[[Node], None]) -> None:
    """Look `at` every node; what is refused for its types says where it stands."""
    for node in walk(body):
        try:
            at(node)
        except DTypeError as error:
            error.at = error.at or getattr(node, "at", None)
            raise


def with_lets(types: Types, body: Stmt) -> dict[str, str]:
    """The dtypes of tensors, and of the names that are let in a program, in its order."""
    found = dict(types)
    for node in walk(body):
        if isinstance(node, Let):
            found[node.name] = dtype_of(node.value, found)
    return found
