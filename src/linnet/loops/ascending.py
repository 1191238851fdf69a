"""Ranges that follow one another: whether a later turn of a loop goes on behind an earlier one.

    for t in range(k):
        for i in range(32 * t, min(n, 32 * t + 32)):

visits every i at most once, and in order: wherever a range ends, those of all later turns begin
there or behind it. That is a question of linear forms (`imp.order`), however the ends are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from linnet import imp
from linnet.algebra.table import add
from linnet.imp.linear import FAR
from linnet.imp.order import Order
from linnet.loops.nodes import Call, Dimension, Expr, Extent, Index, Literal, Loop
from linnet.loops.rewrite import substitute_expr, walk

_LARGEST = 1 << 31  # of factors: times the turns of a loop, that fits
_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "minimum": "min", "maximum": "max"}
_AFTER = "'"  # how many turns there are between two of them: no name of a program


def ascends(counters: Sequence[Loop], extent: Extent) -> bool:
    """Whether ranges of later turns of the first of some loops lie behind those of earlier ones.

    The loops have extents and stand inside one another, around one that goes through the range.
    """
    if _factor(extent) >= _LARGEST:
        return False
    code, later = _Code(), dict[str, Expr]()
    order = Order(code.sizes)
    for loop in counters:
        assert isinstance(loop.extent, Extent)
        there = Index(f"{loop.index}{_AFTER}")
        for index, bounds in ((loop.index, loop.extent), (there.name, _at(loop.extent, later))):
            order.enter(index, code.of(bounds.start), code.of(bounds.stop))
        later[loop.index] = there
        if len(later) == 1:  # any of the later turns
            code.sizes.add(_AFTER)
            further = Call(add, (Index(loop.index), Literal(1)))
            later[loop.index] = Call(add, (further, Index(_AFTER)))
    return order.at_most(code.of(extent.stop), code.of(_at(extent, later).start))


def _at(extent: Extent, values: Mapping[str, Expr]) -> Extent:
    """A range where indices have other values."""
    start, stop = extent.start, extent.stop
    return Extent(substitute_expr(start, values), substitute_expr(stop, values))


def _factor(extent: Extent) -> int:
    """What an index in the ends of a range is multiplied by, at the most."""
    found = [n.args for n in walk(extent) if isinstance(n, Call) and n.function.name == "multiply"]
    numbers = [abs(a.value) for args in found for a in args if isinstance(a, Literal)]
    return prod(max(int(n), 1) for n in numbers)


class _Code:
    """Expressions of integers as code, of which order is known."""

    def __init__(self) -> None:
        self.sizes: set[str] = set()
        self._atoms: dict[Expr, imp.Var] = {}

    def of(self, expr: Expr) -> imp.Expr:
        """The same sums and minima; what else there is stands for itself."""
        match expr:
            case Literal(bool(value) | int(value)) if abs(value) < FAR:
                return imp.Const(int(value), imp.INT)
            case Index(name):
                return imp.Var(name)
            case Call(function, (a, b)) if function.name in _OPERATORS and _is_wide(expr):
                return imp.binary(_OPERATORS[function.name], self.of(a), self.of(b))
            case Call(function, (a,)) if function.name == "negative" and _is_wide(expr):
                return imp.ZERO - self.of(a)
        var = self._atoms.setdefault(expr, imp.Var(f"{_AFTER}{len(self._atoms)}"))
        if isinstance(expr, Dimension):
            self.sizes.add(var.name)
        return var


def _is_wide(expr: Expr) -> bool:
    """Whether a value surely has 64 bits: a sum in fewer may wrap, and is not taken apart."""
    match expr:
        case Call(function, args) if function.name in (*_OPERATORS, "negative"):
            return any(map(_is_wide, args)) or all(isinstance(a, Literal) for a in args)
        case _:
            return isinstance(expr, Index | Dimension)
