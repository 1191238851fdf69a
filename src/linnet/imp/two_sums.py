"""Loops that add to a sum, and update places all over besides, take two steps at a time.

    for q in a … b:                    t = -0.0
      s += val[q] * x[idx[q]]          while q + 1 < b:
      y[idx[q]] += val[q] * z    ->      s += …; y[…] += …     of q
                                         t += …; y[…] += …     of q + 1
                                         q += 2
                                       if q < b: s += …; y[…] += …
                                       s += t

There are no vectors for such a loop, and what is added to one sum waits for what was added before.
The updates stay in order.
"""

from __future__ import annotations

from linnet import imp
from linnet.imp.effects import Effects
from linnet.imp.replace_loops import at_another, replace_loops
from linnet.imp.rewrite import walk
from linnet.names import Names


def two_sums(kernel: imp.Kernel) -> imp.Kernel:
    """Give loops that scatter and add up floats a second sum.

    Needs: simplified code.
    """
    return replace_loops(kernel, _by_two)


def _by_two(loop: imp.For, effects: Effects, names: Names) -> imp.Block | None:
    """Two steps of a loop at a time, the second with sums of its own."""
    sums = _sums(loop)
    if not sums or not _scatters(loop):
        return None
    q, end = loop.var, imp.Var(names.fresh(f"{loop.var.name}_end"))
    own = {var: imp.Var(names.fresh(f"{var.name}_odd"), var.dtype) for var in sums}
    step = imp.Assign(q, q + 2)
    both = imp.Block((*loop.body.stmts, *at_another(loop, q + 1, own, names), step))
    note = (imp.Comment(loop.over.text),) if loop.over.text else ()
    return imp.Block(
        (
            *(imp.Let(odd, imp.Const(-0.0, odd.dtype)) for odd in own.values()),
            imp.Let(q, imp.widen(loop.start)),
            imp.Let(end, imp.widen(loop.stop)),
            *note,
            imp.While(q + 1 < end, both),
            imp.If(q < end, loop.body, imp.EMPTY),
            *(imp.Accumulate(var, "+", odd) for var, odd in own.items()),
        )
    )


def _sums(loop: imp.For) -> list[imp.Var]:
    """What a loop without branches adds floats to, and does not read."""
    sums: list[imp.Var] = []
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Accumulate(var, "+") if var.dtype.startswith("float") and var not in sums:
                sums.append(var)
            case imp.Let() | imp.Store() | imp.Comment():
                pass
            case imp.If(_, imp.Block((imp.Return(),)), imp.Block(())):
                pass
            case _:
                return []
    read = any(node in sums for node in walk(loop.body) if isinstance(node, imp.Var))
    return [] if read else sums


def _scatters(loop: imp.For) -> bool:
    """Whether a loop writes to places that it looks up."""
    looked_up: set[str] = set()
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value) if _is_looked_up(value, looked_up):
                looked_up.add(var.name)
            case imp.Store(_, index) if _is_looked_up(index, looked_up):
                return True
    return False


def _is_looked_up(e: imp.Expr, known: set[str]) -> bool:
    return any(
        isinstance(n, imp.Load) or (isinstance(n, imp.Var) and n.name in known) for n in walk(e)
    )
