"""Loops over what a tensor stores: positions of a level, whose coordinates are looked up.

The tensor leads: a loop goes through the positions of one of its fibers, or those that lie in a
part of a range, and other operands are searched at the coordinate of each. Of positions with
several coordinates the outer loops go through those fibers that have one of the positions, which
searches find at the ends. They go on from where the part before it began:

    for p0 in …:
        p, end = 512 * p0, min(512 * (p0 + 1), ptr[n])
        first = fiber_of(ptr, first, n, p)
        for i in first … fiber_of(ptr, first, n, end - 1) + 1:
            for q in max(p, ptr[i]) … min(end, ptr[i + 1]):
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from linnet import imp, loops
from linnet.errors import FormatError, InternalError
from linnet.formats.fiber import Fiber, Storage
from linnet.formats.level import Level
from linnet.formats.looplets import Jumper, Looplet, Seek, Stepper
from linnet.loops.bases import coordinates, positions_in, unbound
from linnet.loops.nodes import base_of
from linnet.loops.rewrite import block, point_of, walk
from linnet.lower.context import Bounds, Context, Cursor, Space
from linnet.lower.coordinates import NOTHING
from linnet.lower.flat import lower_flat
from linnet.lower.points import first_at
from linnet.lower.products import corners
from linnet.lower.ranges import bounds_of
from linnet.lower.region import Region, lower_region
from linnet.lower.unfurl import unfurl
from linnet.lower.walks import stepper_of


@contextmanager
def open_positions(ctx: Context, loop: loops.Loop) -> Iterator[None]:
    """Say where the positions are that a loop counts or goes through, or one inside it does.

    They are those of one fiber, which is known as soon as the loops around its own are open.
    """
    before = ctx.spaces, ctx.clips, ctx.bounded, ctx.reached, ctx.products, ctx.between
    # what is added within is forgotten behind it, by others who remember these tables, too
    ctx.spaces, ctx.clips, ctx.bounded = dict(ctx.spaces), dict(ctx.clips), dict(ctx.bounded)
    ctx.reached, ctx.products, ctx.between = (
        dict(ctx.reached),
        dict(ctx.products),
        dict(ctx.between),
    )
    counted = set() if loop.extent is None else {*walk(loop.extent)}
    for node in _outer_first(loop):
        if node not in ctx.spaces:
            fiber = _leader(ctx, loop, node)
            if fiber is not None:
                ctx.spaces[node] = _space(ctx, fiber, node)
            elif node in counted or not _waits(loop, node):  # nothing is there: there are no gaps
                ctx.spaces[node] = Space(_missing(ctx, node), (NOTHING,))
    _begin_searches(ctx, loop)
    yield
    ctx.spaces, ctx.clips, ctx.bounded, ctx.reached, ctx.products, ctx.between = before


def _outer_first(stmt: loops.Stmt) -> list[loops.Positions]:
    """The positions in a statement: those first within a range of which others are."""
    found = {n: None for n in walk(stmt) if isinstance(n, loops.Positions)}
    return sorted(found, key=lambda node: sum(isinstance(n, loops.Positions) for n in walk(node)))


def find_positions(ctx: Context, stmt: loops.Declare, rest: Sequence[loops.Stmt]) -> None:
    """Say where the positions are that the sizes of a workspace count, as what follows has them."""
    sizes = (n for dim in stmt.dims or () for n in walk(dim))
    for node in {n: None for n in sizes if isinstance(n, loops.Positions) and n not in ctx.spaces}:
        fiber = _leader(ctx, block(rest), node)
        missing = Space(_missing(ctx, node), (NOTHING,))
        ctx.spaces = {**ctx.spaces, node: missing if fiber is None else _space(ctx, fiber, node)}


def has_no_positions(ctx: Context, loop: loops.Loop) -> bool:
    """Whether a loop is over positions, or parts of them, where the tensor stores nothing.

    What goes through positions reads what is there (`scheduling.positions`): where that has become
    the fill value, there is nothing.
    """
    counted = () if loop.extent is None else tuple(walk(loop.extent))
    inside = loop.body.stmts if isinstance(loop.body, loops.Block) else ()
    for stmt in inside:  # a workspace may have as many elements as a part has
        counted += tuple(walk(stmt)) if isinstance(stmt, loops.Declare) else ()
    found = {n for n in counted if isinstance(n, loops.Positions) and not _are_there(ctx, n)}
    missing = {n.tensor for n in found if not _has_coordinates(loop, n)}
    if not missing:
        return False
    return not missing & _read(loop.body)


def _read(stmt: loops.Stmt) -> set[str]:
    """The tensors that a statement reads or writes."""
    found = (n.tensor for n in walk(stmt) if isinstance(n, loops.Access))
    return {t.storage.name if isinstance(t, Fiber) else str(t) for t in found}


def _waits(loop: loops.Loop, positions: loops.Positions) -> bool:
    """Whether it will be known further inside where positions are: of what is still read there."""
    closed = {n.index for n in walk(loop) if isinstance(n, loops.Loop)}
    waits = any(isinstance(n, loops.Index) and n.name in closed for n in walk(positions))
    return waits or positions.tensor in _read(loop.body)


def _has_coordinates(stmt: loops.Stmt, positions: loops.Positions) -> bool:
    """Whether loops go through the coordinates from some positions on, which have no gaps.

    They may go through the positions of another tensor among these coordinates.
    """
    found = (n for n in walk(stmt) if isinstance(n, loops.Coordinates))
    return any(positions_in(n) == positions for n in found)


def _are_there(ctx: Context, positions: loops.Positions) -> bool:
    """Whether it is known where positions are; those of no fiber are nowhere."""
    return positions in ctx.spaces and ctx.spaces[positions].bounds != (NOTHING,)


def _missing(ctx: Context, positions: loops.Positions) -> Fiber:
    """A fiber that is not there."""
    return Fiber(ctx.storages[positions.tensor], 0, imp.ZERO)


def _begin_searches(ctx: Context, loop: loops.Loop) -> None:
    """Where the fibers of a part begin is looked for from there on where those of the last did."""
    match loop.extent:
        case loops.Extent(loops.Literal(0)):  # of a negative number is the empty part at the end
            pass
        case _:
            return
    inside = {n.index for n in walk(loop.body) if isinstance(n, loops.Loop)}
    for part in walk(loop.body):
        if not isinstance(part, loops.Part) or part.number != loops.Index(loop.index):
            continue
        space = ctx.spaces.get(positions_in(part))  # type: ignore[arg-type]
        rest = (*walk(part.of), *walk(part.size))
        if space is None or any(isinstance(n, loops.Index) and n.name in inside for n in rest):
            continue
        for k, (lo, _) in enumerate(space.bounds[:-1]):
            if (loop.index, k) not in ctx.reached:
                ctx.reached[loop.index, k] = ctx.b.let(f"{space.fiber.storage.name}_reached", lo)


def _leader(ctx: Context, stmt: loops.Stmt, positions: loops.Positions) -> Fiber | None:
    """The fiber whose positions these are; None if not all loops around it are open.

    Of several loops, some may go through positions only, and read nothing there.
    """
    inside = [n for n in walk(stmt) if isinstance(n, loops.Loop)]
    if positions.within is not None:
        closed = {n.index for n in inside}
        if any(isinstance(n, loops.Index) and n.name in closed for n in walk(positions.within)):
            return None
    if not positions.given and _has_coordinates(stmt, positions):
        return Fiber(ctx.storages[positions.tensor], 0, imp.ZERO)
    for first in (n for n in inside if _goes_through(n, positions)):
        mine = _names_of(first)
        for access in walk(first.body):
            if isinstance(access, loops.Access) and isinstance(access.tensor, Fiber):
                fiber = access.tensor
                if fiber.storage.name == positions.tensor and mine & {*access.indices[:1]}:
                    return fiber
    return None


def _names_of(loop: loops.Loop) -> set[loops.Expr]:
    """The index of a loop, and others that stand for it: those of searches."""
    found: set[loops.Expr] = {loops.Index(loop.index)}
    for inner in (n for n in walk(loop.body) if isinstance(n, loops.Loop)):
        if point_of(inner.extent) in found:
            found.add(loops.Index(inner.index))
    return found


def _goes_through(loop: loops.Loop, positions: loops.Positions) -> bool:
    """Whether a loop is the outermost one over positions, a part of them, or their coordinates."""
    extent = loop.extent
    if extent is None or (isinstance(extent, loops.Along) and extent.depth > 0):
        return False
    among = (positions_in(n) for n in walk(extent) if isinstance(n, loops.Coordinates))
    return positions_in(extent) == positions or positions in among


def _space(ctx: Context, fiber: Fiber, positions: loops.Positions) -> Space:
    """The positions below a fiber; there are none if it is not there."""
    if fiber.present is None:
        depth, within = len(positions.modes), positions.within
        space = _levels(ctx, fiber, depth)
        return space if within is None else _narrowed(ctx, space, within, depth)
    with ctx.b.collect() as code:
        there = _space(ctx, replace(fiber, present=None), positions)
    none = [(ctx.b.let("begin", imp.ZERO), ctx.b.let("end", imp.ZERO)) for _ in there.bounds]
    for ends, found in zip(none, there.bounds, strict=True):
        code += [imp.Assign(var, end) for var, end in zip(ends, found, strict=True)]
    ctx.b.emit(imp.If(fiber.present, imp.Block(tuple(code)), imp.EMPTY))
    return Space(fiber, tuple(none))


def _narrowed(ctx: Context, space: Space, within: loops.Range, depth: int) -> Space:
    """The positions whose coordinates are within a range: a search for each of its ends."""
    fiber, name = space.fiber, space.fiber.prefix
    others = (imp.ZERO,) * (depth - coordinates(within))
    start, stop = [(*place, *others) for place in corners(ctx, within, name)]
    lo, hi = ends = space.bounds[-1]
    among = ends if depth == 1 else space.bounds[0]
    if not all(ctx.known.at_most(x, imp.ZERO) for x in start):
        lo = ctx.named(first_at(ctx, fiber, start, among), f"{name}_lo")
    if not ctx.known.at_most(fiber.dim, stop[0]):
        hi = first_at(ctx, fiber, stop, (lo, hi) if depth == 1 else among)
        hi = ctx.named(hi if depth == 1 else imp.maximum(lo, hi), f"{name}_hi")
    for a, b in ((ends[0], lo), (lo, hi), (hi, ends[1])):
        ctx.known.assume(a, b)
    return replace(space, bounds=(*space.bounds[:-1], (lo, hi)))


def _levels(ctx: Context, fiber: Fiber, depth: int) -> Space:
    """The positions below a fiber that have so many coordinates."""
    storage, number, sub = fiber.storage, fiber.level, fiber.sub
    lo, hi = fiber.pos, fiber.pos + 1
    bounds: list[Bounds] = []
    while depth > 0:
        level = storage.format.levels[number]
        if sub > 0:  # some dimensions of the level have been gone through
            found: Bounds | None = fiber.state  # type: ignore[assignment]
        else:
            found = level.positions(storage, number, lo, hi)
        depth -= level.width - sub
        if found is None or depth < 0:
            raise no_positions(storage.name, number, level)
        prefix, sub, number = storage.prefix(number), 0, number + 1
        lo, hi = ctx.named(found[0], f"{prefix}_begin"), ctx.named(found[1], f"{prefix}_end")
        bounds.append((lo, hi))
    return Space(fiber, tuple(bounds))


def no_positions(tensor: str, level: int, kind: object) -> FormatError:
    """The refusal of a level whose entries do not follow one another."""
    return FormatError(
        f"level {level} of {tensor}, {type(kind).__name__}, has no positions to go through",
        hint="go through coordinates instead, or store it as a SparseList or SparseCOO",
    )


def lower_stored(ctx: Context, r: Region, loop: loops.Loop) -> None:
    """Emit a loop through the positions of a fiber, or those of them in a part of a range."""
    cursor, looplet = _led_by(ctx, r, loop)
    r = r.with_looplet(cursor, looplet)
    if loop.how.flat and isinstance(loop.extent, loops.Along):
        lower_flat(ctx, r, loop, cursor, looplet)
        return
    r = replace(r, how=replace(r.how, flat=False))
    clip = _clip(ctx, cursor.fiber, loop)
    if not isinstance(looplet, Stepper | Jumper):
        ctx.wholes.pop(loop.index, None)  # the loop is over indices, and these are positions
        ctx.leads(loop.index, looplet)
        lower_region(ctx, r if clip is None else _within(ctx, r, clip, cursor.fiber))
        return
    s = replace(stepper_of(looplet), leads=True)
    if clip is not None and isinstance(loop.extent, loops.Along) and loop.extent.depth > 0:
        s = _clipped(s, imp.maximum(s.begin, clip[0]), imp.minimum(s.end, clip[1]))
    elif clip is not None:
        s = _clipped(s, *clip)
    lower_region(ctx, r.with_looplet(cursor, s))


def _clipped(s: Stepper, begin: imp.Expr, end: imp.Expr) -> Stepper:
    """A stepper through some of the positions, behind which no search for a coordinate goes."""
    return replace(s, begin=begin, end=end, seek=_up_to(s.seek, end))


def _up_to(seek: Seek, end: imp.Expr) -> Seek:
    return replace(seek, position=imp.minimum(seek.position, end))


def is_stored(extent: loops.Range | None) -> bool:
    """Whether a loop goes through positions."""
    return extent is not None and isinstance(base_of(extent), loops.Positions)


def _led_by(ctx: Context, r: Region, loop: loops.Loop) -> tuple[Cursor, Looplet]:
    """The fiber that leads a loop, and what it looks like."""
    assert loop.extent is not None
    positions = base_of(loop.extent)
    assert isinstance(positions, loops.Positions)
    for cursor, looplet in (*r.looplets.items(), *_unread(ctx, r, loop, positions)):
        mine = not cursor.update and cursor.name == positions.tensor
        if mine and cursor.index == loops.Index(loop.index):
            kind = cursor.fiber.kind
            if isinstance(looplet, Stepper | Jumper) or type(kind).stretch is not Level.stretch:
                return cursor, looplet
            raise no_positions(cursor.name, cursor.fiber.level, kind)
    raise InternalError(f"{positions.tensor} is not walked by the loop over `{loop.index}`")


def _unread(
    ctx: Context, r: Region, loop: loops.Loop, positions: loops.Positions
) -> Iterator[tuple[Cursor, Looplet]]:
    """The fiber of which only the positions are gone through, in this loop."""
    space, extent = ctx.spaces.get(positions), loop.extent
    fiber = None if space is None else space.fiber
    if isinstance(extent, loops.Along) and extent.depth > 0:
        outer = extent.outer[-1]
        assert isinstance(outer, loops.Index)
        fiber = ctx.led.get(outer.name)
    if fiber is not None:
        cursor = Cursor(fiber, False, "", loops.Index(loop.index))
        yield cursor, unfurl(ctx, cursor, r.index)


def _clip(ctx: Context, fiber: Fiber, loop: loops.Loop) -> Bounds | None:
    """Between which positions of its level a loop stays; None if it goes through all of them."""
    extent = loop.extent.of if isinstance(loop.extent, loops.Along) else loop.extent
    part = None if extent is None else unbound(extent)
    narrow = isinstance(part, loops.Positions) and part.within is not None
    if isinstance(extent, loops.Bounded) and isinstance(part, loops.Positions) and not narrow:
        bounds = bounds_of(ctx, extent, loop.index)
        return None if isinstance(loop.extent, loops.Along) else bounds
    if extent is None or not (narrow or isinstance(part, loops.Part)):
        return None
    if extent not in ctx.clips:
        ctx.clips[extent] = bounds_of(ctx, extent, loop.index)
    positions = base_of(extent)
    assert isinstance(positions, loops.Positions)
    space, clip = ctx.spaces[positions], ctx.clips[extent]
    first, storage = space.fiber.level, fiber.storage
    for k in reversed(range(fiber.level - first + 1, len(space.bounds))):
        reached = _reached(ctx, part, k - 1)
        clip = _parents(ctx, loop.index, storage, first + k, space.bounds[k - 1], clip, reached)
    return clip


def _reached(ctx: Context, part: loops.Range | None, k: int) -> imp.Var | None:
    """The variable that says how far the searches among some fibers have come."""
    number = part.number if isinstance(part, loops.Part) else None
    return ctx.reached.get((number.name, k)) if isinstance(number, loops.Index) else None


def _parents(
    ctx: Context, index: str, storage: Storage, number: int, among: Bounds, children: Bounds,
    reached: imp.Var | None,
) -> Bounds:  # fmt: skip
    """The fibers of a level in which some children lie, the first and the one behind the last."""
    level, (lo, hi), (least, most) = storage.format.levels[number], children, among
    first = level.parent(ctx.b, storage, number, lo, least if reached is None else reached, most)
    if first is None:
        raise no_positions(storage.name, number, level)
    begin = ctx.named(first, f"{index}_first")
    last = level.parent(ctx.b, storage, number, hi - 1, begin, most)
    assert last is not None
    if reached is not None:  # others may go through the same part
        ctx.b.emit(imp.Assign(reached, begin))
    stop = ctx.named(imp.Select(lo < hi, last + 1, begin), f"{index}_stop")
    ctx.known.assume(begin, stop)
    return begin, stop


def _within(ctx: Context, r: Region, clip: Bounds, fiber: Fiber) -> Region:
    """The region where the positions of a fiber lie within bounds, if they follow one another."""
    level, storage, number, p = fiber.kind, fiber.storage, fiber.level, fiber.pos
    begin, end = clip
    if p != imp.ZERO:
        own = level.positions(storage, number, p, p + 1)
        assert own is not None
        begin, end = imp.maximum(begin, own[0]), imp.minimum(end, own[1])
    found = level.stretch(storage, number, p, begin, end)
    assert found is not None
    lo, hi = ctx.named(found[0], "begin"), ctx.named(found[1], "end")
    ctx.known.assume(r.lo, lo)
    ctx.known.assume(hi, r.hi)
    return replace(r, lo=lo, hi=hi)
