"""Writes what rows append one by one, each as many entries as it is read from, in one loop.

for i in 0 … n:                          shift = c - ptr[0]
  for q in ptr[i] … ptr[i + 1]:          for q in ptr[0] … ptr[n]:
    out[c] = a[q]                  ->      out[shift + q] = a[q]
    c += 1                               for i in 0 … n:
  end[i] = c                               c = shift + ptr[i + 1]
                                           end[i] = c

Rows are short, and all of them together are long: they are computed in vectors. What depends on the
row, as its coordinate does, is still written row by row.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import Known, at
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.fuse_ranges import over_all
from linnet.imp.rewrite import rebuild, statements, substitute, walk
from linnet.names import Names
from linnet.records import dataclass


def append_at_once(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """One loop for the entries of all rows, where it is known that they follow one another.

    Needs: simplified code, in which room for all that is appended is made before the loop.
    """
    body = _Pass(known, effects_of(kernel.codelets), fresh_names(kernel)).block(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Append:
    """The loop over the entries of a row: `for …: lets; out[count] = …; count += 1`."""

    loop: imp.For
    stores: tuple[imp.Store, ...]
    count: imp.Var


class _Pass:
    """Blocks from the outside in: the outermost loop that will do is split."""

    def __init__(self, known: Known, effects: Effects, names: Names) -> None:
        self.known, self.effects, self.names = known, effects, names

    def block(self, block: imp.Block) -> imp.Block:
        """The block, its loops split where that is possible."""
        stmts: list[imp.Stmt] = []
        for stmt in block.stmts:
            split = self._split(stmt) if isinstance(stmt, imp.For) else None
            stmts += split or [rebuild(stmt, self._inner)]
        same = len(stmts) == len(block.stmts) and all(map(_is, stmts, block.stmts))
        return block if same else imp.Block(tuple(stmts))

    def _inner(self, node: imp.Node) -> imp.Node:
        return self.block(node) if isinstance(node, imp.Block) else node

    def _split(self, rows: imp.For) -> list[imp.Stmt] | None:
        """What all rows append, then the rows without it."""
        found = [a for s in rows.body.stmts if isinstance(s, imp.For) and (a := _append(s))]
        if len(found) != 1 or not self.known.runs(rows):
            return None
        (append,) = found
        lets = _lets(rows.body)
        start, stop = (substitute(e, lets) for e in (append.loop.start, append.loop.stop))
        if not self.known.follow(start, stop, rows.var):
            return None
        first, last = at(start, rows.var, rows.start), at(start, rows.var, rows.stop)
        if append.count.name in lets or not self._is_apart(append, rows, (first, last)):
            return None
        shift, loop = imp.Var(self.names.fresh("shift")), append.loop
        alike, by_row = self._divided(loop, rows)
        if not any(isinstance(s, imp.Store) for s in alike):
            return None
        counted = imp.Assign(append.count, shift + imp.widen(stop))
        inner: list[imp.Stmt] = [self._by_row(loop, by_row, shift)] if by_row else []
        inner.append(counted)
        rest = [s for stmt in rows.body.stmts for s in (inner if stmt is loop else [stmt])]
        return [
            imp.Let(shift, append.count - imp.widen(first)),
            replace(
                loop,
                start=first,
                stop=last,
                body=_placed(alike, shift + loop.var),
                over=over_all(loop.over, rows.var, rows.start, rows.stop),
            ),
            replace(rows, body=imp.Block(tuple(rest))),
        ]

    def _divided(self, loop: imp.For, rows: imp.For) -> tuple[list[imp.Stmt], list[imp.Stmt]]:
        """What is done for an entry whatever its row, and what depends on that; without names."""
        lets = _lets(loop.body)
        own = {loop.var.name, *lets}
        varying = self.effects.of(rows).assigns - own
        alike: list[imp.Stmt] = []
        by_row: list[imp.Stmt] = []
        for stmt in loop.body.stmts[:-1]:
            whole = substitute(getattr(stmt, "value", imp.ZERO), lets)
            if not self.effects.of(whole).reads & varying:
                alike.append(stmt)
            elif isinstance(stmt, imp.Store):
                by_row.append(replace(stmt, value=whole))
        return alike, by_row

    def _by_row(self, loop: imp.For, stores: list[imp.Stmt], shift: imp.Var) -> imp.For:
        """The loop over the entries of a row, with what is left to do in it."""
        var = imp.Var(self.names.fresh(loop.var.name))
        body = substitute(_placed(stores, shift + loop.var), {loop.var.name: var})
        return replace(loop, var=var, body=body)

    def _is_apart(self, append: _Append, rows: imp.For, bounds: tuple[imp.Expr, imp.Expr]) -> bool:
        """Whether what is appended depends on nothing that the rows change, and nothing on it."""
        whole, written = self.effects.of(rows), {s.buffer.name for s in append.stores}
        around = imp.Block(tuple(s for s in rows.body.stmts if s is not append.loop))
        others = self.effects.of(around)
        if append.count.name in others.assigns or breaks(rows.body) or _grows(rows, written):
            return False
        if written & (whole.loads | others.changes):
            return False
        for stmt in append.loop.body.stmts[:-1]:
            here = self.effects.of(getattr(stmt, "value", stmt))
            if here.changes or here.loads & whole.changes or append.count.name in here.reads:
                return False
        ends = [self.effects.of(bound) for bound in bounds]
        return not any(e.loads & whole.changes or e.reads & whole.assigns for e in ends)


def _append(loop: imp.For) -> _Append | None:
    """The loop as one that appends in every iteration, and does nothing else."""
    stores = tuple(s for s in loop.body.stmts if isinstance(s, imp.Store))
    buffers = {store.buffer.name for store in stores}
    match loop.body.stmts:
        case (*before, imp.Assign(imp.Var(_, imp.INT) as count, value)) if value == count + 1:
            plain = all(isinstance(s, imp.Let | imp.Store | imp.Comment) for s in before)
            once = 0 < len(stores) == len(buffers) and all(s.index == count for s in stores)
            return _Append(loop, stores, count) if plain and once else None
    return None


def _placed(stmts: list[imp.Stmt], place: imp.Expr) -> imp.Block:
    """What is appended, written where it belongs."""
    stores = (replace(s, index=place) if isinstance(s, imp.Store) else s for s in stmts)
    return imp.Block(tuple(stores))


def _grows(rows: imp.For, buffers: set[str]) -> bool:
    """Whether room is still asked for row by row."""
    grows = (s for s in statements(rows.body) if isinstance(s, imp.Grow))
    return any(grow.buffer.name in buffers for grow in grows)


def _lets(body: imp.Block) -> dict[str, imp.Expr]:
    """What the variables of a row stand for, without each other; not those that are moved on."""
    moved = {n.var for n in walk(body) if isinstance(n, imp.Assign | imp.Accumulate)}
    values: dict[str, imp.Expr] = {}
    for stmt in body.stmts:
        if isinstance(stmt, imp.Let) and stmt.var not in moved:
            values[stmt.var.name] = substitute(stmt.value, values)
    return values


def _is(a: object, b: object) -> bool:
    return a is b
