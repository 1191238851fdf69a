"""Comparisons of a loop's index: where each holds, and which of them are to narrow the loop.

A loop is cut where a comparison begins or ceases to hold, and the body is written for every part.
Each comparison that matters on both sides doubles the code: beyond a number of parts it is left
where it is, and tested in every iteration.
"""

from __future__ import annotations

from linnet import imp, loops
from linnet.algebra.table import remainder, subtract
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
from linnet.loops.rewrite import walk
from linnet.lower.context import Context, Mask, resolve
from linnet.lower.expressions import lower_expr
from linnet.lower.strides import Stride
from linnet.normalize.affine import MIRRORED, affine_of, residue_of

_FAR = 1 << 62  # no index is that large, nor its sum with another
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


def mask_looplet(ctx: Context, mask: Mask, index: imp.Var, hi: imp.Expr, point: bool) -> Looplet:
    """Where a comparison holds: it narrows the loop, and is not tested inside."""
    if point:
        cond = lower_expr(ctx, mask.call, imp.BOOL)
        return Switch(cond, Run(Truth(True)), Run(Truth(False)))
    residue = residue_of(mask.call, index.name, set())
    if residue is not None:
        return residue_looplet(ctx, mask, index, hi, *residue)
    relation, (a, b) = mask.call.function.name, mask.call.args
    affine = affine_of(a, index.name, set())
    if affine is None or affine[0] != 1:
        relation, a, b = MIRRORED[relation], b, a
        affine = affine_of(a, index.name, set())
    assert affine is not None
    value = _bound(ctx, b, affine[1])
    bound = ctx.b.let(f"{index.name}_bound", value)
    ctx.known.introduce(bound, value)
    after = imp.minimum(bound, hi) + 1 if _is_far(b) else bound + 1
    return Sequence(_phases(relation, bound, after))


def _bound(ctx: Context, value: loops.Expr, shift: loops.Expr) -> imp.Expr:
    """The index of which `index + shift` is a value; if there is none, the last on that side."""
    found, by = lower_expr(ctx, value, imp.INT), lower_expr(ctx, shift, imp.INT)
    if shift != loops.Literal(0) and _is_far(value):
        found = imp.maximum(found, fold(imp.maximum(by, 0)) + _LEAST)
        found = imp.minimum(found, fold(imp.minimum(by, 0)) + _GREATEST)
    return found - by


def _is_far(expr: loops.Expr) -> bool:
    """Whether a number may be any at all; indices, and what is near them, are small."""
    match expr:
        case loops.Call(_, args):
            return any(_is_far(a) for a in args)
        case loops.Literal(value):
            return abs(int(value)) >= _FAR  # type: ignore[arg-type]
        case loops.Value():
            return True
    return False


def _phases(relation: str, bound: imp.Expr, after: imp.Expr) -> tuple[Phase, ...]:
    """The phases of `index relation bound`, where an index behind the bound is one `after` it."""
    yes, no = Run(Truth(True)), Run(Truth(False))
    match relation:
        case "less":
            return Phase(bound, yes), Phase(None, no)
        case "less_equal":
            return Phase(after, yes), Phase(None, no)
        case "greater":
            return Phase(after, no), Phase(None, yes)
        case "greater_equal":
            return Phase(bound, no), Phase(None, yes)
        case "equal":
            return Phase(bound, no), Phase(after, yes), Phase(None, no)
        case _:
            return Phase(bound, yes), Phase(after, no), Phase(None, yes)


def residue_looplet(
    ctx: Context, mask: Mask, index: imp.Var, hi: imp.Expr, x: loops.Expr, m: int, r: int
) -> Looplet:
    """`x % m == r`: a walk over every m-th index, like that of a list which stores them."""
    if not 0 <= r < m:
        return Run(Truth(False))
    affine = affine_of(x, index.name, set())
    assert affine is not None
    start = loops.Call(
        remainder, (loops.Call(subtract, (loops.Literal(r), affine[1])), loops.Literal(m))
    )
    first = ctx.b.let(f"{index.name}_first", lower_expr(ctx, start, imp.INT))
    pos, target, stride = ctx.b.var(f"{index.name}_step"), ctx.b.var("target"), Stride(m, first)
    ctx.ends[mask] = hi  # type: ignore[index]
    return Stepper(
        pos=pos,
        begin=imp.ZERO,
        end=imp.maximum(stride.first(hi), 0),
        last=first + pos * m,
        chunk=Spike(Truth(True)),
        seek=Seek(target, imp.maximum(pos, stride.first(target))),
    )
