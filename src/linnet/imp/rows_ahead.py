"""Rows that stored entries lead to, asked for before they are needed.

    for i in 0 … n:                              last = ptr[n] - 1
      for q in ptr[i] … ptr[i + 1]:              for i in 0 … n:
        k = idx[q]                                 for q in ptr[i] … ptr[i + 1]:
        for p in rows[k] … rows[k + 1]:    ->        prefetch(rows, idx[min(q + 16, last)])
          … col[p] …                                 soon = rows[idx[min(q + 8, last)]]
                                                     prefetch(col, soon)
                                                     k = idx[q] …

A product by rows goes from every entry to a row that may be anywhere: a processor waits for where
it begins, and then for what is there. The rows of the next entries are known already, also those of
the next fiber. Every entry is visited: nothing is loaded that the loops would not load later. Rows
that may be left are not asked for: of those a processor begins several at once, and what asks for
them is in its way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import Known, at
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, walk
from linnet.records import dataclass

_AHEAD = 8  # entries: a row comes from memory while so many others are read


def rows_ahead(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Prefetch the rows that loops over stored entries walk. Needs: simplified code."""
    asking = _Pass(kernel, known)
    body = rewrite_statements(kernel.body, asking.of_fibers)
    body = rewrite_statements(body, asking.of_entries)
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Row:
    """Where the rows begin that a coordinate leads to, and what is read of them."""

    coordinates: imp.Buffer
    pointers: imp.Buffer
    read: tuple[imp.Buffer, ...]


class _Pass:
    """The loops of a kernel, the innermost first."""

    def __init__(self, kernel: imp.Kernel, known: Known) -> None:
        self.known, self.names = known, fresh_names(kernel)
        self.effects: Effects = effects_of(kernel.codelets)

    def of_fibers(self, node: imp.Node) -> imp.Node | None:
        """A loop over fibers that follow each other: the entries of all of them are known."""
        if not isinstance(node, imp.For) or not self.known.runs(node):
            return None
        for inner in node.body.stmts:
            if isinstance(inner, imp.For) and self.known.follow(inner.start, inner.stop, node.var):
                return self._asking(node, inner, at(inner.start, node.var, node.stop))
        return None

    def of_entries(self, node: imp.Node) -> imp.Node | None:
        """A loop over the entries of a single fiber, or of one that has no neighbours."""
        if not isinstance(node, imp.For):
            return None
        return self._asking(node, node, node.stop)

    def _asking(self, loop: imp.For, inner: imp.For, stop: imp.Expr) -> imp.Stmt | None:
        """The loop, in whose inner one each iteration asks for the rows of later ones."""
        rows = [*_rows(inner)]
        if not rows or _may_end_early(loop) or breaks(inner.body):
            return None
        all_told, outside = self.effects.of(loop), self.effects.of(stop)
        used = {b.name for row in rows for b in (row.coordinates, row.pointers)} | outside.loads
        if used & all_told.changes or outside.reads & all_told.assigns:
            return None
        last = imp.Var(self.names.fresh("last"))
        asked = [stmt for row in rows for stmt in self._asked(row, inner.var, last)]
        new = replace(inner, body=imp.Block((*asked, *inner.body.stmts)))
        stmts = tuple([new if s is inner else s for s in loop.body.stmts])
        whole = new if loop is inner else replace(loop, body=imp.Block(stmts))
        return imp.Block((imp.Let(last, imp.widen(stop) - 1), whole))

    def _asked(self, row: _Row, entry: imp.Var, last: imp.Var) -> Iterator[imp.Stmt]:
        """Ask for where the row of a later entry begins, and for the row of a nearer one."""
        later, nearer = (
            imp.widen(imp.Load(row.coordinates, imp.minimum(entry + far, last)))
            for far in (2 * _AHEAD, _AHEAD)
        )
        yield imp.Prefetch(row.pointers, later)
        soon = imp.Var(self.names.fresh("soon"))
        yield imp.Let(soon, imp.widen(imp.Load(row.pointers, nearer)))
        yield from (imp.Prefetch(buffer, soon) for buffer in row.read)


def _may_end_early(loop: imp.For) -> bool:
    """Whether some entries may not be visited, or are asked for already."""
    return breaks(loop.body) or any(isinstance(n, imp.Return | imp.Prefetch) for n in walk(loop))


def _rows(loop: imp.For) -> Iterator[_Row]:
    """The rows that every iteration walks to their ends: those of what is stored at its index."""
    coordinates: dict[str, imp.Buffer] = {}
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value):
                match _uncast(value):
                    case imp.Load(buffer, index) if index == loop.var:
                        coordinates[var.name] = buffer
            case imp.For(p, start, stop, body) if not breaks(body):
                match _uncast(start), _uncast(stop):
                    case imp.Load(pointers, imp.Var(k)), imp.Load(same, after) if (
                        k in coordinates and same == pointers and after == imp.Var(k) + 1
                    ):
                        loads = [n for n in walk(body) if isinstance(n, imp.Load)]
                        read = dict.fromkeys(n.buffer for n in loads if n.index == p)
                        yield _Row(coordinates[k], pointers, tuple(read))


def _uncast(e: imp.Expr) -> imp.Expr:
    return _uncast(e.x) if isinstance(e, imp.Cast) else e
