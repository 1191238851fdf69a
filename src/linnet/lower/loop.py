"""A loop statement: its extent, what is kept in registers around it, and the fibers it walks."""

from __future__ import annotations

from dataclasses import replace

from linnet import imp, loops
from linnet.formats.fiber import Fiber, Register
from linnet.formats.looplets import Looplet
from linnet.loops.bases import part_in, unbound
from linnet.loops.rewrite import accesses, is_left, point_of, walk
from linnet.lower.context import (
    Context,
    Cursor,
    Mask,
    cursors_of,
    fresh_targets,
    initialize,
    replace_accesses,
    storage_of,
    surely_writes,
    targets,
)
from linnet.lower.coordinates import along_coordinates
from linnet.lower.counters import around_parts, written_by_parts
from linnet.lower.covering import is_everywhere, visits_all_indices
from linnet.lower.expressions import lower_expr
from linnet.lower.masks import cutting, mask_looplet
from linnet.lower.products import along_product
from linnet.lower.ranges import bounds_of_loop
from linnet.lower.region import LowerStmt, Region, lower_region
from linnet.lower.searches import hold_searched
from linnet.lower.stored import has_no_positions, is_stored, lower_stored, open_positions
from linnet.lower.trace import walked_line
from linnet.lower.unfurl import Span, guard, unfurl
from linnet.lower.windows import join_windows


def lower_loop(ctx: Context, loop: loops.Loop, lower_stmt: LowerStmt) -> None:
    """Emit a loop."""
    point = point_of(loop.extent) is not None
    if point and (apart := hold_searched(ctx, loop)) is not None:
        lower_stmt(ctx, apart)
        return
    if has_no_positions(ctx, loop):
        return
    with open_positions(ctx, loop):
        span = _span(ctx, loop, point)
        body, kept = (loop.body, []) if point else keep_in_registers(ctx, loop.body)
        with around_parts(ctx, replace(loop, body=body)):
            _lower_span(ctx, replace(loop, body=body), span, lower_stmt)
    for fiber, register in kept:
        write_back(ctx, fiber, register)


def _lower_span(ctx: Context, loop: loops.Loop, span: Span, lower_stmt: LowerStmt) -> None:
    """Emit a loop whose bounds are known."""
    body, point = loop.body, span.point
    if not point:
        ctx.known.enter(loop.index, span.lo, span.hi)
        match unbound(loop.extent):
            case loops.Extent(loops.Literal(0), stop):
                ctx.counts[loop.index] = stop
    # a loop that may be left stays one loop: its index is compared inside
    found = cursors_of(ctx, body, loop.index)
    cuts = {} if is_left(loop) else cutting(ctx, body, loop.index, _masks(found))
    looplets = _reads(ctx, body, found, span, cuts)
    if not point:
        body, looplets = join_windows(ctx, body, loop.index, looplets)
    body = settle_fresh(ctx, replace(loop, body=body), span, looplets)
    plain = not point and all(map(is_everywhere, looplets.values()))
    looplets |= _updates(ctx, body, span, _is_part(loop))
    body, dirty = lift_dirty(body) if plain else (body, [])
    bounds = span.lo, span.hi
    region = Region(
        span.index, *bounds, looplets, body, lower_stmt, point, extent=bounds, how=loop.how
    )
    if ctx.trace is not None:
        ctx.trace.note(f"Unfurl {loop.index}", walked_line(region))
    ctx.running.append(not point)
    parts, ctx.parts = ctx.parts, ctx.parts * max([1, *cuts.values()])
    if is_stored(loop.extent):
        lower_stored(ctx, region, loop)
    else:
        lower_region(ctx, region)
    ctx.parts = parts
    ctx.running.pop()
    for flag in dirty:
        ctx.b.emit(imp.Assign(flag, flag | (span.lo < span.hi)))


