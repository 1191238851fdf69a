"""Comparisons of a loop's index: where each holds, and which of them are to narrow the loop.

A loop is cut where a comparison begins or ceases to hold, and the body is written for every part.
Each comparison that matters on both sides doubles the code: beyond a number of parts it is left
where it is, and tested in every iteration.
"""

from __future__ import annotations

from linnet import imp, loops
from linnet.algebra.division import floor_div
from linnet.algebra.table import remainder
from linnet.formats.looplets import (
    Looplet,
    Phase,
    Run,
    Seek,
    Sequence,
    Spike,
    Stepper,
    Switch,
    Truth,
)
from linnet.imp.fold import fold
from linnet.imp.linear import Linear, within_reach
from linnet.loops.linear import as_expr
from linnet.loops.rewrite import walk
from linnet.loops.solve import End, Residue, Scope, range_of, residue_of
from linnet.lower.context import Context, Mask, resolve
from linnet.lower.expressions import lower_expr
from linnet.lower.strides import Stride
from linnet.lower.unfurl import Span

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
_MOST = 32  # parts into which the loops of a nest are cut, all together


def cutting(ctx: Context, body: loops.Stmt, index: str, masks: list[Mask]) -> dict[Mask, int]:
    """The comparisons that cut a loop, and into how many parts it has been cut after each.

    Those without which nothing is done cut away what need not be visited, and are always used.
    """
    found: dict[Mask, int] = {}
    parts, full = [body], False
    for mask in masks:
        if _version(ctx, body, index, mask, holds=False) == loops.NOTHING:
            found[mask] = len(parts)
        elif not full:
            cut = [part for before in parts for part in _cut(ctx, before, index, mask)]
            full = len(cut) * ctx.parts > _MOST
            if not full:
                found[mask], parts = len(cut), cut
    return found


def _cut(ctx: Context, body: loops.Stmt, index: str, mask: Mask) -> list[loops.Stmt]:
    """A body for every part in which a comparison has one value, unless nothing is done there."""
    if all(node != mask.call for node in walk(body)):
        return [body]
    yes, no = (_version(ctx, body, index, mask, holds) for holds in (True, False))
    parts = {"equal": [no, yes, no], "not_equal": [yes, no, yes]}
    found = parts.get(mask.call.function.name, [yes, no])
    return [part for part in found if part != loops.NOTHING]


def _version(ctx: Context, body: loops.Stmt, index: str, mask: Mask, holds: bool) -> loops.Stmt:
    """What is done where a comparison holds, or where it does not."""
    literal = mask.truth(holds)
    return ctx.simplify(resolve(body, index, {mask: literal}))  # type: ignore[dict-item]


def mask_looplet(ctx: Context, mask: Mask, span: Span) -> Looplet:
    """Where a comparison holds: it narrows the loop, and is not tested inside."""
    if span.point:
        cond = lower_expr(ctx, mask.call, imp.BOOL)
        return Switch(cond, Run(Truth(True)), Run(Truth(False)))
    scope = Scope(span.index.name, (), ctx.facts.types)
    residue = residue_of(mask.call, scope)
    if residue is not None:
        return residue_looplet(ctx, mask, span, residue)
    found = range_of(mask.call, scope)
    assert found is not None
    holds = mask.call.function.name != "not_equal"
    beside, within = (Run(Truth(truth)) for truth in (not holds, holds))
    bounds = _Bounds(ctx, span)
    phases = [] if found.first is None else [Phase(bounds.at(found.first), beside)]
    if found.stop is None:
        return Sequence((*phases, Phase(None, within)))
    return Sequence((*phases, Phase(bounds.at(found.stop), within), Phase(None, beside)))


class _Bounds:
    """The ends of a range as code: what several have in common is computed once."""

    def __init__(self, ctx: Context, span: Span) -> None:
        self.ctx, self.span = ctx, span
        self.known: dict[imp.Expr, imp.Var] = {}

    def at(self, end: End) -> imp.Expr:
        """The index at which something begins to hold, or ceases to."""
        value = _difference(self.ctx, end)
        if end.factor > 1:
            value = fold(value - end.less)
            value = fold(floor_div((value, imp.Const(end.factor, imp.INT)), imp.INT))
        bound = self.known.get(value)
        if bound is None:
            bound = self.known[value] = self.ctx.b.let(f"{self.span.index.name}_bound", value)
            self.ctx.known.introduce(bound, value)
        if not end.more:
            return bound
        # one more than the largest of all numbers is the smallest
        return (imp.minimum(bound, self.span.hi) if end.far and end.factor == 1 else bound) + 1


def _difference(ctx: Context, end: End) -> imp.Expr:
    """`value - shift`, of which one may be any number: as if there were no largest one."""

    def code(form: Linear) -> imp.Expr:
        return lower_expr(ctx, as_expr(form, ctx.facts.types), imp.INT)

    if not end.far or (not end.shift.terms and not end.shift.number and end.factor == 1):
        return code(end.value.plus(end.shift, -1))
    found, by = code(end.value), code(end.shift)
    found = imp.maximum(found, fold(imp.maximum(by, 0)) + _LEAST)
    found = imp.minimum(found, fold(imp.minimum(by, 0)) + _GREATEST)
    return within_reach(found - by)


def residue_looplet(ctx: Context, mask: Mask, span: Span, residue: Residue) -> Looplet:
    """`x % m == r`: a walk over every m-th index, like that of a list which stores them."""
    if residue.first is None:
        return Run(Truth(False))
    m = loops.Literal(residue.step)
    start = loops.Call(remainder, (as_expr(residue.first, ctx.facts.types), m))
    first = ctx.b.let(f"{span.index.name}_first", lower_expr(ctx, start, imp.INT))
    pos, target = ctx.b.var(f"{span.index.name}_step"), ctx.b.var("target")
    stride = Stride(residue.step, first)
    ctx.ends[mask] = span.hi  # type: ignore[index]
    return Stepper(
        pos=pos,
        begin=imp.ZERO,
        end=imp.maximum(stride.first(span.hi), 0),
        last=first + pos * residue.step,
        chunk=Spike(Truth(True)),
        seek=Seek(target, imp.maximum(pos, stride.first(target))),
    )
