"""Collapsed loops over coordinates: a part of all their pairs, in the order of the loops.

    for i, j in ln.part(ln.product(range(n), range(m)), t, 100):

is the pairs number 100 t to 100 t + 99, in two loops that begin and end within a row:

    for i in range(lo // m, (hi + m - 1) // m):
        for j in range(max(0, lo - i * m), min(m, hi - i * m)):
"""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from linnet import imp, loops
from linnet.loops.bases import coordinates
from linnet.loops.nodes import base_of
from linnet.lower.context import Bounds, Context, Site
from linnet.lower.expressions import lower_expr, out_of_bounds
from linnet.lower.ranges import bounds_of

Point: TypeAlias = tuple[imp.Expr, ...]
"""An index for each of several ranges."""


def along_product(ctx: Context, loop: loops.Loop) -> Bounds:
    """Between which indices one of the loops over a product runs."""
    extent = loop.extent
    assert isinstance(extent, loops.Along)
    depth = extent.depth
    whole = isinstance(extent.of, loops.Product)
    if extent.of not in ctx.products:  # what the body changes is read before it
        found = ranges_of(ctx, extent.of, loop.index)
        ctx.products[extent.of] = [(_fixed(ctx, lo), _fixed(ctx, hi)) for lo, hi in found]
        if not whole:
            ctx.clips[extent.of] = bounds_of(ctx, extent.of, loop.index)
    ranges = ctx.products[extent.of]
    start, stop = ranges[depth]
    if whole:
        return start, stop
    lengths = [ctx.named(_length(*ends), f"{loop.index}_length") for ends in ranges]
    lo, hi = ctx.clips[extent.of]
    rest: imp.Expr = imp.ONE
    for length in lengths[depth + 1 :]:
        rest = rest * length
    # the number of the first index of this loop, where each stands for `rest` pairs
    first: imp.Expr = imp.ZERO
    for k, index in enumerate(extent.outer):
        first = (first + (lower_expr(ctx, index, imp.INT) - ranges[k][0])) * lengths[k + 1]
    begin = imp.binary("div", lo, rest) - first
    end = imp.binary("div", hi - 1, rest) + 1 - first
    if depth > 0:
        begin, end = imp.maximum(begin, 0), imp.minimum(end, lengths[depth])
    begin = ctx.named(imp.Select(lo < hi, begin, imp.ZERO), f"{loop.index}_start")
    end = ctx.named(imp.Select(lo < hi, end, imp.ZERO), f"{loop.index}_end")
    begin, end = ctx.named(start + begin, "first"), ctx.named(start + end, "last")
    ctx.known.assume(start, begin)
    ctx.known.assume(end, stop)
    return begin, end


def ranges_of(ctx: Context, extent: loops.Range, name: str) -> list[Bounds]:
    """Between which numbers each of the indices of a range may be."""
    several = base_of(extent)
    assert isinstance(several, loops.Product | loops.Coordinates)
    ranges = (several.along(depth) for depth in range(coordinates(extent)))
    return [bounds_of(ctx, r, name) for r in ranges]


def corners(ctx: Context, extent: loops.Range, name: str) -> tuple[Point, Point]:
    """The first indices of a range, together, and those behind its last ones.

    The others of these are where their ranges begin.
    """
    if coordinates(extent) == 1:
        lo, hi = bounds_of(ctx, extent, name)
        return (lo,), (hi,)
    if isinstance(extent, loops.Coordinates):
        from linnet.lower.coordinates import points_between

        return points_between(ctx, extent, name)
    several, found = base_of(extent), ranges_of(ctx, extent, name)
    if extent == several:
        rest = tuple([start for start, _ in found[1:]])
        return (found[0][0], *rest), (found[0][1], *rest)
    lo, hi = bounds_of(ctx, extent, name)
    return _point(ctx, lo, found, name), _point(ctx, hi, found, name)


def _point(ctx: Context, number: imp.Expr, ranges: list[Bounds], name: str) -> Point:
    """The indices of the pair with a number."""
    point: list[imp.Expr] = []
    for start, stop in reversed(ranges[1:]):
        length = ctx.named(_length(start, stop), f"{name}_length")
        point.insert(0, ctx.named(start + imp.binary("rem", number, length), f"{name}_at"))
        number = imp.binary("div", number, length)
    return (ctx.named(ranges[0][0] + number, f"{name}_at"), *point)


def count_product(ctx: Context, extent: loops.Range, name: str) -> imp.Expr:
    """How many pairs there are; an error if there are more than can be counted."""
    lengths = [_length(*ends) for ends in ranges_of(ctx, extent, name)]
    return reduce(lambda a, b: _times(ctx, a, b, name), lengths)


def _times(ctx: Context, a: imp.Expr, b: imp.Expr, name: str) -> imp.Expr:
    a, b = ctx.named(a, f"{name}_length"), ctx.named(b, f"{name}_length")
    ctx.sites.append(Site("collapsed loops have more iterations than can be counted", None))
    many = (b > 0) & (a > imp.binary("div", imp.Const(2**63 - 1, imp.INT), b))
    refuse = imp.Block((imp.Return(out_of_bounds(len(ctx.sites) - 1)),))
    ctx.b.emit(imp.If(many, refuse, imp.EMPTY))
    return a * b


def _length(start: imp.Expr, stop: imp.Expr) -> imp.Expr:
    return stop if start == imp.ZERO else imp.maximum(stop - start, 0)


def _fixed(ctx: Context, end: imp.Expr) -> imp.Expr:
    """An end of a range as it is now: a size, or a copy of a variable that may change."""
    fixed = isinstance(end, imp.Const) or end in ctx.dims.values()
    return end if fixed else ctx.b.let("end", end)
