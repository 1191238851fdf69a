"""One loop: unfurl the fibers that it walks, then lower their looplets, rule by rule.

A region is a stretch of a loop over which every walked fiber is described by one looplet. Rules are
tried in the order of FINCH Fig. 15 — Thunk, Switch, Sequence, Run and Simplify, Stepper and Jumper,
Spike, Lookup — and each takes a region apart until only code is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import (
    FILL,
    Jumper,
    Lookup,
    Looplet,
    Payload,
    Phase,
    Run,
    Sequence,
    Spike,
    Stepper,
    Switch,
    Thunk,
    Value,
    with_variables,
)
from linnet.imp.how import PLAIN, How
from linnet.imp.rewrite import statements, substitute
from linnet.loops.rewrite import leaves, walk
from linnet.lower.collapse import collapsed
from linnet.lower.context import (
    Context,
    Cursor,
    cursors_of,
    resolve,
    surely_writes,
    targets,
)
from linnet.lower.diagonals import along
from linnet.lower.ending import ending
from linnet.lower.presence import as_read
from linnet.lower.repeat import begins_anew, carries, declared_in, lower_repeated, repeat
from linnet.lower.shortcircuit import break_early, settled
from linnet.lower.strips import in_strips
from linnet.lower.trace import body_lines, region_lines, rule_of
from linnet.lower.unfurl import Span
from linnet.records import dataclass

LowerStmt = Callable[[Context, loops.Stmt], None]
L = TypeVar("L", Thunk, Switch, Sequence, Spike)


@dataclass(frozen=True, slots=True)
class Region:
    """`for index in lo … hi: body`, with what is known of the fibers that it walks.

    In a `point` region the index variable is already set, and is the only index; one that is
    `nonempty` is known to have an index. In a `tight` one nobody has made room for what is written
    at single indices. A `merged` one is a case of a loop over several fibers; a case, or one side
    of a test, may do less than `every` iteration of its loop. `extent` has the bounds of the loop
    that it is a part of, and `how` says how that is to be run; `apart` are bounds of which it is
    known that something lies between them and those before, which a part of the region does not say
    of itself.
    """

    index: imp.Var
    lo: imp.Expr
    hi: imp.Expr
    looplets: dict[Cursor, Looplet]
    body: loops.Stmt
    lower_stmt: LowerStmt
    point: bool = False
    nonempty: bool = False
    tight: bool = False
    merged: bool = False
    every: loops.Stmt | None = None
    extent: tuple[imp.Expr, imp.Expr] | None = None
    how: How = PLAIN
    apart: tuple[imp.Expr, imp.Expr] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether this is all of its loop."""
        return (self.lo, self.hi) == self.extent

    def with_looplet(self, cursor: Cursor, looplet: object) -> Region:
        """The region with another looplet for one fiber."""
        return replace(self, looplets={**self.looplets, cursor: looplet})  # type: ignore[dict-item]

    def find(self, kind: type[L]) -> tuple[Cursor, L] | None:
        """The first fiber described by a looplet of this kind."""
        for cursor, looplet in self.looplets.items():
            if isinstance(looplet, kind):
                return cursor, looplet
        return None


def lower_region(ctx: Context, r: Region) -> None:
    """Apply the first rule that fits, and tell who looks."""
    if ctx.trace is None:
        apply_rule(ctx, r)
    else:
        with ctx.trace.step(rule_of(r), region_lines(r)):
            apply_rule(ctx, r)


def apply_rule(ctx: Context, r: Region) -> None:
    """Apply the first rule that fits."""
    from linnet.lower.coiterate import coiterate, locate

    if found := r.find(Thunk):
        lower_thunk(ctx, r, *found)
    elif switch := r.find(Switch):
        lower_switch(ctx, r, *switch)
    else:
        runs = any(isinstance(x, Run) for x in r.looplets.values())
        sequence = r.find(Sequence)
        if runs or not sequence:
            walked, r = r.looplets.keys(), lower_runs(ctx, r)
            if not r.looplets.keys() <= walked:
                lower_region(ctx, r)
                return
        if sequence := r.find(Sequence):
            lower_sequence(ctx, r, *sequence)
            return
        if r.body == loops.NOTHING:
            return
        if ctx.trace is not None and runs and r.looplets:
            ctx.trace.note(rule_of(r), *region_lines(r))
        steps = any(isinstance(x, Stepper | Jumper) for x in r.looplets.values())
        if steps and r.point:
            locate(ctx, r)
        elif steps:
            coiterate(ctx, r)
        elif spike := r.find(Spike):
            lower_spike(ctx, r, *spike)
        else:
            lower_lookups(ctx, r)


