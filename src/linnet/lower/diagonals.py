"""Diagonals of equal rows: `A[i, i]` in a run of rows is a walk along one of them.

A loop over a single index finds in each row the element that is meant. Where many rows are one,
that would be a search for each index of a fiber that stays the same.
"""

from __future__ import annotations

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import Looplet
from linnet.loops.rewrite import accesses, point_of, rewrite_stmt, substitute, walk
from linnet.loops.solve import Scope, walk_of
from linnet.lower.context import Context, Cursor, Mask, cursors_of
from linnet.lower.unfurl import Span, guard, unfurl
from linnet.normalize.simplify import simplify_expr

Walked = dict[Cursor, Looplet]


def along(
    ctx: Context, body: loops.Stmt, span: Span, whole: tuple[imp.Expr, imp.Expr]
) -> tuple[loops.Stmt, Walked]:
    """The body without loops over the index of the one around, and what that walks for them.

    The `whole` loop, of which this is a part, may be known to be within bounds.
    """
    index = span.index.name
    inner = {n.index for n in walk(body) if isinstance(n, loops.Loop)}
    inner |= {n.name for n in walk(body) if isinstance(n, loops.Let)}
    scope = Scope(index, inner, ctx.facts.types)
    found = rewrite_stmt(body, lambda s: _without_point(ctx, s, scope))
    if found == body:
        return body, {}
    before = cursors_of(ctx, body, index)
    more = [c for c in cursors_of(ctx, found, index) if c not in before and not isinstance(c, Mask)]
    walked: Walked = {}
    for c in more:
        looplet = unfurl(ctx, c, span.index)
        sure = ctx.known.at_most(ctx.begin(c), whole[0])
        sure = sure and ctx.known.at_most(whole[1], ctx.dim(c))
        walked[c] = looplet if sure else guard(ctx, c, looplet, span, found)
    return found, walked


def _without_point(ctx: Context, stmt: loops.Stmt, scope: Scope) -> loops.Stmt | None:
    """What is done at an index that follows from the loop's own, if it walks a list there."""
    place = point_of(stmt.extent) if isinstance(stmt, loops.Loop) else None
    if place is None:
        return None
    assert isinstance(stmt, loops.Loop)
    place = simplify_expr(place, ctx.facts)  # as the body is, where what is walked is looked for
    walked = walk_of(place, scope)
    if walked is None:
        return None
    mine = loops.Index(stmt.index)
    here = [(a, target) for a, target in accesses(stmt.body) if mine in a.indices]
    if not here or any(target or not _is_walked(a, mine, walked[0]) for a, target in here):
        return None
    return substitute(stmt.body, {stmt.index: place})


def _is_walked(access: loops.Access, index: loops.Index, factor: int) -> bool:
    """Whether an access is to a list that is there before the loop, at the index itself."""
    fiber = access.tensor
    first, *rest = access.indices
    alone = first == index and index not in rest
    if not isinstance(fiber, Fiber) or not alone or fiber.kind.full:
        return False
    return fiber.kind.takes(factor)
