"""Rows of a few entries, each of another length, are summed when all that they sum is there.

    for i in a … b:                     for strip in 0 … ((max(a, b) - a - 1) >> 6) + 1:
      s = 0                               from, to, first = …, …, ptr[from]
      for q in ptr[i] … ptr[i + 1]:       if ptr[to] - first <= 1024:
        s += val[q] * x[idx[q]]             for q in first … ptr[to]:
      y[i] = s                      ->        part[q - first] = val[q] * x[idx[q]]
                                            for i in from … to:
                                              s = 0
                                              for q in ptr[i] … ptr[i + 1]: s += part[q - first]
                                              y[i] = s
                                          else: the rows from … to as they are

Nobody foresees where such a row ends, and a processor that was wrong begins anew: that takes longer
than the row. What a strip of rows sums has one end for all of them, and neighbours are added up
under a mask, which has none. Where lengths are alike a processor learns them, so it is done for
rows only of which it is known that they are not (`formats.row_lengths`).
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, statements, walk
from linnet.imp.strips import in_strips
from linnet.names import Names
from linnet.optimize.legality import all_of
from linnet.optimize.loops import gathers
from linnet.records import dataclass

_BITS = 6  # of the number of rows whose parts are computed at once
_ROOM = 16 << _BITS  # parts of them: more are of rows long enough to be worth their end
_FLOATS = ("float32", "float64")


def uneven_rows(kernel: imp.Kernel) -> imp.Kernel:
    """Compute what rows of uneven lengths add up before they are summed, a strip at a time.

    Neighbours are added up under a mask anyway. Needs: simplified code.
    """
    if not kernel.uneven:
        return kernel
    effects, names, scratch = effects_of(kernel.codelets), fresh_names(kernel), list[imp.Scratch]()

    def better(node: imp.Node) -> imp.Node | None:
        sums = _sums(node, kernel.uneven, effects) if isinstance(node, imp.For) else []
        if not sums:
            return None
        assert isinstance(node, imp.For)
        strips = _Strips(node, sums, names)
        scratch.extend(imp.Scratch(part, _ROOM) for part in strips.parts.values())
        return in_strips(node, strips.strip, names, _BITS)

    body = rewrite_statements(kernel.body, better)
    return replace(kernel, body=body, scratch=(*kernel.scratch, *scratch)) if scratch else kernel


@dataclass(frozen=True, slots=True)
class _Sum:
    """A loop that adds up a row: where rows begin, and what is added to which variables."""

    loop: imp.For
    ptr: imp.Buffer
    totals: tuple[imp.Accumulate, ...]


def _sums(rows: imp.For, uneven: frozenset[str], effects: Effects) -> list[_Sum]:
    """The sums over entries of a row, if rows are uneven and nothing leaves the loop over them."""
    if any(isinstance(s, imp.Break | imp.Return | imp.Grow) for s in statements(rows.body)):
        return []
    loops = (s for s in rows.body.stmts if isinstance(s, imp.For) and gathers(s))
    found = (_sum(rows, loop, uneven) for loop in loops)
    return [s for s in found if s is not None and _is_apart(rows, s.loop, effects)]


def _sum(rows: imp.For, loop: imp.For, uneven: frozenset[str]) -> _Sum | None:
    """A loop as one over the entries of a row that only adds up floats."""
    start = loop.start.x if isinstance(loop.start, imp.Cast) else loop.start
    if not isinstance(start, imp.Load) or start.index != rows.var:
        return None
    if all_of((rows, loop)) is None or not any(s.tensor in uneven for s in loop.over.spans):
        return None
    totals = [s for s in loop.body.stmts if isinstance(s, imp.Accumulate)]
    plain = all(isinstance(s, imp.Let | imp.Accumulate | imp.Comment) for s in loop.body.stmts)
    fits = all(t.op in "+-" and t.value.dtype == t.var.dtype in _FLOATS for t in totals)
    return _Sum(loop, start.buffer, tuple(totals)) if totals and plain and fits else None


def _is_apart(rows: imp.For, loop: imp.For, effects: Effects) -> bool:
    """Whether what is added up depends on nothing that belongs to a row, or that rows change."""
    around, inside = effects.of(rows), effects.of(loop)
    own = {s.var.name for s in loop.body.stmts if isinstance(s, imp.Let)} | {loop.var.name}
    values = [s.value for s in loop.body.stmts if isinstance(s, imp.Let | imp.Accumulate)]
    read = {n.name for value in values for n in walk(value) if isinstance(n, imp.Var)} - own
    return not (read & around.assigns or inside.loads & around.changes or inside.changes)


class _Strips:
    """The code for rows, some at a time."""

    def __init__(self, rows: imp.For, sums: list[_Sum], names: Names) -> None:
        self.rows, self.sums = rows, sums
        self.firsts = [imp.Var(names.fresh(f"{s.loop.var.name}_first")) for s in sums]
        self.parts = {
            id(total): imp.Buffer(names.fresh("part"), total.var.dtype)
            for s in sums
            for total in s.totals
        }

    def strip(self, rows: imp.For) -> tuple[imp.Stmt, ...]:
        """The rows of a strip: with all that they sum computed before, if there is room for it."""
        pairs = list(zip(self.sums, self.firsts, strict=True))
        ends = [imp.widen(s.ptr[rows.stop]) for s in self.sums]
        fits: imp.Expr = imp.TRUE
        for first, end in zip(self.firsts, ends, strict=True):
            short = end - first <= _ROOM
            fits = short if fits == imp.TRUE else fits & short
        ahead = [self._ahead(s, first, end) for (s, first), end in zip(pairs, ends, strict=True)]
        summed = {id(s.loop): self._summed(s, first) for s, first in pairs}
        body = imp.Block(tuple([summed.get(id(stmt), stmt) for stmt in rows.body.stmts]))
        return (
            *(imp.Let(first, imp.widen(s.ptr[rows.start])) for s, first in pairs),
            imp.If(fits, imp.Block((*ahead, replace(rows, body=body))), imp.Block((rows,))),
        )

    def _ahead(self, s: _Sum, first: imp.Var, end: imp.Expr) -> imp.For:
        """All that the rows of a strip add up, one after the other."""
        stmts: list[imp.Stmt] = []
        for stmt in s.loop.body.stmts:
            if isinstance(stmt, imp.Accumulate):
                stmts.append(imp.Store(self.parts[id(stmt)], s.loop.var - first, stmt.value))
            else:
                stmts.append(stmt)
        over = imp.Over(s.loop.over.text)
        return replace(s.loop, start=first, stop=end, body=imp.Block(tuple(stmts)), over=over)

    def _summed(self, s: _Sum, first: imp.Var) -> imp.For:
        """What is added up to a row."""
        place = s.loop.var - first
        adds = [replace(total, value=self.parts[id(total)][place]) for total in s.totals]
        return replace(s.loop, body=imp.Block(tuple(adds)))
