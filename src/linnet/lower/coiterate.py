"""Walking several sparse fibers together: merge loops and their tails.

With steppers a, b, c there is a loop while all of them last, then loops for what is left when one
or two have run out: the points of the merge lattice, in order. In each loop the least coordinate
is taken, and a case says which fibers are stored there. Cases and loops in which the body vanishes
are not written: that is what makes a product an intersection and a sum a union. Where nothing is to
be done unless some of them are stored, as C in (A + B) * C, these lead, and the others follow.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce

from linnet import imp, loops
from linnet.errors import InternalError
from linnet.formats.level import WORD
from linnet.formats.looplets import (
    FILL,
    Jumper,
    Lookup,
    Looplet,
    Run,
    Sequence,
    Spike,
    Stepper,
    Switch,
    Truth,
)
from linnet.imp.rewrite import substitute
from linnet.loops.rewrite import walk
from linnet.lower.cases import cases, lower_case, needed, subsets
from linnet.lower.chunks import (
    follow,
    leaves_gaps,
    meet_chunks,
    merge_chunks,
    walk_chunks,
    walk_pieces,
    walk_runs,
)
from linnet.lower.collapse import collapsed, one_walk
from linnet.lower.context import Context, Cursor, Mask
from linnet.lower.expressions import lower_expr
from linnet.lower.region import Region, lower_at, lower_region, reserve
from linnet.lower.repeat import carries, is_unordered, lower_repeated
from linnet.lower.shortcircuit import unless_settled
from linnet.lower.strips import in_strips
from linnet.lower.trace import body_lines
from linnet.lower.walks import (
    Walk,
    advance,
    again,
    at_fill,
    bounds,
    least,
    open_walk,
    over,
    over_all,
    over_skipped,
    own,
    repeat_while,
    stepper_of,
)
from linnet.lower.wide import END, has_stretches, is_wide, merge_stretches, merge_wide

MANY = 3  # fibers that follow others, each of which doubles the cases


def locate(ctx: Context, r: Region) -> None:
    """At one index: search each stepper, and tell what is stored from what is not."""
    steppers = ((c, x) for c, x in r.looplets.items() if isinstance(x, Stepper | Jumper))
    cursor, looplet = next(steppers)
    s = own(ctx, stepper_of(looplet))
    ctx.b.emit(imp.Let(s.pos, s.begin))
    ctx.b.emit(imp.Assign(s.pos, substitute(s.seek.position, {s.seek.target.name: r.index})))
    ctx.b.emit(*s.setup)
    if isinstance(s.chunk, Spike):
        stored = (s.pos < s.end) & imp.eq(s.last, r.index)
        found: Looplet = Switch(stored, Run(s.chunk.tail), Run(FILL))
    else:
        found = s.chunk if s.covers else Switch(s.pos < s.end, s.chunk, Run(FILL))
    lower_region(ctx, r.with_looplet(cursor, found))


def coiterate(ctx: Context, r: Region) -> None:
    """Walk all steppers of a region together."""
    r = test_residues(ctx, replace(r, nonempty=False))
    steps = {c: x for c, x in r.looplets.items() if isinstance(x, Stepper | Jumper)}
    found = {c: own(ctx, stepper_of(x)) for c, x in steps.items()}
    for cursor, s in found.items():
        if s.leads:
            walk_alone(ctx, r, cursor, s, *bounds(ctx, r, cursor, s))
            return
    gap = without_words(r, list(found), at_fill(ctx, r, list(found)))
    idle = sparse = gap.body == loops.NOTHING
    if ctx.trace is not None:
        ctx.trace.note("Between what is stored", *body_lines(gap.body))
    if len(found) == 1 and alone(ctx, r, *next(iter(found.items())), gap):
        return
    walks = [open_walk(ctx, r, c, s) for c, s in found.items()]
    spikes = [w for w in walks if w.spike]
    if len(spikes) < len(walks):
        idle = at_fill(ctx, r, [w.cursor for w in spikes]).body == loops.NOTHING
    always = needed(ctx, r, walks)
    leading = [w for w in spikes if w in always]
    meets = len(leading) == len(spikes)
    if spikes and sparse and not idle:
        r = replace(r, tight=True)  # runs and blocks have entries of their own between the others
    elif spikes:
        most = _visits(leading or spikes, meets=bool(leading))
        reserve(ctx, r, most if idle else imp.maximum(r.hi - r.lo, 0))
    jumps = len(always) == len(walks) and any(isinstance(x, Jumper) for x in steps.values())
    if jumps and len(spikes) == len(walks):
        leapfrog(ctx, r, walks)
    elif jumps and (spikes or leaves_gaps(ctx, r, walks)):
        meet_chunks(ctx, r, walks, seeking=True)
    elif idle and leading and len(walks) - len(leading) <= MANY:
        merge(ctx, r, leading, [w for w in walks if w not in leading], always, idle)
    elif is_wide(walks) and not meets:
        merge_wide(ctx, r, walks, idle)
    elif has_stretches(walks) and not (not spikes and leaves_gaps(ctx, r, walks)):
        merge_stretches(ctx, r, walks, sparse)
    elif idle:
        merge(ctx, r, spikes, [w for w in walks if not w.spike], always, idle)
    elif not spikes and leaves_gaps(ctx, r, walks):
        meet_chunks(ctx, r, walks)
    else:
        merge(ctx, r, walks, [], always, idle)


def without_words(r: Region, cursors: list[Cursor], gap: Region) -> Region:
    """What is done between words that stand for no place: nothing (`normalize.words`)."""
    if all(cursor.protocol != WORD for cursor in cursors if not isinstance(cursor, Mask)):
        return gap
    if len(cursors) > 1 and gap.body != loops.NOTHING:
        raise InternalError(f"the loop over `{r.index.name}` does something for every word")
    return replace(gap, body=loops.NOTHING, looplets={})


def test_residues(ctx: Context, r: Region) -> Region:
    """Where another fiber decides what is visited, every m-th index is told by a test."""
    steps = [c for c, x in r.looplets.items() if isinstance(x, Stepper | Jumper)]
    masks = [c for c in steps if isinstance(c, Mask)]
    fibers = [c for c in steps if not isinstance(c, Mask)]
    if masks and any(at_fill(ctx, r, [c]).body == loops.NOTHING for c in fibers):
        for mask in masks:
            holds = lower_expr(ctx, mask.call, imp.BOOL)  # type: ignore[attr-defined]
            r = r.with_looplet(mask, Lookup(Switch(holds, Truth(True), Truth(False))))
    return r


def alone(ctx: Context, r: Region, cursor: Cursor, s: Stepper, gap: Region) -> bool:
    """One fiber drives the loop: emit a loop over its positions, if that is all there is to do."""
    counts = s.next is None and not s.setup
    spike = isinstance(s.chunk, Spike)
    if spike and gap.body == loops.NOTHING:
        walk_alone(ctx, r, cursor, s, *bounds(ctx, r, cursor, s))
    elif spike and counts and not gap.looplets and gaps_are_alike(ctx, r, gap):
        begin, end = bounds(ctx, r, cursor, s)
        lower_repeated(ctx, gap.body, r.index, end - begin, r.hi - r.lo, r.lower_stmt)
        walk_alone(ctx, r, cursor, s, begin, end)
    elif isinstance(s.chunk, Sequence) and not s.chunk.inside and gap.body == loops.NOTHING:
        walk_pieces(ctx, r, cursor, s)
    elif not spike and counts and r.hi == ctx.dim(cursor):
        walk_chunks(ctx, r, cursor, s, gap)
    elif counts and s.covers and isinstance(s.chunk, Run):
        walk_runs(ctx, r, cursor, s)
    else:
        return False
    return True


def gaps_are_alike(ctx: Context, r: Region, gap: Region) -> bool:
    """Whether what is done between entries is always the same, and may be done before them."""
    names = {n.name for n in walk(gap.body) if isinstance(n, loops.Index)}
    if r.point or r.index.name in names or carries(r.body):
        return False
    return is_unordered(ctx, gap.body, r.hi - r.lo)


def _visits(walks: list[Walk], meets: bool) -> imp.Expr:
    """The most indices at which something is stored: in any of the fibers, or in all of them."""
    lengths = [w.end - w.stepper.pos for w in walks]
    return reduce(imp.minimum if meets else imp.Operators.__add__, lengths)


def walk_alone(
    ctx: Context, r: Region, cursor: Cursor, s: Stepper, begin: imp.Expr, end: imp.Expr
) -> None:
    """A loop over the positions of a fiber, at whose entries all is done that is left to do."""
    reserve(ctx, r, end - begin)
    assert isinstance(s.chunk, Spike)
    at = r.with_looplet(cursor, Run(s.chunk.tail))
    if s.leads:
        ctx.leads(r.index.name, s.chunk)
    body = ctx.collect(lambda: lower_at(ctx, at, s.last))
    what = over(ctx, r.index, cursor, s, begin, end)
    if s.next is None and not s.setup:
        loop = collapsed(ctx, imp.For(s.pos, begin, end, body, what, r.how))
        ctx.b.emit(in_strips(ctx, r.body, r.index.name, loop))
        return
    first, steps = imp.Let(s.pos, begin), imp.Block((*s.setup, *body.stmts, *advance(s)))
    what = imp.as_part(what, s.pos)
    through = one_walk(ctx, first, imp.While(s.pos < end, steps, what))
    ctx.b.emit(first if through is None else through)
    if through is None:
        repeat_while(ctx, r, s.pos < end, steps, what, [cursor])


def merge(
    ctx: Context, r: Region, walks: list[Walk], others: list[Walk], always: list[Walk], idle: bool
) -> None:
    """The loops of the lattice, from all fibers to single ones; then what is behind the last entry.

    Where all is `idle` between single entries, `others` follow them, and are no part of the
    lattice. There is nothing to do without those that are `always` there.
    """
    start = r.lo
    if not idle:
        start = ctx.b.var(f"{r.index.name}_start")
        ctx.b.emit(imp.Let(start, r.lo))
    for alive in subsets(walks, [w for w in walks if w in always or w.stepper.covers]):
        rest = at_fill(ctx, r, [w.cursor for w in walks if w not in alive])
        left = [w for w in alive if w.cursor in rest.looplets]
        if any(w not in left and not w.stepper.covers for w in alive):
            continue  # what is left to do is done by fewer of them
        code = ctx.collect(partial(_merge_point, ctx, rest, left, others, start, idle))
        ctx.b.emit(
            *(code if len(alive) == len(walks) else unless_settled(ctx, rest.body, code)).stmts
        )


def _merge_point(
    ctx: Context, r: Region, left: list[Walk], others: list[Walk], start: imp.Expr, idle: bool
) -> None:
    """The loop of one point of the lattice."""
    if not all(w.spike for w in left):
        merge_chunks(ctx, r, left, start)
    elif left:
        merge_loop(ctx, r, left, others, start, idle)
    else:
        lower_region(ctx, replace(r, lo=start))


def merge_loop(
    ctx: Context, r: Region, walks: list[Walk], others: list[Walk], start: imp.Expr, idle: bool
) -> None:
    """`while` all of these fibers last; `for` the positions of the last one."""
    counted = idle and len(walks) == 1 and _counts(walks[0])
    cond = reduce(imp.Operators.__and__, [w.more for w in walks])

    def lower() -> None:
        for w in walks:
            ctx.b.emit(imp.Let(w.last, w.stepper.last))
        last = least(ctx, r, [w.last for w in walks])
        if not idle:
            before = at_fill(ctx, r, [w.cursor for w in walks])
            lower_region(ctx, replace(before, lo=start, hi=last))
        chunks = {w.cursor: trail(ctx, w, last) for w in others if w.cursor in r.looplets}
        here = replace(r, looplets={**r.looplets, **chunks})
        if counted:
            only = lower_case(ctx, here, walks, tuple(walks), last, merged=False)
            ctx.b.emit(*only.stmts)
        else:
            ctx.b.emit(*cases(ctx, here, walks, last).stmts)
        if isinstance(start, imp.Var) and start != r.lo:
            ctx.b.emit(imp.Assign(start, last + 1))

    for w in others:
        if w.spike:
            ctx.b.emit(imp.Let(w.last, END), *look(w)[1:])
    body, what = ctx.collect(lower), over_all(r.index, walks)
    if counted:
        (w,), pos = walks, ctx.b.var(walks[0].stepper.pos.name)
        rest = substitute(body, {w.stepper.pos.name: pos})
        what = over(ctx, r.index, w.cursor, w.stepper, w.stepper.pos, w.end)
        ctx.b.emit(imp.For(pos, w.stepper.pos, w.end, rest, what, r.how))
    else:
        repeat_while(ctx, r, cond, body, what, [w.cursor for w in walks])


def look(w: Walk) -> tuple[imp.Stmt, ...]:
    """Read the coordinate that a fiber comes to next; behind its last one there is no end."""
    read = imp.Block((imp.Assign(w.last, imp.widen(w.stepper.last)),))
    return imp.Assign(w.last, END), imp.If(w.more, read, imp.EMPTY)


def trail(ctx: Context, w: Walk, where: imp.Expr) -> Looplet:
    """Move a fiber on to an index that others have come to, and say what it has there."""
    s = w.stepper
    if not isinstance(s.chunk, Spike):
        return follow(ctx, w, where)
    moves = imp.Block((*advance(s), *again(s), *look(w)))
    ctx.b.emit(imp.While(w.last < where, moves, over_skipped(w)))
    return Switch(imp.eq(w.last, where), Run(s.chunk.tail), Run(FILL))


def _counts(w: Walk) -> bool:
    """Whether a fiber is walked by counting positions."""
    return w.spike and w.stepper.next is None and not w.stepper.setup


def leapfrog(ctx: Context, r: Region, walks: list[Walk]) -> None:
    """An intersection in which the fiber that is behind seeks the coordinate of the one ahead."""
    cond = walks[0].more
    for w in walks[1:]:
        cond = cond & w.more

    def lower() -> None:
        ahead: imp.Expr = imp.widen(walks[0].stepper.last)
        for w in walks[1:]:
            ahead = imp.maximum(ahead, w.stepper.last)
        ctx.b.emit(imp.Let(r.index, ahead))
        for w in walks:
            s = w.stepper
            seek = substitute(s.seek.position, {s.seek.target.name: r.index})
            move = imp.Block((imp.Assign(s.pos, seek), *again(s)))
            ctx.b.emit(imp.If(s.last < r.index, move, imp.EMPTY))
        met = cond
        for w in walks:
            met = met & imp.eq(w.stepper.last, r.index)
        block = lower_case(ctx, r, walks, tuple(walks), r.index)
        steps = tuple(t for w in walks for t in (*advance(w.stepper), *again(w.stepper)))
        ctx.b.emit(imp.If(met, imp.Block((*block.stmts, *steps)), imp.EMPTY))

    what = over_all(r.index, walks)
    repeat_while(ctx, r, cond, ctx.collect(lower), what, [w.cursor for w in walks])
