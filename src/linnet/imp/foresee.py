"""Tells results that grow in a loop how far the loop is: they need not grow to twice their size.

    for i in 0 … n:                            for i in 0 … n:
      grow(C_idx, C_n + amount)          ->      grow(C_idx, C_n + amount, i + 1 of n)
      …; C_n += 1                                …; C_n += 1

What has been appended in the first i + 1 of n rows lets expect how much there will be in the end.
Nothing of it is computed while there is room.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from linnet import imp
from linnet.imp.effects import Effects, effects_of
from linnet.imp.rewrite import rebuild, rewrite_statements, statements


def foresee(kernel: imp.Kernel) -> imp.Kernel:
    """Say of what grows in outermost loops how much of them is done.

    Needs: simplified code.
    """
    if not any(isinstance(s, imp.Grow) for s in statements(kernel.body)):
        return kernel
    body = rebuild(kernel.body, partial(_outermost, effects_of(kernel.codelets), False))
    return kernel if body is kernel.body else replace(kernel, body=body)


def _outermost(effects: Effects, parts: bool, node: imp.Node) -> imp.Node:
    """What is in no loop, but in those that go from part to part: the loops in it."""
    match node:
        case imp.For() if node.over.counter and all(map(_tells, node.body.stmts)):
            return rebuild(node, partial(_outermost, effects, True))
        case imp.For():
            return _told(effects, node, _whole(node) if parts else None)
        case imp.If() | imp.Block():
            return rebuild(node, partial(_outermost, effects, parts))
        case _:
            return node


def _tells(stmt: imp.Stmt) -> bool:
    """Whether the loops of a statement, if there are any, know of what they go through a part."""
    match stmt:
        case imp.Block(stmts):
            return all(map(_tells, stmts))
        case imp.For():
            return stmt.over.counter or _whole(stmt) is not None
        case _:
            return not isinstance(stmt, imp.While | imp.If)


def _whole(loop: imp.For) -> tuple[imp.Expr, imp.Expr] | None:
    """The range of indices of which a loop goes through a part."""
    match loop.over.spans:
        case (imp.Span("", _, first, last, True),):
            return imp.widen(first), imp.widen(last)
    return None


def _told(effects: Effects, loop: imp.For, whole: tuple[imp.Expr, imp.Expr] | None) -> imp.For:
    """A loop in which what is appended to knows how much of the loop is done."""
    start, stop = whole or (imp.widen(loop.start), imp.widen(loop.stop))
    done, count = imp.widen(loop.var) - start + 1, stop - start
    bounds, inside = effects.of(count), effects.of(loop)
    if bounds.loads & inside.changes or bounds.reads & inside.assigns:
        return loop  # they may be others by now
    begun = {
        s.var
        for s in statements(loop.body)
        if isinstance(s, imp.Let) or (isinstance(s, imp.Assign) and isinstance(s.value, imp.Const))
    }

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Grow(buffer, imp.Binary("+", imp.Var() as end, _) as room):
                return None if end in begun else imp.Grow(buffer, room, done, count)
        return None

    return rewrite_statements(loop, rule)
