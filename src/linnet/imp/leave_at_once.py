"""Loops that look for one value end where it is found, and not where a test finds out that it was.

    s = -1                                s = -1
    for q in a … b:                       for q in a … b:
      j = idx[q]                            j = idx[q]
      if x[j]: s = s != -1 ? s : j    ->    if x[j]:
      if s != -1: break                       s = j
                                              break

A loop that goes on has found nothing so far. What was an index is not negative, so that it is found
to be another value than -1; of what may be the same, a test is left.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.append_anyway import surely_loaded
from linnet.imp.effects import breaks
from linnet.imp.rewrite import rewrite_statements, statements
from linnet.imp.strips import LEAVE


def leave_at_once(kernel: imp.Kernel) -> imp.Kernel:
    """Leave loops in the branch that finds what they look for. Needs: simplified code."""
    body = rewrite_statements(kernel.body, _rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _rule(node: imp.Node) -> imp.Node | None:
    """A block, in which a variable is set right before a loop that looks for another value."""
    if not isinstance(node, imp.Block):
        return None
    stmts = list(node.stmts)
    for k in range(1, len(stmts)):
        match stmts[k - 1], stmts[k]:
            case (
                imp.Assign(found, imp.Const() as nothing) | imp.Let(found, imp.Const() as nothing),
                imp.For() as loop,
            ):
                stmts[k] = _sooner(loop, found, nothing) or loop
    return None if all(map(_is, stmts, node.stmts)) else imp.Block(tuple(stmts))


def _sooner(loop: imp.For, found: imp.Var, nothing: imp.Const) -> imp.For | None:
    """The loop, if its last statements choose a value, and leave if there is one."""
    there = imp.ne(found, nothing)
    if nothing.value != nothing.value:  # NaN: every value is another, and is found at once
        return None
    match loop.body.stmts:
        case (
            *before,
            imp.If(cond, imp.Block((imp.Assign(s, imp.Select(test, kept, value)),)), imp.Block(())),
            imp.If(left, then, imp.Block(())),
        ) if s == kept == found and test == left == there and then == LEAVE:
            block = imp.Block(tuple(before))
            changed = any(_sets(stmt, found) for stmt in statements(block))
            if changed or breaks(block):
                return None
            sure = _is_another(cond, value, nothing)
            again = imp.If(imp.ne(value, nothing), LEAVE, imp.EMPTY)
            leave = LEAVE.stmts if sure else (again,)
            chosen = imp.Block((imp.Assign(found, value), *leave))
            return replace(loop, body=imp.Block((*before, imp.If(cond, chosen, imp.EMPTY))))
    return None


def _sets(stmt: imp.Stmt, var: imp.Var) -> bool:
    return isinstance(stmt, imp.Let | imp.Assign | imp.Accumulate | imp.For) and stmt.var == var


def _is_another(cond: imp.Expr, value: imp.Expr, nothing: imp.Const) -> bool:
    """Whether a value was an index when the condition was looked at, and the other is none."""
    if not isinstance(nothing.value, int) or nothing.value >= 0:
        return False
    return any(load.index == value for load in surely_loaded(cond))


def _is(a: object, b: object) -> bool:
    return a is b
