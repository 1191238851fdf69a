"""Makes room before a loop for what all of its iterations may write, where that can be told.

A loop over rows that grows its result by `ptr[i + 1] - ptr[i]` in each needs, all in all, at most
`ptr[n] - ptr[0]`, and with so much room it need not ask again. One that surely appends as much in
each of n iterations needs n times as much, a number that may be too large to be computed. Where
nothing is known, the first guess is twice as much as the loop walks. In these cases the tests
inside stay: room ahead only spares moving what was written to larger and larger blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import RUN_ENDS, Known, at
from linnet.imp.effects import breaks, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rebuild, statements, substitute

SEARCHES = ("search_", "gallop_")
"""Codelets that go on from a position to the first with a coordinate that is not below one."""
Lets = dict[str, imp.Expr]
Grows = list[imp.Grow]
Loop = imp.For | imp.While


def reserve_ahead(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Grow buffers before the outermost loop for which it is known by how much.

    Needs: simplified code.
    """
    body, _ = _Pass(kernel, known).block(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


class _Pass:
    """Blocks from the inside out; what grows in a loop is offered to the loop around it."""

    def __init__(self, kernel: imp.Kernel, known: Known) -> None:
        self.known, self.names = known, fresh_names(kernel)
        self.effects, self.depth = effects_of(kernel.codelets), 0
        self.exact: set[imp.Grow] = set()  # what surely is filled
        self.needed: set[imp.Grow] = set()  # what nothing inside asks for again

    def block(self, block: imp.Block, loop: Loop | None = None) -> tuple[imp.Block, Grows]:
        """The block, and what can be grown before the loop that it is the body of."""
        lets: Lets = {}
        stmts: list[imp.Stmt] = []
        lifted: Grows = []
        deeper = loop is not None and not loop.over.counter
        self.depth += deeper
        for k, stmt in enumerate(block.stmts):
            new, grows = self._statement(stmt)
            if isinstance(stmt, imp.Grow) and _is_filled(stmt, block.stmts[k + 1 :], lets):
                self.exact.add(stmt)
            stay: Grows = []
            dropped = False
            for grow in grows:
                ahead = None if loop is None else self._before(grow, loop, lets)
                if ahead is not None:
                    lifted.append(ahead)
                    dropped = self._covers(grow, loop, lets)
                    if dropped and (grow is stmt or grow in self.needed):
                        self.needed.add(ahead)
                if ahead is None or (grow in self.needed and not dropped):
                    stay.append(grow)
            if not isinstance(stmt, imp.Grow):
                stmts += self._reserve(stay)
            if not (dropped and isinstance(stmt, imp.Grow)):
                stmts.append(new)
            self._follow(lets, stmt)
        self.depth -= deeper
        changed = len(stmts) != len(block.stmts) or any(map(_differ, stmts, block.stmts))
        return (imp.Block(tuple(stmts)) if changed else block), lifted

    def _follow(self, lets: Lets, stmt: imp.Stmt) -> None:
        """What variables are known to be after a statement."""
        if isinstance(stmt, imp.Let):
            lets[stmt.var.name] = substitute(stmt.value, lets)
        for name in self.effects.of(stmt).assigns & lets.keys():
            if not isinstance(stmt, imp.Let):
                del lets[name]

    def _statement(self, stmt: imp.Stmt) -> tuple[imp.Stmt, Grows]:
        match stmt:
            case imp.Grow():
                return stmt, [stmt]
            case imp.For(body=body) | imp.While(body=body):
                new, grows = self.block(body, stmt)
                return (stmt if new is body else replace(stmt, body=new)), grows
            case imp.If() | imp.Block():
                return rebuild(stmt, self._inner), []
            case _:
                return stmt, []

    def _inner(self, node: imp.Node) -> imp.Node:
        return self.block(node)[0] if isinstance(node, imp.Block) else node

    def _reserve(self, grows: Grows) -> list[imp.Stmt]:
        """Grow by amounts that are computed once."""
        rooms: dict[imp.Expr, imp.Var] = {}
        for grow in grows:
            if grow.count not in rooms:
                rooms[grow.count] = imp.Var(self.names.fresh("room"))
        lets = [imp.Let(var, count) for count, var in rooms.items()]
        return [*lets, *(imp.Grow(grow.buffer, rooms[grow.count]) for grow in grows)]

    def _before(self, grow: imp.Grow, loop: Loop, lets: Lets) -> imp.Grow | None:
        """What to grow before a loop, seeing that it grows this in each iteration."""
        count = substitute(grow.count, lets)
        total: imp.Expr | None
        if isinstance(loop, imp.While):
            total = _walked(count, loop, lets)
        else:
            total = self._total(count, loop)
            if total == count:
                times = self._times(count, loop) if grow in self.exact else None
                total = self._guess(count, loop) if times is None else times
        if total is None:
            return None
        inside, here = self.effects.of(loop), self.effects.of(total)
        if grow.buffer.name in inside.swaps:  # it is another one each time
            return None
        local = {s.var.name for s in loop.body.stmts if isinstance(s, imp.Let)}
        local |= {loop.var.name} if isinstance(loop, imp.For) else set()
        if here.loads & inside.changes or here.reads & local:
            return None
        ahead = imp.Grow(grow.buffer, total)
        if grow in self.exact:
            self.exact.add(ahead)
        return ahead

    def _covers(self, grow: imp.Grow, loop: Loop | None, lets: Lets) -> bool:
        """Whether room for all iterations is enough in each: no other test is needed.

        A test is made before what it is for is written. With only one of them, all that a loop
        appends is asked for there, and the end of what is written cannot run ahead of it.
        """
        assert loop is not None
        inside = list(statements(loop.body))
        tests = [s for s in inside if isinstance(s, imp.Grow) and s.buffer == grow.buffer]
        if len(tests) != 1:
            return False
        assigned = [s for s in inside if isinstance(s, imp.Assign)]
        amounts, ends = [], []
        for term in _parts(substitute(grow.count, lets), "+"):
            changes = [s.value for s in assigned if s.var == term]
            if changes and all(value == term + 1 for value in changes):
                ends.append(term)
            else:
                amounts.append(term)
        if len(ends) != 1:
            return False
        if isinstance(loop, imp.While):
            return _stays_inside(loop, lets)
        return all(self._adds_up(amount, loop) for amount in amounts)

    def _adds_up(self, e: imp.Expr, loop: imp.For) -> bool:
        """Whether the amounts of all iterations together are what `_total` says, or less."""
        match e:
            case imp.Binary("-", stop, start):
                follows = self.known.follow(start, stop, loop.var) and self.known.runs(loop)
                return follows or self._of_parts(stop, start, loop) is not None
            case imp.Binary("+", a, b):
                return self._adds_up(a, loop) and self._adds_up(b, loop)
            case imp.Binary("min", a, b):  # those of which `_total` makes more are its total
                parts = [x for x in (a, b) if self._total(x, loop) != x]
                return bool(parts) and all(self._adds_up(x, loop) for x in parts)
            case _:
                return False

    def _times(self, count: imp.Expr, loop: imp.For) -> imp.Expr | None:
        """What a loop appends that appends the same number of entries in each iteration."""
        match count:
            case imp.Binary("+", imp.Var() as written, amount):
                varies = loop.var.name in self.effects.of(amount).reads
                runs = self.known.runs(loop) and not breaks(loop.body)
                if runs and not varies:
                    return written + amount * (imp.widen(loop.stop) - imp.widen(loop.start))
        return None

    def _guess(self, count: imp.Expr, loop: imp.For) -> imp.Expr | None:
        """For what an outermost loop appends, twice the number of entries that it walks."""
        match count:
            case imp.Binary("+", imp.Var() as written, _) if self.depth == 1:
                for length in _lengths(loop):
                    total = self._total(length, loop)
                    if total != length:
                        return written + total * 2
        return None

    def _total(self, e: imp.Expr, loop: imp.For) -> imp.Expr:
        """An amount after all iterations, if this is it after one: each range adds its length."""
        match e:
            case imp.Binary("-", stop, start) if self.known.follow(start, stop, loop.var):
                if not self.known.runs(loop):
                    return e
                return at(start, loop.var, loop.stop) - at(start, loop.var, loop.start)
            case imp.Binary("-", stop, start) if (
                total := self._of_parts(stop, start, loop)
            ) is not None:
                return total
            case imp.Binary(("+" | "*" | "-" | "min") as op, a, b, dtype):
                left, right = self._total(a, loop), self._total(b, loop)
                if op == "min" and (left == a) != (right == b):
                    return right if left == a else left
                if op == "*" and left != a and right != b:  # a sum of products
                    return e
                return imp.Binary(op, left, right, dtype)
            case _:
                return e

    def _of_parts(self, stop: imp.Expr, start: imp.Expr, loop: imp.For) -> imp.Expr | None:
        """What fibers hold of which a loop goes through one part of a range after the other."""
        match stop, start:
            case imp.Cast(imp.Load(ptr, hi)), imp.Cast(imp.Load(other, lo)) if (
                ptr == other and ptr.name in self.known.pointers
            ):
                parts = self.known.all_parts(loop)
                if parts is not None and (lo, hi) == parts[:2]:
                    return imp.widen(ptr[parts[3]]) - imp.widen(ptr[parts[2]])
            case imp.Call(function, (_, low, end, _)), imp.Call(other, (_, imp.Var() as q, far, _)):
                searches = function == other and function.startswith(SEARCHES)
                if searches and low == start and end == far and _moves_to(q, stop, loop):
                    assert not isinstance(end, imp.Address)
                    return end - q  # where the last part has ended, this one begins or later
        return None


def _moves_to(var: imp.Var, stop: imp.Expr, loop: imp.For) -> bool:
    """Whether a variable has this value after every turn of a loop, and is not set elsewhere."""
    lets: Lets = {}
    for stmt in loop.body.stmts:
        if isinstance(stmt, imp.Let):
            lets[stmt.var.name] = substitute(stmt.value, lets)
    found = [s for s in statements(loop.body) if isinstance(s, imp.Assign) and s.var == var]
    return (
        len(found) == 1 and found[0] in loop.body.stmts and substitute(found[0].value, lets) == stop
    )


def _lengths(loop: imp.For) -> Iterator[imp.Expr]:
    """How many positions the loops inside walk, each from where it begins to where it ends."""
    lets: Lets = {}
    for stmt in statements(loop.body):
        match stmt:
            case imp.Let(var, value):
                lets[var.name] = value
            case imp.For(_, start, stop):
                yield imp.widen(stop) - imp.widen(start)
            case imp.While(cond):
                for term in _parts(cond, "and"):
                    match term:
                        case imp.Binary("<", imp.Var(q), imp.Var(end)) if {q, end} <= lets.keys():
                            yield lets[end] - lets[q]


def _parts(e: imp.Expr, op: str) -> Iterator[imp.Expr]:
    """What an operator joins, wherever its brackets stand."""
    match e:
        case imp.Binary(found, a, b) if found == op:
            yield from _parts(a, op)
            yield from _parts(b, op)
        case _:
            yield e


def _is_filled(grow: imp.Grow, rest: Sequence[imp.Stmt], lets: Lets) -> bool:
    """Whether the next loop writes all that room is made for, whatever the data."""
    match substitute(grow.count, lets):
        case imp.Binary("+", imp.Var() as written, amount):
            for stmt in rest:
                if isinstance(stmt, imp.For):
                    length = imp.widen(stmt.stop) - imp.widen(stmt.start)
                    one = imp.Assign(written, written + 1)
                    whole = one in stmt.body.stmts and not breaks(stmt.body)
                    return whole and substitute(length, lets) == amount
    return False


def _walked(count: imp.Expr, loop: imp.While, lets: Lets) -> imp.Expr | None:
    """The room for all that `while q < end: …; q = stop` appends, `stop - q` in each iteration."""
    match loop.cond, loop.body.stmts:
        case imp.Binary("<", imp.Var() as q, end), (*_, imp.Assign(var, stop)) if var == q:
            part = substitute(stop, lets) - q
            match count:
                case imp.Binary("+", imp.Var() as written, walked) if walked == part:
                    return written + (imp.widen(end) - q)
    return None


def _stays_inside(loop: imp.While, lets: Lets) -> bool:
    """Whether `while q < end: …; q = stop` ends at `end`: stop is a minimum, or ends a run."""
    match loop.cond, loop.body.stmts:
        case imp.Binary("<", imp.Var() as q, end), (*_, imp.Assign(var, stop)) if var == q:
            match substitute(stop, lets):
                case imp.Binary("min", a, b):
                    return end in (a, b)
                case imp.Call(function, (imp.Address(), start, last)) if function in RUN_ENDS:
                    return start == q and last == end
    return False


def _differ(a: object, b: object) -> bool:
    return a is not b
