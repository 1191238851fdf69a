"""Many fibers at once: one loop over all coordinates, not one for every set that may be left.

The loops and cases of a lattice double with every operand. Beyond a few, the values of the operands
are chosen while running, each where it is stored and its fill elsewhere, and the body is written
once. What is not stored takes no part in it all the same (`normalize.guards`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from linnet import imp, loops
from linnet.algebra.table import logical_or
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import Spike
from linnet.loops.rewrite import rewrite_stmt
from linnet.lower.context import Context, resolve
from linnet.lower.region import Region, lower_at, lower_region
from linnet.lower.walks import Walk, advance, again, at_fill, note
from linnet.normalize.guards import held

MANY = 3
END = imp.Const(2**63 - 1, imp.INT)


def is_wide(walks: list[Walk]) -> bool:
    """Whether there are many fibers, and all of them hold values."""
    return len(walks) > MANY and all(_value(w) is not None for w in walks)


def _value(w: Walk) -> Fiber | None:
    chunk = w.stepper.chunk
    if isinstance(chunk, Spike) and isinstance(chunk.tail, Fiber) and chunk.tail.kind.leaf:
        return chunk.tail
    return None


def merge_wide(ctx: Context, r: Region, walks: list[Walk], idle: bool) -> None:
    """`while` any of the fibers lasts: the least coordinate, and what each of them holds there."""
    start = r.lo if idle else ctx.b.var(f"{r.index.name}_start")
    if not idle:
        assert isinstance(start, imp.Var)
        ctx.b.emit(imp.Let(start, r.lo))
    gap = at_fill(ctx, r, [w.cursor for w in walks])

    def lower() -> None:
        for w in walks:
            ctx.b.emit(imp.Let(w.last, imp.Select(w.more, w.stepper.last, END)))
        lasts: list[imp.Expr] = [w.last for w in walks]
        least = ctx.b.let(f"{r.index.name}_next", reduce(imp.minimum, lasts))
        if not idle:
            lower_region(ctx, replace(gap, lo=start, hi=least))
        here = {w.cursor: _held(ctx, w, least) for w in walks}
        looplets = {c: x for c, x in r.looplets.items() if c not in here}
        body = ctx.simplify(resolve(r.body, r.index.name, here))
        body = ctx.simplify(_somewhere(body, [x.args[0] for x in here.values()]))
        lower_at(ctx, replace(r, looplets=looplets, body=body), least)
        for w in walks:
            step = imp.Block((*advance(w.stepper), *again(w.stepper)))
            ctx.b.emit(imp.If(imp.eq(w.last, least), step, imp.EMPTY))
        if isinstance(start, imp.Var) and not idle:
            ctx.b.emit(imp.Assign(start, least + 1))

    cond = reduce(imp.Operators.__or__, [w.more for w in walks])
    ctx.b.emit(imp.While(cond, ctx.collect(lower), note(r.index, [w.cursor for w in walks])))
    if not idle:
        lower_region(ctx, replace(gap, lo=start))


def _held(ctx: Context, w: Walk, least: imp.Expr) -> loops.Call:
    """The value of a fiber at the least coordinate, and whether it is stored there."""
    leaf = _value(w)
    assert leaf is not None
    format = leaf.storage.format
    assert format.fill_value is not None
    assert format.dtype is not None
    here = ctx.b.let(f"{w.cursor.name}_here", imp.eq(w.last, least), imp.BOOL)
    fill = loops.Literal(format.fill_value, format.dtype, structural=True)
    read = leaf.kind.read(leaf)  # type: ignore[attr-defined]
    chosen = imp.Select(here, read, imp.Const(fill.value, format.dtype))
    value = ctx.b.let(w.cursor.name, chosen, format.dtype)
    return held(loops.Value(here), loops.Value(value), fill)


def _somewhere(body: loops.Stmt, found: list[loops.Expr]) -> loops.Stmt:
    """At the least coordinate one of the fibers is stored: that need not be asked."""

    def rule(expr: loops.Expr) -> loops.Expr | None:
        sure = set(found) <= set(_alternatives(expr))
        return loops.Literal(True, "bool") if sure else None

    return rewrite_stmt(body, on_expr=rule)


def _alternatives(expr: loops.Expr) -> list[loops.Expr]:
    """What an `or` asks for."""
    if isinstance(expr, loops.Call) and expr.function is logical_or:
        return [x for arg in expr.args for x in _alternatives(arg)]
    return [expr]
