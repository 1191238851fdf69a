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
    body = rebuild(kernel.body, partial(_outermost, effects_of(kernel.codelets)))
    return kernel if body is kernel.body else replace(kernel, body=body)


def _outermost(effects: Effects, node: imp.Node) -> imp.Node:
    """What is in no loop: the loops in it."""
    match node:
        case imp.For():
            return _told(effects, node)
        case imp.If() | imp.Block():
            return rebuild(node, partial(_outermost, effects))
        case _:
            return node


def _told(effects: Effects, loop: imp.For) -> imp.For:
    """A loop in which what is appended to knows how much of the loop is done."""
    start, stop = imp.widen(loop.start), imp.widen(loop.stop)
    done, whole = imp.widen(loop.var) - start + 1, stop - start
    bounds, inside = effects.of(whole), effects.of(loop)
    if bounds.loads & inside.changes or bounds.reads & inside.assigns:
        return loop  # they may be others by now
    begun = {
        s.var
        for s in statements(loop.body)
        if isinstance(s, imp.Let) or (isinstance(s, imp.Assign) and isinstance(s.value, imp.Const))
    }

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Grow(buffer, imp.Binary("+", imp.Var() as end, _) as count):
                return None if end in begun else imp.Grow(buffer, count, done, whole)
        return None

    return rewrite_statements(loop, rule)
