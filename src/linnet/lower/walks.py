"""Fibers under way: their positions, how they move on, and what is left where nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import reduce

from linnet import imp, loops
from linnet.errors import ScheduleError
from linnet.formats.looplets import (
    FILL,
    Jumper,
    Looplet,
    Spike,
    Stepper,
    Thunk,
    stepper_with,
    with_variables,
)
from linnet.imp.rewrite import substitute
from linnet.loops.bases import positions_in
from linnet.lower.context import Context, Cursor, Mask, as_value, cursors_of, resolve
from linnet.lower.region import Region
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Walk:
    """A stepper under way: its fiber, and the variables for its end and its next coordinate."""

    cursor: Cursor  # by which it is found
    stepper: Stepper = field(hash=False)
    end: imp.Expr = field(hash=False)
    last: imp.Var = field(hash=False)

    @property
    def more(self) -> imp.Expr:
        """Whether anything is left."""
        return self.stepper.pos < self.end

    @property
    def spike(self) -> bool:
        """Whether chunks are single indices."""
        return isinstance(self.stepper.chunk, Spike)


def over(
    ctx: Context, index: imp.Var, cursor: Cursor, s: Stepper, begin: imp.Expr, end: imp.Expr
) -> imp.Over:
    """What a loop over positions of a fiber goes through."""
    span = _span(cursor, s, begin, end)
    ordered = (span is not None and not span.part) or ctx.known.at_most(begin, end)
    spans = () if span is None else (span,)
    return imp.Over(_text(index, [cursor]), spans, ordered, index.name)


def over_all(index: imp.Var, walks: Sequence[Walk]) -> imp.Over:
    """What a loop goes through that walks several fibers, each by a position of its own."""
    spans = tuple([span for w in walks for span in over_skipped(w).spans])
    return imp.Over(_text(index, [w.cursor for w in walks]), spans, index=index.name)


def over_skipped(w: Walk) -> imp.Over:
    """What a loop goes through that moves one fiber on to where others have come."""
    span = _span(w.cursor, w.stepper, w.stepper.begin, w.end)
    at = w.stepper.pos
    return imp.Over(spans=() if span is None else (replace(span, part=True, position=at),))


def _span(cursor: Cursor, s: Stepper, begin: imp.Expr, end: imp.Expr) -> imp.Span | None:
    """The entries of a fiber, all of them or a part, if its level says where they are."""
    if isinstance(cursor, Mask) or s.turned or cursor.fiber.present is not None:
        return None  # where it is not there, it has no positions
    fiber = cursor.fiber
    first, last = fiber.pos, fiber.pos + 1
    entries = fiber.kind.entries(fiber.storage, fiber.level, first, last)
    if entries is None:
        return None
    whole = fiber.sub == 0 and (begin, end) == entries
    return imp.Span(cursor.name, fiber.level, first, last, part=not whole)


def _text(index: imp.Var, cursors: Sequence[Cursor]) -> str:
    """What a loop walks, for who reads the code: `k in A[i, k]`."""
    return f"{index.name} in {', '.join(dict.fromkeys(map(_written, cursors)))}"


def _written(cursor: Cursor) -> str:
    """An access as its user wrote it, where that is known."""
    at = None if isinstance(cursor, Mask) else cursor.at
    text = "" if at is None else at.text[at.column : at.end_column]
    return text if text.startswith(f"{cursor.name}[") and text.endswith("]") else cursor.name


def stepper_of(looplet: Looplet) -> Stepper:
    """The stepper that a looplet is, or would rather lead."""
    if isinstance(looplet, Jumper):
        return looplet.stepper
    assert isinstance(looplet, Stepper)
    return looplet


def own(ctx: Context, s: Stepper) -> Stepper:
    """The stepper with variables of its own, if it has been walked before in this block."""
    return stepper_with(s, _renamed(ctx, [s.pos, *(let.var for let in s.setup)]))


def chunk_of(ctx: Context, s: Stepper) -> Looplet:
    """The chunk at the stepper's position, with variables of its own if it has been used before."""
    if not isinstance(s.chunk, Thunk):
        return s.chunk
    lets = [stmt for stmt in s.chunk.preamble if isinstance(stmt, imp.Let)]
    new = _renamed(ctx, [let.var for let in lets])
    if not new:
        return s.chunk
    body, first = with_variables(s.chunk.body, new), []
    for let in lets:
        var = new[let.var.name]
        assert isinstance(var, imp.Var)
        first.append(imp.Let(var, substitute(let.value, new)))
    return Thunk(tuple(first), body, s.chunk.epilogue)


def _renamed(ctx: Context, introduced: list[imp.Var]) -> dict[str, imp.Expr]:
    """New names for variables, unless this is the first time that they are introduced."""
    if all(var.name not in ctx.walked for var in introduced):
        ctx.walked.update(var.name for var in introduced)
        return {}
    return {var.name: ctx.b.var(var.name, var.dtype) for var in introduced}


def at_fill(ctx: Context, r: Region, cursors: list[Cursor]) -> Region:
    """The region where nothing is stored in these fibers."""
    if not cursors:
        return r
    fills = {c: as_value(c, FILL) for c in cursors}
    body = ctx.simplify(resolve(r.body, r.index.name, fills))
    alive = set(cursors_of(ctx, body, r.index.name))
    return replace(r, body=body, looplets={c: x for c, x in r.looplets.items() if c in alive})


