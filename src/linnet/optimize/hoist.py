"""What a loop does that is the same in all iterations is done once: before it, or behind it.

    for i in a … b:                          if ready < m:
      if ready < m:                            grow(flags, m); …; ready = m
        grow(flags, m); …; ready = m         p = 4 * m
      p = 4 * m                              if a < b:
      t = 0                                    t = 0
      for q in …: t += val[q]         ->       for q in …: t += val[q]
      y[p + i] = t * v[i]                      for i in a … b:
      flag = true                                y[p + i] = t * v[i]
                                             flag = flag or a < b

Room, what only the first iteration prepares, and numbers that cannot fail are taken out of any
loop, and numbers from behind its conditions, too. Whole reductions go where it is known that the
loop runs, and flags that every iteration raises go behind it. What leaves a loop may leave the one
around it. (Single values that are loaded leave loops in the back end.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linnet import imp
from linnet.imp.effects import breaks, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rebuild, statements, with_statements
from linnet.optimize.legality import (
    Loop,
    Scope,
    each_time,
    is_alone,
    is_done,
    is_fixed,
    is_fixed_among,
    is_settled_at_once,
    is_total,
    runs,
    same_each_time,
)

Stmts = list[imp.Stmt]
Apart = Callable[[Loop, Scope], Stmts]
"""What is to stand for a loop: the same one object, if nothing is to change."""


def hoist(kernel: imp.Kernel) -> imp.Kernel:
    """Take out of every loop what is the same in all iterations. Needs: simplified code."""
    return _of_loops(kernel, _apart)


def raise_flags(kernel: imp.Kernel) -> imp.Kernel:
    """Take flags alone out of loops: those that are left may be run in vectors."""
    if not any(isinstance(s, imp.Assign) and _when(s) is not None for s in statements(kernel.body)):
        return kernel
    return _of_loops(kernel, flags_behind)


def _of_loops(kernel: imp.Kernel, apart: Apart) -> imp.Kernel:
    """Put something in the place of loops, the innermost first."""
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)

    def inside(node: imp.Node) -> imp.Node:
        return block(node) if isinstance(node, imp.Block) else node

    def block(old: imp.Block) -> imp.Block:
        stmts: Stmts = []
        scope = Scope(old, stmts, effects, names)
        for stmt in old.stmts:
            new = rebuild(stmt, inside)
            if isinstance(new, imp.For | imp.While):
                stmts += apart(new, scope)
            else:
                stmts.append(new)
        return with_statements(old, stmts)

    body = block(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _apart(loop: Loop, scope: Scope) -> Stmts:
    """A loop without anything that is the same each time."""
    found: Stmts = []
    for stmt in flags_behind(loop, scope):
        if not isinstance(stmt, imp.For | imp.While):
            found.append(stmt)
            continue
        ahead, rest = _ahead(stmt, stmt.body, [*each_time(stmt)], True, scope)
        left = stmt if rest is stmt.body else replace(stmt, body=rest)
        found += [s for s in ahead if not is_done(s, scope.before, scope.effects)]
        found += [_with_sums_ahead(left, scope)]
    return found


# -- before a loop ---------------------------------------------------------------------------------


def _ahead(
    loop: Loop, block: imp.Block, others: list[imp.Node], sure: bool, scope: Scope
) -> tuple[Stmts, imp.Block]:
    """What can be done before a loop, of a block that is its body or stands under a condition.

    `others` are what the loop does outside of this block, all of it before the block.
    """
    ahead: Stmts = []
    rest: Stmts = []
    for k, stmt in enumerate(block.stmts):
        before: list[imp.Node] = [*others, *rest]
        after: list[imp.Node] = [*block.stmts[k + 1 :]]
        if _is_number(stmt, [*before, *after], scope) or (
            sure and (_is_room(stmt, loop, scope) or _prepares(stmt, before, after, scope))
        ):
            ahead.append(stmt)
            continue
        if isinstance(stmt, imp.If):
            around: list[imp.Node] = [*before, *after, stmt.cond]
            found, then = _ahead(loop, stmt.then, [*around, stmt.orelse], False, scope)
            more, orelse = _ahead(loop, stmt.orelse, [*around, then], False, scope)
            ahead += [*found, *more]
            stmt = replace(stmt, then=then, orelse=orelse) if found or more else stmt
        rest.append(stmt)
    return ahead, imp.Block(tuple(rest)) if ahead else block


def _is_number(stmt: imp.Stmt, others: list[imp.Node], scope: Scope) -> bool:
    """Whether a number is computed of others that a loop does not change, without a load."""
    if not isinstance(stmt, imp.Let) or not is_total(stmt.value):
        return False
    if not is_fixed_among(stmt.value, others, scope.effects):
        return False
    assigned = (scope.effects.of(other).assigns for other in others)
    return scope.declares_once(stmt.var) and all(stmt.var.name not in a for a in assigned)


def _is_room(stmt: imp.Stmt, loop: Loop, scope: Scope) -> bool:
    """Whether a buffer is grown by as much in every iteration, and is the same one each time."""
    if not isinstance(stmt, imp.Grow) or stmt.buffer.name in scope.effects.of(loop).swaps:
        return False
    return is_fixed(stmt.count, loop, scope.effects)


def _prepares(stmt: imp.Stmt, before: list[imp.Node], after: list[imp.Node], scope: Scope) -> bool:
    """Whether only the first iteration does this: `if ready < size: …; ready = size`."""
    match stmt:
        case imp.If(imp.Binary("<", imp.Var() as ready, size), then, imp.Block(())):
            sets = imp.Assign(ready, size) in then.stmts
            return sets and is_settled_at_once(stmt, ready, before, after, scope.effects)
    return False


def _with_sums_ahead(loop: Loop, scope: Scope) -> imp.Stmt:
    """The loop, behind the reductions in it that give the same each time, where it runs at all.

    So it is with equal rows, which are stored once.
    """
    found = same_each_time(loop, scope.effects)
    stmts = loop.body.stmts
    if not any(isinstance(stmts[k], imp.For | imp.While) for k in found):
        return loop
    first = [stmts[k] for k in found]
    rest = tuple(stmt for k, stmt in enumerate(stmts) if k not in found)
    if not rest:
        return loop
    return imp.If(runs(loop), imp.Block((*first, replace(loop, body=imp.Block(rest)))), imp.EMPTY)


# -- behind a loop ---------------------------------------------------------------------------------


def flags_behind(loop: Loop, scope: Scope) -> Stmts:
    """The loop, and behind it the flags that every iteration raises."""
    found = _flags(loop, scope)
    if not found:
        return [loop]
    kept = tuple([s for s in loop.body.stmts if s not in found])
    some, told = runs(loop), Stmts()
    if not is_fixed(some, loop, scope.effects):  # behind the loop, it is another question
        ran = imp.Var(scope.names.fresh("ran"), imp.BOOL)
        some, told = ran, [imp.Let(ran, some)]
    raised = [imp.Assign(s.var, s.var | (some & cond)) for s, cond in found.items()]
    return [*told, replace(loop, body=imp.Block(kept)), *raised]


def _flags(loop: Loop, scope: Scope) -> dict[imp.Assign, imp.Expr]:
    """The statements that raise flags for the loop as a whole, and under which condition."""
    found: dict[imp.Assign, imp.Expr] = {}
    for k, stmt in enumerate(loop.body.stmts):
        if breaks(imp.Block(loop.body.stmts[:k])) or scope.effects.of(runs(loop)).changes:
            break
        cond = _when(stmt) if isinstance(stmt, imp.Assign) else None
        if cond is None or not isinstance(stmt, imp.Assign):
            continue
        others = [*each_time(loop), *(s for s in loop.body.stmts if s is not stmt)]
        if is_fixed(cond, loop, scope.effects) and is_alone(stmt.var, others, scope.effects):
            found[stmt] = cond
    return found


def _when(stmt: imp.Assign) -> imp.Expr | None:
    """The condition under which a statement raises a flag; None if it does anything else."""
    match stmt:
        case imp.Assign(imp.Var(_, imp.BOOL), imp.Const(True)):
            return imp.TRUE
        case imp.Assign(var, imp.Binary("or", old, cond)) if old == var:
            return cond
        case _:
            return None
