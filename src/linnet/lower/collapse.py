"""Two loops as one: what fibers store that follow one another is gone through by one loop.

    for i in 0 … n:                          for q in ptr[0] … ptr[n]:
      for q in ptr[i] … ptr[i + 1]:    ->      body
        body                                   (which does not speak of i)

A level says where the entries of several fibers are, if they follow one another (`entries`). The
coordinates that a `SparseCOO` stores side by side are gone through by groups of equal ones, which
follow one another as well. The order of all iterations stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from linnet import imp
from linnet.formats.fiber import Fiber
from linnet.imp.effects import Effects, breaks
from linnet.imp.prescribed import may_go_on
from linnet.imp.rewrite import substitute
from linnet.lower.context import Bounds, Context

Found: TypeAlias = Iterable[tuple[Fiber, Fiber]]


def collapsed(ctx: Context, loop: imp.For, found: Found = ()) -> imp.Stmt:
    """A loop, or the one in it for all that this and it go through.

    At each index of the loop fibers are `found` in others, at positions that are computed from it.
    """
    inner = _alone(ctx, loop.body, {loop.var.name})
    whole = None if inner is None or not loop.how.is_plain else _all_of(ctx, loop, inner)
    if whole is None:
        return loop
    fibers = whole.over.spans[0]
    root = Fiber(ctx.storages[fibers.tensor], 0, imp.ZERO)
    places = _places(ctx, loop, (*found, (root, root.child(loop.var))))
    if loop.over.ordered and any(_ends_at(ctx, place, fibers) for place in places):
        return whole
    return imp.If(loop.start < loop.stop, imp.Block((whole,)), imp.EMPTY)


def _places(ctx: Context, loop: imp.For, found: Found) -> Iterator[imp.Span]:
    """Positions that a loop goes through, which lie within a level even if there are none.

    They are the range of the loop itself, or computed from it in a fiber that has one for every
    index. What is computed in another way may lie anywhere if there are none.
    """
    for span in loop.over.spans:
        if span.tensor:
            yield replace(span, first=loop.start, last=loop.stop)
    for above, below in found:
        if not above.kind.full:
            continue
        first, last = (substitute(below.pos, {loop.var.name: at}) for at in (loop.start, loop.stop))
        indices = above.kind.stretch(above.storage, above.level, above.pos, first, last)
        assert indices is not None
        bounds = (imp.ZERO, *indices, above.dim)
        if all(map(ctx.known.at_most, bounds, bounds[1:])):
            yield imp.Span(above.storage.name, above.level, first, last)


def _ends_at(ctx: Context, place: imp.Span, fibers: imp.Span) -> bool:
    """Whether fibers are those below some positions, one or several levels deeper."""
    if place.tensor != fibers.tensor or place.level >= fibers.level:
        return False
    storage, found = ctx.storages[fibers.tensor], (place.first, place.last)
    for k in range(place.level + 1, fibers.level):
        below = storage.format.levels[k].positions(storage, k, *found)
        if below is None:
            return False
        found = below
    return all(map(ctx.known.same, found, (fibers.first, fibers.last)))


def one_loop(ctx: Context, node: imp.Node) -> imp.Node | None:
    """The same of code in which more loops than before do nothing else."""
    match node:
        case imp.For():
            return collapsed(ctx, node)
        case imp.Block((*before, imp.Let() as begin, imp.While() as walk)):
            through = one_walk(ctx, begin, walk)
            return None if through is None else imp.Block((*before, through))
    return None


def _all_of(ctx: Context, loop: imp.For, inner: imp.For) -> imp.For | None:
    """One loop through what the inner loops go through, if these are all fibers in a row."""
    span = inner.over.spans[0] if len(inner.over.spans) == 1 else None
    if span is None or not span.tensor or span.part:
        return None
    ats = (loop.start, loop.var + 1, loop.stop)
    first, after, last = (substitute(span.first, {loop.var.name: at}) for at in ats)
    if not ctx.known.same(after, span.last):
        return None
    found = _entries(ctx, span, first, last)
    one, rest = _entries(ctx, span, first, after), _entries(ctx, span, after, last)
    if found is None or one is None or rest is None or one[1] != rest[0]:
        return None
    through = replace(span, first=first, last=last)
    over = replace(inner.over, spans=(through,), ordered=True, index=loop.over.index)
    return replace(inner, start=found[0], stop=found[1], over=over)


def _entries(ctx: Context, span: imp.Span, first: imp.Expr, last: imp.Expr) -> Bounds | None:
    """Where the entries of some fibers are that the level of a span has."""
    storage = ctx.storages[span.tensor]
    return storage.format.levels[span.level].entries(storage, span.level, first, last)


def one_walk(ctx: Context, begin: imp.Let, walk: imp.While) -> imp.For | None:
    """One loop for a walk from group to group, and through each, if groups make no difference.

    A walk through one fiber ends where the last of its groups does.
    """
    match walk:
        case imp.While(
            imp.Binary("<", q, end), imp.Block((*around, imp.Assign(moved, stop))), over
        ) if q == begin.var == moved and [span.position for span in over.spans] == [q]:
            inner = _alone(ctx, imp.Block(tuple(around)), {begin.var.name})
            if inner is not None and (inner.start, inner.stop) == (q, stop):
                (span,), ends = over.spans, (begin.value, end)
                whole = ends == _entries(ctx, span, span.first, span.last)
                span = replace(span, part=not whole, position=None)
                text = inner.over.text
                over = imp.Over(text, (span,), ordered=whole, index=walk.over.index)
                return replace(inner, start=begin.value, stop=end, over=over)
    return None


def _alone(ctx: Context, body: imp.Block, own: set[str]) -> imp.For | None:
    """The loop in the body of another one, if that does nothing else, and always the same.

    It does not speak of `own` variables of the other, and leaves alone where loops begin and end.
    """
    *lets, inner = body.stmts or (imp.EMPTY,)
    if not isinstance(inner, imp.For) or not all(isinstance(s, imp.Let) for s in lets):
        return None
    effects = Effects(ctx.b.codelets.values())
    own = own | {s.var.name for s in lets if isinstance(s, imp.Let)}
    ends = (imp.Let(inner.var, end) for end in (inner.start, inner.stop))
    around, inside = effects.of(imp.Block((*lets, *ends))), effects.of(inner.body)
    same = own.isdisjoint(inside.reads | inside.assigns)
    stays = inside.assigns.isdisjoint(around.reads) and inside.changes.isdisjoint(around.loads)
    return inner if same and stays and not breaks(inner.body) and may_go_on(inner) else None
