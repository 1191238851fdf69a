"""Places that an iteration of a loop gets to, in terms of its number: so they are known before."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from linnet import imp
from linnet.imp.effects import Effects, breaks
from linnet.imp.fold import fold
from linnet.imp.rewrite import children, statements, substitute, walk
from linnet.optimize.legality import may_leave
from linnet.records import dataclass

FAR = 2  # loads on the way to a place that is noted
_WIDE = 8  # bytes of an element: a few of them are more than a cache line
Conds = tuple[imp.Expr, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """An element that an iteration gets to on these conditions, by some steps from load to load."""

    buffer: imp.Buffer
    index: imp.Expr
    conds: Conds
    steps: int = 1
    lines: int = 1  # to ask for: a row of a few wide elements lies in two

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return np.dtype(self.buffer.dtype).itemsize


Places = dict[tuple[imp.Buffer, Conds], Place]


class Iteration:
    """What an iteration of a loop comes to in terms of its number, within a whole nest.

    Nothing is loaded but what the iteration loads itself, under the same conditions, of arrays that
    the nest leaves alone. An address may be of one that it changes: that is hardly off by then.
    """

    def __init__(self, loop: imp.For, whole: imp.For, effects: Effects) -> None:
        self.loop, self.effects = loop, effects
        inside, stmts = effects.of(whole), statements(whole.body)
        self.assigns, self.changes = inside.assigns, inside.changes
        self.moved = inside.swaps | {s.buffer.name for s in stmts if isinstance(s, imp.Grow)}
        self.meant: dict[str, imp.Expr] = {}  # variables of the body
        self.begins: dict[str, imp.Expr] = {}  # where searches begin of which they are the result
        self.entered: Places = {}  # where loops inside begin
        self.stored: Places = {}
        if not breaks(loop.body):  # else something is begun that is then not gone on with
            self._follow(loop.body, ())

    def _follow(self, block: imp.Block, conds: Conds) -> Conds | None:
        """Note the places of a block. What comes behind it is done on the conditions returned."""
        for stmt in block.stmts:
            behind = None if may_leave((stmt,)) else conds
            match stmt:
                case imp.Store(buffer, index):
                    if imp.Load(buffer, index) not in walk(self.loop):  # that is begun early
                        self._reach(self.stored, buffer, substitute(index, self.meant), conds)
                case imp.For() | imp.While() if not breaks(stmt.body):
                    self._enter(stmt, conds)
                case imp.If():
                    behind = self._branch(stmt, conds)
            self._learn(stmt, conds)
            if behind is None:
                return None
            conds = behind
        return conds

    def _learn(self, stmt: imp.Stmt, conds: Conds) -> None:
        """Know what variables are from here on."""
        before = dict(self.meant)
        for name in self.effects.of(stmt).assigns:
            self.meant.pop(name, None)
            self.begins.pop(name, None)
        if isinstance(stmt, imp.Let | imp.Assign):
            meaning = substitute(stmt.value, before)
            if self._is_known(meaning, exactly=False):
                self.meant[stmt.var.name] = meaning
            for buffer, begin in _passed(meaning):
                self.begins[stmt.var.name] = begin
                self._reach(self.entered, buffer, begin, conds)

    def _branch(self, stmt: imp.If, conds: Conds) -> Conds | None:
        """The conditions behind a branch; None if nobody knows when it leaves the loop."""
        cond, outside = substitute(stmt.cond, self.meant), dict(self.meant)
        leaves = may_leave(stmt.then.stmts), may_leave(stmt.orelse.stmts)
        if not self._is_known(cond):
            return None if any(leaves) else conds
        met, unmet = (*conds, cond), (*conds, fold(~cond))
        self._follow(stmt.then, met)
        self.meant = outside
        self._follow(stmt.orelse, unmet)
        return {(False, False): conds, (False, True): met, (True, False): unmet}.get(leaves)

    def _enter(self, loop: imp.For | imp.While, conds: Conds) -> None:
        """Note where a loop inside begins: what it gets to without another load."""
        new = {s.var.name for s in statements(loop.body) if isinstance(s, imp.Let | imp.For)}
        entry = {name: value for name, value in self.meant.items() if name not in new}
        if isinstance(loop, imp.For):
            entry[loop.var.name] = substitute(loop.start, self.begins | self.meant)
        for node in walk(loop):
            at_once = [(node.buffer, node.index)] if isinstance(node, imp.Load) else _passed(node)
            for buffer, index in at_once:
                if not any(isinstance(n, imp.Load) for n in walk(index)):
                    self._reach(self.entered, buffer, substitute(index, entry), conds)

    def _reach(self, places: Places, buffer: imp.Buffer, index: imp.Expr, conds: Conds) -> None:
        """Note a place that is far away, one of each array, and what leads there."""
        depth = self._depth(index)
        if depth < FAR or (buffer, conds) in places or not self._is_known(index, exactly=False):
            return
        place = Place(buffer, index, conds)
        rows = places is self.entered and place.size >= _WIDE
        places[buffer, conds] = replace(place, lines=2) if rows else place
        unsure = any(isinstance(n, imp.Binary) and n.op in imp.LOGICAL for n in walk(index))
        for load in walk(index) if not conds and not unsure else ():  # or it is asked twice
            if isinstance(load, imp.Load) and (before := self._depth(load.index)):
                way = Place(load.buffer, load.index, conds, depth - before + 1)
                places.setdefault((load.buffer, conds), way)

    def _is_known(self, e: imp.Expr, exactly: bool = True) -> bool:
        """Whether a later iteration will compute the same, or nearly so."""
        match e:
            case imp.Var(name):
                return e == self.loop.var or name not in self.assigns
            case imp.Load(buffer, index):
                gone = self.changes if exactly else self.moved
                return buffer.name not in gone and self._is_known(index)
            case imp.Const() | imp.Unary() | imp.Binary() | imp.Select() | imp.Cast():
                return all(self._is_known(x, exactly) for x in children(e))  # type: ignore[arg-type]
        return False

    def _depth(self, e: imp.Node) -> int:
        """How many loads lead to a value, one after the other; pointers are walked in order."""
        below = max(map(self._depth, children(e)), default=0)
        if not isinstance(e, imp.Load) or self.loop.var not in walk(e.index):
            return below
        held = e.buffer.holds
        return below + 1 if below or held is None or not (held.fiber and held.ascends) else 0


def _passed(node: imp.Node) -> list[tuple[imp.Buffer, imp.Expr]]:
    """The arrays that a codelet gets, each with the position behind it: there it begins."""
    args = node.args if isinstance(node, imp.Call) else ()
    return [
        (a.buffer, b)
        for a, b in pairwise(args)
        if isinstance(a, imp.Address) and not isinstance(b, imp.Address) and b.dtype == imp.INT
    ]
