"""What must hold of the arguments' shapes when a kernel is called, and how a mismatch is told."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import SupportsIndex, cast

from linnet.algebra.function import Function
from linnet.algebra.table import maximum, minimum
from linnet.errors import InternalError, LinnetError, Location, ShapeError
from linnet.loops.nodes import Access, Call, Dimension, Expr, Literal
from linnet.loops.printer import show
from linnet.records import dataclass

Shapes = Mapping[str, Sequence[int]]
"""The shapes of the arguments, by parameter."""


@dataclass(frozen=True, slots=True)
class Use:
    """An index that runs over a mode of a tensor, where the user wrote so ("" if no index does)."""

    index: str
    access: Access
    mode: int
    at: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Check:
    """`a == b` or `a <= b`, over dimensions of arguments and literals.

    `==`: the sizes that two uses give to what must be one size. `<=`: for an index with an explicit
    range `0 <= start` or `stop <= dimension`, for a given size `0 <= size`; both uses are the same.
    """

    a: Expr
    b: Expr
    relation: str
    left: Use
    right: Use

    def holds(self, shapes: Shapes) -> bool:
        """Whether arguments of these shapes fit."""
        a, b = evaluate(self.a, shapes), evaluate(self.b, shapes)
        return a == b if self.relation == "==" else a <= b

    def explain(self, shapes: Shapes) -> LinnetError:
        """The error for arguments of these shapes, which do not fit."""
        a, b = evaluate(self.a, shapes), evaluate(self.b, shapes)
        if self.relation == "==":
            return _unequal(self.left, a, self.right, b)
        if is_zero(self.a):  # a stop of 0 is never checked: this is the lower bound
            return _too_low(self.right, b)
        return _too_high(self.right, a, b)


def worth_making(checks: Iterable[Check]) -> Iterator[Check]:
    """Drop the checks that always hold, and refuse what never does."""
    seen: set[tuple[Expr, Expr, str]] = set()
    for check in checks:
        key = (check.a, check.b, check.relation)
        if check.a == check.b or key in seen:
            continue
        seen.add(key)
        match check:
            case Check(Literal(), Literal()):
                if not check.holds({}):
                    raise check.explain({})
            case Check(a, Dimension(), "<=") if is_zero(a):
                pass
            case Check(a, Call(function, parts), "<=") if function is maximum and a in parts:
                pass
            case Check(Call(function, parts), b, "<=") if function is minimum and b in parts:
                pass
            case _:
                yield check


def is_zero(expr: Expr) -> bool:
    """Whether an expression is the number 0."""
    return isinstance(expr, Literal) and expr.value == 0


def evaluate(expr: Expr, shapes: Shapes) -> int:
    """The value of an expression over dimensions of arguments and literals."""
    match expr:
        case Literal(value):
            return operator.index(cast(int, value))
        case Dimension(tensor, mode):
            return shapes[tensor][mode]
        case Call(function, args):
            return exactly(function)(*[evaluate(a, shapes) for a in args])
        case _:
            raise InternalError(f"{expr} is not known before a kernel runs")


def is_exact(expr: Expr) -> bool:
    """Whether an expression is one of integers, as far as its functions tell."""
    match expr:
        case Literal(value):
            return isinstance(value, int)
        case Call(function, args):
            return function.name in _EXACT and all(map(is_exact, args))
        case _:
            return isinstance(expr, Dimension)


def exactly(function: Function) -> Callable[..., int]:
    """A function of Python's integers, which do not overflow."""
    exact = _EXACT.get(function.name)
    if exact is not None:
        return exact
    return lambda *values: operator.index(cast(SupportsIndex, function.numpy(*values)))


_EXACT: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "negative": operator.neg,
    "abs": abs,
    "maximum": max,
    "minimum": min,
    "floor_divide": lambda a, b: a // b if b else 0,  # as NumPy has it
    "remainder": lambda a, b: a % b if b else 0,
}


def _unequal(left: Use, a: int, right: Use, b: int) -> ShapeError:
    if left.index and left.index == right.index:
        why = "an index has one size wherever it is used"
    elif left.index and right.index:
        why = f"`{left.index}` and `{right.index}` run over the same dimension"
    else:
        why = "both are the size of the same dimension"
    again = _says(right, b, named=left.index != right.index)
    at = right.at if right.index else left.at
    return ShapeError(f"{_says(left, a)} but {again}", at=at, why=why)


def _says(use: Use, size: int, named: bool = True) -> str:
    """`k` is 4 in A[i, k] (mode 1 of A)"""
    if not use.index:
        return f"{_mode(use)} is {size}"
    subject = f"`{use.index}` is " if named else ""
    return f"{subject}{size} in {show(use.access)} ({_mode(use)})"


def _mode(use: Use) -> str:
    return f"mode {use.mode} of {use.access.tensor}"


def _too_low(use: Use, start: int) -> ShapeError:
    if not use.index:
        return ShapeError(f"{_mode(use)} is declared with size {start}", at=use.at)
    return ShapeError(
        f"`{use.index}` starts at {start} in {show(use.access)}",
        at=use.at,
        why="indices start at 0",
        hint=f"begin the range at 0 and write the offset in the index, as in A[{use.index} + 1]",
    )


def _too_high(use: Use, stop: int, size: int) -> ShapeError:
    return ShapeError(
        f"`{use.index}` runs to {stop} in {show(use.access)} but {_mode(use)} is {size}",
        at=use.at,
        hint=f"end the range at {size}; `for {use.index} in ...` runs over a whole dimension",
    )
