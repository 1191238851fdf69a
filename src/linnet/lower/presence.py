"""Fibers that may not be there: a condition decides, while running, whether anything is stored.

Where many operands meet, the code below them is written once, for all sets of them (`lower.wide`).
A fiber that is not there is walked as an empty one, and its values are the fill.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import FILL, Lookup, Looplet, Run, Seek, Stepper, Switch, Thunk, Value
from linnet.imp.rewrite import rewrite
from linnet.lower.context import Context, Cursor, as_value
from linnet.normalize.guards import held


def assign_if(cond: imp.Expr, *values: tuple[imp.Var, imp.Expr]) -> imp.Stmt:
    """Other values for variables, read from memory that is there only if the condition holds."""
    return imp.If(
        cond, imp.Block(tuple(imp.Assign(v, imp.cast(x, v.dtype)) for v, x in values)), imp.EMPTY
    )


def as_read(ctx: Context, cursor: Cursor, payload: Value) -> Fiber | loops.Expr:
    """What an access becomes: a value that may not be there is read now."""
    match payload:
        case Fiber(present=imp.Var() as present) if payload.kind.leaf:
            return _held(ctx, payload, present)
        case _:
            return as_value(cursor, payload)


def _held(ctx: Context, leaf: Fiber, stored: imp.Var) -> loops.Call:
    """The value of a leaf, read if it is `stored`, and the fill elsewhere."""
    format = leaf.storage.format
    assert format.fill_value is not None
    assert format.dtype is not None
    fill = loops.Literal(format.fill_value, format.dtype, structural=True)
    value = ctx.b.let(leaf.storage.name, imp.Const(fill.value, format.dtype), format.dtype)
    ctx.b.emit(assign_if(stored, (value, leaf.kind.read(leaf))))  # type: ignore[attr-defined]
    return held(loops.Value(stored), loops.Value(value), fill)


def unfurl_present(ctx: Context, fiber: Fiber, unfurl: Callable[[Fiber], Looplet]) -> Looplet:
    """What a fiber looks like along a loop, if it may not be there."""
    present = fiber.present
    if present is None:
        return unfurl(fiber)
    with ctx.b.collect() as before:
        looplet = unfurl(replace(fiber, present=None))
    match looplet:
        case Lookup(Fiber() as child) if not before:
            return replace(looplet, body=replace(child, present=present))
        case Stepper(covers=False, end=end) if not before and not isinstance(end, imp.Const):
            return _emptied(ctx, looplet, present)
        case _:
            return Switch(present, Thunk(tuple(before), looplet), Run(FILL))


def _emptied(ctx: Context, s: Stepper, present: imp.Var) -> Stepper:
    """A stepper without positions, unless its fiber is there."""
    begin = ctx.b.let(f"{s.pos.name}_begin", imp.ZERO)
    end = ctx.b.let(f"{s.pos.name}_end", imp.ZERO)
    ctx.b.emit(assign_if(present, (begin, s.begin), (end, s.end)))

    def rule(node: imp.Node) -> imp.Node | None:
        return end if node == s.end else None

    def first(node: imp.Node) -> imp.Node | None:
        return begin if node == s.begin else rule(node)

    return replace(
        s,
        begin=begin,
        end=end,
        seek=Seek(s.seek.target, rewrite(s.seek.position, rule)),
        setup=tuple(rewrite(let, rule) for let in s.setup),
        next=None if s.next is None else tuple(rewrite(a, rule) for a in s.next),
        reach=None if s.reach is None else rewrite(s.reach, rule),
        before=None if s.before is None else rewrite(s.before, first),
    )
