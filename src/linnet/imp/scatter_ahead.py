"""Places that entries are dealt to, asked for before they are written.

    for i in 0 … n:                              last = ptr[n] - 1
      for q in ptr[i] … ptr[i + 1]:              if last - ptr[0] is large:
        to = ends[idx[q]]                          for i in 0 … n:
        out[to] = val[q]                   ->        for q in ptr[i] … ptr[i + 1]:
        ends[idx[q]] = to + 1                          soon = ends[idx[min(q + 16, last)]]
                                                       prefetch(out, soon)
                                                       to = ends[idx[q]] …
                                                 else: as before

A transposition writes each entry to another page, and what it cannot write yet holds up what comes
behind. By then an end may have moved on by an entry or two: mostly it is in the same line. In the
caches, asking takes more time than it saves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import Known, at
from linnet.imp.effects import Effects, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rebuild, statements, substitute, walk

_AHEAD = 16  # entries: so many are written while a line comes from memory
_MANY = 1 << 20  # entries: so many are no longer in the caches
_CERTAIN = imp.Let | imp.Assign | imp.Accumulate | imp.Store | imp.For | imp.Comment


def scatter_ahead(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Prefetch where loops over stored entries append to ends that they look up.

    Needs: simplified code.
    """
    body = _Pass(kernel, known).block(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


class _Pass:
    """The blocks of a kernel outside of loops."""

    def __init__(self, kernel: imp.Kernel, known: Known) -> None:
        self.known, self.names = known, fresh_names(kernel)
        self.effects: Effects = effects_of(kernel.codelets)

    def block(self, block: imp.Block) -> imp.Block:
        """Ask ahead in the loops of a block that are in no other: there, entries are few."""
        stmts: list[imp.Stmt] = []
        for stmt in block.stmts:
            match stmt:
                case imp.For() if stmt.over.counter:
                    stmts.append(rebuild(stmt, self._inner))
                case imp.For():
                    stmts += self._asking(stmt) or [stmt]
                case imp.While():
                    stmts.append(stmt)
                case _:
                    stmts.append(rebuild(stmt, self._inner))
        same = len(stmts) == len(block.stmts) and all(map(_is, stmts, block.stmts))
        return block if same else imp.Block(tuple(stmts))

    def _inner(self, node: imp.Node) -> imp.Node:
        return self.block(node) if isinstance(node, imp.Block) else node

    def _asking(self, loop: imp.For) -> list[imp.Stmt] | None:
        """A nest of loops over entries, and before it the position of the last of them."""
        if not all(isinstance(s, _CERTAIN) for s in statements(loop.body)):
            return None  # it may end, or make room, before it comes to what would be asked for
        walked = self._walked(loop)
        if walked is None:
            return None
        inner, start, stop = walked
        places = list(self._places(inner))
        outside = self.effects.of(imp.widen(stop) - imp.widen(start))
        changed = self.effects.of(loop)
        if not places or outside.loads & changed.changes or outside.reads & changed.assigns:
            return None
        last, ahead = imp.Var(self.names.fresh("last")), imp.Var(self.names.fresh("ahead"))
        asked = self._asked(inner, places, ahead)
        here = imp.Let(ahead, imp.minimum(inner.var + _AHEAD, last))
        new = replace(inner, body=imp.Block((here, *asked, *inner.body.stmts)))
        large = last - imp.widen(start) >= _MANY
        ways = imp.Block((_replaced(loop, inner, new),)), imp.Block((loop,))
        return [imp.Let(last, imp.widen(stop) - 1), imp.If(large, *ways)]

    def _walked(self, loop: imp.For) -> tuple[imp.For, imp.Expr, imp.Expr] | None:
        """The innermost loop, and where the entries of all of its runs begin and end."""
        inside = [s for s in loop.body.stmts if isinstance(s, imp.For)]
        if not inside:
            return loop, loop.start, loop.stop
        found = self._walked(inside[0]) if len(inside) == 1 else None
        if found is None or not self.known.runs(loop):
            return None
        inner, start, stop = found
        if not self.known.follow(start, stop, loop.var):
            return None
        return inner, at(start, loop.var, loop.start), at(start, loop.var, loop.stop)

    def _places(self, loop: imp.For) -> Iterator[tuple[imp.Buffer, imp.Load]]:
        """Arrays that are written at the ends of what is looked up, and where these are stored."""
        changes = self.effects.of(loop.body).changes
        assigned = self.effects.of(loop.body).assigns - {loop.var.name}
        lets: dict[str, imp.Expr] = {}
        ends: dict[str, imp.Load] = {}
        for stmt in loop.body.stmts:
            match stmt:
                case imp.Let(var, value):
                    lets[var.name] = whole = substitute(value, lets)
                    place = _uncast(whole)
                    if isinstance(place, imp.Load) and place.buffer.name in changes:
                        here = self.effects.of(place.index)
                        if _is_looked_up(place.index, loop.var) and not (
                            here.loads & changes or here.reads & assigned
                        ):
                            ends[var.name] = place
                case imp.Store(buffer, imp.Var(name)) if name in ends:
                    yield buffer, ends[name]

    def _asked(
        self, loop: imp.For, places: list[tuple[imp.Buffer, imp.Load]], ahead: imp.Var
    ) -> list[imp.Stmt]:
        """Look the ends up for a later entry, and ask for what is there."""
        asked: list[imp.Stmt] = []
        known: dict[imp.Load, imp.Var] = {}
        for buffer, end in places:
            if end not in known:
                known[end] = soon = imp.Var(self.names.fresh("soon"))
                asked.append(imp.Let(soon, imp.widen(substitute(end, {loop.var.name: ahead}))))
            asked.append(imp.Prefetch(buffer, known[end]))
        return asked


def _is_looked_up(index: imp.Expr, var: imp.Var) -> bool:
    """Whether an index is made of what is stored at the position of an entry, and of nothing else.

    The loop itself loads all of that: it may be loaded earlier.
    """
    loads = [node for node in walk(index) if isinstance(node, imp.Load)]
    plain = (imp.Load, imp.Binary, imp.Cast, imp.Var, imp.Const, imp.Buffer)
    return (
        bool(loads)
        and all(load.index == var for load in loads)
        and all(isinstance(node, plain) for node in walk(index))
    )


def _replaced(loop: imp.For, old: imp.For, new: imp.For) -> imp.For:
    """A nest of loops with another innermost one."""
    if loop is old:
        return new
    stmts = [_replaced(s, old, new) if isinstance(s, imp.For) else s for s in loop.body.stmts]
    return replace(loop, body=imp.Block(tuple(stmts)))


def _uncast(e: imp.Expr) -> imp.Expr:
    return _uncast(e.x) if isinstance(e, imp.Cast) else e


def _is(a: object, b: object) -> bool:
    return a is b