def lower_thunk(ctx: Context, r: Region, cursor: Cursor, thunk: Thunk) -> None:
    """Code before and after the region."""
    ctx.b.emit(*thunk.preamble)
    lower_region(ctx, r.with_looplet(cursor, thunk.body))
    ctx.b.emit(*thunk.epilogue)


def lower_switch(ctx: Context, r: Region, cursor: Cursor, switch: Switch) -> None:
    """Two versions of the region."""
    if r.point and r.every is None:
        r = replace(r, every=r.body)
    if (counting := ctx.counting.get(r.index.name)) is not None:
        counting.chosen = True
    head = ctx.collect(lambda: lower_region(ctx, r.with_looplet(cursor, switch.head)))
    tail = ctx.collect(lambda: lower_region(ctx, r.with_looplet(cursor, switch.tail)))
    ctx.b.emit(imp.If(switch.cond, head, tail))


def lower_sequence(ctx: Context, r: Region, cursor: Cursor, sequence: Sequence) -> None:
    """A region for each phase; at one index, the phase that it lies in."""
    phases = sequence.phases
    if r.point:
        found = phases[-1].body
        for phase in reversed(phases[:-1]):
            assert phase.stop is not None
            if ctx.known.at_most(r.index + 1, phase.stop):
                found = phase.body
            elif not ctx.known.at_most(phase.stop, r.index):
                found = Switch(r.index < phase.stop, phase.body, found)
        lower_region(ctx, r.with_looplet(cursor, found))
        return
    inside = sequence.inside and cursor not in ctx.ends
    whole = inside and r.lo == imp.ZERO and r.hi == ctx.dim(cursor)
    lower_phases(ctx, r, cursor, phases, not whole, not whole)


def lower_phases(
    ctx: Context, r: Region, cursor: Cursor, phases: tuple[Phase, ...], early: bool, late: bool
) -> None:
    """A region for each phase. Some may end before the region begins, or go on after it ends."""
    lo, before = r.lo, None
    for phase in phases:
        hi, stop = r.hi, phase.stop
        if stop is not None and early and ctx.known.at_most(stop, ctx.known.inside(lo, hi)[0]):
            before = stop
            continue  # this phase lies before the region
        over = stop is None or (late and ctx.known.at_most(ctx.known.inside(lo, hi)[1], stop))
        if stop is not None and not over:
            behind = not early or ctx.known.at_most(lo, stop)
            clipped = stop if behind else imp.maximum(lo, stop)
            within = not late or ctx.known.at_most(clipped, r.hi)
            clipped = clipped if within else imp.minimum(r.hi, clipped)
            hi = ctx.b.let(f"{r.index.name}_stop", clipped)
            ctx.known.introduce(hi, clipped)
        part = replace(r.with_looplet(cursor, phase.body), lo=lo, hi=hi)
        if before is not None and stop == before + 1:
            lower_single(ctx, part, sure=ctx.known.at_most(lo + 1, hi) or not (early or late))
        else:
            rest = stop is None and r.nonempty and not late
            lower_region(ctx, replace(part, nonempty=rest))
        if over:
            return  # the other phases lie behind the region
        lo, before = hi, stop


def lower_single(ctx: Context, r: Region, sure: bool) -> None:
    """A region of one index, or none if that is not `sure`."""
    ctx.running.append(False)
    block = ctx.collect(lambda: lower_at(ctx, r, r.lo))
    ctx.running.pop()
    if block.stmts == (imp.Let(r.index, r.lo),):
        return
    ctx.b.emit(block if sure else imp.If(r.lo < r.hi, block, imp.EMPTY))


def lower_runs(ctx: Context, r: Region) -> Region:
    """Constant regions become their values; then simplify, and forget what no longer matters."""
    runs = {
        c: as_read(ctx, c, x.body)
        for c, x in r.looplets.items()
        if isinstance(x, Run) and isinstance(x.body, Value)
    }
    body = ctx.simplify(resolve(r.body, r.index.name, runs) if runs else r.body)
    if ctx.trace is not None and body != r.body:
        ctx.trace.note("Simplify", *body_lines(body))
    more: dict[Cursor, Looplet] = {}
    if runs and not r.point and not leaves(body):
        body, more = along(ctx, body, Span(r.index, r.lo, r.hi, False), r.extent or (r.lo, r.hi))
    alive = set(cursors_of(ctx, body, r.index.name))
    known = {c: x for c, x in r.looplets.items() if c in alive or leads(x)}
    return replace(r, body=body, looplets=known | more)


