"""Asks for room before a loop that always leaves room for one more, and not in each iteration.

for y in 0 … n:                        grow(left, c + 1)
  grow(left, c + 1)                    for y in 0 … n:
  while …:                               while …:
    left[c] = …                  ->        left[c] = …
    c += 1                                 c += 1
    grow(left, c + 1)                      grow(left, c + 1)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, effects_of
from linnet.imp.rewrite import children, rewrite_statements

_Loop = imp.For | imp.While


def keep_room(kernel: imp.Kernel) -> imp.Kernel:
    """Make room for the next entry once, where whoever appends one makes it again.

    Needs: simplified code.
    """
    effects = effects_of(kernel.codelets)

    # the innermost first, so that what leaves a loop may leave the one around it, too
    def rule(node: imp.Node) -> imp.Node | None:
        if not isinstance(node, imp.Block):
            return None
        stmts: list[imp.Stmt] = []
        for stmt in node.stmts:
            if not isinstance(stmt, _Loop):
                stmts.append(stmt)
                continue
            kept = _kept(stmt, effects)
            stmts += [s for k, s in enumerate(stmt.body.stmts) if k in kept]
            rest = imp.Block(tuple(s for k, s in enumerate(stmt.body.stmts) if k not in kept))
            stmts.append(replace(stmt, body=rest) if kept else stmt)
        return None if stmts == list(node.stmts) else imp.Block(tuple(stmts))

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _kept(loop: _Loop, effects: Effects) -> set[int]:
    """The numbers of statements that ask for the room that the iteration before has left."""
    swapped = effects.of(loop).swaps
    found: set[int] = set()
    moved = frozenset([loop.var.name] if isinstance(loop, imp.For) else [])
    for k, stmt in enumerate(loop.body.stmts):
        match stmt:
            case imp.Grow(buffer, imp.Binary("+", imp.Var() as end, imp.Const(1))):
                first = end.name not in moved and buffer.name not in swapped
                if first and _stays(stmt, end, loop.body, effects):
                    found.add(k)
        moved |= effects.of(stmt).assigns
    return found


def _stays(room: imp.Grow, end: imp.Var, block: imp.Block, effects: Effects) -> bool:
    """Whether there is room again wherever the end has moved."""
    for stmts in _blocks(block):
        for k, stmt in enumerate(stmts):
            if isinstance(stmt, _Loop | imp.If | imp.Block):
                continue  # what is inside has been looked at, or will be
            if end.name in effects.of(stmt).assigns and room not in _rooms(stmts[k + 1 :]):
                return False
    return True


def _rooms(stmts: tuple[imp.Stmt, ...]) -> Iterator[imp.Stmt]:
    """The room that is made first."""
    for stmt in stmts:
        if not isinstance(stmt, imp.Grow):
            return
        yield stmt


def _blocks(node: imp.Node) -> Iterator[tuple[imp.Stmt, ...]]:
    """The statements of a block and of the blocks inside it."""
    for child in children(node):
        if isinstance(child, imp.For | imp.While | imp.If | imp.Block):
            yield from _blocks(child)
    if isinstance(node, imp.Block):
        yield node.stmts
