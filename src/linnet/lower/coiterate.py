"""Walking several sparse fibers together: merge loops, their cases and their tails.

With steppers a, b, c there is a loop while all of them last, then loops for what is left when one or
two have run out: the points of the merge lattice, in order. In each loop the least coordinate is
taken, and a case says which fibers are stored there. Cases and loops in which the body vanishes are
not written: that is what makes a product an intersection and a sum a union.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

from linnet import imp, loops
from linnet.formats.looplets import FILL, Jumper, Looplet, Run, Spike, Stepper, Switch, stepper_with
from linnet.imp.rewrite import substitute
from linnet.lower.context import Context, Cursor, as_value, cursors_of, resolve
from linnet.lower.region import Region, lower_at, lower_region, reserve


@dataclass(frozen=True, slots=True)
class Walk:
    """A stepper under way: its fiber, and the variables that hold its end and its next coordinate."""

    cursor: Cursor
    stepper: Stepper
    end: imp.Expr
    last: imp.Var

    @property
    def more(self) -> imp.Expr:
        """Whether anything is left."""
        return self.stepper.pos < self.end

    @property
    def spike(self) -> bool:
        """Whether chunks are single indices."""
        return isinstance(self.stepper.chunk, Spike)


def locate(ctx: Context, r: Region) -> None:
    """At one index: search each stepper, and tell what is stored from what is not."""
    steppers = ((c, x) for c, x in r.looplets.items() if isinstance(x, Stepper | Jumper))
    cursor, looplet = next(steppers)
    s = _own(ctx, _stepper(looplet))
    ctx.b.emit(imp.Let(s.pos, s.begin))
    ctx.b.emit(imp.Assign(s.pos, substitute(s.seek.position, {s.seek.target.name: r.index})))
    ctx.b.emit(*s.setup)
    if isinstance(s.chunk, Spike):
        stored = (s.pos < s.end) & imp.eq(s.last, r.index)
        found: Looplet = Switch(stored, Run(s.chunk.tail), Run(FILL))
    else:
        found = s.chunk if s.covers else Switch(s.pos < s.end, s.chunk, Run(FILL))
    lower_region(ctx, r.with_looplet(cursor, found))


def _own(ctx: Context, s: Stepper) -> Stepper:
    """The stepper with variables of its own, if it has been walked before in this block."""
    if s.pos.name not in ctx.walked:
        ctx.walked.add(s.pos.name)
        return s
    pos = ctx.b.var(s.pos.name)
    new: dict[str, imp.Expr] = {s.pos.name: pos}
    new |= {let.var.name: ctx.b.var(let.var.name, let.var.dtype) for let in s.setup}
    return stepper_with(s, new)


def _stepper(looplet: Looplet) -> Stepper:
    if isinstance(looplet, Jumper):
        return looplet.stepper
    assert isinstance(looplet, Stepper)
    return looplet


def coiterate(ctx: Context, r: Region) -> None:
    """Walk all steppers of a region together."""
    steps = {c: x for c, x in r.looplets.items() if isinstance(x, Stepper | Jumper)}
    found = {c: _own(ctx, _stepper(x)) for c, x in steps.items()}
    gap = at_fill(ctx, r, list(found))
    idle = gap.body == loops.NOTHING
    if len(found) == 1 and idle and all(isinstance(s.chunk, Spike) for s in found.values()):
        ((cursor, stepper),) = found.items()
        walk_alone(ctx, r, cursor, stepper)
        return
    walks = [open_walk(ctx, r, c, s) for c, s in found.items()]
    meets = all(at_fill(ctx, r, [c]).body == loops.NOTHING for c in found)
    reserve(ctx, r, _visits(walks, meets) if idle else imp.maximum(r.hi - r.lo, 0))
    if meets and any(isinstance(r.looplets[c], Jumper) for c in found):
        leapfrog(ctx, r, walks)
        return
    merge(ctx, r, walks, gap, idle)


def _visits(walks: list[Walk], meets: bool) -> imp.Expr:
    """The most indices at which something is stored: in any of the fibers, or in all of them."""
    lengths = [w.end - w.stepper.pos for w in walks]
    return reduce(imp.minimum if meets else imp.Operators.__add__, lengths)


def at_fill(ctx: Context, r: Region, cursors: list[Cursor]) -> Region:
    """The region where nothing is stored in these fibers."""
    fills = {c: as_value(c, FILL) for c in cursors}
    body = ctx.simplify(resolve(r.body, r.index.name, fills))
    alive = set(cursors_of(body, r.index.name))
    return replace(r, body=body, looplets={c: x for c, x in r.looplets.items() if c in alive})


def bounds(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> tuple[imp.Expr, imp.Expr]:
    """The positions of a stepper within the region: a search at each end that is not the fiber's own."""
    begin, end = s.begin, s.end
    if r.lo != imp.ZERO:
        begin = ctx.b.let(f"{s.pos.name}_begin", begin)
        seek = substitute(s.seek.position, {s.pos.name: begin, s.seek.target.name: r.lo})
        begin = ctx.b.let(f"{s.pos.name}_lo", seek)
    if r.hi != ctx.dim(cursor) and isinstance(s.chunk, Spike):
        begin = begin if isinstance(begin, imp.Var) else ctx.b.let(f"{s.pos.name}_lo", begin)
        seek = substitute(s.seek.position, {s.pos.name: begin, s.seek.target.name: r.hi})
        end = ctx.b.let(f"{s.pos.name}_hi", seek)
    return begin, end