def leads(looplet: Looplet) -> bool:
    """Whether a fiber is what the loop goes through, even if nothing of it is read."""
    return isinstance(looplet, Stepper) and looplet.leads


def lower_spike(ctx: Context, r: Region, cursor: Cursor, spike: Spike) -> None:
    """Fill, then one value at the last index."""
    last = ctx.b.let(r.index.name, r.hi - 1)
    lower_region(ctx, replace(r.with_looplet(cursor, Run(FILL)), hi=last, nonempty=False))
    point = replace(r.with_looplet(cursor, Run(spike.tail)), index=r.index, lo=last, hi=r.hi)
    ctx.running.append(False)
    nonempty = ctx.collect(lambda: lower_at(ctx, point, last))
    ctx.running.pop()
    ctx.b.emit(imp.If(r.lo < r.hi, nonempty, imp.EMPTY))


def lower_at(ctx: Context, r: Region, where: imp.Expr) -> None:
    """The region at one index."""
    if where != r.index:
        ctx.b.emit(imp.Let(r.index, where))
    with ctx.known.where(r.index.name, where):
        lower_region(ctx, replace(r, lo=r.index, hi=r.index + 1, point=True))


def lower_lookups(ctx: Context, r: Region) -> None:
    """Only random access is left: a plain loop, or a single index."""
    if r.point:
        if r.tight or not ctx.running[-1]:  # no loop around that has made room
            reserve(ctx, r, imp.ONE)
        lower_point(ctx, r)
        return
    if not leaves(r.body) and _without_loop(ctx, r):
        return
    length = r.hi - r.lo
    reserve(ctx, r, length if ctx.known.at_most(r.lo, r.hi) else imp.maximum(length, 0))
    ends = ending(ctx, r.index, r.lo, r.hi, r.looplets, r.body)
    body = ctx.collect(lambda: lower_point(ctx, replace(r, looplets=ends.looplets)))
    if body.stmts:
        ctx.b.emit(*ends.before)
        body = imp.Block((*body.stmts, *ends.behind))
    lookups = [(c, x.body) for c, x in r.looplets.items() if isinstance(x, Lookup)]
    found = [(c.fiber, below) for c, below in lookups if isinstance(below, Fiber)]
    loop = collapsed(ctx, imp.For(r.index, r.lo, r.hi, body, _over(ctx, r, body), r.how), found)
    ctx.b.emit(in_strips(ctx, r.body, r.index.name, loop))


def _over(ctx: Context, r: Region, body: imp.Block) -> imp.Over:
    """What a plain loop goes through: the indices of a range, or some of them."""
    first, last = ctx.wholes.get(r.index.name) or r.extent or (r.lo, r.hi)
    span = imp.Span("", -1, first, last, part=(first, last) != (r.lo, r.hi))
    counted = {s.over.index for s in statements(body) if isinstance(s, imp.For | imp.While)}
    name, counting = r.index.name, ctx.counting
    counter = next((i for i in counted if i in counting and name in counting[i].counters), "")
    tile = counting[name].longest if name in counting else 0
    return imp.Over("", (span,), ctx.known.at_most(r.lo, r.hi), name, counter, tile)


def _without_loop(ctx: Context, r: Region) -> bool:
    """What all iterations do is done at once, or there is but one of them."""
    if not r.looplets and lower_repeated(
        ctx, r.body, r.index, r.lo, r.hi, r.lower_stmt, r.nonempty
    ):
        return True
    if r.looplets and lower_whole(ctx, r):
        return True
    if not ctx.known.at_most(r.hi, r.lo + 1):
        return False
    lower_single(ctx, r, sure=r.nonempty)
    return True


