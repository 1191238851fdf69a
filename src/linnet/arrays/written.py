"""Expressions written with indices: `A[i, j] * x[j]`, as Python objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import Number, as_python, canonical
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_name
from linnet.arrays.lazy import Lazy
from linnet.errors import ArgumentError, Location, ShapeError
from linnet.formats.tensor import Tensor

Operand = Tensor | Lazy


def _operator(name: str, swapped: bool = False) -> Callable[..., Expression]:
    """An operator of Python, for expressions."""

    def call(self: Expression, *others: object) -> Expression:
        args = (*reversed(others), self) if swapped else (self, *others)
        return called(by_name[name], args)

    return call


class Expression:
    """A value for every combination of indices: an expression of the loop language.

    `operands` are the tensors in it, by the names under which the expression knows them.
    """

    __slots__ = ("expr", "operands")
    __array_ufunc__ = None  # NumPy leaves operators to us
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expr: loops.Expr, operands: Mapping[str, Operand]) -> None:
        self.expr = expr
        self.operands = dict(operands)

    __add__, __radd__ = _operator("add"), _operator("add", True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", True)
    __mul__, __rmul__ = _operator("multiply"), _operator("multiply", True)
    __truediv__, __rtruediv__ = _operator("divide"), _operator("divide", True)
    __floordiv__, __rfloordiv__ = _operator("floor_divide"), _operator("floor_divide", True)
    __mod__, __rmod__ = _operator("remainder"), _operator("remainder", True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", True)
    __and__, __rand__ = _operator("bitwise_and"), _operator("bitwise_and", True)
    __or__, __ror__ = _operator("bitwise_or"), _operator("bitwise_or", True)
    __xor__, __rxor__ = _operator("bitwise_xor"), _operator("bitwise_xor", True)
    __lt__, __le__ = _operator("less"), _operator("less_equal")
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")
    __eq__, __ne__ = _operator("equal"), _operator("not_equal")  # type: ignore[assignment]
    __neg__, __pos__, __abs__ = _operator("negative"), _operator("positive"), _operator("abs")
    __invert__ = _operator("bitwise_invert")

    def __bool__(self) -> bool:
        raise ArgumentError(
            "an expression over indices has no truth value",
            at=Location.of_caller(),
            why="it stands for many values, which are not computed yet",
            hint="use ln.where(…), ln.logical_and(…), or & and |",
        )

    def __repr__(self) -> str:
        from linnet.loops.printer import show

        return show(self.expr)


class IndexVar(Expression):
    """An index, made by `ln.indices`."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(loops.Index(name), {})

    @property
    def name(self) -> str:
        """The name of the index."""
        assert isinstance(self.expr, loops.Index)
        return self.expr.name


def refers(key: object) -> bool:
    """Whether a subscript speaks of indices, and not of numbers."""
    if type(key) is tuple:
        return any(isinstance(part, Expression) for part in key)
    return isinstance(key, Expression)


def access(array: Operand, key: object) -> Expression:
    """`A[i, j]`: the elements of a tensor or a lazy array at indices."""
    name = f"x{id(array):x}"
    parts = [as_expression(k) for k in (key if isinstance(key, tuple) else (key,))]
    shape = array.shape or ()
    if len(parts) != len(shape):
        raise ShapeError(
            f"there are {len(parts)} indices for {len(shape)} dimensions",
            at=Location.of_caller(),
            why="an access with indices has one for each dimension",
        )
    operands: dict[str, Operand] = {name: array}
    for part in parts:
        operands |= part.operands
    return Expression(loops.Access(name, tuple(p.expr for p in parts)), operands)


def as_expression(value: Any) -> Expression:
    """An expression, or a number as one; an array without dimensions is read."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool | int | float | complex):
        return Expression(loops.Literal(value), {})
    if isinstance(value, np.generic):
        dtype = canonical(value.dtype)
        number: Number = as_python(value, dtype)
        return Expression(loops.Literal(number, dtype), {})
    if isinstance(value, Tensor | Lazy) and not value.ndim:
        return access(value, ())
    raise ArgumentError(
        f"{type(value).__name__} is not a value in an expression over indices",
        at=Location.of_caller(),
        hint="say at which indices it is read: A[i, j]",
    )


def called(function: Function, args: tuple[object, ...]) -> Expression:
    """A function of expressions."""
    parts = [as_expression(a) for a in args]
    if len(parts) != function.arity:
        raise ArgumentError(f"{function.name} takes {function.arity} arguments, not {len(parts)}")
    operands: dict[str, Operand] = {}
    for part in parts:
        operands |= part.operands
    return Expression(loops.Call(function, tuple(p.expr for p in parts)), operands)
