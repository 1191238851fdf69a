"""Coordinates from a part of positions on to the next: where they begin and end.

    for p0 in …:
        p, end = 16 * p0, min(16 * (p0 + 1), nnz)
        first = p0 == 0 ? (0, 0) : p < nnz ? (row of p, idx[p]) : (n, 0)
        last = end < nnz ? (row of end, idx[end]) : (n, 0)
        for i in first.i … last.i + (last.j > 0):
            for j in (i == first.i ? first.j : 0) … (i == last.i ? last.j : m):

The ranges follow one another, from where coordinates begin to where they end.
"""

from __future__ import annotations

from functools import reduce

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.loops.bases import coordinates, positions_in
from linnet.lower.context import Bounds, Context, Space
from linnet.lower.expressions import lower_expr
from linnet.lower.points import coordinate_at
from linnet.lower.products import Point, corners, count_product, ranges_of
from linnet.lower.ranges import bounds_around, bounds_of, in_order

NOTHING: Bounds = imp.ZERO, imp.ZERO
"""Where there are no positions."""


def bounds_between(ctx: Context, extent: loops.Coordinates, name: str) -> list[Bounds]:
    """The coordinates of a range, and before them all that there may be.

    Of several coordinates, they are the numbers of the pairs, counted as all of them are.
    """
    if coordinates(extent) > 1:
        count_product(ctx, extent, name)
        sizes = [size for _, size in ranges_of(ctx, extent, name)]
        ends = [_number(point, sizes) for point in points_between(ctx, extent, name)]
        return [(ctx.named(ends[0], f"{name}_first"), ctx.named(ends[1], f"{name}_last"))]
    positions = positions_in(extent)
    assert positions is not None
    (least,), (most,) = points_between(ctx, loops.Coordinates(positions), name)
    (start,), (stop,) = points_between(ctx, extent, name)
    for a, b in ((least, start), (start, stop), (stop, most)):
        ctx.known.assume(a, b)
    return [(least, most), (start, stop)]


def _number(point: Point, sizes: list[imp.Expr]) -> imp.Expr:
    """The number of a pair."""
    pairs = zip(point[1:], sizes[1:], strict=True)
    return reduce(lambda number, at: number * at[1] + at[0], pairs, point[0])


def points_between(ctx: Context, extent: loops.Coordinates, name: str) -> tuple[Point, Point]:
    """The first point of a range, and the one behind its last."""
    if extent not in ctx.between:
        ctx.between[extent] = _points(ctx, extent.of, name)
    return ctx.between[extent]


def _points(ctx: Context, of: loops.Range, name: str) -> tuple[Point, Point]:
    """Where the coordinates from some positions on begin and end."""
    if isinstance(of, loops.Positions):
        others = (imp.ZERO,) * (len(of.modes) - 1)
        if of.within is None:
            return (imp.ZERO, *others), (bounds_of(ctx, of.whole, name)[1], *others)
        start, stop = corners(ctx, of.within, name)
        if len(of.modes) == 1:
            stop = (in_order(ctx, start[0], stop[0], name)[1],)
        return (*start, *others)[: len(of.modes)], (*stop, *others)[: len(of.modes)]
    if isinstance(of, loops.Bounded):
        bounds_of(ctx, of, name)  # what is said is checked
        return _points(ctx, of.of, name)
    assert isinstance(of, loops.Part)
    first, last = points_between(ctx, loops.Coordinates(of.of), name)
    positions = positions_in(of)
    assert positions is not None
    space = ctx.spaces[positions]
    (_, end), (lo, hi) = bounds_around(ctx, of, name)[-2:]
    ctx.clips[of] = lo, hi
    number = lower_expr(ctx, of.number, imp.INT)
    start = _introduced(ctx, last, f"{name}_start")
    inside = _at_position(ctx, space, start, lo, end, of)
    begins = imp.Block(tuple(imp.Assign(v, x) for v, x in zip(start, first, strict=True)))
    ctx.b.emit(imp.If(imp.eq(number, imp.ZERO), begins, inside))
    stop = _introduced(ctx, last, f"{name}_end")
    ctx.b.emit(*_at_position(ctx, space, stop, hi, end, of).stmts)
    return start, stop


def _introduced(ctx: Context, point: Point, name: str) -> tuple[imp.Var, ...]:
    """Variables for a point."""
    return tuple([ctx.b.let(name, x) for x in point])


def _at_position(
    ctx: Context, space: Space, point: tuple[imp.Var, ...], q: imp.Expr, end: imp.Expr,
    part: loops.Part,
) -> imp.Block:  # fmt: skip
    """Let a point be that of a position, if there is one before the end."""
    if space.bounds[-1] == NOTHING:
        return imp.EMPTY
    with ctx.b.collect() as code:
        found = _point_at(ctx, space, q, part)
        code += [imp.Assign(var, x) for var, x in zip(point, found, strict=True)]
    return imp.Block((imp.If(q < end, imp.Block(tuple(code)), imp.EMPTY),))


def _point_at(ctx: Context, space: Space, q: imp.Expr, part: loops.Part) -> Point:
    """The coordinates of a position, and of those in which it lies, which are searched for."""
    fiber = space.fiber
    storage, found = fiber.storage, list[imp.Expr]()
    for k in reversed(range(len(space.bounds))):
        number = fiber.level + k
        level, at = storage.format.levels[number], fiber.pos
        if k > 0:
            parent = level.parent(ctx.b, storage, number, q, *_among(ctx, space, k - 1, part))
            assert parent is not None
            at = ctx.named(parent, f"{storage.prefix(number - 1)}_at")
        first = fiber.sub if k == 0 else 0
        for sub in reversed(range(first, level.width)):
            inner = Fiber(storage, number, at, sub, (q, q + 1) if sub or level.width > 1 else ())
            found.insert(0, coordinate_at(ctx, inner, q))
        q = at
    return tuple(found)


def _among(ctx: Context, space: Space, k: int, part: loops.Part) -> Bounds:
    """The fibers among which one is searched for: no part begins before the last one did."""
    least, most = space.bounds[k]
    number = part.number
    reached = ctx.reached.get((number.name, k)) if isinstance(number, loops.Index) else None
    return least if reached is None else reached, most


def along_coordinates(ctx: Context, loop: loops.Loop) -> Bounds:
    """Between which indices one of the loops over several coordinates runs."""
    along = loop.extent
    assert isinstance(along, loops.Along)
    assert isinstance(along.of, loops.Coordinates)
    start, stop = points_between(ctx, along.of, loop.index)
    depth = along.depth
    least, most = bounds_of(ctx, along.whole, loop.index)
    outer = [lower_expr(ctx, index, imp.INT) for index in along.outer]
    lo, hi = start[depth], stop[depth]
    more = [x > 0 for x in stop[depth + 1 :]]
    if more:
        hi = hi + imp.Cast(reduce(lambda a, b: a | b, more), imp.INT)
    if depth > 0:
        lo = imp.Select(_same(outer, start), lo, least)
        hi = imp.Select(_same(outer, stop), hi, most)
    lo, hi = ctx.named(lo, f"{loop.index}_first"), ctx.named(hi, f"{loop.index}_last")
    ctx.known.assume(least, lo)
    ctx.known.assume(hi, most)
    return lo, hi


def _same(outer: list[imp.Expr], point: Point) -> imp.Expr:
    """Whether indices are the first of a point."""
    found = (imp.eq(a, b) for a, b in zip(outer, point, strict=False))
    return reduce(lambda a, b: a & b, found)