def lower_whole(ctx: Context, r: Region) -> bool:
    """Write a run as a whole (AcceptRun), if all that is written takes runs, and is the same."""
    fibers = {c.fiber for c, x in r.looplets.items() if isinstance(x, Lookup) and x.span}
    if len(fibers) < len(r.looplets) or carries(r.body):
        return False
    once: list[loops.Stmt] = []
    declared = declared_in(r.body)
    for stmt in r.body.stmts if isinstance(r.body, loops.Block) else (r.body,):
        mine = targets(stmt) and all(t.tensor in fibers for t in targets(stmt))
        whole = mine or begins_anew(stmt, declared)
        same = stmt if whole else repeat(ctx, stmt, r.hi - r.lo)
        if same is None:
            return False
        once.append(same)
    body = loops.Block(tuple(once))
    known = {c: c.fiber for c in r.looplets}
    if any(n == loops.Index(r.index.name) for n in walk(resolve(body, r.index.name, known))):
        return False
    ctx.running.append(False)
    code = ctx.collect(lambda: lower_point(ctx, replace(r, body=body), whole=True))
    ctx.running.pop()
    ctx.b.emit(code if r.nonempty else imp.If(r.lo < r.hi, code, imp.EMPTY))
    return True


def reserve(ctx: Context, r: Region, visits: imp.Expr) -> None:
    """Make room in the results for as many entries as the coming loop may write."""
    for looplet in r.looplets.values():
        if isinstance(looplet, Lookup) and looplet.reserve is not None:
            count = ctx.b.let("visits", visits)
            room: dict[str, imp.Expr] = {looplet.reserve.visits.name: count}
            ctx.b.emit(*(substitute(stmt, room) for stmt in looplet.reserve.code))


def lower_point(ctx: Context, r: Region, whole: bool = False) -> None:
    """The body at one index, which is set: what is read first, then what is written.

    Where what is written takes a run at once, this is the body for the `whole` region.
    """
    bounds = (r.lo, r.hi) if whole else (r.index, r.index + 1)
    follows = imp.FALSE if bounds == r.apart else imp.TRUE
    payloads: dict[Cursor, Payload] = {}
    for cursor, looplet in r.looplets.items():
        assert isinstance(looplet, Lookup | Run)
        payloads[cursor] = looplet.body
        if isinstance(looplet.body, Switch) and not cursor.update:
            lower_switch(ctx, replace(r, point=True), cursor, _as_runs(looplet.body))
            return
    found = {c: p for c, p in payloads.items() if not c.update and isinstance(p, Value)}
    reads = {c: as_read(ctx, c, p) for c, p in found.items()}
    body = ctx.simplify(resolve(r.body, r.index.name, reads))
    epilogues: list[tuple[imp.Stmt, ...]] = []
    writes: dict[Cursor, Fiber | loops.Literal] = {}
    for cursor in cursors_of(ctx, body, r.index.name):
        if cursor not in r.looplets:
            continue  # a comparison that has come up only now: it is tested
        payload = _chosen(r.looplets[cursor], body, cursor, (*bounds, follows))
        if isinstance(payload, Thunk):
            ctx.b.emit(*payload.preamble)
            epilogues.append(payload.epilogue)
            payload = payload.body  # type: ignore[assignment]
        assert isinstance(payload, Fiber)
        writes[cursor] = payload
    ctx.indices.append(r.index.name)
    code = ctx.collect(lambda: r.lower_stmt(ctx, resolve(body, r.index.name, writes)))
    ctx.b.emit(*code.stmts)
    if r.every is None:
        break_early(ctx, body, None if r.merged else code, r.index.name)
    elif settled(ctx, body) is not None:
        break_early(ctx, r.every, None if r.merged else code, r.index.name)
    ctx.indices.pop()
    for epilogue in reversed(epilogues):
        ctx.b.emit(*epilogue)


def _as_runs(switch: Switch) -> Switch:
    return Switch(switch.cond, Run(switch.head), Run(switch.tail))  # type: ignore[arg-type]


def _chosen(
    looplet: Looplet, body: loops.Stmt, cursor: Cursor, span: tuple[imp.Expr, ...]
) -> Payload:
    """The payload for writing: cheaper where something is certain to be written."""
    assert isinstance(looplet, Lookup)
    sure = looplet.sure is not None and surely_writes(body, cursor.fiber.storage)
    payload = looplet.sure if sure else looplet.body
    assert payload is not None
    if looplet.span is None:
        return payload
    names = (looplet.span.start.name, looplet.span.stop.name, looplet.span.follows.name)
    return with_variables(payload, dict(zip(names, span, strict=True)))  # type: ignore[return-value]
