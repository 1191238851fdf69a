"""Loops that come to the fibers of a result one after the other, and say where each of them ends.

    for i in 0 … n:                          f = n + 1
      if …:                                  for i in 0 … n:
        while f <= i: ptr[f++] = c    ->       if …:
        … idx[c] = …; c += 1                     … idx[c] = …; c += 1
    while f <= n: ptr[f++] = c                 ptr[i + 1] = c

Where fibers may be skipped, whoever opens one first ends those before it. A loop through all of
some fibers does it for them, at the end of each turn. How it is done is the level's own
(`Level.ending`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from linnet import imp, loops
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import Lookup, Looplet
from linnet.imp.fold import fold
from linnet.imp.rewrite import rewrite, substitute
from linnet.imp.rewrite import walk as nodes
from linnet.loops.rewrite import leaves
from linnet.lower.context import Context, Cursor, storage_of, targets
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Ending:
    """What a loop writes, in fibers that it ends: code before the loop, and behind each turn."""

    looplets: dict[Cursor, Looplet]
    before: tuple[imp.Stmt, ...]
    behind: tuple[imp.Stmt, ...]


def ending(
    ctx: Context,
    index: imp.Var,
    lo: imp.Expr,
    hi: imp.Expr,
    looplets: Mapping[Cursor, Looplet],
    body: loops.Stmt,
) -> Ending:
    """The fibers to which the turns of a plain loop come, one after the other, ended by it."""
    found, before, behind = dict(looplets), list[imp.Stmt](), list[imp.Stmt]()
    if ctx.known.at_most(lo, hi) and not leaves(body):
        for cursor, looplet, fiber in _opened(ctx, index, looplets, body):
            first, stop = (_at(fiber.pos, index, where) for where in (lo, hi))
            code = fiber.kind.ending(ctx.b, fiber, first, stop)
            if code is not None:
                found[cursor] = replace(looplet, body=replace(fiber, ended=True))
                before += code[0]
                behind += code[1]
    return Ending(found, tuple(before), tuple(behind))


def _opened(
    ctx: Context, index: imp.Var, looplets: Mapping[Cursor, Looplet], body: loops.Stmt
) -> Iterator[tuple[Cursor, Lookup, Fiber]]:
    """What is written in the next fiber with each turn, and nowhere else."""
    for cursor, looplet in looplets.items():
        if cursor.update and isinstance(looplet, Lookup) and isinstance(looplet.body, Fiber):
            mine = [t for t in targets(body) if storage_of(t) == cursor.fiber.storage]
            here = ((t.tensor, t.indices[:1]) == (cursor.fiber, (cursor.index,)) for t in mine)
            if all(here) and _in_order(ctx, cursor.fiber, index.name):
                yield cursor, looplet, looplet.body


def _in_order(ctx: Context, fiber: Fiber, index: str) -> bool:
    """Whether the loop over an index of a fiber, with all loops around it, never turns back.

    These are loops over the dimensions above, or go from part to part of what it goes through.
    """
    counting = ctx.counting.get(index)
    around = {*ctx.indices} - (set() if counting is None else counting.counters)
    above = {node.name for node in nodes(fiber.pos) if isinstance(node, imp.Var)}
    full = all(level.full for level in fiber.storage.format.levels[: fiber.level + 1])
    return full and around <= above and len(around) <= fiber.level


def _at(pos: imp.Expr, index: imp.Var, where: imp.Expr) -> imp.Expr:
    """The position of the fiber at another index."""
    return rewrite(substitute(pos, {index.name: where}), _folded)


def _folded(node: imp.Node) -> imp.Node | None:
    return fold(node) if isinstance(node, imp.Binary | imp.Cast) else None
