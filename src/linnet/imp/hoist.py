"""Moves before a loop what its first iteration would do for all of them: memory is prepared once.

for i in 0 … n:                          if ready < m:
  if ready < m:                            grow(flags, m); …; ready = m
    grow(flags, m); …; ready = m    ->   for i in 0 … n:
  …                                        …

A loop that does not run at all then has its memory all the same. So do the numbers that are
computed of numbers which do not change in a loop: where parts of ranges begin and end.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, Summary, effects_of
from linnet.imp.rewrite import rebuild, statements, walk

Loop = imp.For | imp.While
_SIMPLE = frozenset({"+", "-", "*", "min", "max", "<", "<=", ">", ">="})


def hoist(kernel: imp.Kernel) -> imp.Kernel:
    """Make room before loops where it is the same in all iterations.

    Needs: simplified code.
    """
    body = _Pass(effects_of(kernel.codelets)).block(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


class _Pass:
    """Blocks from the inside out, so that what leaves a loop may leave the one around it, too."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects

    def block(self, block: imp.Block) -> imp.Block:
        """The block, with the preparations of its loops before them."""
        stmts: list[imp.Stmt] = []
        for stmt in block.stmts:
            new = rebuild(stmt, self._inner)
            if isinstance(new, imp.For | imp.While):
                ahead, new = self._split(new, block)
                stmts += [s for s in ahead if s not in stmts]
            stmts.append(new)
        same = len(stmts) == len(block.stmts) and all(map(_is, stmts, block.stmts))
        return block if same else imp.Block(tuple(stmts))

    def _inner(self, node: imp.Node) -> imp.Node:
        return self.block(node) if isinstance(node, imp.Block) else node

    def _split(self, loop: Loop, around: imp.Block) -> tuple[list[imp.Stmt], Loop]:
        """What can be done before a loop, and the loop without it."""
        ahead: list[imp.Stmt] = []
        rest: list[imp.Stmt] = []
        for k, stmt in enumerate(loop.body.stmts):
            others = [*rest, *loop.body.stmts[k + 1 :]]
            first = self._room(stmt, loop) or self._once(stmt, loop, others, len(rest))
            first = first or self._number(stmt, [*others, *_bounds(loop)], around)
            (ahead if first else rest).append(stmt)
        if not ahead:
            return [], loop
        body = imp.Block(tuple(rest))
        return ahead, replace(loop, body=body)

    def _number(self, stmt: imp.Stmt, others: list[imp.Node], around: imp.Block) -> bool:
        """Whether a number is computed of others that a loop does not change, without a load."""
        if not isinstance(stmt, imp.Let) or stmt.var.dtype != imp.INT:
            return False
        if not all(map(_is_simple, walk(stmt.value))):
            return False
        name, reads = stmt.var.name, self.effects.of(stmt.value).reads
        changed = [self.effects.of(other).assigns for other in others]
        if any(name in assigns or not reads.isdisjoint(assigns) for assigns in changed):
            return False
        declared = [s for s in statements(around) if isinstance(s, imp.Let) and s.var == stmt.var]
        return len(declared) == 1

    def _room(self, stmt: imp.Stmt, loop: Loop) -> bool:
        """Whether a buffer is grown by as much in every iteration."""
        if not isinstance(stmt, imp.Grow):
            return False
        count, inside = self.effects.of(stmt.count), self.effects.of(loop)
        if stmt.buffer.name in inside.swaps:  # it is another one each time
            return False
        return count.reads.isdisjoint(inside.assigns) and count.loads.isdisjoint(inside.changes)

    def _once(self, stmt: imp.Stmt, loop: Loop, others: list[imp.Stmt], before: int) -> bool:
        """Whether only the first iteration does this, and nothing before it would notice."""
        match stmt:
            case imp.If(imp.Binary("<", imp.Var() as ready, size), then, imp.Block(())):
                if imp.Assign(ready, size) not in then.stmts or _leaves(then):
                    return False
            case _:
                return False
        here = self.effects.of(stmt)
        own = {s.var.name for s in statements(then) if isinstance(s, imp.Let | imp.For)}
        var = {loop.var.name} if isinstance(loop, imp.For) else set[str]()
        around = [self.effects.of(s) for s in others]
        if here.assigns - own != {ready.name}:
            return False
        for k, other in enumerate(around):
            if not (here.reads - own).isdisjoint(other.assigns | var):
                return False
            if not here.loads.isdisjoint(other.changes) or (k < before and _meets(here, other)):
                return False
        if isinstance(loop, imp.While):
            return not _meets(here, self.effects.of(loop.cond))
        return True


def _bounds(loop: Loop) -> tuple[imp.Node, ...]:
    """What changes from one iteration to the next."""
    return (imp.Let(loop.var, loop.start),) if isinstance(loop, imp.For) else ()


def _is_simple(node: imp.Node) -> bool:
    """Whether whole numbers are computed in no time, and without a failure."""
    match node:
        case imp.Const(_, dtype) | imp.Var(_, dtype):
            return dtype == imp.INT
        case imp.Cast(x, dtype):
            return x.dtype in (imp.BOOL, "int32") and dtype == imp.INT
        case imp.Binary("div" | "rem", _, imp.Const(int(by))):
            return by > 0
        case imp.Binary(op):
            return op in _SIMPLE
    return False


def _leaves(block: imp.Block) -> bool:
    return any(isinstance(s, imp.Return | imp.Break) for s in statements(block))


def _meets(here: Summary, other: Summary) -> bool:
    """Whether one piece of code sees or changes what the other changes."""
    return not (
        here.changes.isdisjoint(other.loads | other.changes)
        and here.assigns.isdisjoint(other.reads | other.assigns)
        and other.changes.isdisjoint(here.loads)
    )


def _is(a: object, b: object) -> bool:
    return a is b