def bounds(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> tuple[imp.Expr, imp.Expr]:
    """The positions of a stepper within the region: a search at each end that is not its own."""
    begin, end = s.begin, s.end
    if (tile := _tile(ctx, r, cursor)) is not None:
        return tile
    reached = reached_by(ctx, r, cursor, s)
    if not ctx.known.at_most(r.lo, ctx.begin(cursor)):
        begin = ctx.b.let(f"{s.pos.name}_begin", begin) if reached is None else reached
        if reached is None or not _goes_on(ctx, r, cursor, s):
            begin = substitute(s.seek.position, {s.pos.name: begin, s.seek.target.name: r.lo})
        begin = ctx.b.let(f"{s.pos.name}_lo", begin)
    stop = ctx.dim(cursor) if s.stop is None else s.stop
    if not ctx.known.at_most(stop, r.hi) and isinstance(s.chunk, Spike):
        begin = begin if isinstance(begin, imp.Var) else ctx.b.let(f"{s.pos.name}_lo", begin)
        seek = substitute(s.seek.position, {s.pos.name: begin, s.seek.target.name: r.hi})
        end = ctx.b.let(f"{s.pos.name}_hi", seek)
        ctx.known.assume(begin, end)  # it is looked for from there on
        if reached is not None:
            ctx.b.emit(imp.Assign(reached, end))
    return begin, end


def _tile(ctx: Context, r: Region, cursor: Cursor) -> tuple[imp.Expr, imp.Expr] | None:
    """The positions whose coordinates the region has, if it is made of them."""
    of = ctx.tiles.get(r.index.name)
    positions = None if of is None else positions_in(of)
    if of is None or positions is None or not r.is_whole or isinstance(cursor, Mask):
        return None
    mine = cursor.fiber == ctx.spaces[positions].fiber
    return ctx.clips[of] if mine and cursor.index == loops.Index(r.index.name) else None


def reached_by(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> imp.Var | None:
    """The variable for where a walk stands that goes on from part to part."""
    counting = ctx.counting.get(r.index.name)
    first, reached = (
        (None, None) if counting is None else counting.reached.get(cursor, (None, None))
    )
    return reached if first == s.begin else None


def _goes_on(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> bool:
    """Whether a part begins at the entry where the one before has ended, and the first one, too.

    So it is if a fiber is walked in all parts of a range that begins where the fiber does.
    """
    counting = ctx.counting[r.index.name]
    if counting.bounds is None or counting.chosen or not r.is_whole:
        return False
    return isinstance(s.chunk, Spike) and ctx.known.at_most(counting.bounds[0], ctx.begin(cursor))


def repeat_while(
    ctx: Context, r: Region, cond: imp.Expr, body: imp.Block, over: imp.Over, cursors: list[Cursor]
) -> None:
    """A loop whose turns nobody can count before; a schedule cannot say how it is to be run."""
    refuse_how(r, cursors)
    ctx.b.emit(imp.While(cond, body, over))


def refuse_how(r: Region, cursors: list[Cursor]) -> None:
    """Refuse what a schedule says of a loop that does not count."""
    if not r.how.is_plain:
        names = " and ".join(dict.fromkeys(f"`{c.name}`" for c in cursors))
        raise ScheduleError(
            f"`{r.how.command}`: the loop over `{r.index.name}` walks what is stored in {names}",
            at=r.how.at,
            why="such a loop goes on while there is more of it, and does not count its turns",
            hint="go through the positions of one of them by `pos`, or split another loop",
        )


def open_walk(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> Walk:
    """Introduce the position, the end and the coordinate of a stepper."""
    begin, end = bounds(ctx, r, cursor, s)
    ctx.b.emit(imp.Let(s.pos, begin))
    end = end if isinstance(end, imp.Var) else ctx.b.let(f"{s.pos.name}_end", end)
    ctx.b.emit(*s.setup)
    return Walk(cursor, s, end, ctx.b.var(f"{cursor.name}_{r.index.name}"))


def advance(s: Stepper) -> tuple[imp.Stmt, ...]:
    """Move to the next position."""
    return (imp.Assign(s.pos, s.pos + 1),) if s.next is None else s.next


def again(s: Stepper) -> tuple[imp.Stmt, ...]:
    """What was set up for a position, set up again."""
    return tuple(imp.Assign(stmt.var, stmt.value) for stmt in s.setup)


def step(w: Walk, here: imp.Expr) -> tuple[imp.Stmt, ...]:
    """Move on, if `here` is true."""
    s = w.stepper
    moves = (*advance(s), *again(s))
    if here == imp.TRUE:
        return moves
    if s.next is None and not s.setup:
        return (imp.Assign(s.pos, s.pos + imp.Cast(here, imp.INT)),)
    return (imp.If(here, imp.Block(moves), imp.EMPTY),)


def least(ctx: Context, r: Region, ends: list[imp.Expr]) -> imp.Expr:
    """The least of the coordinates that come next."""
    last = reduce(imp.minimum, ends)
    return last if isinstance(last, imp.Var) else ctx.b.let(f"{r.index.name}_next", last)
