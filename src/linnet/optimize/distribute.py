"""Loops over rows are taken apart: what they append alike for all entries is written in one loop.

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

from collections.abc import Iterator
from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rebuild, rewrite_statements
from linnet.names import Names
from linnet.optimize.legality import all_of, is_fixed, may_leave, runs
from linnet.records import dataclass


def distribute(kernel: imp.Kernel) -> imp.Kernel:
    """One loop for the entries of all fibers that follow one another, as far as these are alike.

    Needs: simplified code, in which room for all that is appended is made before the loop.
    """
    body = rebuild(kernel.body, _Pass(effects_of(kernel.codelets), fresh_names(kernel)).visit)
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Append:
    """A loop that does nothing but write behind several ends, each of which it moves on by one."""

    loop: imp.For
    stores: tuple[imp.Store, ...]
    ends: tuple[imp.Var, ...]


def _appends(loop: imp.For) -> _Append | None:
    """The loop as one that appends in every iteration."""
    stores: list[imp.Store] = []
    ends: list[imp.Var] = []
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let() | imp.Comment():
                pass
            case imp.Store(_, imp.Var() as end) if end not in ends:
                stores.append(stmt)
            case imp.Assign(imp.Var(_, imp.INT) as end, value) if (
                value == end + 1 and end not in ends
            ):
                ends.append(end)
            case _:
                return None
    once = len({s.buffer for s in stores}) == len(stores) > 0
    found = _Append(loop, tuple(stores), tuple(ends))
    return found if once and all(s.index in ends for s in stores) else None


_NESTED = (imp.For, imp.While, imp.If, imp.Block)


class _Pass:
    """Statements from the outside in: the outermost loop that will do is taken apart."""

    def __init__(self, effects: Effects, names: Names) -> None:
        self.effects, self.names = effects, names

    def visit(self, node: imp.Node) -> imp.Node:
        """A statement, its loops taken apart where that is possible."""
        apart = self._apart(node) if isinstance(node, imp.For) else None
        return apart or (rebuild(node, self.visit) if isinstance(node, _NESTED) else node)

    def _apart(self, rows: imp.For) -> imp.Stmt | None:
        """What all rows append, then the rows without it."""
        paths = [(path, a) for path in _paths((rows,)) if (a := _appends(path[-1])) is not None]
        if len(paths) != 1 or may_leave(rows.body.stmts):
            return None
        ((path, append),) = paths
        loop, whole = append.loop, all_of(path)
        if whole is None or not self._is_alone(append, rows, whole):
            return None
        shifts = {end: imp.Var(self.names.fresh("shift")) for end in append.ends}
        alike, by_row = self._divided(append, rows, shifts)
        if not any(isinstance(s, imp.Store) for s in alike.stmts):
            return None
        inner = [replace(loop, body=by_row)] if by_row.stmts else []
        moved = [imp.Assign(e, shift + imp.widen(loop.stop)) for e, shift in shifts.items()]
        rest = imp.Block((*inner, *moved))
        first = [imp.Let(s, end - imp.widen(whole.start)) for end, s in shifts.items()]
        left = rewrite_statements(rows, lambda stmt: rest if stmt is loop else None)
        apart = imp.Block((*first, replace(whole, body=alike), left))
        there = rows.start == imp.ZERO or any(span.tensor for span in rows.over.spans)
        return apart if there else imp.If(runs(rows), apart, imp.EMPTY)

    def _divided(
        self, append: _Append, rows: imp.For, shifts: dict[imp.Var, imp.Var]
    ) -> tuple[imp.Block, imp.Block]:
        """What is done for an entry whatever its row, and what depends on that."""
        alike: list[imp.Stmt] = []
        by_row: list[imp.Stmt] = []
        loop = append.loop
        own = {loop.var.name, *(s.var.name for s in loop.body.stmts if isinstance(s, imp.Let))}
        varying = self.effects.of(rows).assigns - own
        for stmt in loop.body.stmts:
            match stmt:
                case imp.Let(var, value):
                    by_row.append(stmt)
                    if varying.isdisjoint(self.effects.of(value).reads):
                        alike.append(stmt)
                    else:
                        varying |= {var.name}
                case imp.Store(_, imp.Var() as end, value):
                    same = varying.isdisjoint(self.effects.of(value).reads)
                    (alike if same else by_row).append(replace(stmt, index=shifts[end] + loop.var))
        stores = any(isinstance(s, imp.Store) for s in by_row)
        return imp.Block(tuple(alike)), imp.Block(tuple(by_row) if stores else ())

    def _is_alone(self, append: _Append, rows: imp.For, whole: imp.For) -> bool:
        """Whether what is appended depends on nothing that the rows change, and nothing on it."""
        loop, ends = append.loop, {end.name for end in append.ends}
        around = rewrite_statements(rows, lambda stmt: imp.EMPTY if stmt is loop else None)
        of = self.effects.of
        inside, others, both = of(loop.body), of(around), of(rows)
        written = {store.buffer.name for store in append.stores}
        values = [s.value for s in loop.body.stmts if isinstance(s, imp.Let | imp.Store)]
        return (
            ends.isdisjoint(others.assigns)
            and written.isdisjoint(both.loads | others.changes)
            and written.issuperset(inside.changes)
            and inside.loads.isdisjoint(both.changes)
            and not any(ends & of(value).reads for value in values)
            and all(is_fixed(end, rows, self.effects) for end in (whole.start, whole.stop))
        )


def _paths(path: tuple[imp.For, ...]) -> Iterator[tuple[imp.For, ...]]:
    """The ways from a loop to those inside it, with nothing but loops in between."""
    for stmt in path[-1].body.stmts:
        if isinstance(stmt, imp.For):
            yield (*path, stmt)
            yield from _paths((*path, stmt))
