"""Loops that count the parts of a range, around a loop over these parts.

The two do what one loop over the range would. A fiber that has to be written in one go is opened
around both, and what is not written at every index is initialized before both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import Thunk
from linnet.loops.bases import unbound
from linnet.loops.parts import counted, counted_together, covered
from linnet.lower.context import (
    Context,
    Counting,
    Cursor,
    Mask,
    cursors_of,
    name_of,
    targets,
)
from linnet.lower.ranges import bounds_of
from linnet.lower.unfurl import unfurl


def _inner(loop: loops.Loop) -> loops.Loop | None:
    """The loop over the parts that a loop counts; of several that go together, the outermost."""
    return counted(loop) or next(iter(counted_together(loop)), None) or _last(loop)


def _last(loop: loops.Loop) -> loops.Loop | None:
    """The loop over its parts with which the body of a loop ends, if all that it writes is dense.

    What is written there is written nowhere else.
    """
    if not isinstance(loop.body, loops.Block) or not loop.body.stmts:
        return None
    *before, last = loop.body.stmts
    if not isinstance(last, loops.Loop) or counted(replace(loop, body=last)) is not last:
        return None
    written = [t.tensor for t in targets(last) if isinstance(t.tensor, Fiber)]
    names = {fiber.storage.name for fiber in written}
    others = {name_of(t) for s in before for t in targets(s)}
    dense = all(fiber.kind.full for fiber in written)
    return last if written and dense and names.isdisjoint(others) else None


@contextmanager
def around_parts(ctx: Context, loop: loops.Loop) -> Iterator[None]:
    """What is emitted meanwhile is a loop that counts parts, if it is one: open what they write."""
    inner = _inner(loop)
    if inner is None or inner.index in ctx.counting:
        if inner is not None:
            ctx.counting[inner.index].counters.add(loop.index)
        yield
        return
    alone = replace(loop, body=inner) if isinstance(loop.body, loops.Block) else loop
    covers, bounds = None if counted(alone) is None else covered(alone), None
    if isinstance(covers, loops.Extent):
        bounds = bounds_of(ctx, covers, inner.index)
    written = [c for c in cursors_of(ctx, inner.body, inner.index) if c.update]
    counting = ctx.counting[inner.index] = Counting(bounds, frozenset(c.fiber for c in written))
    if alone is loop:  # else other loops stand beside, which go through something else
        counting.counters.add(loop.index)
    match unbound(inner.extent):
        case loops.Part(_, _, loops.Literal(int(size))):
            counting.longest = size
    epilogue: list[imp.Stmt] = []
    for cursor in written:
        if cursor.fiber.kind.sequential:
            looplet = unfurl(ctx, cursor, imp.Var(inner.index))
            while isinstance(looplet, Thunk):
                ctx.b.emit(*looplet.preamble)
                epilogue[:0] = looplet.epilogue
                looplet = looplet.body  # type: ignore[assignment]
            counting.opened[cursor] = looplet
    if covers is not None and alone is loop:
        counting.reached.update(_begin_walks(ctx, inner))
    with ctx.b.collect() as code:
        yield
    ctx.b.emit(*counting.begin, *code, *epilogue)
    del ctx.counting[inner.index]


def _begin_walks(
    ctx: Context, inner: loops.Loop
) -> Iterator[tuple[Cursor, tuple[imp.Expr, imp.Var]]]:
    """Where the entries of the fibers begin that the loop over the parts reads at its index."""
    for cursor in cursors_of(ctx, inner.body, inner.index):
        if isinstance(cursor, Mask) or cursor.update or cursor.fiber.sub > 0:
            continue
        fiber = cursor.fiber
        if not fiber.kind.full and cursor.index == loops.Index(inner.index):
            found = fiber.kind.entries(fiber.storage, fiber.level, fiber.pos, fiber.pos + 1)
            if found is not None:
                yield cursor, (found[0], ctx.b.let(f"{fiber.prefix}_reached", found[0]))


def written_by_parts(ctx: Context, loop: loops.Loop) -> frozenset[Fiber]:
    """The fibers that the loop over the parts writes, for which a counter leaves that to it."""
    inner = _inner(loop)
    return frozenset() if inner is None else ctx.counting[inner.index].written
