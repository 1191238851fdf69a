"""Walking runs and blocks: loops that meet where one of them ends, and never at every index.

A stretch in which every walked fiber has one chunk is a region of its own, to which all other rules
apply: runs are repeated, blocks are plain loops. Where something happens only in what all of them
store, what lies between is stepped over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from linnet import imp, loops
from linnet.formats.looplets import (
    FILL,
    Looplet,
    Piece,
    Run,
    Sequence,
    Spike,
    Stepper,
    Switch,
    Thunk,
    piece_of,
)
from linnet.imp.effects import Effects, independent
from linnet.imp.rewrite import rewrite, statements, substitute
from linnet.imp.rewrite import walk as nodes
from linnet.lower.cases import cases
from linnet.lower.collapse import collapsed
from linnet.lower.context import Context, Cursor
from linnet.lower.region import Region, lower_at, lower_phases, lower_region
from linnet.lower.shortcircuit import break_early
from linnet.lower.walks import (
    Walk,
    advance,
    again,
    at_fill,
    bounds,
    chunk_of,
    least,
    over,
    over_all,
    over_skipped,
    reached_by,
    repeat_while,
    step,
)


def walk_chunks(ctx: Context, r: Region, cursor: Cursor, s: Stepper, gap: Region) -> None:
    """One fiber drives the loop: a loop over positions, each from where the last one ended."""
    begin, end = bounds(ctx, r, cursor, s)
    start, chunk = ctx.b.var(f"{r.index.name}_start"), chunk_of(ctx, s)

    def lower() -> None:
        stop = ctx.b.let(f"{r.index.name}_next", s.last + 1)
        here = replace(r.with_looplet(cursor, chunk), lo=start, hi=stop, nonempty=True)
        lower_chunk(ctx, here, cursor, chunk, early=not ctx.known.at_most(r.lo, ctx.begin(cursor)))
        break_early(ctx, r.body)
        ctx.b.emit(imp.Assign(start, stop))

    body, what = ctx.collect(lower), over(ctx, r.index, cursor, s, begin, end)
    behind = not s.covers and gap.body != loops.NOTHING
    if behind or start in nodes(body):
        ctx.b.emit(imp.Let(start, r.lo))
    else:  # each chunk says by itself where it begins
        body = imp.Block(body.stmts[:-1])
    ctx.b.emit(collapsed(ctx, imp.For(s.pos, begin, end, body, what, r.how)))
    if behind:
        lower_region(ctx, replace(gap, lo=start))


def walk_runs(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> None:
    """One fiber drives a loop over a part of it: over the runs of the first index to the last.

    A search finds the last run: each has an index, so that it is not further than that.
    """

    def walk() -> None:
        begin, _ = bounds(ctx, r, cursor, s)
        begin = begin if isinstance(begin, imp.Var) else ctx.b.let(f"{s.pos.name}_lo", begin)
        seek = substitute(s.seek.position, {s.pos.name: begin, s.seek.target.name: r.hi - 1})
        most = imp.minimum(s.end, begin + (r.hi - r.lo))
        if not s.turned:
            seek = rewrite(seek, lambda node: most if node == s.end else None)
        last = ctx.b.let(f"{s.pos.name}_last", seek)
        if (reached := reached_by(ctx, r, cursor, s)) is not None:
            ctx.b.emit(imp.Assign(reached, last))
        end = ctx.b.let(f"{s.pos.name}_hi", last + 1)
        start = ctx.b.let(f"{r.index.name}_start", r.lo)

        def lower() -> None:
            stop = ctx.b.let(f"{r.index.name}_next", imp.minimum(s.last + 1, r.hi))
            here = replace(r.with_looplet(cursor, s.chunk), lo=start, hi=stop, nonempty=True)
            lower_region(ctx, here)
            break_early(ctx, r.body)
            ctx.b.emit(imp.Assign(start, stop))

        body, what = ctx.collect(lower), over(ctx, r.index, cursor, s, begin, end)
        ctx.b.emit(imp.For(s.pos, begin, end, body, what, r.how))

    code = ctx.collect(walk)
    sure = r.nonempty or ctx.known.at_most(r.lo + 1, r.hi)
    ctx.b.emit(code if sure else imp.If(r.lo < r.hi, code, imp.EMPTY))


def walk_pieces(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> None:
    """One fiber drives the loop, by stored pieces that may be empty, with nothing between them."""
    begin, end = bounds(ctx, r, cursor, s)
    piece = piece_of(chunk_of(ctx, s))

    def lower() -> None:
        ctx.b.emit(*s.setup, *piece.preamble)
        first, stop = r.lo if piece.left is None else piece.left, s.last + 1
        if not ctx.known.at_most(r.lo, ctx.begin(cursor)):
            first = imp.maximum(first, r.lo)
        if r.hi != ctx.dim(cursor):
            stop = imp.minimum(stop, r.hi)
        first = ctx.b.let(f"{r.index.name}_first", first)
        stop = ctx.b.let(f"{r.index.name}_next", stop)
        here = replace(r.with_looplet(cursor, piece.stored), lo=first, hi=stop)
        lower_region(ctx, replace(here, apart=(first, stop) if _are_apart(r, [s]) else None))
        break_early(ctx, r.body)

    body, what = ctx.collect(lower), over(ctx, r.index, cursor, s, begin, end)
    if s.next is None:
        ctx.b.emit(collapsed(ctx, imp.For(s.pos, begin, end, body, what, r.how)))
        return
    ctx.b.emit(imp.Let(s.pos, begin))
    end = ctx.b.let(f"{s.pos.name}_end", end)
    steps = imp.Block((*body.stmts, *s.next))
    repeat_while(ctx, r, s.pos < end, steps, imp.as_part(what, s.pos), [cursor])


def lower_chunk(ctx: Context, r: Region, cursor: Cursor, chunk: Looplet, early: bool) -> None:
    """A region that ends with a chunk. Some of its phases may end before the region begins."""
    match chunk:
        case Thunk(preamble, body):
            ctx.b.emit(*preamble)
            lower_chunk(ctx, r, cursor, body, early)  # type: ignore[arg-type]
        case Sequence(phases):
            lower_phases(ctx, r, cursor, phases, early, late=False)
        case _:
            lower_region(ctx, r.with_looplet(cursor, chunk))


def merge_chunks(ctx: Context, r: Region, walks: list[Walk], start: imp.Expr) -> None:
    """`while` all of these fibers last, some of which have runs or blocks."""
    assert isinstance(start, imp.Var)
    spikes, runs = [w for w in walks if w.spike], [w for w in walks if not w.spike]
    if not spikes and leaves_gaps(ctx, r, runs):
        meet_chunks(ctx, r, runs, start)
        return
    beyond = any(r.hi != ctx.dim(w.cursor) for w in runs)  # chunks may go on after the region
    before = at_fill(ctx, r, [w.cursor for w in spikes])

    def lower() -> None:
        chunks = {w.cursor: chunk_of(ctx, w.stepper) for w in runs}
        stretch = replace(before, looplets={**before.looplets, **_known(before, chunks)}, lo=start)
        if not spikes:
            stop = _to_boundary(ctx, stretch, runs, beyond)
            ctx.b.emit(imp.Assign(start, stop))
            return
        for w in walks:
            ctx.b.emit(imp.Let(w.last, w.stepper.last))
        last = least(ctx, r, [*(w.last for w in walks), *([r.hi - 1] if beyond else [])])
        lower_region(ctx, replace(stretch, hi=last))
        again_here = {w.cursor: chunk_of(ctx, w.stepper) for w in runs}
        here = replace(r, looplets={**r.looplets, **_known(r, again_here)})
        ctx.b.emit(*cases(ctx, here, walks, last).stmts)
        ctx.b.emit(imp.Assign(start, last + 1))

    more, body = _all_last(r, walks, start, beyond), ctx.collect(lower)
    repeat_while(ctx, r, more, body, over_all(r.index, walks), [w.cursor for w in walks])


def _all_last(r: Region, walks: list[Walk], start: imp.Expr, beyond: bool) -> imp.Expr:
    """Whether no fiber is at its end; `beyond` if some may go on after the region."""
    conds = [w.more for w in walks if not w.stepper.covers]
    if beyond or not conds:
        conds.append(start < r.hi)
    return reduce(imp.Operators.__and__, conds)


def _known(r: Region, chunks: dict[Cursor, Looplet]) -> dict[Cursor, Looplet]:
    return {c: x for c, x in chunks.items() if c in r.looplets}


def _to_boundary(ctx: Context, r: Region, runs: list[Walk], beyond: bool) -> imp.Expr:
    """The region up to the first place where a chunk ends, and the step of those that end there."""
    for w in runs:
        ctx.b.emit(imp.Let(w.last, w.stepper.last + 1))
    stop = least(ctx, r, [*(w.last for w in runs), *([r.hi] if beyond else [])])
    lower_region(ctx, replace(r, hi=stop, nonempty=True))
    break_early(ctx, r.body)
    for w in runs:
        ends = imp.TRUE if stop == w.last else imp.eq(w.last, stop)
        ctx.b.emit(*step(w, ends))
    return stop


def _piece(ctx: Context, w: Walk) -> Piece:
    """The stored part of a chunk under way: of a single entry, the index where it is."""
    chunk = w.stepper.chunk
    if isinstance(chunk, Spike):
        return Piece((), w.stepper.last, Run(chunk.tail))
    return piece_of(chunk_of(ctx, w.stepper))


def leaves_gaps(ctx: Context, r: Region, walks: list[Walk]) -> bool:
    """Whether nothing happens where one of these fibers stores nothing, and some do not."""
    gaps = any(piece_of(w.stepper.chunk).left is not None for w in walks)
    return gaps and all(at_fill(ctx, r, [w.cursor]).body == loops.NOTHING for w in walks)


def meet_chunks(
    ctx: Context,
    r: Region,
    walks: list[Walk],
    under_way: imp.Var | None = None,
    seeking: bool = False,
) -> None:
    """An intersection of runs and blocks: `while` all of them last, what their chunks share.

    A chunk that ends before another one begins is left behind without a look between the two, and
    `seeking`, all such chunks at once. The walks may be `under_way`, up to an index.
    """
    start = ctx.b.let(f"{r.index.name}_start", r.lo) if under_way is None else under_way
    beyond = any(r.hi != ctx.dim(w.cursor) for w in walks)  # chunks may go on after the region
    begin = r.lo if under_way is None else ctx.b.let(f"{r.index.name}_begin", start)
    within = under_way is None and any(_begins_within(ctx, r, w) for w in walks)

    def lower() -> None:
        pieces = {w.cursor: _piece(ctx, w) for w in walks}
        late = [p for p in pieces.values() if not _begins_early(p)]
        ctx.b.emit(*(stmt for p in late for stmt in p.preamble))
        ctx.b.emit(*(imp.Let(w.last, w.stepper.last + 1) for w in walks))
        where = _first(list(pieces.values()), start, None if within else begin)
        first = ctx.b.let(f"{r.index.name}_first", where)
        stop = least(ctx, r, [*(w.last for w in walks), *([r.hi] if beyond else [])])
        alone = under_way is None and _are_apart(r, [w.stepper for w in walks])
        apart = (first, stop) if alone else r.apart
        both = replace(r, lo=first, hi=stop, nonempty=True, apart=apart)
        meet = ctx.collect(lambda: _meet(ctx, both, walks, pieces, start))
        moves = (_seek_all if seeking else _step_all)(walks, first)
        missed = imp.Block((imp.Assign(start, first), *moves))
        ctx.b.emit(imp.If(first < stop, meet, missed))

    more, body = _all_last(r, walks, start, beyond), ctx.collect(lower)
    repeat_while(ctx, r, more, body, over_all(r.index, walks), [w.cursor for w in walks])


def _meet(
    ctx: Context, r: Region, walks: list[Walk], pieces: dict[Cursor, Piece], start: imp.Var
) -> None:
    """What is done in a region that chunks share, and the moves that leave it.

    Where the order makes no difference, the walks move on first: then no more than two bounds have
    to be kept while the rest is done.
    """
    ctx.b.emit(*(stmt for p in pieces.values() if _begins_early(p) for stmt in p.preamble))
    shared = ctx.collect(lambda: _lower_shared(ctx, r, walks, pieces))
    moves = imp.Block((imp.Assign(start, r.hi), *_pass(ctx, walks, pieces, r.hi)))
    leaves = any(isinstance(stmt, imp.Break) for stmt in statements(shared))
    effects = Effects(())
    later = not leaves and independent(effects.of(shared), effects.of(moves))
    ctx.b.emit(*(moves.stmts + shared.stmts if later else shared.stmts + moves.stmts))


def _lower_shared(ctx: Context, r: Region, walks: list[Walk], pieces: dict[Cursor, Piece]) -> None:
    """What is done where all of these chunks meet: at one index, if one of them is an entry."""
    stored = {c: p.stored for c, p in pieces.items()}
    both = replace(r, looplets={**r.looplets, **stored})
    if any(w.spike for w in walks):
        lower_at(ctx, both, r.lo)
    else:
        lower_region(ctx, both)
    break_early(ctx, r.body)


def _step_all(walks: list[Walk], end: imp.Expr) -> Iterator[imp.Stmt]:
    """Move on where a chunk ends before an index."""
    for w in walks:
        yield from step(w, w.last <= end)


def _seek_all(walks: list[Walk], start: imp.Expr) -> Iterator[imp.Stmt]:
    """Move on to the first chunk that ends behind an index."""
    for w in walks:
        s = w.stepper
        position = substitute(s.seek.position, {s.seek.target.name: start})
        moves = imp.Block((imp.Assign(s.pos, position), *again(s)))
        yield imp.If(w.last <= start, moves, imp.EMPTY)


def _pass(
    ctx: Context, walks: list[Walk], pieces: dict[Cursor, Piece], stop: imp.Expr
) -> Iterator[imp.Stmt]:
    """Move on from what all chunks share, which ends at `stop`.

    Runs that are much alike in all fibers, as in neighbouring rows of an image, end before any
    other begins: then all move on at once, and the next step waits for none of the values.
    """
    if not all(_is_plain_run(w.stepper, pieces[w.cursor]) for w in walks):
        yield from _step_all(walks, stop)
        return
    far, conds = ctx.b.var("far"), []
    ends: list[imp.Expr] = [w.last for w in walks]
    for w in walks:
        left, next = pieces[w.cursor].left, w.stepper.pos + 1
        assert left is not None
        begins = substitute(left, {w.stepper.pos.name: next})
        conds.append((next >= w.end) | (begins >= far))
    yield imp.Let(far, reduce(imp.maximum, ends))
    moves = imp.Block(tuple(stmt for w in walks for stmt in advance(w.stepper)))
    rest = imp.Block(tuple(_step_all(walks, stop)))
    yield imp.If(reduce(imp.Operators.__and__, conds), moves, rest)


def _is_plain_run(s: Stepper, piece: Piece) -> bool:
    """Whether chunks are runs at positions that are counted, and say where they begin."""
    plain = s.next is None and not s.setup and not piece.preamble
    return plain and piece.left is not None and isinstance(piece.stored, Run)


def _are_apart(r: Region, steppers: list[Stepper]) -> bool:
    """Whether no stretch in which all of these have a chunk begins where the one before it ends."""
    return r.is_whole and all(s.reach == s.pos for s in steppers)


def _first(pieces: list[Piece], start: imp.Var, begin: imp.Expr | None) -> imp.Expr:
    """Where all of these chunks have begun: behind `start`, or if each says so behind `begin`."""
    lefts = [p.left for p in pieces if p.left is not None]
    bound = begin if len(lefts) == len(pieces) else start
    return reduce(imp.maximum, lefts if bound is None else [*lefts, bound])


def _begins_within(ctx: Context, r: Region, w: Walk) -> bool:
    """Whether the chunks of a fiber are known not to begin before the region."""
    left = piece_of(w.stepper.chunk).left
    return (w.spike or left is not None) and ctx.known.at_most(r.lo, ctx.begin(w.cursor))


def _begins_early(piece: Piece) -> bool:
    """Whether the beginning of a chunk is known before the code that finds what it stores."""
    found = {stmt.var for stmt in piece.preamble if isinstance(stmt, imp.Let)}
    return piece.left is None or found.isdisjoint(
        n for n in nodes(piece.left) if isinstance(n, imp.Var)
    )


def follow(ctx: Context, w: Walk, where: imp.Expr) -> Looplet:
    """Move on to the chunk that an index lies in, and say what it is."""
    s = w.stepper
    behind = s.last + 1 <= where
    moves = imp.Block((*advance(s), *again(s)))
    ctx.b.emit(imp.While(behind if s.covers else w.more & behind, moves, over_skipped(w)))
    chunk = chunk_of(ctx, s)
    return chunk if s.covers else Switch(w.more, chunk, Run(FILL))
