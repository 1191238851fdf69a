"""Holds a strip of a row in registers while loops add other rows to it.

    for q in a … b:                           for k in strips of 0 … n:
      x = val[q]                                held = y[k … k + 32]
      for k in 0 … n:                   ->      for q in a … b:
        y[k] = y[k] + x * row(q)[k]               x = val[q]
                                                  held[r] = held[r] + x * row(q)[k + r], all r
                                                y[k … k + 32] = held

An addition need not wait until the one before it is stored and loaded; what the row is cleared to
is not stored at all. Each element is added to in the same order as before. Rows that strips do not
fill, and long ones, stay as they are: one would go through all of the loops again for a few
elements, or often.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rebuild, statements, substitute, walk
from linnet.imp.rows import Sum, around, clears, sum_of_rows
from linnet.names import Names

_STRIPS = 256, 128, 64  # bytes: eight vectors of 32, and then what is left
_LONG = 1024  # bytes: of longer rows, the rows that are added are better read from end to end
_SIZES = {"float32": 4, "float64": 8, "int32": 4, "int64": 8}  # bytes of what vectors hold


def hold_rows(kernel: imp.Kernel) -> imp.Kernel:
    """Turn loops that add rows to one inside out, in strips that fit the registers.

    Needs: simplified code.
    """
    effects = effects_of(kernel.codelets)
    loops = [s for s in statements(kernel.body) if isinstance(s, imp.For)]
    if all(_plain_sum(loop, effects) is None for loop in loops):
        return kernel
    found = _Pass(effects, fresh_names(kernel))
    body = found.inside(kernel.body)
    assert isinstance(body, imp.Block)
    return replace(kernel, body=body, scratch=(*kernel.scratch, *found.scratch))


class _Pass:
    """Loops are looked at from the outside, so that a row is held for as long as possible."""

    def __init__(self, effects: Effects, names: Names) -> None:
        self.effects, self.names = effects, names
        self.scratch: list[imp.Scratch] = []

    def inside(self, node: imp.Node) -> imp.Node:
        """The code with sums of rows in strips."""
        match node:
            case imp.Block(stmts):
                return self._block(node, stmts)
            case imp.For() | imp.While() | imp.If():
                return rebuild(node, self.inside)
            case _:
                return node

    def _block(self, block: imp.Block, stmts: tuple[imp.Stmt, ...]) -> imp.Block:
        """The statements, of which a sum of rows takes one along that clears the row before it."""
        found, out = len(self.scratch), list[imp.Stmt]()
        for stmt in stmts:
            rows = _plain_sum(stmt, self.effects) if isinstance(stmt, imp.For) else None
            if rows is not None:
                clear = out.pop() if out and clears(out[-1], rows) else None
                out.append(self._in_strips(rows, clear))
            else:
                out.append(self.inside(stmt))  # type: ignore[arg-type]
        return block if len(self.scratch) == found else imp.Block(tuple(out))

    def _in_strips(self, rows: Sum, clear: imp.Stmt | None) -> imp.If:
        """Strips for a row that they fill, and else the loops as they are."""
        along, outer, dtype = rows.along, rows.around[0], rows.store.buffer.dtype
        start, stop = imp.widen(along.start), imp.widen(along.stop)
        most, *less = (size // _SIZES[dtype] for size in _STRIPS)
        held = imp.Buffer(self.names.fresh("held"), dtype)
        self.scratch.append(imp.Scratch(held, most))
        at = imp.Var(self.names.fresh(f"{along.var.name}_at"))
        first = clear.value if isinstance(clear, imp.Fill) else None
        strips: list[imp.Stmt] = [
            imp.Let(at, start),
            imp.While(at + most <= stop, self._strip(rows, held, at, most, first)),
        ]
        for count in less:
            strip = self._strip(rows, held, at, count, first)
            strips.append(imp.If(at + count <= stop, strip, imp.EMPTY))
        left = imp.binary("&", stop - start, imp.Const(less[-1] - 1, imp.INT))
        fills = (stop - start <= _LONG // _SIZES[dtype]) & imp.eq(left, imp.ZERO)
        some = imp.widen(outer.start) < imp.widen(outer.stop)
        as_before = (outer,) if clear is None else (clear, outer)
        return imp.If(fills & some, imp.Block(tuple(strips)), imp.Block(as_before))

    def _strip(
        self, rows: Sum, held: imp.Buffer, at: imp.Var, count: int, first: imp.Expr | None
    ) -> imp.Block:
        """So many elements of the row, loaded if they have no known value, added to and stored."""
        r = imp.Var(self.names.fresh("r"))
        here: dict[str, imp.Expr] = {rows.along.var.name: at + r}
        there = imp.Load(rows.store.buffer, substitute(rows.store.index, here))
        lets = [substitute(let, here) for let in rows.inner]
        add = imp.Store(held, r, replace(rows.update, a=held[r], b=substitute(rows.update.b, here)))

        def along(*stmts: imp.Stmt) -> imp.For:
            return imp.For(r, imp.ZERO, imp.Const(count, imp.INT), imp.Block(stmts))

        return imp.Block(
            (
                along(imp.Store(held, r, there if first is None else first)),
                around(rows.around, along(*lets, add)),
                along(imp.Store(there.buffer, there.index, held[r])),
                imp.Assign(at, at + count),
            )
        )


def _plain_sum(loop: imp.For, effects: Effects) -> Sum | None:
    """A sum of rows that vectors hold, and in which nothing is called that wants registers, too."""
    rows = sum_of_rows(loop, effects)
    if rows is None or rows.store.buffer.dtype not in _SIZES:
        return None
    return None if any(isinstance(n, imp.Call) for n in walk(loop)) else rows
