"""Where loops begin and end: a range, a part of one, and how many parts there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from linnet import imp, loops
from linnet.algebra.table import minimum
from linnet.errors import ScheduleError
from linnet.imp.fold import fold
from linnet.imp.how import BOUNDED
from linnet.loops.bases import one_at_least, unbound
from linnet.loops.bounds import (
    DIVISIBLE,
    MAX_CONSTRAINT,
    MAX_EXACT,
    MIN_CONSTRAINT,
    MIN_EXACT,
    broken,
    divides,
)
from linnet.loops.nodes import base_of
from linnet.loops.rewrite import walk
from linnet.loops.types import dtype_of
from linnet.lower.context import Bounds, Context, Site
from linnet.lower.expressions import lower_expr


def bounds_of(ctx: Context, extent: loops.Range, name: str) -> Bounds:
    """The first index or position of a range, and the one behind the last; they do not change."""
    return bounds_around(ctx, extent, name)[-1]


def bounds_of_loop(ctx: Context, extent: loops.Range, index: str) -> Bounds:
    """Between which indices a loop runs; what its range is a part of is remembered."""
    found = bounds_around(ctx, extent, index)
    if len(found) > 1:
        ctx.wholes[index] = found[0]
    return found[-1]


def bounds_around(ctx: Context, extent: loops.Range, name: str) -> list[Bounds]:
    """The bounds of a range, and before them those of the ranges that it is a part of."""
    if isinstance(extent, loops.Positions):
        begin, end = ctx.spaces[extent].bounds[-1]
        ctx.known.assume(begin, end)
        return [(begin, end)]
    if isinstance(extent, loops.Product):
        from linnet.lower.products import count_product

        return [(imp.ZERO, ctx.named(count_product(ctx, extent, name), f"{name}_all"))]
    if isinstance(extent, loops.Along):
        return bounds_around(ctx, extent.of, name)
    if isinstance(extent, loops.Extent):
        first = ctx.named(_end(ctx, extent.start, name), f"{name}_start")
        return [(first, ctx.named(_end(ctx, extent.stop, name), f"{name}_end"))]
    if isinstance(extent, loops.Coordinates):
        from linnet.lower.coordinates import bounds_between

        return bounds_between(ctx, extent, name)
    around = bounds_around(ctx, extent.of, name)
    if isinstance(extent, loops.Bounded):
        if extent not in ctx.bounded:
            ctx.bounded[extent] = _bounded(ctx, extent, *around[-1])
        return [*around[:-1], ctx.bounded[extent]]
    if extent in ctx.clips:
        return [*around, ctx.clips[extent]]
    lo, hi = in_order(ctx, *around[-1], name)
    around[-1] = (lo, hi)
    start, stop = _part(ctx, extent, lo, hi, name)
    for least, most in around:
        ctx.known.assume(least, start)
        ctx.known.assume(start, most)
        ctx.known.assume(least, stop)
        ctx.known.assume(stop, most)
    ctx.known.assume(start, stop)
    return [*around, (start, stop)]


def _part(ctx: Context, part: loops.Part, lo: imp.Expr, hi: imp.Expr, name: str) -> Bounds:
    """The part of a range with some number; it is empty where there is none of that number."""
    number = lower_expr(ctx, part.number, imp.INT)
    size = ctx.named(lower_expr(ctx, part.size, imp.INT), f"{name}_size")
    first: imp.Expr = lo + number * size
    most = _count_of(ctx, part.number)
    if most is not None and part.size == loops.Parts(part.of, most):
        first = imp.minimum(first, hi)  # the last ones may be empty
    elif most not in (parts := loops.Parts(part.of, part.size), one_at_least(parts)):
        inside = (number >= 0) & (number < parts_in(hi - lo, size))
        first = imp.Select(inside, first, hi)
    start = ctx.named(first, f"{name}_start")
    exact = isinstance(size, imp.Const) and most == loops.Parts(part.of, part.size)
    if exact and divides(int(size.value), part.of):  # type: ignore[union-attr, arg-type]
        return start, ctx.named(start + size, f"{name}_end")
    # `start + size` might be too large a number
    return start, ctx.named(start + imp.minimum(size, hi - start), f"{name}_end")


def in_order(ctx: Context, lo: imp.Expr, hi: imp.Expr, name: str) -> Bounds:
    """A range that does not end before it begins."""
    if ctx.known.at_most(lo, hi):
        return lo, hi
    hi = ctx.b.let(f"{name}_last", imp.maximum(lo, hi))
    ctx.known.assume(lo, hi)
    return lo, hi


def _bounded(ctx: Context, bound: loops.Bounded, lo: imp.Expr, hi: imp.Expr) -> Bounds:
    """Check what is said of a range, and use it."""
    absolute = isinstance(unbound(bound.of), loops.Extent)
    start, stop = (lo, hi) if absolute else (imp.ZERO, fold(hi - lo))
    value = imp.Const(bound.value, imp.INT)
    holds = fold(_HOLDS[bound.kind](start, stop, value))
    if holds == imp.FALSE:
        raise ScheduleError(broken(bound), at=bound.at, why=BOUNDED)
    if holds != imp.TRUE:
        ctx.sites.append(Site(broken(bound), bound.at))
        status = imp.Const(imp.UNBOUND | (len(ctx.sites) - 1) << 8, imp.INT)
        refuse = imp.Block((imp.Return(status),))
        ctx.b.emit(imp.If(imp.Unary("not", holds, imp.BOOL), refuse, imp.EMPTY))
    if bound.kind in (MIN_EXACT, MIN_CONSTRAINT):
        ctx.known.assume(value, start)
    if bound.kind in (MAX_EXACT, MAX_CONSTRAINT):
        ctx.known.assume(stop, value)
    match bound.kind:
        case "MinExact":
            ctx.known.assume(start, value)
            return (value if absolute else lo), hi
        case "MaxExact":
            ctx.known.assume(value, stop)
            return lo, (value if absolute else ctx.named(lo + value, "end"))
        case _:
            return lo, hi


_HOLDS: dict[str, Callable[[imp.Expr, imp.Expr, imp.Const], imp.Expr]] = {
    MIN_EXACT: lambda start, _, value: imp.eq(start, value),
    MAX_EXACT: lambda _, stop, value: imp.eq(stop, value),
    MIN_CONSTRAINT: lambda start, _, value: value <= start,
    MAX_CONSTRAINT: lambda _, stop, value: stop <= value,
    DIVISIBLE: lambda start, stop, value: imp.eq(
        imp.binary("rem", imp.maximum(stop - start, 0), value), imp.ZERO
    ),
}


def check_bounds(ctx: Context, body: loops.Stmt) -> None:
    """Check at once what depends on sizes alone, before anything is written."""
    for node in walk(body):
        if isinstance(node, loops.Bounded) and all(isinstance(n, _OF_SIZES) for n in walk(node)):
            bounds_of(ctx, node, "n")


_OF_SIZES = (
    loops.Bounded,
    loops.Extent,
    loops.Parts,
    loops.Literal,
    loops.Dimension,
    loops.Call,
)


def _count_of(ctx: Context, number: loops.Expr) -> loops.Expr | None:
    """How far a number counts, if it is that of an open loop from 0."""
    return ctx.counts.get(number.name) if isinstance(number, loops.Index) else None


def parts_in(length: imp.Expr, size: imp.Expr) -> imp.Expr:
    """How many parts of a size there are, the last of which may be shorter."""
    rest = imp.Cast(imp.binary("rem", length, size) > 0, imp.INT)
    return imp.binary("div", length, size) + rest


def lower_parts(ctx: Context, parts: loops.Parts, name: str = "part") -> imp.Expr:
    """How many parts a range has."""
    lo, end = bounds_of(ctx, parts.of, name)
    lo, hi = in_order(ctx, lo, end, name)
    length = ctx.named(hi - lo, f"{name}_length")
    size = lower_expr(ctx, parts.size, imp.INT)
    if not isinstance(size, imp.Const):
        size = ctx.named(imp.maximum(size, 0), f"{name}_size")
    exact = isinstance(size, imp.Const) and divides(int(size.value), parts.of)  # type: ignore[arg-type]
    number = imp.binary("div", length, size) if exact else parts_in(length, size)
    count = ctx.named(number, f"{name}_parts")
    most = fold(size - 1)
    if ctx.known.at_most(lo, end + most):
        # as it is said where an index counts every `size`-th coordinate (`lower.strides`)
        ctx.known.assume(count, imp.binary("div", end - lo + most, size))
    return count


@contextmanager
def parts_at_once(ctx: Context, stmts: Sequence[loops.Stmt]) -> Iterator[None]:
    """Say once where a part of positions is that several of these statements go through."""
    loops_in = [[n for n in walk(s) if isinstance(n, loops.Loop)] for s in stmts]
    found = Counter(e for those in loops_in for e in {_part_through(loop) for loop in those})
    inside = {loop.index for those in loops_in for loop in those}
    before, spaces = ctx.clips, ctx.spaces
    for extent, count in found.items():
        if extent is None or count < 2 or extent in before or not _is_open(ctx, extent):
            continue
        nodes = list(walk(extent))
        if any(isinstance(n, loops.Name) for n in nodes):  # which come up on the way
            continue
        if not any(isinstance(n, loops.Index) and n.name in inside for n in nodes):
            ctx.clips = {**ctx.clips, extent: bounds_of(ctx, extent, "part")}
    yield
    ctx.clips, ctx.spaces = before, spaces


def _is_open(ctx: Context, part: loops.Range) -> bool:
    """Whether it is known where the range is that this is a part of."""
    base = base_of(part)
    return isinstance(base, loops.Extent) or base in ctx.spaces


def _part_through(loop: loops.Loop) -> loops.Range | None:
    """The part of a range that a loop goes through, with others or alone."""
    extent = loop.extent.of if isinstance(loop.extent, loops.Along) else loop.extent
    return extent if isinstance(unbound(extent), loops.Part) else None


def lower_place(ctx: Context, place: loops.Place) -> imp.Expr:
    """Which index of a range the loops through it are at."""
    index = place.at[-1]
    assert isinstance(index, loops.Index)
    here: imp.Expr = imp.Var(index.name)
    if isinstance(base_of(place.of), loops.Positions):
        here = ctx.led[index.name].pos
    elif len(place.at) > 1:
        here = _number_at(ctx, place, index.name)
    lo, _ = ctx.clips.get(place.of) or bounds_of(ctx, place.of, index.name)
    found = ctx.named(fold(here - lo), f"{index.name}_place")
    ctx.known.assume(imp.ZERO, found)
    match unbound(place.of):
        case loops.Part(_, _, loops.Literal(int(size))):
            ctx.known.assume(found + 1, imp.Const(size, imp.INT))
    return found


def _number_at(ctx: Context, place: loops.Place, name: str) -> imp.Expr:
    """The number of some indices among all those of several ranges, in the order of the loops."""
    from linnet.lower.products import ranges_of

    number: imp.Expr = imp.ZERO
    for index, (start, stop) in zip(place.at, ranges_of(ctx, place.of, name), strict=True):
        number = number * (stop - start) + (lower_expr(ctx, index, imp.INT) - start)
    return number


def _end(ctx: Context, expr: loops.Expr, name: str) -> imp.Expr:
    """Where a loop begins or ends; an unsigned number that no index reaches is the last of them."""
    if isinstance(expr, loops.Parts):
        return lower_parts(ctx, expr, name)
    if dtype_of(expr, ctx.facts.types) == "uint64":
        last = loops.Literal(np.iinfo(np.int64).max, "uint64")
        expr = loops.Call(minimum, (expr, last))
    return lower_expr(ctx, expr, imp.INT)
