"""What to do at the least coordinate of several fibers, by which of them are stored there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from linnet import imp, loops
from linnet.formats.looplets import FILL, Run, Spike
from linnet.lower.context import Context
from linnet.lower.region import Region, lower_at
from linnet.lower.walks import Walk, advance, again, at_fill, step

Cases = dict[tuple[Walk, ...], imp.Block]
"""What is done for a set of fibers that are stored at the least coordinate, if anything is."""


def cases(ctx: Context, r: Region, walks: list[Walk], last: imp.Expr) -> imp.Block:
    """What to do at the least coordinate, by which fibers are stored there; and move on.

    A case that has something to do also moves its own fibers on: processors guess which case it
    will be, and need not wait for what is compared. Elsewhere the next positions are computed.
    """
    spikes = [w for w in walks if w.spike]
    pure = len(spikes) == len(walks)
    found: Cases = {}
    always = needed(ctx, r, spikes) if len(spikes) > 2 else []
    for s in sorted(subsets(spikes, always), key=len):
        # a run may end where no spike is
        if (s or not pure) and (block := lower_case(ctx, r, spikes, s, last)) != imp.EMPTY:
            found[s] = imp.Block((*block.stmts, *_steps(s))) if pure else block
    move = imp.Block(tuple(t for w in walks for t in step(w, here(w, walks, last))))
    if not pure:
        return imp.Block((*decide(found, spikes, (), last).stmts, *move.stmts))
    if len(spikes) == 2:
        return _otherwise(compare(found, *spikes), move)
    return _otherwise(decide(found, spikes, (), last, some=True), move)


def needed(ctx: Context, r: Region, walks: list[Walk]) -> list[Walk]:
    """The fibers without any one of which nothing is done: no case needs to be looked at then."""
    return [w for w in walks if at_fill(ctx, r, [w.cursor]).body == loops.NOTHING]


def subsets(walks: list[Walk], always: list[Walk]) -> Iterator[tuple[Walk, ...]]:
    """The sets of fibers that hold some of them, the largest sets first."""
    for size in range(len(walks) - len(always), -1, -1):
        for some in combinations([w for w in walks if w not in always], size):
            yield tuple(w for w in walks if w in always or w in some)


def here(w: Walk, walks: list[Walk], last: imp.Expr) -> imp.Expr:
    """Whether a fiber's next entry is at the least coordinate."""
    if len(walks) == 1 and w.spike:
        return imp.TRUE
    if len(walks) == 2 and all(v.spike for v in walks):
        other = walks[0] if w is walks[1] else walks[1]
        return w.last <= other.last
    return imp.eq(w.last, last)


def _steps(walks: tuple[Walk, ...]) -> tuple[imp.Stmt, ...]:
    return tuple(t for w in walks for t in (*advance(w.stepper), *again(w.stepper)))


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
    busy = [s for s in tests if s in found]
    idle = [s for s in tests if s not in busy]
    chosen = imp.EMPTY if len(idle) > 1 else imp.Block(_steps(idle[0] if idle else ()))
    for s in reversed(busy):
        alone = not idle and s is busy[-1]
        chosen = found[s] if alone else choice(tests[s], found[s], chosen)
    return chosen


def decide(
    found: Cases, left: list[Walk], stored: tuple[Walk, ...], last: imp.Expr, some: bool = False
) -> imp.Block:
    """Ask one fiber after the other whether it is stored at the least coordinate, as `some` are."""
    if not left:
        return found.get(stored, imp.EMPTY)
    first, *rest = left
    with_first = {s: block for s, block in found.items() if first in s}
    others = {s: block for s, block in found.items() if first not in s}
    yes = decide(with_first, rest, (*stored, first), last) if with_first else imp.EMPTY
    if some and not rest:
        return yes
    no = decide(others, rest, stored, last, some) if others else imp.EMPTY
    return choice(imp.eq(first.last, last), yes, no)


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
    ctx: Context,
    r: Region,
    spikes: list[Walk],
    stored: tuple[Walk, ...],
    where: imp.Expr,
    merged: bool = True,
) -> imp.Block:
    """The body where exactly these fibers are stored, in a loop over several or the last one."""
    looplets = dict(r.looplets)
    for w in spikes:
        if w.cursor in looplets:
            chunk = w.stepper.chunk
            assert isinstance(chunk, Spike)
            looplets[w.cursor] = Run(chunk.tail if w in stored else FILL)
    if len(spikes) == 2 and stored and where != r.index:
        where = stored[0].last
    here = replace(r, looplets=looplets, merged=merged, every=r.body)
    block = ctx.collect(lambda: lower_at(ctx, here, where))
    return imp.EMPTY if block.stmts == (imp.Let(r.index, where),) else block
