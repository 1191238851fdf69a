"""Loops over rows that have an element or none: where all of a strip have one, none is asked.

    for i in a … b:               for strip in 0 … ((max(a, b) - a - 1) >> 8) + 1:
      at = idx[i]                   first, last = …
      if at < n: …          ->      most = 0
                                    for i in first … last: most = max(most, idx[i])
                                    if most < n:
                                      for i in first … last: at = idx[i]; …
                                    else:
                                      for i in first … last: at = idx[i]; if at < n: …

The index of a row without an element is the size of its dimension. The greatest is found in
vectors, and takes a fraction of what a branch for each row does.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import Known
from linnet.imp.effects import Effects
from linnet.imp.replace_loops import replace_loops
from linnet.imp.rewrite import walk
from linnet.imp.strips import in_strips
from linnet.names import Names
from linnet.records import dataclass

_BITS = 8  # of the length of a strip: among more rows one is empty too often
_LONG = (imp.For, imp.While, imp.Call, imp.Break, imp.Return)


def full_strips(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Ask strips of rows at once whether each has an element. Needs: simplified code."""

    def better(loop: imp.For, effects: Effects, names: Names) -> imp.Node | None:
        if any(isinstance(node, _LONG) for node in walk(loop.body)):
            return None
        match [stmt for stmt in loop.body.stmts if isinstance(stmt, imp.If)]:
            case [imp.If(imp.Binary("<", at, imp.Var(name) as size), _, imp.Block(())) as test]:
                index = _index(loop, at) if name in known.sizes else None
                if index is None or index.buffer.name in effects.of(loop).changes:
                    return None
                most = imp.Var(names.fresh("most"), index.dtype)
                choice = _Choice(test, index, most, size)
                return in_strips(loop, choice.strip, names, _BITS)
        return None

    return replace_loops(kernel, better)


def _index(loop: imp.For, at: imp.Expr) -> imp.Load | None:
    """What is tested, if every row has it at its own place in an array of integers."""
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, (imp.Load() as load) | imp.Cast(imp.Load() as load)) if var == at:
                own = load.index == loop.var and load.dtype[0] in "iu"
                return load if own else None
    return None


@dataclass(frozen=True, slots=True)
class _Choice:
    """A test that is made of the greatest index of a strip first."""

    test: imp.If
    index: imp.Load
    most: imp.Var
    size: imp.Var

    def strip(self, rows: imp.For) -> tuple[imp.Stmt, ...]:
        """The rows of a strip, without the test if the greatest index passes it."""
        sure = [s for stmt in rows.body.stmts for s in self._passed(stmt)]
        full = replace(rows, body=imp.Block(tuple(sure)))
        greatest = imp.Block((imp.Accumulate(self.most, "max", self.index),))
        passes = imp.widen(self.most) < self.size
        return (
            imp.Let(self.most, imp.Const(0, self.most.dtype)),
            replace(rows, body=greatest, over=imp.NOWHERE),
            imp.If(passes, imp.Block((full,)), imp.Block((rows,))),
        )

    def _passed(self, stmt: imp.Stmt) -> tuple[imp.Stmt, ...]:
        return self.test.then.stmts if stmt is self.test else (stmt,)
