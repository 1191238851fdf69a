"""Where a coordinate is among the positions of a fiber, and which coordinate a position has.

A point has a coordinate for each of several dimensions, and comes before those that are greater in
the first of them in which they differ: as positions do, from the outermost level on.
"""

from __future__ import annotations

from collections.abc import Sequence

from linnet import imp
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import Jumper, Stepper
from linnet.imp.rewrite import substitute
from linnet.lower.context import Bounds, Context
from linnet.lower.walks import stepper_of


def first_at(ctx: Context, fiber: Fiber, point: Sequence[imp.Expr], ends: Bounds) -> imp.Expr:
    """The first position below a fiber that does not come before a point: a search in each level.

    `ends` are the positions of the outermost of these levels, or those from some of them on.
    """
    begin, end = ends
    found = ctx.named(position_at(ctx, fiber, begin, end, point[0]), f"{fiber.prefix}_at")
    if len(point) == 1:
        return found
    first = _below(fiber, found, len(point) - 1)
    if all(x == imp.ZERO for x in point[1:]):
        return first
    at = ctx.b.let(f"{fiber.prefix}_first", first)
    with ctx.b.collect() as code:
        inner, within = _child(ctx, fiber, found, end, point[0])
        ctx.b.emit(imp.Assign(at, first_at(ctx, inner, point[1:], within)))
    with ctx.b.collect() as test:
        here = imp.eq(coordinate_at(ctx, fiber, found), point[0])
        ctx.b.emit(imp.If(here, imp.Block(tuple(code)), imp.EMPTY))
    ctx.b.emit(imp.If(found < end, imp.Block(tuple(test)), imp.EMPTY))
    return at


def position_at(
    ctx: Context, fiber: Fiber, begin: imp.Expr, end: imp.Expr, coordinate: imp.Expr
) -> imp.Expr:
    """The first position of a fiber, from `begin` to `end`, whose coordinate is not less."""
    stepper = _stepper(ctx, fiber)
    if stepper is not None:
        found = {stepper.pos.name: begin, stepper.seek.target.name: coordinate}
        return substitute(stepper.seek.position, found)
    first = _stretch(fiber, begin, end)[0]
    return begin + imp.maximum(imp.minimum(coordinate - first, end - begin), 0)


def coordinate_at(ctx: Context, fiber: Fiber, position: imp.Expr) -> imp.Expr:
    """The coordinate of a position of a fiber."""
    stepper = _stepper(ctx, fiber)
    if stepper is not None:
        return substitute(stepper.last, {stepper.pos.name: position})
    return _stretch(fiber, position, position + 1)[0]


def _stepper(ctx: Context, fiber: Fiber) -> Stepper | None:
    """How a fiber is walked; None if the coordinates of its positions follow one another."""
    looplet = fiber.kind.unfurl(ctx.b, fiber, imp.ZERO, "")
    return stepper_of(looplet) if isinstance(looplet, Stepper | Jumper) else None


def _stretch(fiber: Fiber, begin: imp.Expr, end: imp.Expr) -> Bounds:
    found = fiber.kind.stretch(fiber.storage, fiber.level, fiber.pos, begin, end)
    assert found is not None
    return found


def _below(fiber: Fiber, position: imp.Expr, depth: int) -> imp.Expr:
    """The first of the positions some dimensions below one; it may be the one behind the last."""
    storage, number, depth = fiber.storage, fiber.level, depth - (fiber.kind.width - fiber.sub - 1)
    while depth > 0:
        number += 1
        level = storage.format.levels[number]
        found = level.positions(storage, number, position, position)
        assert found is not None
        position, depth = found[0], depth - level.width
    return position


def _child(
    ctx: Context, fiber: Fiber, position: imp.Expr, end: imp.Expr, coordinate: imp.Expr
) -> tuple[Fiber, Bounds]:
    """What is stored below a position of a fiber, and the positions of that."""
    if fiber.sub + 1 < fiber.kind.width:
        behind = position_at(ctx, fiber, position, end, coordinate + 1)
        ends = position, ctx.named(behind, f"{fiber.prefix}_stop")
        return Fiber(fiber.storage, fiber.level, fiber.pos, fiber.sub + 1, ends), ends
    child = fiber.child(position)
    found = child.kind.positions(child.storage, child.level, position, position + 1)
    assert found is not None
    begin, stop = found
    return child, (
        ctx.named(begin, f"{child.prefix}_begin"),
        ctx.named(stop, f"{child.prefix}_end"),
    )