def _span(ctx: Context, loop: loops.Loop, point: bool) -> Span:
    """The index of a loop and its bounds; that of a single place has its value from now on."""
    assert loop.extent is not None
    index = imp.Var(loop.index)
    if is_stored(loop.extent):
        return Span(index, imp.ZERO, lower_expr(ctx, loop.extent.whole.stop, imp.INT), point)
    if isinstance(loop.extent, loops.Along):
        several = isinstance(loop.extent.of, loops.Coordinates)
        along = along_coordinates if several else along_product
        return Span(index, *along(ctx, loop), point)
    if point:
        assert isinstance(loop.extent, loops.Extent)
        lo = lower_expr(ctx, loop.extent.start, imp.INT)
        ctx.b.emit(imp.Let(index, lo))
        ctx.known.define(index.name, lo)
        return Span(index, index, index + 1, point)
    extent = unbound(loop.extent)
    if isinstance(extent, loops.Coordinates) and isinstance(extent.of, loops.Part):
        ctx.tiles[loop.index] = extent.of
    return Span(index, *bounds_of_loop(ctx, loop.extent, loop.index), point)


def _masks(cursors: list[Cursor]) -> list[Mask]:
    return [c for c in cursors if isinstance(c, Mask)]  # type: ignore[misc]


def _reads(
    ctx: Context, body: loops.Stmt, cursors: list[Cursor], span: Span, cuts: dict[Mask, int]
) -> dict[Cursor, Looplet]:
    """What is read along the index, and the conditions that cut it."""
    found: dict[Cursor, Looplet] = {}
    for c in cursors:
        if isinstance(c, Mask):
            if c in cuts:
                found[c] = mask_looplet(ctx, c, span)
        elif not c.update:
            found[c] = guard(ctx, c, unfurl(ctx, c, span.index), span, body)
    return found


def _updates(ctx: Context, body: loops.Stmt, span: Span, part: bool) -> dict[Cursor, Looplet]:
    """What is written along the index, all of which may be `part` of what is written."""
    written = [c for c in cursors_of(ctx, body, span.index.name) if c.update]
    counting = ctx.counting.get(span.index.name)
    opened = {} if counting is None else counting.opened
    looplets = {c: opened[c] if c in opened else unfurl(ctx, c, span.index, part) for c in written}
    return {c: guard(ctx, c, looplet, span, body) for c, looplet in looplets.items()}


def _is_part(loop: loops.Loop) -> bool:
    """Whether other loops may go on where this one ends."""
    extent = loop.extent.of if isinstance(loop.extent, loops.Along) else loop.extent
    return part_in(extent) is not None


def settle_fresh(
    ctx: Context, loop: loops.Loop, span: Span, looplets: dict[Cursor, Looplet]
) -> loops.Stmt:
    """Initialize now the fibers that the loop may not visit exactly once in every place.

    A loop that visits every index of a full level leaves that to the visits; so does one over the
    parts of a range, if all of them together do. One that counts parts leaves it to the other.
    """
    body, index, point = loop.body, span.index.name, span.point
    walked = {c.fiber for c in cursors_of(ctx, body, index) if c.update}
    counting, left = ctx.counting.get(index), written_by_parts(ctx, loop)
    lo, hi = (span.lo, span.hi) if counting is None else counting.bounds or (None, None)

    def visits_all(fiber: Fiber) -> bool:
        if point and fiber not in walked:  # it is up to the loops inside, which are run once
            return all(is_everywhere(x) for x in looplets.values())
        here = [t for t in targets(body) if storage_of(t) == fiber.storage]
        if fiber in left:
            return all(t.tensor == fiber for t in here)
        if fiber not in walked or any(
            t.tensor != fiber or t.indices[:1] != (loops.Index(index),) for t in here
        ):
            return False
        if fiber.kind.full:
            if point or is_stored(loop.extent) or lo is None or hi is None:
                return False
            if not (ctx.known.same(lo, imp.ZERO) and ctx.known.same(hi, fiber.dim)):
                return False
            return visits_all_indices(ctx, body, index, looplets, fiber.storage)
        return fiber.kind.sequential

    with ctx.b.collect() as first:
        settled = initialize(ctx, body, [f for f in fresh_targets(body) if not visits_all(f)])
    if counting is None:
        ctx.b.emit(*first)
    else:
        counting.begin += first
    return settled