def walk_alone(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> None:
    """One fiber drives the loop, and nothing happens between its entries: a loop over positions."""
    begin, end = bounds(ctx, r, cursor, s)
    reserve(ctx, r, end - begin)
    assert isinstance(s.chunk, Spike)
    at = r.with_looplet(cursor, Run(s.chunk.tail))
    body = ctx.collect(lambda: lower_at(ctx, at, s.last))
    if s.next is None and not s.setup:
        ctx.b.emit(imp.For(s.pos, begin, end, body))
        return
    ctx.b.emit(imp.Let(s.pos, begin))
    ctx.b.emit(imp.While(s.pos < end, imp.Block((*s.setup, *body.stmts, *_advance(s)))))


def open_walk(ctx: Context, r: Region, cursor: Cursor, s: Stepper) -> Walk:
    """Introduce the position, the end and the coordinate of a stepper."""
    begin, end = bounds(ctx, r, cursor, s)
    ctx.b.emit(imp.Let(s.pos, begin))
    end = end if isinstance(end, imp.Var) else ctx.b.let(f"{s.pos.name}_end", end)
    ctx.b.emit(*s.setup)
    return Walk(cursor, s, end, ctx.b.var(f"{cursor.name}_{r.index.name}"))


def _advance(s: Stepper) -> tuple[imp.Stmt, ...]:
    return (imp.Assign(s.pos, s.pos + 1),) if s.next is None else s.next


def merge(ctx: Context, r: Region, walks: list[Walk], gap: Region, idle: bool) -> None:
    """The loops of the lattice, from all fibers to single ones; then what is behind the last entry."""
    start = r.lo
    if not idle or not all(w.spike for w in walks):
        start = ctx.b.var(f"{r.index.name}_start")
        ctx.b.emit(imp.Let(start, r.lo))
    for alive in _subsets(walks):
        rest = at_fill(ctx, r, [w.cursor for w in walks if w not in alive])
        if all(w.cursor in rest.looplets for w in alive):
            merge_loop(ctx, rest, alive, start, idle)
    if not idle and not any(w.stepper.covers for w in walks):
        lower_region(ctx, replace(gap, lo=start))


def _subsets(walks: list[Walk]) -> Iterator[list[Walk]]:
    """Fibers that may be left, the largest sets first; those that cover a dimension always are."""
    for size in range(len(walks), 0, -1):
        for alive in combinations(walks, size):
            if all(w in alive for w in walks if w.stepper.covers):
                yield list(alive)


def merge_loop(ctx: Context, r: Region, walks: list[Walk], start: imp.Expr, idle: bool) -> None:
    """`while` all of these fibers last; `for` the positions of the last one."""
    counted = idle and len(walks) == 1 and _counts(walks[0])
    conds = [w.more for w in walks if not w.stepper.covers] or [start < r.hi]
    cond = conds[0]
    for more in conds[1:]:
        cond = cond & more

    def lower() -> None:
        for w in walks:
            ctx.b.emit(imp.Let(w.last, w.stepper.last))
        last = _least(ctx, r, walks)
        chunks = {w.cursor: w.stepper.chunk for w in walks if not w.spike}
        spikes = [w for w in walks if w.spike]
        if not idle or chunks:
            before = at_fill(ctx, r, [w.cursor for w in spikes])
            stop = last if spikes else last + 1
            looplets = {**before.looplets, **{c: x for c, x in chunks.items() if c in before.looplets}}
            lower_region(ctx, replace(before, lo=start, hi=stop, looplets=looplets))
        here = replace(r, looplets={**r.looplets, **chunks})
        if counted:
            ctx.b.emit(*lower_case(ctx, here, walks, tuple(walks), last).stmts)
        else:
            ctx.b.emit(*cases(ctx, here, walks, last).stmts)
        if isinstance(start, imp.Var) and start != r.lo:
            ctx.b.emit(imp.Assign(start, last + 1))

    body = ctx.collect(lower)
    if counted:
        (w,), pos = walks, ctx.b.var(walks[0].stepper.pos.name)
        rest = substitute(body, {w.stepper.pos.name: pos})
        ctx.b.emit(imp.For(pos, w.stepper.pos, w.end, rest))
    else:
        ctx.b.emit(imp.While(cond, body))


def _counts(w: Walk) -> bool:
    """Whether a fiber is walked by counting positions."""
    return w.spike and w.stepper.next is None and not w.stepper.setup and not w.stepper.covers


def _least(ctx: Context, r: Region, walks: list[Walk]) -> imp.Expr:
    """The least of the coordinates that come next."""
    last: imp.Expr = walks[0].last
    for w in walks[1:]:
        last = imp.minimum(last, w.last)
    if any(not w.spike for w in walks):
        last = imp.minimum(last, r.hi - 1)
    return last if isinstance(last, imp.Var) else ctx.b.let(f"{r.index.name}_next", last)


def _here(w: Walk, walks: list[Walk], last: imp.Expr) -> imp.Expr:
    """Whether a fiber's next entry is at the least coordinate."""
    if len(walks) == 1 and w.spike:
        return imp.TRUE
    if len(walks) == 2 and all(v.spike for v in walks):
        other = walks[0] if w is walks[1] else walks[1]
        return w.last <= other.last
    return imp.eq(w.last, last)


def _step(w: Walk, walks: list[Walk], last: imp.Expr) -> tuple[imp.Stmt, ...]:
    """Move on, if the least coordinate was this fiber's."""
    here, s = _here(w, walks, last), w.stepper
    step = (*_advance(s), *_again(s))
    if here == imp.TRUE:
        return step
    if s.next is None and not s.setup:
        return (imp.Assign(s.pos, s.pos + imp.Cast(here, imp.INT)),)
    return (imp.If(here, imp.Block(step), imp.EMPTY),)


Cases = dict[tuple[Walk, ...], imp.Block]
"""The code for each set of fibers that may be stored at the least coordinate."""


def cases(ctx: Context, r: Region, walks: list[Walk], last: imp.Expr) -> imp.Block:
    """What to do at the least coordinate, by which fibers are stored there; and move on.

    A case that has something to do also moves its own fibers on: processors guess which case it
    will be, and need not wait for what is compared. Elsewhere the next positions are computed.
    """
    spikes = [w for w in walks if w.spike]
    pure = len(spikes) == len(walks)
    least = 1 if pure else 0  # a run may end where no spike is
    subsets = [s for n in range(least, len(spikes) + 1) for s in combinations(spikes, n)]
    found = {s: lower_case(ctx, r, spikes, s, last) for s in subsets} if spikes else {}
    move = imp.Block(tuple(t for w in walks for t in _step(w, walks, last)))
    if not pure:
        chosen = decide(found, spikes, (), last) if spikes else imp.EMPTY
        return imp.Block((*chosen.stmts, *move.stmts))
    for s, block in found.items():
        if block != imp.EMPTY:
            found[s] = imp.Block((*block.stmts, *_steps(s)))
    chosen = compare(found, *spikes) if len(spikes) == 2 else decide(found, spikes, (), last)
    return _otherwise(chosen, move)


def _steps(walks: tuple[Walk, ...]) -> tuple[imp.Stmt, ...]:
    return tuple(t for w in walks for t in (*_advance(w.stepper), *_again(w.stepper)))


def _otherwise(block: imp.Block, rest: imp.Block) -> imp.Block:
    """Decisions in which there is something to do in the remaining cases, too."""
    match block:
        case imp.Block(()):
            return rest
        case imp.Block((imp.If(cond, then, orelse),)):
            return imp.Block((imp.If(cond, _otherwise(then, rest), _otherwise(orelse, rest)),))
        case _:
            return block


def compare(found: Cases, a: Walk, b: Walk) -> imp.Block:
    """Two fibers: both, the first or the second is stored at the least coordinate."""
    tests = {(a, b): imp.eq(a.last, b.last), (a,): a.last < b.last, (b,): b.last < a.last}
    busy = [s for s in tests if found[s] != imp.EMPTY]
    idle = [s for s in tests if s not in busy]
    chosen = imp.EMPTY if len(idle) > 1 else imp.Block(_steps(idle[0] if idle else ()))
    for s in reversed(busy):
        alone = not idle and s is busy[-1]
        chosen = found[s] if alone else choice(tests[s], found[s], chosen)
    return chosen


def decide(
    found: Cases, left: list[Walk], stored: tuple[Walk, ...], last: imp.Expr
) -> imp.Block:
    """Ask one fiber after the other whether it is stored at the least coordinate."""
    if not left:
        return found[stored]
    first, *rest = left
    yes = decide(found, rest, (*stored, first), last)
    if not rest and stored not in found:
        return yes
    return choice(imp.eq(first.last, last), yes, decide(found, rest, stored, last))


def choice(cond: imp.Expr, then: imp.Block, orelse: imp.Block) -> imp.Block:
    """A branch, unless there is nothing to choose."""
    match then, orelse:
        case imp.Block(()), imp.Block(()):
            return imp.EMPTY
        case imp.Block((imp.If(inner, block, imp.Block(())),)), imp.Block(()):
            return imp.Block((imp.If(cond & inner, block, imp.EMPTY),))
        case _:
            return imp.Block((imp.If(cond, then, orelse),))


def lower_case(
    ctx: Context, r: Region, spikes: list[Walk], stored: tuple[Walk, ...], where: imp.Expr
) -> imp.Block:
    """The body where exactly these fibers are stored."""
    looplets = dict(r.looplets)
    for w in spikes:
        if w.cursor in looplets:
            chunk = w.stepper.chunk
            assert isinstance(chunk, Spike)
            looplets[w.cursor] = Run(chunk.tail if w in stored else FILL)
    if len(spikes) == 2 and stored and where != r.index:
        where = stored[0].last
    block = ctx.collect(lambda: lower_at(ctx, replace(r, looplets=looplets), where))
    return imp.EMPTY if block.stmts == (imp.Let(r.index, where),) else block


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
            move = imp.Block((imp.Assign(s.pos, seek), *_again(s)))
            ctx.b.emit(imp.If(s.last < r.index, move, imp.EMPTY))
        met = cond
        for w in walks:
            met = met & imp.eq(w.stepper.last, r.index)
        block = lower_case(ctx, r, walks, tuple(walks), r.index)
        steps = tuple(t for w in walks for t in (*_advance(w.stepper), *_again(w.stepper)))
        ctx.b.emit(imp.If(met, imp.Block((*block.stmts, *steps)), imp.EMPTY))

    ctx.b.emit(imp.While(cond, ctx.collect(lower)))


def _again(s: Stepper) -> tuple[imp.Stmt, ...]:
    """What was set up for a position, set up again."""
    return tuple(imp.Assign(stmt.var, stmt.value) for stmt in s.setup)
