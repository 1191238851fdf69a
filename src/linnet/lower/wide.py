"""Many fibers at once: one loop over all coordinates, not one for every set that may be left.

The loops and cases of a lattice double with every operand. Beyond a few, the values of the operands
are chosen while running, each where it is stored and its fill elsewhere, and the body is written
once: at every coordinate, or where there are runs for every stretch in which no operand begins or
ends. What is not stored takes no part in it all the same (`normalize.guards`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, reduce
from math import comb

from linnet import imp, loops
from linnet.algebra.table import logical_or
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import Lookup, Looplet, Run, Sequence, Spike, Thunk, piece_of
from linnet.loops.rewrite import rewrite_stmt
from linnet.lower.context import Context, resolve
from linnet.lower.presence import as_read, assign_if
from linnet.lower.region import Region, lower_at, lower_region
from linnet.lower.shortcircuit import break_early
from linnet.lower.walks import Walk, advance, again, at_fill, chunk_of, over_all, repeat_while, step

END = imp.Const(2**63 - 1, imp.INT)
_MOST = 20  # cases in all the loops over a set of fibers: those of three lists, and no more


def is_wide(walks: list[Walk]) -> bool:
    """Whether there would be many cases, and all fibers have single entries."""
    return _many(walks) and all(w.spike and _stored(w.stepper.chunk) is not None for w in walks)


def has_stretches(walks: list[Walk]) -> bool:
    """Whether there would be many cases, and some of the fibers have runs or blocks."""
    apart = [w for w in walks if not isinstance(w.stepper.chunk, Run) or not w.stepper.covers]
    return _many(apart) and all(_stored(w.stepper.chunk) is not None for w in walks)


def _many(walks: list[Walk]) -> bool:
    """Whether there are too many sets of these fibers, and of what lies below them."""
    found = [_stored(w.stepper.chunk) for w in walks]
    depths = [1 + _depth(x.body) for x in found if x is not None and isinstance(x.body, Fiber)]
    return bool(depths) and _cases(len(walks), max(depths)) > _MOST


def _depth(fiber: Fiber) -> int:
    """How many dimensions are left to be walked."""
    format = fiber.storage.format
    return sum(len(format.modes_of(k)) for k in range(fiber.level, len(format.levels) - 1)) - (
        fiber.sub
    )


@cache
def _cases(count: int, depth: int) -> int:
    """The cases of a merge: for all fibers that may be left, all that may be stored."""
    if depth == 0 or count == 1:
        return 1
    sets = [(alive, stored) for alive in range(1, count + 1) for stored in range(1, alive + 1)]
    return sum(comb(count, a) * comb(a, s) * _cases(s, depth - 1) for a, s in sets)


def _stored(chunk: Looplet) -> Run | Lookup | None:
    """What a chunk stores, if that is a fiber at every one of its indices, and these are some."""
    match chunk:
        case Spike(Fiber() as fiber):
            return Run(fiber)
        case Run(Fiber()) | Lookup(Fiber()):
            return chunk
        case Thunk(_, Sequence(inside=True) as inner, ()):
            return _stored(inner)
        case Sequence(inside=True):
            stored = piece_of(chunk).stored
            return None if isinstance(stored, Sequence) else _stored(stored)
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
            ctx.b.emit(imp.Let(w.last, END), assign_if(w.more, (w.last, w.stepper.last)))
        lasts: list[imp.Expr] = [w.last for w in walks]
        least = ctx.b.let(f"{r.index.name}_next", reduce(imp.minimum, lasts))
        if not idle:
            lower_region(ctx, replace(gap, lo=start, hi=least))
        here = {w.cursor: _at(ctx, w, imp.eq(w.last, least)) for w in walks}
        looplets = {c: x for c, x in r.looplets.items() if c not in here}
        body = ctx.simplify(resolve(r.body, r.index.name, here))
        conds = [x.args[0] for x in here.values() if isinstance(x, loops.Call)]
        if len(conds) == len(walks):
            body = ctx.simplify(_somewhere(body, conds))
        lower_at(ctx, replace(r, looplets=looplets, body=body), least)
        for w in walks:
            step = imp.Block((*advance(w.stepper), *again(w.stepper)))
            ctx.b.emit(imp.If(imp.eq(w.last, least), step, imp.EMPTY))
        if isinstance(start, imp.Var) and not idle:
            ctx.b.emit(imp.Assign(start, least + 1))

    cond = reduce(imp.Operators.__or__, [w.more for w in walks])
    what = over_all(r.index, walks)
    repeat_while(ctx, r, cond, ctx.collect(lower), what, [w.cursor for w in walks])
    if not idle:
        lower_region(ctx, replace(gap, lo=start))


def _at(ctx: Context, w: Walk, stored: imp.Expr) -> Fiber | loops.Expr:
    """What a fiber holds at an index: a value, or a fiber that may not be there."""
    here = ctx.b.let(f"{w.cursor.name}_here", stored, imp.BOOL)
    assert isinstance(w.stepper.chunk, Spike)
    assert isinstance(w.stepper.chunk.tail, Fiber)
    return as_read(ctx, w.cursor, replace(w.stepper.chunk.tail, present=here))


def merge_stretches(ctx: Context, r: Region, walks: list[Walk], sparse: bool) -> None:
    """`while` there are indices left: up to where some chunk begins or ends, the body once.

    Where it is `sparse`, nothing is done where none of the fibers is stored.
    """
    start = ctx.b.var(f"{r.index.name}_start")
    ctx.b.emit(imp.Let(start, r.lo))

    def lower() -> None:
        looplets, ends = dict(r.looplets), [r.hi]
        for w in walks:
            looplets[w.cursor], end = _stretch(ctx, w, start)
            ends.append(end)
        stop = ctx.b.let(f"{r.index.name}_next", reduce(imp.minimum, ends))
        here = replace(r, looplets=looplets, lo=start, hi=stop)
        lower_region(ctx, replace(here, nonempty=True, tight=True))
        break_early(ctx, r.body)
        for w in walks:
            ctx.b.emit(*step(w, imp.eq(w.last, stop)))
        ctx.b.emit(imp.Assign(start, stop))

    cond = start < r.hi
    if sparse:
        cond = cond & reduce(imp.Operators.__or__, [w.more for w in walks])
    what = over_all(r.index, walks)
    repeat_while(ctx, r, cond, ctx.collect(lower), what, [w.cursor for w in walks])


def _stretch(ctx: Context, w: Walk, start: imp.Var) -> tuple[Looplet, imp.Expr]:
    """What a fiber has from an index on, and where that ends."""
    chunk = chunk_of(ctx, w.stepper)
    piece, stored, first = piece_of(chunk), _stored(chunk), ctx.b.var(f"{w.cursor.name}_first")
    begins = w.stepper.last if w.spike else start if piece.left is None else piece.left
    lets = [stmt for stmt in piece.preamble if isinstance(stmt, imp.Let)]
    known = [(let.var, let.value) for let in lets]
    known += [(first, imp.widen(begins)), (w.last, w.stepper.last + 1)]
    if w.stepper.covers:
        ctx.b.emit(*(imp.Let(var, value) for var, value in known))
    else:
        ctx.b.emit(*(imp.Let(var, END) for var, _ in known), assign_if(w.more, *known))
    here = ctx.b.let(f"{w.cursor.name}_here", first <= start, imp.BOOL)
    assert stored is not None
    assert isinstance(stored.body, Fiber)
    present = replace(stored, body=replace(stored.body, present=here))
    return present, imp.Select(first <= start, w.last, first)


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
