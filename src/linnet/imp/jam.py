"""Takes two rows at a time where a loop adds one row after the other to a sum of rows.

    for q in a … b:                           q = a
      x = val[q]                              while q + 1 < b:
      for k in 0 … n:                           x = val[q]; x_2 = val[q + 1]
        y[k] = y[k] + x * row(q)[k]     ->      for k in 0 … n:
                                                  total = y[k] + x * row(q)[k]
                                                  y[k] = total + x_2 * row(q + 1)[k]
                                                q = q + 2
                                              if q < b: as before, for the last row

The sum is loaded and stored half as often. (More rows at a time gain no more, and lose where there
are few.) Each of its elements is added to in the same order as before.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects
from linnet.imp.replace_loops import replace_loops
from linnet.imp.rewrite import substitute, walk
from linnet.names import Names
from linnet.records import dataclass


def jam(kernel: imp.Kernel) -> imp.Kernel:
    """Unroll loops that add rows to one, and join the loops along the rows.

    Needs: simplified code.
    """
    return replace_loops(kernel, _jammed)


def _jammed(loop: imp.For, effects: Effects, names: Names) -> imp.Block | None:
    """Two rows at a time, if a loop adds rows to one."""
    rows = _sum_of_rows(loop, effects)
    return None if rows is None else _by_two(rows, names)


@dataclass(frozen=True, slots=True)
class _Rows:
    """`for q: lets; for k: inner lets; y[k] = y[k] op value`."""

    loop: imp.For
    lets: tuple[imp.Let, ...]
    along: imp.For
    inner: tuple[imp.Let, ...]
    store: imp.Store
    update: imp.Binary


def _sum_of_rows(loop: imp.For, effects: Effects) -> _Rows | None:
    """The parts of a loop that adds rows to a row that stays the same."""
    match loop.body.stmts:
        case (*lets, imp.For(body=imp.Block((*inner, imp.Store() as store))) as along):
            match store:
                case imp.Store(buffer, index, imp.Binary(_, imp.Load(old, place)) as update) if (
                    old == buffer and place == index and _is_next(index, along.var)
                ):
                    found = _Rows(loop, _only_lets(lets), along, _only_lets(inner), store, update)
                    whole = len(found.lets) == len(lets) and len(found.inner) == len(inner)
                    return found if whole and _stays(found, effects) else None
    return None


def _only_lets(stmts: list[imp.Stmt]) -> tuple[imp.Let, ...]:
    return tuple(s for s in stmts if isinstance(s, imp.Let))


def _is_next(index: imp.Expr, var: imp.Var) -> bool:
    """Whether elements follow one another, so that each is updated once along the row."""
    match index:
        case imp.Binary("+", a, b):
            first = _is_next(a, var) and var not in walk(b)
            return first or (_is_next(b, var) and var not in walk(a))
        case imp.Binary("-", a, b):
            return _is_next(a, var) and var not in walk(b)
        case _:
            return index == var


def _stays(rows: _Rows, effects: Effects) -> bool:
    """Whether the row that is added to, and its length, are the same for all rows."""
    local = {rows.loop.var.name, *(let.var.name for let in (*rows.lets, *rows.inner))}
    fixed = (rows.along.start, rows.along.stop, rows.store.index)
    given = (*fixed, rows.loop.start, rows.loop.stop, rows.update.b)
    read = [effects.of(e) for e in (*given, *(let.value for let in (*rows.lets, *rows.inner)))]
    return all(effects.of(e).reads.isdisjoint(local) for e in fixed) and not any(
        rows.store.buffer.name in s.loads or s.changes for s in read
    )


def _by_two(rows: _Rows, names: Names) -> imp.Block:
    """Two rows at a time while there are as many, and then the last one."""
    loop, store, q = rows.loop, rows.store, rows.loop.var
    end = imp.Var(names.fresh(f"{q.name}_end"))
    total = imp.Var(names.fresh("total"), store.buffer.dtype)
    new: dict[str, imp.Expr] = {q.name: q + 1}
    lets = [_renamed(let, new, names) for let in rows.lets]
    inner = [_renamed(let, new, names) for let in rows.inner]
    second = replace(rows.update, a=total, b=substitute(rows.update.b, new))
    both: tuple[imp.Stmt, ...] = (
        *rows.inner,
        imp.Let(total, rows.update),
        *inner,
        imp.Store(store.buffer, store.index, second),
    )
    along = replace(rows.along, body=imp.Block(both))
    step = imp.Assign(q, q + 2)
    return imp.Block(
        (
            imp.Let(q, imp.widen(loop.start)),
            imp.Let(end, imp.widen(loop.stop)),
            imp.While(q + 1 < end, imp.Block((*rows.lets, *lets, along, step))),
            imp.If(q < end, loop.body, imp.EMPTY),
        )
    )


def _renamed(let: imp.Let, new: dict[str, imp.Expr], names: Names) -> imp.Let:
    """The same for the next row, under a name of its own."""
    value = substitute(let.value, new)
    new[let.var.name] = var = imp.Var(names.fresh(let.var.name), let.var.dtype)
    return imp.Let(var, value)
