"""Sums of rows: loops that add one row after the other to a row that stays where it is.

for p in …:
  for q in a … b:
    x = val[q]
    for k in 0 … n:
      y[k] = y[k] + x * row(q)[k]
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects
from linnet.imp.fold import fold
from linnet.imp.rewrite import substitute, walk
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Sum:
    """The loops around, outermost first, each with lets and the next one in it, and the row."""

    around: tuple[imp.For, ...]
    along: imp.For
    store: imp.Store
    update: imp.Binary

    @property
    def inner(self) -> tuple[imp.Let, ...]:
        """What is computed for each element before it is added."""
        return tuple([s for s in self.along.body.stmts if isinstance(s, imp.Let)])


def sum_of_rows(loop: imp.For, effects: Effects) -> Sum | None:
    """The parts of loops that add rows to one, if that is all they do."""
    around: list[imp.For] = []
    while True:
        *lets, last = loop.body.stmts or (imp.EMPTY,)
        if not all(isinstance(s, imp.Let) for s in lets):
            return None
        match last:
            case imp.For():
                around.append(loop)
                loop = last
            case imp.Store(buffer, index, imp.Binary(_, imp.Load(old, place)) as update) if (
                around and old == buffer and place == index and is_next(index, loop.var)
            ):
                found = Sum(tuple(around), loop, last, update)
                return found if _stays(found, effects) else None
            case _:
                return None


def around(loops: tuple[imp.For, ...], inner: imp.For) -> imp.For:
    """The loops around another one."""
    for loop in reversed(loops):
        inner = replace(loop, body=imp.Block((*loop.body.stmts[:-1], inner)))
    return inner


def clears(stmt: imp.Stmt, rows: Sum) -> bool:
    """Whether a statement gives one value to all of the row, and does nothing else."""
    match stmt:
        case imp.Fill(buffer, start, stop, imp.Const()) if buffer == rows.store.buffer:
            begin, end = imp.widen(rows.along.start), imp.widen(rows.along.stop)
            first = fold(substitute(rows.store.index, {rows.along.var.name: begin}))
            return first == start and _is_behind(stop, start, fold(end - begin))
    return False


def _is_behind(stop: imp.Expr, start: imp.Expr, length: imp.Expr) -> bool:
    """Whether one position is so far behind another; `(i + 1) * n` is n behind `i * n`."""
    match start, stop:
        case imp.Binary("*", i, n), imp.Binary("*", following, m) if n == m == length:
            return following == fold(i + 1)
        case _:
            return stop == fold(start + length)


def is_next(index: imp.Expr, var: imp.Var) -> bool:
    """Whether elements follow one another, so that each is updated once along the row."""
    match index:
        case imp.Binary("+", a, b):
            first = is_next(a, var) and var not in walk(b)
            return first or (is_next(b, var) and var not in walk(a))
        case imp.Binary("-", a, b):
            return is_next(a, var) and var not in walk(b)
        case _:
            return index == var


def _stays(rows: Sum, effects: Effects) -> bool:
    """Whether the row that is added to, and its length, are the same for all rows."""
    along, store, y = rows.along, rows.store, rows.store.buffer.name
    lets = [s for loop in (*rows.around, along) for s in loop.body.stmts if isinstance(s, imp.Let)]
    local = {loop.var.name for loop in rows.around} | {let.var.name for let in lets}
    fixed = (along.start, along.stop, store.index)
    bounds = [e for loop in rows.around for e in (loop.start, loop.stop)]
    read = [effects.of(e) for e in (*fixed, *bounds, rows.update.b, *(let.value for let in lets))]
    return all(effects.of(e).reads.isdisjoint(local) for e in fixed) and not any(
        y in s.loads or s.changes for s in read
    )
