"""What to do at the least coordinate of several fibers, by which of them are stored there."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from linnet import imp
from linnet.formats.looplets import FILL, Run, Spike
from linnet.lower.context import Context
from linnet.lower.region import Region, lower_at
from linnet.lower.walks import Walk, advance, again, step

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
    move = imp.Block(tuple(t for w in walks for t in step(w, here(w, walks, last))))
    if not pure:
        chosen = decide(found, spikes, (), last) if spikes else imp.EMPTY
        return imp.Block((*chosen.stmts, *move.stmts))
    for s, block in found.items():
        if block != imp.EMPTY:
            found[s] = imp.Block((*block.stmts, *_steps(s)))
    chosen = compare(found, *spikes) if len(spikes) == 2 else decide(found, spikes, (), last)
    return _otherwise(chosen, move)


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
    busy = [s for s in tests if found[s] != imp.EMPTY]
    idle = [s for s in tests if s not in busy]
    chosen = imp.EMPTY if len(idle) > 1 else imp.Block(_steps(idle[0] if idle else ()))
    for s in reversed(busy):
        alone = not idle and s is busy[-1]
        chosen = found[s] if alone else choice(tests[s], found[s], chosen)
    return chosen


def decide(found: Cases, left: list[Walk], stored: tuple[Walk, ...], last: imp.Expr) -> imp.Block:
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
    here = replace(r, looplets=looplets, merged=merged)
    block = ctx.collect(lambda: lower_at(ctx, here, where))
    return imp.EMPTY if block.stmts == (imp.Let(r.index, where),) else block
