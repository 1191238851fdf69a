"""What a loop walks, as looplets: fibers at its index or beside it, comparisons of the index.

An index that may leave its dimension is guarded: the parts of the loop beyond the bounds are
regions of their own, in which the access is missing. That costs nothing inside the loop, and where
a mask, a condition or `coalesce` keeps the access from being used there, nothing at all.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp, loops
from linnet.formats.fiber import Register
from linnet.formats.level import APPEND, INSIDE, NEAR, PERMISSIVE, WITHIN, WORD
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
    within,
)
from linnet.imp.linear import Linear, within_reach
from linnet.imp.rewrite import substitute
from linnet.loops.linear import as_expr, is_far
from linnet.loops.rewrite import point_of
from linnet.loops.solve import Scope, walk_of
from linnet.lower.context import Context, Cursor, Site, targets
from linnet.lower.expressions import LAZY, lower_expr, out_of_bounds
from linnet.lower.presence import unfurl_present
from linnet.lower.strides import Stride, strided
from linnet.lower.turned import Turn, turned
from linnet.records import dataclass


def unfurl(ctx: Context, cursor: Cursor, index: imp.Var, reopened: bool = False) -> Looplet:
    """The fiber of a cursor along the loop, which may not be the first that writes it."""
    walked = walk_of(cursor.index, Scope(index.name, (), ctx.facts.types))
    assert walked is not None
    factor, shift = walked[0], _shift(ctx, walked[1])
    at: imp.Expr = index
    turn = Turn(-factor, shift, cursor.fiber.dim)
    if factor < 0:
        at = turn.at(index)
        ctx.begins[cursor] = turn.behind(cursor.fiber.dim)
        ctx.ends[cursor] = turn.behind(imp.ZERO)
    elif shift != imp.ZERO or factor > 1:
        at = index * factor + shift if factor > 1 else index + shift
        stride = Stride(factor, shift, signed=not ctx.known.at_most(imp.ZERO, index))
        ctx.begins[cursor] = stride.first(imp.ZERO)
        if factor > 1 and ctx.known.at_most(imp.ZERO, shift):
            ctx.known.assume(ctx.begins[cursor], imp.ZERO)
        ctx.ends[cursor] = stride.first(cursor.fiber.dim)
    level = cursor.fiber.kind
    if cursor.update:
        reopened = reopened or cursor.fiber.reopened
        fiber = replace(cursor.fiber, again=index.name in ctx.again, reopened=reopened)
        looplet = level.update(ctx.b, fiber, at)
    else:
        near = not cursor.protocol and index.name in ctx.wholes
        protocol = NEAR if near else cursor.protocol
        looplet = unfurl_present(
            ctx, cursor.fiber, lambda fiber: level.unfurl(ctx.b, fiber, at, protocol)
        )
    if factor < 0:
        looplet = turned(ctx, looplet, turn)
    elif factor > 1:
        looplet = strided(ctx, looplet, stride)
    elif shift != imp.ZERO:
        looplet = shifted(looplet, shift)
    return looplet


def _shift(ctx: Context, form: Linear) -> imp.Expr:
    """What is added to an index, as a variable or a number; beyond all indices, how far is one."""
    shift = lower_expr(ctx, as_expr(form, ctx.facts.types), imp.INT)
    if any(map(is_far, form.terms)):
        shift = within_reach(shift)
    if isinstance(shift, imp.Const | imp.Var):
        return shift
    var = ctx.b.let("shift", shift)
    ctx.known.introduce(var, shift)
    return var


@dataclass(frozen=True, slots=True)
class Span:
    """The indices of a loop; of a `point`, the only one."""

    index: imp.Var
    lo: imp.Expr
    hi: imp.Expr
    point: bool


def guard(ctx: Context, cursor: Cursor, looplet: Looplet, span: Span, body: loops.Stmt) -> Looplet:
    """The fiber within its bounds, and nothing beyond them.

    Where every iteration uses the access, one test before the loop will do.
    """
    if isinstance(looplet, Thunk):  # what is done once around the loop is done in any case
        inner = guard(ctx, cursor, looplet.body, span, body)  # type: ignore[arg-type]
        return Thunk(looplet.preamble, inner, looplet.epilogue)
    if cursor.protocol == WORD:  # the loop is over all that is stored, and not over a dimension
        ctx.ends[cursor] = span.hi
        return looplet
    if cursor.protocol == WITHIN:
        return looplet
    start, stop = ctx.begin(cursor), ctx.dim(cursor)
    last = (span.lo, stop - 1) if span.point else (span.hi, stop)
    if ctx.known.at_most(start, span.lo) and ctx.known.at_most(*last):
        return looplet
    message = f"an index of `{_spoken(cursor)}` leaves its dimension"
    if not span.point:
        message += f" in the loop over `{span.index.name}`"
    ctx.sites.append(Site(message, cursor.at))
    site = len(ctx.sites) - 1
    used = cursor.protocol in (INSIDE, APPEND) or always_uses(body, cursor)
    if cursor.protocol != PERMISSIVE and used and not _is_refused_later(ctx, body):
        outside = (span.lo < span.hi) & ((span.lo < start) | (span.hi > stop))
        if span.point:
            outside = (span.index < start) | (span.index >= stop)
        refuse = imp.Block((imp.Return(out_of_bounds(site)),))
        ctx.b.emit(imp.If(outside, refuse, imp.EMPTY))
        return looplet
    missing = Run(Missing(site))
    if span.point:
        return Switch((span.index >= start) & (span.index < stop), looplet, missing)
    return Sequence((Phase(start, missing), Phase(stop, looplet), Phase(None, missing)))


def _spoken(cursor: Cursor) -> str:
    """The tensor as its user knows it: what is written to a result may go to a workspace first."""
    at = cursor.at
    written = "" if at is None else at.text[at.column : at.end_column].partition("[")[0]
    return written if written and cursor.name.startswith(f"{written}_w") else cursor.name


def _is_refused_later(ctx: Context, body: loops.Stmt) -> bool:
    """Whether a value is searched for here, and an error only where it is used."""
    places = [t.tensor for t in targets(body)]
    return any(isinstance(t, Register) and t.storage.name in ctx.refused for t in places)


def always_uses(node: loops.Node, cursor: Cursor) -> bool:
    """Whether running a statement always reads, or writes, the fiber of a cursor."""
    match node:
        case loops.Access(tensor, indices):
            here = tensor == cursor.fiber and indices[:1] == (cursor.index,)
            return here or any(always_uses(i, cursor) for i in indices)
        case loops.Call(function, args) if function.name in (*LAZY, "coalesce"):
            return always_uses(args[0], cursor)
        case loops.Call(_, args):
            return any(always_uses(a, cursor) for a in args)
        case loops.Assign(target, _, value):
            return always_uses(value, cursor) or always_uses(target, cursor)
        case loops.Let(_, value, body):
            return always_uses(value, cursor) or always_uses(body, cursor)
        case loops.If(cond):
            return always_uses(cond, cursor)
        case loops.Block(stmts):
            return any(always_uses(s, cursor) for s in stmts)
        case loops.Loop(_, extent, body) if point_of(extent) is not None:
            return always_uses(body, cursor)
        case _:
            return False


def shifted(looplet: Looplet, shift: imp.Expr) -> Looplet:
    """A looplet whose coordinates are the level's, in terms of an index that is less by `shift`."""
    match looplet:
        case Stepper():
            target = looplet.seek.target
            seek = substitute(looplet.seek.position, {target.name: target + shift})
            chunk = shifted(looplet.chunk, shift)
            stop = None if looplet.stop is None else looplet.stop - shift
            looplet = replace(looplet, seek=Seek(target, seek), stop=stop)
            return replace(looplet, last=looplet.last - shift, chunk=chunk)
        case Jumper(stepper):
            inner = shifted(stepper, shift)
            assert isinstance(inner, Stepper)
            return Jumper(inner)
        case Sequence(phases, inside):
            return Sequence(tuple(_shifted_phase(p, shift) for p in phases), inside)
        case _:
            return within(looplet, lambda part: shifted(part, shift))


def _shifted_phase(phase: Phase, shift: imp.Expr) -> Phase:
    stop = None if phase.stop is None else phase.stop - shift
    return Phase(stop, shifted(phase.body, shift))
