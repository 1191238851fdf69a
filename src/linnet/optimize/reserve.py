"""Makes room before a loop for all that its iterations append, where the sum of it is known.

    for i in a … b:                            grow(C_idx, C_n + (ptr[b] - ptr[a]))
      grow(C_idx, C_n + (hi - lo))             for i in a … b:
      for q in lo … hi: …; C_n += 1      ->      for q in lo … hi: …; C_n += 1

Here `lo … hi` lies in `ptr[i] … ptr[i + 1]`. Ranges that follow one another hold no more than all
of them together (`optimize.following`), and no iteration has to ask: a page that is not written to
takes no memory. As much in every iteration, or a multiple of what is appended, may be more than can
be computed; there room ahead spares moving what was written, and iterations ask as before.

What grows in an outermost loop all the same is told how much of the loop is done, so that it grows
to what that lets expect, and not to twice its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial, reduce
from itertools import groupby

from linnet import imp
from linnet.imp.effects import Effects, breaks
from linnet.imp.fold import fold
from linnet.imp.fresh import fresh_names
from linnet.imp.linear import Linear, as_code, linear
from linnet.imp.rewrite import rebuild, rewrite_statements, statements, with_statements
from linnet.optimize.following import Iteration, Known, Sum, terms
from linnet.optimize.legality import Loop, is_fixed
from linnet.records import dataclass


def reserve(kernel: imp.Kernel) -> imp.Kernel:
    """Grow buffers before the outermost loop for which it is known by how much.

    Needs: simplified code.
    """
    if not any(isinstance(s, imp.Grow) for s in statements(kernel.body)):
        return kernel
    ahead = _Ahead(kernel)
    body = ahead.block(kernel.body)
    body = rewrite_statements(body, ahead.computed_once)
    body = rebuild(body, partial(_outermost, ahead.known.effects))
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Ask:
    """What asks for an array in an iteration: from an `end` on, for a sum; all of it some times."""

    grows: tuple[imp.Grow, ...]
    end: imp.Var
    sum: Sum
    times: imp.Expr | None

    def room(self, more: imp.Expr) -> imp.Grow:
        """To ask before the loop, for so much beside what is appended."""
        count = fold(self.end + fold(self.sum.all + more))
        times = self.times
        return imp.Grow(self.grows[0].buffer, count if times is None else count * times)


class _Ahead:
    """Blocks from the inside out: what stands before a loop is asked for in the one around it."""

    def __init__(self, kernel: imp.Kernel) -> None:
        self.known, self._names = Known.of(kernel), fresh_names(kernel)
        self._made: set[imp.Grow] = set()  # ahead of loops
        self._hints: set[imp.Grow] = set()  # of these, those behind which somebody asks again
        self._filled: set[imp.Grow] = set()  # what is surely written

    def block(self, block: imp.Block) -> imp.Block:
        """The block, with room before loops."""
        stmts: list[imp.Stmt] = []
        for stmt in block.stmts:
            new = rebuild(stmt, self._inner)
            stmts += self._lifted(new) if isinstance(new, imp.For | imp.While) else [new]
        return with_statements(block, stmts)

    def _inner(self, node: imp.Node) -> imp.Node:
        return self.block(node) if isinstance(node, imp.Block) else node

    def computed_once(self, node: imp.Node) -> imp.Node | None:
        """A block in which what is made ahead grows by amounts that are computed once."""
        if not isinstance(node, imp.Block) or self._made.isdisjoint(node.stmts):
            return None
        stmts: list[imp.Stmt] = []
        for made, group in groupby(
            node.stmts, lambda s: isinstance(s, imp.Grow) and s in self._made
        ):
            run = [*group]
            stmts += self._rooms([s for s in run if isinstance(s, imp.Grow)]) if made else run
        return imp.Block(tuple(stmts))

    def _rooms(self, grows: list[imp.Grow]) -> Iterator[imp.Stmt]:
        counts = dict.fromkeys(grow.count for grow in grows)
        rooms = {count: imp.Var(self._names.fresh("room")) for count in counts}
        yield from (imp.Let(room, count) for count, room in rooms.items())
        yield from (imp.Grow(grow.buffer, rooms[grow.count]) for grow in grows)

    # -- before one loop ---------------------------------------------------------------------------

    def _lifted(self, loop: Loop) -> list[imp.Stmt]:
        """The loop, behind room for what it appends."""
        asking = [s for s in loop.body.stmts if isinstance(s, imp.Grow)]
        if not asking:
            return [loop]
        turn = Iteration(loop, self.known)
        self._filled |= turn.filled
        asks = [a for b in dict.fromkeys(g.buffer for g in asking) if (a := _asked(turn, b))]
        needless, gone = _needless(turn, asks), self._hints.intersection(asking)
        ahead: list[imp.Stmt] = []
        for a in asks:
            room = a.room(as_code(a.sum.each)) if a in needless else self._hint(turn, a)
            if room is None or not turn.holds_before(room.count):
                continue
            ahead.append(room)
            self._made.add(room)
            self._filled |= {room for grow in a.grows if grow in self._filled}
            if a in needless:
                gone |= {*a.grows}
            else:
                self._hints.add(room)
        body = imp.Block(tuple([s for s in loop.body.stmts if s not in gone]))
        return [*ahead, replace(loop, body=body) if gone else loop]

    def _hint(self, turn: Iteration, a: _Ask) -> imp.Grow | None:
        """Room that is of use, though somebody asks again."""
        each, loop = as_code(a.sum.each), turn.loop
        if isinstance(loop, imp.For) and self._filled.issuperset(a.grows) and not breaks(loop.body):
            return a.room(fold(each * (imp.widen(loop.stop) - imp.widen(loop.start))))
        return None if a.sum.all == imp.ZERO else a.room(each)


def _asked(turn: Iteration, buffer: imp.Buffer) -> _Ask | None:
    """What asks for an array, if it asks for what is appended."""
    counts = [count for grow, count in turn.grows if grow.buffer == buffer]
    times, amounts, found = None, list[Linear](), set[imp.Var]()
    match counts:
        case [imp.Binary("*", some, factor)] if turn.is_fixed(factor):
            counts, times = [some], factor
    for amount in map(linear, counts):
        ends = {t: turn.counted(t) for t, n in terms(amount).items() if n == 1}
        for term, end in ends.items():
            if end is not None:
                found.add(end)
                amounts.append(amount.without(term))
    total = turn.total(reduce(Linear.plus, amounts)) if len(amounts) == len(counts) else None
    if total is None or len(found) != 1 or turn.swaps(buffer):
        return None
    grows = tuple([grow for grow, _ in turn.grows if grow.buffer == buffer])
    return _Ask(grows, found.pop(), total, times)


def _needless(turn: Iteration, asks: list[_Ask]) -> list[_Ask]:
    """What no iteration has to ask for, if there is room for what all of them append.

    A test is made before what it is for is written, so the end of what is written does not run
    ahead of what all tests ask for. Other arrays with that end are as long, and some more.
    """
    others = [s for s in statements(turn.loop.body) if isinstance(s, imp.Grow)]
    alone = [
        a
        for a in asks
        if a.times is None and a.sum.safe
        if len(a.grows) == sum(g.buffer == a.grows[0].buffer for g in others)
    ]
    ends = {(a.end, a.sum.all) for a in alone if not a.sum.each.terms and not a.sum.each.number}
    same = [a for a in alone if len(a.grows) == 1 or not a.sum.each.terms]
    return [a for a in same if (a.end, a.sum.all) in ends]


# -- what grows in a loop --------------------------------------------------------------------------


def _outermost(effects: Effects, node: imp.Node) -> imp.Node:
    """Outermost loops in which what is appended to knows how much of the loop is done."""
    match node:
        case imp.For():
            return _told(effects, node)
        case imp.If() | imp.Block():
            return rebuild(node, partial(_outermost, effects))
        case _:
            return node


def _told(effects: Effects, loop: imp.For) -> imp.For:
    start, stop = imp.widen(loop.start), imp.widen(loop.stop)
    done, count = loop.var - start + 1, stop - start
    if not is_fixed(count, loop, effects):
        return loop  # it may be another by now
    begun = {
        s.var
        for s in statements(loop.body)
        if isinstance(s, imp.Let) or (isinstance(s, imp.Assign) and isinstance(s.value, imp.Const))
    }

    named = {s.var: s.value for s in statements(loop.body) if isinstance(s, imp.Let)}

    def rule(node: imp.Node) -> imp.Node | None:
        room = node.count if isinstance(node, imp.Grow) else None
        match named.get(room, room) if isinstance(room, imp.Var) else room:
            case imp.Binary("+", imp.Var() as end, _) if end not in begun:
                assert isinstance(node, imp.Grow)
                return replace(node, done=done, whole=count)
        return None

    return rewrite_statements(loop, rule)
