"""Sums that are the same in every iteration of a loop are taken once, before it.

    for i in a … b:                        if a < b:
      t = 0                                  t = 0
      for q in …: t += val[q]      ->        for q in …: t += val[q]
      y[i] = t * v[i]                        for i in a … b: y[i] = t * v[i]

So it is with equal rows, which are stored once. (Single expressions leave loops in the back end.)
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, Summary
from linnet.imp.replace_loops import replace_loops
from linnet.imp.rewrite import statements
from linnet.names import Names

_PLAIN = (imp.Let, imp.Assign, imp.Accumulate, imp.For, imp.While, imp.If, imp.Comment)


def sums_ahead(kernel: imp.Kernel) -> imp.Kernel:
    """Take sums out of loops that begin with them. Needs: simplified code."""
    return replace_loops(kernel, _without_sums)


def _without_sums(loop: imp.For, effects: Effects, names: Names) -> imp.Node | None:
    count = _first_same(loop, effects)
    first, rest = loop.body.stmts[:count], loop.body.stmts[count:]
    if not rest or not any(isinstance(s, imp.For | imp.While) for s in first):
        return None
    runs = imp.widen(loop.start) < imp.widen(loop.stop)
    return imp.If(runs, imp.Block((*first, replace(loop, body=imp.Block(rest)))), imp.EMPTY)


def _first_same(loop: imp.For, effects: Effects) -> int:
    """How many statements a loop begins with that do the same each time, and can be done once."""
    stmts, inside = loop.body.stmts, effects.of(loop)
    given: set[str] = set()
    count = 0
    while count < len(stmts) and _is_same(stmts[count], given, inside, effects):
        given |= effects.of(stmts[count]).assigns
        count += 1
    while count and _assigned(stmts[:count], effects) & _assigned(stmts[count:], effects):
        count -= 1
    return count


def _is_same(stmt: imp.Stmt, given: set[str], inside: Summary, effects: Effects) -> bool:
    """Whether a statement reads what never changes, or was `given` by those before it."""
    here, below = effects.of(stmt), [*statements(imp.Block((stmt,)))]
    if here.changes or not here.loads.isdisjoint(inside.changes):
        return False
    if not all(isinstance(s, _PLAIN) for s in below):
        return False
    new = {s.var.name for s in below if isinstance(s, imp.Let | imp.For)}
    if isinstance(stmt, imp.Assign):
        new.add(stmt.var.name)
    elif not (here.assigns - new).issubset(given):  # of the iteration before, or only if something
        return False
    before = here.reads - (new if not isinstance(stmt, imp.Let | imp.Assign) else set())
    return before.isdisjoint(inside.assigns - given)


def _assigned(stmts: tuple[imp.Stmt, ...], effects: Effects) -> frozenset[str]:
    return frozenset[str]().union(*(effects.of(stmt).assigns for stmt in stmts))
