"""Many fibers at once: one loop over all coordinates, not one for every set that may be left.

The loops and cases of a lattice double with every operand. Beyond a few, the values of the operands
are chosen while running, each where it is stored and its fill elsewhere, and the body is written
once: at every coordinate, or where there are runs for every stretch in which no operand begins or
ends. What is not stored takes no part in it all the same (`normalize.guards`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from linnet import imp, loops
from linnet.algebra.table import logical_or
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import FILL, Phase, Run, Sequence, Spike
from linnet.loops.rewrite import rewrite_stmt
from linnet.lower.context import Context, Cursor, resolve
from linnet.lower.region import Region, lower_at, lower_region
from linnet.lower.shortcircuit import break_early
from linnet.lower.walks import Walk, advance, again, at_fill, note, step
from linnet.normalize.guards import held

MANY = 3
END = imp.Const(2**63 - 1, imp.INT)


def is_wide(walks: list[Walk]) -> bool:
    """Whether there are many fibers, and all of them hold values."""
    return len(walks) > MANY and all(w.spike and _value(w) is not None for w in walks)


def has_stretches(walks: list[Walk]) -> bool:
    """Whether there are many fibers that may end or leave gaps, and each holds runs of a value."""
    apart = [w for w in walks if not isinstance(w.stepper.chunk, Run) or not w.stepper.covers]
    return len(apart) > MANY and all(_value(w) is not None for w in walks)


def _value(w: Walk) -> Fiber | None:
    """The value that each chunk of a fiber stores, if it is but one."""
    match w.stepper.chunk:
        case Spike(Fiber() as leaf) if leaf.kind.leaf:
            return leaf
        case Run(Fiber() as leaf) if leaf.kind.leaf:
            return leaf
        case Sequence((Phase(_, Run(fill)), Phase(None, Run(Fiber() as leaf))), inside=True):
            return leaf if fill is FILL and leaf.kind.leaf else None
    return None


def _begins(w: Walk, start: imp.Var) -> imp.Expr:
    """Where what a chunk stores begins, if not before."""
    match w.stepper.chunk:
        case Spike():
            return imp.widen(w.stepper.last)
        case Sequence((Phase(stop, _), _)):
            assert stop is not None
            return imp.widen(stop)
    return start


def merge_wide(ctx: Context, r: Region, walks: list[Walk], idle: bool) -> None:
    """`while` any of the fibers lasts: the least coordinate, and what each of them holds there."""
    start = r.lo if idle else ctx.b.var(f"{r.index.name}_start")
    if not idle:
        assert isinstance(start, imp.Var)
        ctx.b.emit(imp.Let(start, r.lo))
    gap = at_fill(ctx, r, [w.cursor for w in walks])

    def lower() -> None:
        for w in walks:
            ctx.b.emit(imp.Let(w.last, END), _if(w.more, (w.last, w.stepper.last)))
        lasts: list[imp.Expr] = [w.last for w in walks]
        least = ctx.b.let(f"{r.index.name}_next", reduce(imp.minimum, lasts))
        if not idle:
            lower_region(ctx, replace(gap, lo=start, hi=least))
        here = {w.cursor: _held(ctx, w, imp.eq(w.last, least)) for w in walks}
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


def merge_stretches(ctx: Context, r: Region, walks: list[Walk], sparse: bool) -> None:
    """`while` there are indices left: up to where some chunk begins or ends, the body once.

    Where it is `sparse`, nothing is done where none of the fibers is stored.
    """
    start = ctx.b.var(f"{r.index.name}_start")
    ctx.b.emit(imp.Let(start, r.lo))

    def lower() -> None:
        found: dict[Cursor, loops.Call] = {}
        ends: list[imp.Expr] = [r.hi]
        for w in walks:
            found[w.cursor], end = _stretch(ctx, w, start)
            ends.append(end)
        stop = ctx.b.let(f"{r.index.name}_next", reduce(imp.minimum, ends))
        looplets = {c: x for c, x in r.looplets.items() if c not in found}
        body = ctx.simplify(resolve(r.body, r.index.name, found))
        here = replace(r, looplets=looplets, body=body, lo=start, hi=stop)
        lower_region(ctx, replace(here, nonempty=True, tight=True))
        break_early(ctx, r.body)
        for w in walks:
            ctx.b.emit(*step(w, imp.eq(w.last, stop)))
        ctx.b.emit(imp.Assign(start, stop))

    cond = start < r.hi
    if sparse:
        cond = cond & reduce(imp.Operators.__or__, [w.more for w in walks])
    ctx.b.emit(imp.While(cond, ctx.collect(lower), note(r.index, [w.cursor for w in walks])))


def _stretch(ctx: Context, w: Walk, start: imp.Var) -> tuple[loops.Call, imp.Expr]:
    """What a fiber holds from an index on, and where that ends."""
    first = ctx.b.var(f"{w.cursor.name}_first")
    begins, ends = _begins(w, start), w.stepper.last + 1
    if w.stepper.covers:
        ctx.b.emit(imp.Let(first, begins), imp.Let(w.last, ends))
    else:
        ctx.b.emit(imp.Let(first, END), imp.Let(w.last, END))
        ctx.b.emit(_if(w.more, (first, begins), (w.last, ends)))
    return _held(ctx, w, first <= start), imp.Select(first <= start, w.last, first)


def _if(cond: imp.Expr, *values: tuple[imp.Var, imp.Expr]) -> imp.Stmt:
    """Other values for variables, read from memory that is there only if the condition holds."""
    return imp.If(cond, imp.Block(tuple(imp.Assign(v, imp.widen(x)) for v, x in values)), imp.EMPTY)


def _held(ctx: Context, w: Walk, stored: imp.Expr) -> loops.Call:
    """The value of a fiber where something is to be done, and whether it is stored there."""
    leaf = _value(w)
    assert leaf is not None
    format = leaf.storage.format
    assert format.fill_value is not None
    assert format.dtype is not None
    here = ctx.b.let(f"{w.cursor.name}_here", stored, imp.BOOL)
    fill = loops.Literal(format.fill_value, format.dtype, structural=True)
    value = ctx.b.let(w.cursor.name, imp.Const(fill.value, format.dtype), format.dtype)
    ctx.b.emit(_if(here, (value, leaf.kind.read(leaf))))  # type: ignore[attr-defined]
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
