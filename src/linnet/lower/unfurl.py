"""What a loop walks, as looplets: fibers at the loop's index or beside it, comparisons of the index.

An index that may leave its dimension is guarded: the parts of the loop beyond the bounds are regions
of their own, in which the access is missing. That costs nothing inside the loop, and where a mask,
a condition or `coalesce` keeps the access from being used there, nothing at all.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.formats.looplets import (
    Jumper,
    Looplet,
    Missing,
    Phase,
    Run,
    Seek,
    Sequence,
    Stepper,
    Switch,
    Thunk,
    Truth,
)
from linnet.imp.rewrite import substitute
from linnet.lower.context import Context, Cursor, Mask, Site
from linnet.lower.expressions import lower_expr
from linnet.normalize.affine import MIRRORED, is_shift, shift_of

PERMISSIVE = "permissive"


def unfurl(ctx: Context, cursor: Cursor, index: imp.Var, guarded: bool, point: bool) -> Looplet:
    """The fiber of a cursor along the loop."""
    shift = lower_expr(ctx, shift_of(cursor.index, index.name), imp.INT)
    at: imp.Expr = index
    if shift != imp.ZERO:
        shift = shift if isinstance(shift, imp.Const | imp.Var) else ctx.b.let("shift", shift)
        ctx.shifts[cursor] = shift
        at = index + shift
    level = cursor.fiber.kind
    if cursor.update:
        looplet = level.update(ctx.b, cursor.fiber, at)
    else:
        looplet = level.unfurl(ctx.b, cursor.fiber, at, cursor.protocol)
    if shift != imp.ZERO:
        looplet = shifted(looplet, shift)
    return guard(ctx, cursor, looplet, index, shift, point) if guarded else looplet


def guard(
    ctx: Context, cursor: Cursor, looplet: Looplet, index: imp.Var, shift: imp.Expr, point: bool
) -> Looplet:
    """The fiber within its bounds, and nothing beyond them."""
    name = cursor.fiber.storage.name
    message = f"an index of `{name}` leaves its dimension in the loop over `{index.name}`"
    ctx.sites.append(Site(message, cursor.at))
    missing = Run(Missing(len(ctx.sites) - 1))
    dim = ctx.dim(cursor)
    if isinstance(looplet, Thunk):  # what is done once around the loop is done in any case
        inner = guard(ctx, cursor, looplet.body, index, shift, point)  # type: ignore[arg-type]
        return Thunk(looplet.preamble, inner, looplet.epilogue)
    if point:
        return Switch((index >= 0 - shift) & (index < dim), looplet, missing)
    return Sequence((Phase(0 - shift, missing), Phase(dim, looplet), Phase(None, missing)))


def shifted(looplet: Looplet, shift: imp.Expr) -> Looplet:
    """A looplet whose coordinates are the level's, in terms of an index that is less by `shift`."""
    match looplet:
        case Stepper():
            target = looplet.seek.target
            seek = substitute(looplet.seek.position, {target.name: target + shift})
            return replace(looplet, last=looplet.last - shift, seek=Seek(target, seek))
        case Jumper(stepper):
            inner = shifted(stepper, shift)
            assert isinstance(inner, Stepper)
            return Jumper(inner)
        case Sequence(phases):
            return Sequence(tuple(_shifted_phase(p, shift) for p in phases))
        case Switch(cond, head, tail):
            return Switch(cond, shifted(head, shift), shifted(tail, shift))  # type: ignore[arg-type]
        case Thunk(preamble, body, epilogue):
            return Thunk(preamble, shifted(body, shift), epilogue)  # type: ignore[arg-type]
        case _:
            return looplet


def _shifted_phase(phase: Phase, shift: imp.Expr) -> Phase:
    stop = None if phase.stop is None else phase.stop - shift
    return Phase(stop, shifted(phase.body, shift))


def mask_looplet(ctx: Context, mask: Mask, index: str) -> Looplet:
    """Where a comparison holds, as phases: it narrows the loop, and is not tested inside."""
    relation, (a, b) = mask.call.function.name, mask.call.args
    if not is_shift(a, index, set()):
        relation, a, b = MIRRORED[relation], b, a
    bound = ctx.b.let(f"{index}_bound", lower_expr(ctx, b, imp.INT) - lower_expr(ctx, shift_of(a, index), imp.INT))
    yes, no = Run(Truth(True)), Run(Truth(False))
    match relation:
        case "less":
            return Sequence((Phase(bound, yes), Phase(None, no)))
        case "less_equal":
            return Sequence((Phase(bound + 1, yes), Phase(None, no)))
        case "greater":
            return Sequence((Phase(bound + 1, no), Phase(None, yes)))
        case "greater_equal":
            return Sequence((Phase(bound, no), Phase(None, yes)))
        case "equal":
            return Sequence((Phase(bound, no), Phase(bound + 1, yes), Phase(None, no)))
        case _:
            return Sequence((Phase(bound, yes), Phase(bound + 1, no), Phase(None, yes)))
