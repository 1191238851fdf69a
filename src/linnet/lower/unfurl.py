"""What a loop walks, as looplets: fibers at its index or beside it, comparisons of the index.

An index that may leave its dimension is guarded: the parts of the loop beyond the bounds are
regions of their own, in which the access is missing. That costs nothing inside the loop, and where
a mask, a condition or `coalesce` keeps the access from being used there, nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence as Ints
from dataclasses import dataclass, replace

from linnet import imp, loops
from linnet.algebra.table import remainder, subtract
from linnet.formats.fiber import Register
from linnet.formats.level import APPEND
from linnet.formats.looplets import (
    Jumper,
    Looplet,
    Missing,
    Phase,
    Run,
    Seek,
    Sequence,
    Spike,
    Stepper,
    Switch,
    Thunk,
    Truth,
)
from linnet.imp.rewrite import substitute
from linnet.loops.rewrite import point_of
from linnet.lower.context import Context, Cursor, Mask, Site, targets
from linnet.lower.expressions import LAZY, lower_expr, out_of_bounds
from linnet.normalize.affine import MIRRORED, affine_of, residue_of
from linnet.normalize.simplify import simplify_expr

PERMISSIVE = "permissive"
INSIDE = "inside"  # the protocol of slices, which do not leave their dimension


def unfurl(ctx: Context, cursor: Cursor, index: imp.Var) -> Looplet:
    """The fiber of a cursor along the loop."""
    affine = affine_of(cursor.index, index.name, set())
    assert affine is not None
    factor = affine[0]
    shift = lower_expr(ctx, simplify_expr(affine[1], ctx.facts), imp.INT)
    at: imp.Expr = index
    if shift != imp.ZERO or factor > 1:
        shift = shift if isinstance(shift, imp.Const | imp.Var) else ctx.b.let("shift", shift)
        at = index * factor + shift if factor > 1 else index + shift
        ctx.begins[cursor] = _ceil_div(0 - shift, factor)
        ctx.ends[cursor] = _ceil_div(cursor.fiber.dim - shift, factor)
    level = cursor.fiber.kind
    if cursor.update:
        looplet = level.update(ctx.b, cursor.fiber, at)
    else:
        looplet = level.unfurl(ctx.b, cursor.fiber, at, cursor.protocol)
    if factor > 1:
        looplet = strided(ctx, looplet, factor, shift)
    elif shift != imp.ZERO:
        looplet = shifted(looplet, shift)
    return looplet


def _ceil_div(x: imp.Expr, factor: int) -> imp.Expr:
    """The first multiple's factor at or above x; below zero, some number that is not above zero."""
    return x if factor == 1 else imp.binary("div", x + (factor - 1), factor)


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
    start, stop = ctx.begin(cursor), ctx.dim(cursor)
    last = (span.lo, stop - 1) if span.point else (span.hi, stop)
    if ctx.known.at_most(start, span.lo) and ctx.known.at_most(*last):
        return looplet
    message = f"an index of `{cursor.name}` leaves its dimension"
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


def strided(ctx: Context, looplet: Looplet, factor: int, shift: imp.Expr) -> Looplet:
    """A looplet whose coordinates are the level's, along an index that counts every `factor`-th.

    Needs: random access, or entries whose coordinates lie in an array (`Level.strided`).
    """
    if not isinstance(looplet, Stepper):
        return looplet
    idx = _coordinates(looplet)
    target = looplet.seek.target

    def first(position: imp.Expr) -> imp.Expr:
        return ctx.b.call(next_multiple, idx, position, looplet.end, factor, shift)

    seek = substitute(looplet.seek.position, {target.name: target * factor + shift})
    return replace(
        looplet,
        begin=first(looplet.begin),
        last=imp.binary("div", looplet.last - shift, factor),
        next=(imp.Assign(looplet.pos, first(looplet.pos + 1)),),
        seek=Seek(target, first(seek)),
        stop=None,
    )


def _coordinates(stepper: Stepper) -> imp.Buffer:
    last = stepper.last.x if isinstance(stepper.last, imp.Cast) else stepper.last
    assert isinstance(last, imp.Load)
    return last.buffer


def next_multiple(idx: Ints[int], q: int, end: int, factor: int, shift: int) -> int:
    """A codelet: the first entry from q on whose coordinate is `shift` plus a multiple."""
    while q < end and (idx[q] < shift or (idx[q] - shift) % factor != 0):
        q += 1
    return q


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
        case Switch(cond, head, tail):
            return Switch(cond, shifted(head, shift), shifted(tail, shift))  # type: ignore[arg-type]
        case Thunk(preamble, body, epilogue):
            return Thunk(preamble, shifted(body, shift), epilogue)  # type: ignore[arg-type]
        case _:
            return looplet


def _shifted_phase(phase: Phase, shift: imp.Expr) -> Phase:
    stop = None if phase.stop is None else phase.stop - shift
    return Phase(stop, shifted(phase.body, shift))


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
    value = lower_expr(ctx, b, imp.INT) - lower_expr(ctx, affine[1], imp.INT)
    bound = ctx.b.let(f"{index.name}_bound", value)
    ctx.known.introduce(bound, value)
    return Sequence(_phases(relation, bound))


def _phases(relation: str, bound: imp.Expr) -> tuple[Phase, ...]:
    """The phases of `index relation bound`."""
    yes, no = Run(Truth(True)), Run(Truth(False))
    match relation:
        case "less":
            return Phase(bound, yes), Phase(None, no)
        case "less_equal":
            return Phase(bound + 1, yes), Phase(None, no)
        case "greater":
            return Phase(bound + 1, no), Phase(None, yes)
        case "greater_equal":
            return Phase(bound, no), Phase(None, yes)
        case "equal":
            return Phase(bound, no), Phase(bound + 1, yes), Phase(None, no)
        case _:
            return Phase(bound, yes), Phase(bound + 1, no), Phase(None, yes)


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
    pos, target = ctx.b.var(f"{index.name}_step"), ctx.b.var("target")
    ctx.ends[mask] = hi  # type: ignore[index]
    return Stepper(
        pos=pos,
        begin=imp.ZERO,
        end=imp.maximum(_ceil_div(hi - first, m), 0),
        last=first + pos * m,
        chunk=Spike(Truth(True)),
        seek=Seek(target, imp.maximum(pos, _ceil_div(target - first, m))),
    )
