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
from linnet.imp.rewrite import substitute
from linnet.imp.rows import Sum, sum_of_rows
from linnet.names import Names


def jam(kernel: imp.Kernel) -> imp.Kernel:
    """Unroll loops that add rows to one in memory, and join the loops along the rows.

    Needs: simplified code.
    """
    held = {scratch.buffer for scratch in kernel.scratch}

    def jammed(loop: imp.For, effects: Effects, names: Names) -> imp.Block | None:
        rows = sum_of_rows(loop, effects)
        return None if rows is None or rows.store.buffer in held else _by_two(rows, names)

    return replace_loops(kernel, jammed)


def _by_two(rows: Sum, names: Names) -> imp.Block:
    """Two rows at a time while there are as many, and then the last one."""
    loop, store, q = rows.around[-1], rows.store, rows.around[-1].var
    end = imp.Var(names.fresh(f"{q.name}_end"))
    total = imp.Var(names.fresh("total"), store.buffer.dtype)
    new: dict[str, imp.Expr] = {q.name: q + 1}
    given = [s for s in loop.body.stmts if isinstance(s, imp.Let)]
    lets = [_renamed(let, new, names) for let in given]
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
            imp.While(q + 1 < end, imp.Block((*given, *lets, along, step))),
            imp.If(q < end, loop.body, imp.EMPTY),
        )
    )


def _renamed(let: imp.Let, new: dict[str, imp.Expr], names: Names) -> imp.Let:
    """The same for the next row, under a name of its own."""
    value = substitute(let.value, new)
    new[let.var.name] = var = imp.Var(names.fresh(let.var.name), let.var.dtype)
    return imp.Let(var, value)
