"""Prefetches what later iterations get to: places that are two loads away.

    for i in 0 … n:                              last = ptr[n] - 1
      for q in ptr[i] … ptr[i + 1]:              for i in 0 … n:
        k = idx[q]                                 for q in ptr[i] … ptr[i + 1]:
        for p in rows[k] … rows[k + 1]:   ->         ahead = min(q + 32, last)
          … col[p] …                                 prefetch(rows, idx[ahead])
                                                     ahead_2 = min(q + 16, last)
                                                     prefetch(col, rows[idx[ahead_2]])
                                                     k = idx[q] …

Addresses are those that an iteration computes itself, in terms of a later one. What is loaded on
the way there is prefetched earlier still. Loads that lead nowhere else a processor begins by itself
for many iterations; but it does not see past the end of an inner loop, and stores wait in order. So
that is asked for: where inner loops begin, always, for it is little beside a loop; and what is
stored, if all of it together is more than the caches hold. A loop through one part after the other
looks beyond its part, as far as what they are parts of goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rebuild, rewrite_statements, substitute, walk, with_statements
from linnet.names import Names
from linnet.optimize.following import Known
from linnet.optimize.legality import all_of, is_fixed, may_leave
from linnet.optimize.places import Conds, Iteration, Place
from linnet.records import dataclass
from linnet.target import Target

_LINE = 64  # bytes
Nest = tuple[imp.For | None, ...]  # loops right in each other; None is other code in a loop


def prefetch(kernel: imp.Kernel, target: Target) -> imp.Kernel:
    """Prefetch what loops are led to by what they load. Needs: simplified code."""
    if not target.prefetches:
        return kernel
    counted = {n.over.counter for n in walk(kernel.body) if isinstance(n, imp.For)}
    pass_ = _Pass(target, Known.of(kernel), fresh_names(kernel), frozenset(counted - {""}))
    body = pass_.block(kernel.body, ())
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Pass:
    """All loops of a kernel, and what is to be computed before some of them."""

    target: Target
    known: Known
    names: Names
    counted: frozenset[str]  # indices of loops through parts that follow one another
    before: dict[int, list[imp.Stmt]] = field(default_factory=dict)

    def block(self, block: imp.Block, around: Nest) -> imp.Block:
        """A block that is the body of the innermost of these loops."""
        stmts: list[imp.Stmt] = []
        for stmt in block.stmts:
            nest = _nest(stmt, around)
            new = rebuild(stmt, lambda n, i=nest: self._inside(n, i))  # type: ignore[misc]
            if isinstance(new, imp.For) and stmt in nest[-1:] and (asked := self._asked(nest)):
                new = replace(new, body=imp.Block((*asked, *new.body.stmts)))
            before = self.before.pop(id(stmt), [])
            match before:
                case (*_, imp.Let(imp.Var(_, imp.BOOL) as far)):
                    new = imp.If(far, *(imp.Block((_one_way(new, far, k),)) for k in (0, 1)))
            stmts += [*before, new]
        return with_statements(block, stmts)

    def _inside(self, node: imp.Node, nest: Nest) -> imp.Node:
        return self.block(node, nest) if isinstance(node, imp.Block) else node

    def _asked(self, nest: Nest) -> list[imp.Stmt]:
        """What the innermost loop asks for, up to the last iteration of as many as are known."""
        for k in range(len(nest)):
            loops = [loop for loop in nest[k:] if loop is not None]
            ends = self._ends(loops) if len(loops) == len(nest) - k else None
            if ends is None:
                continue
            iteration = Iteration(loops[-1], loops[0], self.known.effects)
            found = [*iteration.entered.values()]
            stored = [*iteration.stored.values()] if k == 0 and not found else []
            if found or stored:
                last = imp.Var(self.names.fresh("last"))
                before = self.before.setdefault(id(loops[0]), [])
                before.append(imp.Let(last, fold(ends[1] - 1)))
                asked = [*self._prefetches(loops[-1].var, last, found or stored)]
                if stored:
                    size = sum(place.size for place in stored if place.steps == 1)
                    far = imp.Var(self.names.fresh("far"), imp.BOOL)
                    before.append(imp.Let(far, (last - ends[0]) * size >= self.target.cache))
                    return [imp.If(far, imp.Block(tuple(asked)), imp.EMPTY)]
                return asked
        return []

    def _ends(self, nest: list[imp.For]) -> tuple[imp.Expr, imp.Expr] | None:
        """Where the ranges of the innermost loop begin and end: they follow each other in all."""
        whole, inner = nest[0], nest[-1]
        through = inner if whole is inner else all_of(nest)
        around = (s for loop in nest[:-1] for s in loop.body.stmts if s not in nest)
        if through is None or may_leave(around):
            return None
        start, stop = imp.widen(through.start), imp.widen(self._last_end(through))
        return (start, stop) if is_fixed(stop - start, whole, self.known.effects) else None

    def _last_end(self, loop: imp.For) -> imp.Expr:
        """Where a loop ends, or the last of the parts that it goes through in turn."""
        span = loop.over.spans[0] if len(loop.over.spans) == 1 else None
        if span is None or not span.part or loop.over.index not in self.counted:
            return loop.stop
        entries = self.known.lists.get((span.tensor, span.level))
        fibers = {imp.FIRST.name: span.first, imp.LAST.name: span.last}
        return loop.stop if entries is None else substitute(entries.end, fibers)

    def _prefetches(self, q: imp.Var, last: imp.Var, places: list[Place]) -> Iterator[imp.Stmt]:
        """Prefetch the places of later iterations: as many as may be under way at once."""
        distance = max(1, self.target.misses // sum(place.lines for place in places))
        for steps in sorted({place.steps for place in places}, reverse=True):
            ahead = imp.Var(self.names.fresh("ahead"))
            yield imp.Let(ahead, imp.minimum(q + steps * distance, last))
            asked: dict[tuple[Conds, imp.Expr], list[Place]] = {}
            for place in places:
                if place.steps == steps:
                    asked.setdefault((place.conds, place.index), []).append(place)
            for (conds, index), here in asked.items():
                stmts: list[imp.Stmt] = []
                soon = imp.widen(index)
                if sum(place.lines for place in here) > 1:
                    soon = imp.Var(self.names.fresh("soon"))
                    stmts.append(imp.Let(soon, imp.widen(index)))
                for place in here:
                    lines = [soon, soon + _LINE // place.size][: place.lines]
                    stmts += [imp.Prefetch(place.buffer, line) for line in lines]
                for cond in reversed(conds):
                    stmts = [imp.If(cond, imp.Block(tuple(stmts)), imp.EMPTY)]
                yield from substitute(imp.Block(tuple(stmts)), {q.name: ahead}).stmts


def _nest(stmt: imp.Stmt, around: Nest) -> Nest:
    """The loops around the code in a statement."""
    if isinstance(stmt, imp.For):  # what counts parts goes through nothing itself
        return around if stmt.over.counter else (*around, stmt)
    return (None,) if around or isinstance(stmt, imp.While) else ()


def _one_way(stmt: imp.Stmt, cond: imp.Expr, k: int) -> imp.Stmt:
    """A statement in which it is known what holds."""

    def rule(node: imp.Node) -> imp.Node | None:
        known = isinstance(node, imp.If) and node.cond == cond
        return (node.then, node.orelse)[k] if known else None  # type: ignore[union-attr]

    return rewrite_statements(stmt, rule)
