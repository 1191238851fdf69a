"""How far computed indices reach, where that is known before a kernel runs: `A[i, j + 1]`.

While it runs, an index is tested where it is used; but where a row is not stored nobody looks into
it. An index that is made of those of loops with known ends, and is read whenever they run, leaves
its dimension or does not, whatever is stored: that is checked when the kernel is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from linnet.algebra.table import add, multiply, subtract
from linnet.errors import IndexBoundsError
from linnet.formats.format import Format
from linnet.loops.linear import linear
from linnet.loops.nodes import (
    Access,
    Assign,
    Block,
    Call,
    Declare,
    Dimension,
    Expr,
    Extent,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Program,
    Stmt,
)
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.normalize.shape_checks import Check, Shapes, Use, evaluate, is_zero
from linnet.records import dataclass

_LAZY = ("logical_and", "logical_or", "where", "coalesce")  # may not look at all their arguments
_OPEN = ("permissive", "inside")  # protocols of indices that may leave, or are known to stay


@dataclass(frozen=True, slots=True)
class Reach(Check):
    """A check of the first or the last value of an index, if the loops around it run at all."""

    around: tuple[Extent, ...] = ()

    def holds(self, shapes: Shapes) -> bool:
        """Whether arguments of these shapes fit."""
        empty = any(evaluate(x.start, shapes) >= evaluate(x.stop, shapes) for x in self.around)
        return empty or Check.holds(self, shapes)

    def explain(self, shapes: Shapes) -> IndexBoundsError:
        """The error for arguments of these shapes, which do not fit."""
        use, a, b = self.right, evaluate(self.a, shapes), evaluate(self.b, shapes)
        access, tensor = show(use.access), str(use.access.tensor)
        index = show(use.access.indices[use.mode])
        what = f"begins at {b}" if is_zero(self.a) else f"reaches {a - 1}"
        return IndexBoundsError(
            f"an index of `{tensor}` leaves its dimension: `{index}` {what} in {access}, and mode "
            f"{use.mode} of {tensor} has size {shapes[tensor][use.mode]}",
            at=use.at,
            why="an index runs from 0 to the size of its dimension less one",
            hint=f"a read that may lie outside is written `ln.coalesce({tensor}[~i], 0)`",
        )


def reach_checks(program: Program, formats: dict[str, Format]) -> tuple[Check, ...]:
    """What must hold so that indices of arguments stay within their dimensions.

    Needs: dimensions known. Loops that may end early are not looked at.
    """
    if any(format.leaf.short_circuit for format in formats.values()):
        return ()
    declared = {s.tensor for s in walk(program.body) if isinstance(s, Declare)}
    search = _Search(frozenset(program.params) - declared)
    return tuple(dict.fromkeys(search.stmt(program.body, {})))


Extents = dict[str, Extent]


@dataclass(frozen=True, slots=True)
class _Search:
    """Goes through what is surely run; `given` are the arguments that keep their sizes."""

    given: frozenset[str]

    def stmt(self, stmt: Stmt, around: Extents) -> Iterator[Check]:
        """The checks for a statement within some loops."""
        match stmt:
            case Block(stmts):
                for each in stmts:
                    yield from self.stmt(each, around)
            case Loop(index, extent, body) if extent is not None:
                yield from self.stmt(body, {**around, index: extent.whole})
            case Let(_, value, body):
                yield from self.expr(value, around)
                yield from self.stmt(body, around)
            case If(cond):
                yield from self.expr(cond, around)
            case Assign(target, _, value):
                for part in (*target.indices, value):
                    yield from self.expr(part, around)

    def expr(self, expr: Expr, around: Extents) -> Iterator[Check]:
        """The checks for an expression."""
        match expr:
            case Call(function, args):
                for part in args[:1] if function.name in _LAZY else args:
                    yield from self.expr(part, around)
            case Access(tensor, indices, protocols):
                for mode, index in enumerate(indices):
                    yield from self.expr(index, around)
                    plain = type(index) is Index or (protocols and protocols[mode] in _OPEN)
                    if tensor in self.given and not plain:
                        yield from self.reach(expr, mode, around)

    def reach(self, access: Access, mode: int, around: Extents) -> Iterator[Check]:
        """The checks for one index, if it is a sum of what is known."""
        ends, form = tuple(around.values()), linear(access.indices[mode], None)
        bounds = [n for x in ends for e in (x.start, x.stop) for n in walk(e)]
        sums = all(isinstance(term, Index | Dimension) for term in form.terms)
        if not sums or not all(map(self.is_known, [*bounds, *form.terms])):
            return
        if any(isinstance(n, Index) for n in bounds):
            return  # a loop that runs as far as another index says
        first: Expr = Literal(form.number)
        last: Expr = Literal(form.number)
        for term, factor in form.terms.items():
            low = high = cast(Expr, term)
            if isinstance(term, Index):
                low, stop = around[term.name].start, around[term.name].stop
                high = Call(subtract, (stop, Literal(1)))
            if factor < 0:
                low, high = high, low
            first = Call(add, (first, Call(multiply, (Literal(factor), low))))
            last = Call(add, (last, Call(multiply, (Literal(factor), high))))
        use = Use("", access, mode, access.at)
        size = Dimension(str(access.tensor), mode)
        yield Reach(Literal(0), first, "<=", use, use, ends)
        yield Reach(Call(add, (last, Literal(1))), size, "<=", use, use, ends)

    def is_known(self, node: object) -> bool:
        """Whether a part of a bound is known when a kernel is called."""
        match node:
            case Dimension(tensor):
                return tensor in self.given
            case _:
                return isinstance(node, Literal | Call | Index)
