"""Elements of a part that loops update again and again are held in an array of the kernel's own.

    end = start + min(32, last - start)       …
    for q in a … b:                           for k in start … end: t[k - start] = y[i * n + k]
      for k in start … end:             ->    for q in a … b:
        y[i * n + k] += …                       for k in start … end: t[k - start] += …
                                              for k in start … end: y[i * n + k] = t[k - start]

It is done with whole parts, for which these are registers (`optimize.parts`): an addition need not
wait until the one before it is stored and loaded. Each element is added to in the same order as
before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace

import numpy as np

from linnet import imp
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import (
    rebuild,
    rewrite,
    rewrite_statements,
    statements,
    substitute,
    walk,
)
from linnet.names import Names
from linnet.optimize.elementwise import HERE, Part, part_of
from linnet.optimize.legality import is_next, may_leave, runs
from linnet.optimize.parts import whole_parts
from linnet.records import dataclass

_KINDS = ("float32", "float64", "int32", "int64")  # what vectors hold
_MOST = 512  # bytes: all registers of 32 bytes that there are
_PLAIN = (imp.Let, imp.Assign, imp.Accumulate, imp.Store, imp.For, imp.While, imp.If, imp.Comment)
_BINDING = (imp.Let, imp.Assign, imp.Accumulate, imp.For)


def hold(kernel: imp.Kernel) -> imp.Kernel:
    """Hold the elements of parts while loops update them. Needs: simplified code."""
    found = _Pass(fresh_names(kernel))
    body = found.block(kernel.body, ())
    if not found.scratch:
        return kernel
    return whole_parts(replace(kernel, body=body, scratch=(*kernel.scratch, *found.scratch)))


@dataclass(slots=True)
class _Pass:
    """The names that are taken, and the arrays that are made."""

    names: Names
    scratch: list[imp.Scratch] = field(default_factory=list)

    def block(self, block: imp.Block, parts: tuple[Part, ...]) -> imp.Block:
        """A block inside of some parts, the innermost first."""
        stmts: list[imp.Stmt] = []
        for stmt in block.stmts:
            part = part_of(stmt)
            parts = parts if part is None else (part, *parts)
            stmts.append(self._stmt(stmt, parts))
        same = all(new is old for new, old in zip(stmts, block.stmts, strict=True))
        return block if same else imp.Block(tuple(stmts))

    def _stmt(self, stmt: imp.Stmt, parts: tuple[Part, ...]) -> imp.Stmt:
        if isinstance(stmt, imp.For):
            for part in parts:
                found = {} if part.goes_through(stmt) else _sections(stmt, part)
                if found:
                    return self._held(stmt, part, found)
        if isinstance(stmt, imp.For | imp.While | imp.If):
            return rebuild(stmt, lambda n: self.block(n, parts) if isinstance(n, imp.Block) else n)
        return stmt

    def _held(self, loop: imp.For, part: Part, found: dict[imp.Buffer, imp.Expr]) -> imp.Stmt:
        """Loops with arrays that are filled before them, and stored behind them."""
        load, store = list[imp.Stmt](), list[imp.Stmt]()
        own: dict[imp.Buffer, imp.Buffer] = {}
        for buffer, index in found.items():
            own[buffer] = imp.Buffer(self.names.fresh("held"), buffer.dtype)
            self.scratch.append(imp.Scratch(own[buffer], part.most))
            for stmts in (load, store):
                k = imp.Var(self.names.fresh("k"))
                there = substitute(index, {HERE: k})
                place = k - part.start
                to_own = imp.Store(own[buffer], place, buffer[there])
                back = imp.Store(buffer, there, own[buffer][place])
                body = imp.Block((to_own if stmts is load else back,))
                over = imp.Over(tile=part.most)
                stmts.append(imp.For(k, part.start, part.end, body, over))

        def inside(node: imp.Node) -> imp.Node | None:
            if not isinstance(node, imp.For) or not part.goes_through(node):
                return None
            place = node.var - part.start

            def rule(n: imp.Node) -> imp.Node | None:
                match n:
                    case imp.Load(buffer) | imp.Store(buffer) if buffer in own:
                        return replace(n, buffer=own[buffer], index=place)
                return None

            return rewrite(node, rule)

        changed = rewrite_statements(loop, inside)
        held = imp.If(runs(loop), imp.Block((*load, changed, *store)), imp.EMPTY)
        return imp.If(part.is_whole, imp.Block((held,)), imp.Block((loop,)))


def _sections(loop: imp.For, part: Part) -> dict[imp.Buffer, imp.Expr]:
    """The buffers of which loops update one element for each of a part, and where that is."""
    if not all(isinstance(s, _PLAIN) for s in statements(loop.body)) or may_leave((loop,)):
        return {}
    found: dict[imp.Buffer, set[imp.Expr]] = {}
    for through in part.loops(loop.body):
        if not through.how.is_plain:
            return {}
        for node in walk(through.body):
            if isinstance(node, imp.Load | imp.Store):
                index = substitute(node.index, {through.var.name: imp.Var(HERE)})
                found.setdefault(node.buffer, set()).add(index)
    written = [n.buffer for n in walk(loop) if isinstance(n, imp.Store | imp.Fill)]
    uses = Counter(n.buffer for n in walk(loop) if isinstance(n, imp.Load | imp.Store | imp.Fill))
    within = Counter(
        n.buffer
        for through in part.loops(loop.body)
        for n in walk(through.body)
        if isinstance(n, imp.Load | imp.Store)
    )
    bound = {s.var.name for s in statements(loop.body) if isinstance(s, _BINDING)} | {loop.var.name}
    held: dict[imp.Buffer, imp.Expr] = {}
    for buffer in dict.fromkeys(written):
        if buffer.dtype not in _KINDS or uses[buffer] != within[buffer] or len(found[buffer]) > 1:
            continue
        (index,) = found[buffer]
        read = {n.name for n in walk(index) if isinstance(n, imp.Var)}
        plain = not any(isinstance(n, imp.Load | imp.Call) for n in walk(index))
        if plain and is_next(index, imp.Var(HERE)) and read.isdisjoint(bound):
            held[buffer] = index
    size = sum(np.dtype(buffer.dtype).itemsize for buffer in held)
    return held if size * part.most <= _MOST else {}
