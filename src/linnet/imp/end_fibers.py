"""Stores where a fiber ends when its loop is done, instead of catching up with every entry.

f = 0                                    for i in 0 … n:
for i in 0 … n:                            for q in …:
  for q in …:                                if …:
    if …:                          ->          idx[c] = …; c += 1
      while f <= i: ptr[f++] = c           ptr[i + 1] = c
      idx[c] = …; c += 1
while f <= n: ptr[f++] = c

Where the fibers of a result may be skipped, a cursor f follows (`formats.append`). A loop that goes
through all of them in order knows where each ends, whatever is written to it, and however often.
One that goes through them part by part does, too: each part goes on where the last has ended.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from linnet import imp
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.fold import fold
from linnet.imp.rewrite import rebuild, rewrite_statements, statements, with_statements
from linnet.records import dataclass

Rooms = tuple[imp.Grow, ...]


def end_fibers(kernel: imp.Kernel) -> imp.Kernel:
    """Store pointers once for each fiber, where the loop over the fibers can be told.

    Needs: simplified code, in which the pointers of fibers that are opened have room.
    """
    sizes = frozenset(dim.name for argument in kernel.arguments for dim in argument.dims)
    body = _Pass(sizes, effects_of(kernel.codelets)).block(kernel.body, ())
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _CatchUp:
    """`while f <= pos: ptr[f] = count; f += 1`."""

    cursor: imp.Var
    pos: imp.Expr
    ptr: imp.Buffer
    count: imp.Var
    stmt: imp.While


def _catch_up(stmt: imp.Stmt) -> _CatchUp | None:
    """The statement as one that catches up with a fiber."""
    match stmt:
        case imp.While(
            imp.Binary("<=", imp.Var() as f, pos),
            imp.Block((imp.Store(ptr, at, value), imp.Assign(var, following))),
        ) if at == var == f and following == f + 1:
            count = value.x if isinstance(value, imp.Cast) else value
            if isinstance(count, imp.Var):
                return _CatchUp(f, pos, ptr, count, stmt)
    return None


class _Pass:
    """Blocks that are run once: a loop inside a loop may come to fibers that have ended before."""

    def __init__(self, sizes: frozenset[str], effects: Effects) -> None:
        self.sizes, self.effects = sizes, effects

    def block(self, block: imp.Block, rooms: Rooms) -> imp.Block:
        """The block; `rooms` has been made before it."""
        stmts: list[imp.Stmt] = []
        reached: dict[str, imp.Expr] = {}  # cursors that stand where this says
        for stmt in block.stmts:
            found = _catch_up(stmt)
            if found and found.cursor.name in reached and _is_done(reached, found):
                continue
            for name in self.effects.of(stmt).assigns & reached.keys():
                del reached[name]
            counter = isinstance(stmt, imp.For) and stmt.over.counter
            ended = self._end(stmt, rooms) if isinstance(stmt, imp.For) and not counter else None
            if ended is not None:
                stmts += ended
                for s in ended:
                    if isinstance(s, imp.Assign):
                        reached[s.var.name] = s.value
                continue
            if isinstance(stmt, imp.Grow):
                rooms = (*rooms, stmt)
            inside = counter or not isinstance(stmt, imp.For | imp.While)
            stmts.append(rebuild(stmt, partial(self._inner, rooms)) if inside else stmt)
        return with_statements(block, stmts)

    def _inner(self, rooms: Rooms, node: imp.Node) -> imp.Node:
        return self.block(node, rooms) if isinstance(node, imp.Block) else node

    def _end(self, loop: imp.For, rooms: Rooms) -> list[imp.Stmt] | None:
        """The loop with pointers at its end, and what is done about the cursor; None if not."""
        found = {c.cursor: c for s in statements(loop.body) if (c := _catch_up(s))}
        if not found or not loop.over.ordered or breaks(loop.body):
            return None
        before: list[imp.Stmt] = []
        ended: imp.For = loop
        for c in found.values():
            shift = _shift(c.pos, loop.var)
            if shift is None or not self._can(ended, c, shift, rooms):
                continue
            first = fold(loop.start + shift)
            end = imp.Store(c.ptr, _next(loop.var, shift), imp.cast(c.count, c.ptr.dtype))
            body = imp.Block((*_without(ended.body, c.cursor).stmts, end))
            ended = replace(ended, body=body)
            reached = imp.Assign(c.cursor, _next(loop.stop, shift))
            if first == imp.ZERO:  # where the first fiber begins is always known
                before.append(reached)
            else:
                catch_up = replace(c.stmt, cond=imp.Binary("<=", c.cursor, first, imp.BOOL))
                some = imp.Binary("<", loop.start, loop.stop, imp.BOOL)
                before.append(imp.If(some, imp.Block((catch_up, reached)), imp.EMPTY))
        return None if ended is loop else [*before, ended]

    def _can(self, loop: imp.For, c: _CatchUp, shift: imp.Expr, rooms: Rooms) -> bool:
        """Whether all that the loop appends goes to the fiber of its iteration, which has room."""
        same = [s for s in statements(loop.body) if (o := _catch_up(s)) and o.cursor == c.cursor]
        rest, here = self.effects.of(_without(loop.body, c.cursor)), self.effects.of(shift)
        if any(s != c.stmt for s in same) or c.cursor.name in rest.reads | rest.assigns:
            return False
        if c.ptr.name in rest.loads | rest.changes:
            return False
        if here.reads & self.effects.of(loop).assigns or here.loads & self.effects.of(loop).changes:
            return False
        opened = any(s == c.stmt for s in loop.body.stmts)  # in every iteration
        enough = imp.Grow(c.ptr, _next(_farthest(loop), shift))
        fixed = self.effects.of(enough.count).reads <= self.sizes
        return (opened or (enough in rooms and fixed)) and _follows(loop.body, c) is not None


def _farthest(loop: imp.For) -> imp.Expr:
    """Where a loop ends at most: the end of the dimension of which it goes through a part."""
    match loop.over.spans:
        case (imp.Span("", _, _, last, True),):
            return last
        case _:
            return loop.stop


def _follows(block: imp.Block, c: _CatchUp, caught_up: bool = False) -> bool | None:
    """Whether the cursor has caught up after a block; None if something was appended before."""
    for stmt in block.stmts:
        match stmt:
            case imp.While() if stmt == c.stmt:
                caught_up = True
            case imp.Assign(var) | imp.Let(var) | imp.Accumulate(var) if var.name == c.count.name:
                if not caught_up:
                    return None
            case imp.If(_, then, orelse):
                ways = [_follows(way, c, caught_up) for way in (then, orelse)]
                if None in ways:
                    return None
                caught_up = all(ways)
            case imp.For(body=body) | imp.While(body=body):
                if _follows(body, c, caught_up) is None:
                    return None
            case imp.Block():
                inner = _follows(stmt, c, caught_up)
                if inner is None:
                    return None
                caught_up = inner
            case _:
                pass
    return caught_up


def _shift(pos: imp.Expr, var: imp.Var) -> imp.Expr | None:
    """What is added to a loop's index to get a position; None if that is not how it is."""
    match pos:
        case imp.Var() if pos == var:
            return imp.ZERO
        case imp.Binary("+", a, b):
            left, right = _shift(a, var), _shift(b, var)
            if (left is None) == (right is None):
                return None
            return fold(a + right if right is not None else left + b)  # type: ignore[operator]
    return None


def _next(e: imp.Expr, shift: imp.Expr) -> imp.Expr:
    """The position behind that of an index."""
    return fold(fold(e + shift) + 1)


def _without(body: imp.Block, cursor: imp.Var) -> imp.Block:
    """The block without catching up."""

    def rule(node: imp.Node) -> imp.Node | None:
        if not isinstance(node, imp.Block):
            return None
        kept = [s for s in node.stmts if not ((c := _catch_up(s)) and c.cursor == cursor)]
        return imp.Block(tuple(kept)) if len(kept) < len(node.stmts) else None

    return rewrite_statements(body, rule)


def _is_done(reached: dict[str, imp.Expr], c: _CatchUp) -> bool:
    """Whether the cursor is behind the fiber already."""
    ahead = fold(reached[c.cursor.name] - c.pos)
    return isinstance(ahead, imp.Const) and ahead.value >= 1  # type: ignore[operator]