def lift_dirty(body: loops.Stmt) -> tuple[loops.Stmt, list[imp.Var]]:
    """Flags that every iteration of a plain loop would set are set once, after it."""
    registers = {t.tensor: None for t in targets(body) if isinstance(t.tensor, Register)}
    sure = [r for r in registers if r.dirty is not None and surely_writes(body, r.storage)]
    if not sure:
        return body, []

    def change(access: loops.Access, update: bool) -> loops.Expr | None:
        if not update or access.tensor not in sure:
            return None
        assert isinstance(access.tensor, Register)
        return replace(access, tensor=replace(access.tensor, dirty=None))

    flags = [r.dirty for r in sure if r.dirty is not None]
    return replace_accesses(body, change), list(dict.fromkeys(flags))


def keep_in_registers(
    ctx: Context, body: loops.Stmt
) -> tuple[loops.Stmt, list[tuple[Fiber, Register]]]:
    """Values that a loop reads or updates at one place are kept in variables around it."""
    values: dict[Fiber, loops.Expr] = {}
    changing = {n.tensor for n in walk(body) if isinstance(n, loops.Declare | loops.Thaw)}
    for access, is_target in accesses(body):
        fiber = access.tensor
        known = is_target or access.indices or fiber in values
        if isinstance(fiber, Fiber) and not known and fiber.storage.name not in changing:
            values[fiber] = loops.Value(_load(ctx, fiber))
    kept = [(fiber, _open(ctx, fiber)) for fiber in _sole_targets(body)]
    registers = dict(kept)

    def change(access: loops.Access, update: bool) -> loops.Expr | None:
        if access.indices or not isinstance(access.tensor, Fiber):
            return None
        if not update:
            return values.get(access.tensor)
        register = registers.get(access.tensor)
        return None if register is None else replace(access, tensor=register)

    return replace_accesses(body, change), kept


def _sole_targets(body: loops.Stmt) -> list[Fiber]:
    """Leaves that are written, where no other element of the same tensor is."""
    found: dict[str, dict[tuple[Fiber, tuple[loops.Expr, ...]], None]] = {}
    for access in targets(body):
        if isinstance(access.tensor, Fiber):
            place = (access.tensor, access.indices)
            found.setdefault(access.tensor.storage.name, {})[place] = None
    sole = [next(iter(places)) for places in found.values() if len(places) == 1]
    return [fiber for fiber, indices in sole if not indices]


def _hint(ctx: Context, fiber: Fiber) -> str:
    """`y_i`: a value of y at the index of the loop around."""
    return "_".join([fiber.storage.name, *ctx.indices[-1:]])


def _load(ctx: Context, fiber: Fiber) -> imp.Expr:
    value = fiber.kind.read(fiber)  # type: ignore[attr-defined]
    return (
        value if isinstance(value, imp.Const) else ctx.b.let(_hint(ctx, fiber), value, value.dtype)
    )


def _open(ctx: Context, fiber: Fiber) -> Register:
    storage = fiber.storage
    value = storage.init if fiber.fresh else fiber.kind.read(fiber)  # type: ignore[attr-defined]
    var = ctx.b.let(_hint(ctx, fiber), value, value.dtype)
    dirty = None if fiber.kind.selective else fiber.dirty
    return Register(storage, var, dirty)


def write_back(ctx: Context, fiber: Fiber, register: Register) -> None:
    """Store what a register holds."""
    fiber.kind.write(ctx.b, fiber, register.var)  # type: ignore[attr-defined]
