"""Hands runs over one by one, where a temporary is walked once, right after it was written.

    at = -1                                  at = -1; begin = 0
    while …:                                 while …:
      if at == first: right[n - 1] = stop      if at != first:
      else:                                      if at >= 0: body(begin, at)
        left[n] = first; right[n] = stop  ->     begin = first
        n += 1                                 at = stop
      at = stop                              if at >= 0: body(begin, at)
    ptr[1] = n
    for q in ptr[0] … ptr[1]:
      body(left[q], right[q])

A run is complete when another begins that does not touch it. Till then it is in two variables, and
the temporary is not needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, TypeGuard

from linnet import imp
from linnet.imp.effects import Effects, breaks, effects_of, independent
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite, rewrite_statements, statements
from linnet.records import dataclass

_Loop: TypeAlias = imp.For | imp.While


def hand_over(kernel: imp.Kernel) -> imp.Kernel:
    """Walk the runs of temporaries where they are written. Needs: simplified code."""
    found = [_appended(stmt) for stmt in statements(kernel.body) if isinstance(stmt, imp.If)]
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)
    for runs in filter(None, found):
        change = _HandOver(runs, effects, imp.Var(names.fresh("begin")))
        body = rewrite_statements(kernel.body, change.rule)
        if body is not kernel.body:
            body = rewrite_statements(body, change.without_room)
            if change.is_done(body):
                kernel = replace(kernel, body=body)
    return kernel


@dataclass(frozen=True, slots=True)
class _Runs:
    """Where a run that begins at `first` is appended, or makes the one before it longer."""

    append: imp.If
    left: imp.Buffer
    right: imp.Buffer
    n: imp.Var
    at: imp.Var
    first: imp.Expr
    stop: imp.Expr  # as it is stored


def _appended(stmt: imp.If) -> _Runs | None:
    """The runs that the statement appends, if it is one that does so."""
    match stmt.cond, stmt.then.stmts, stmt.orelse.stmts:
        case (
            imp.Binary("==", imp.Var() as at, first),
            (imp.Store(right, _, stop) as longer,),
            (imp.Store(left, imp.Var() as n) as begins, ends, more, *rooms),
        ):
            same = (longer, begins, ends, more) == (
                imp.Store(right, n - 1, stop),
                imp.Store(left, n, imp.cast(first, left.dtype)),
                imp.Store(right, n, stop),
                imp.Assign(n, n + 1),
            )
            if same and all(isinstance(s, imp.Grow) and s.buffer in (left, right) for s in rooms):
                return _Runs(stmt, left, right, n, at, first, stop)
    return None


@dataclass(frozen=True, slots=True)
class _Walked:
    """The statements of a block: runs are appended, counted, and walked."""

    before: tuple[imp.Stmt, ...]
    adding: _Loop
    ptr: imp.Buffer
    between: tuple[imp.Stmt, ...]
    walk: imp.For
    behind: tuple[imp.Stmt, ...]


class _HandOver:
    """Runs that are appended in one place, and walked in another."""

    def __init__(self, runs: _Runs, effects: Effects, begin: imp.Var) -> None:
        self.runs, self.effects, self.begin = runs, effects, begin
        self.buffers = {runs.left.name, runs.right.name}

    def rule(self, node: imp.Node) -> imp.Node | None:
        """A block that does both, with the walk where they are appended."""
        found = self._walked(node) if isinstance(node, imp.Block) else None
        body = None if found is None else self._body(found.walk)
        if found is None or body is None or not self._may_change_places(found, body):
            return None
        self.buffers.add(found.ptr.name)
        done = imp.If(self.runs.at >= 0, body, imp.EMPTY)
        other = imp.Block((done, imp.Assign(self.begin, self.runs.first)))
        new = imp.If(imp.ne(self.runs.at, self.runs.first), other, imp.EMPTY)
        return imp.Block(
            (
                *found.before,
                *found.between,
                imp.Let(self.begin, imp.ZERO),
                self._instead(found.adding, new),
                done,
                *found.behind,
            )
        )

    def _walked(self, block: imp.Block) -> _Walked | None:
        """A loop that may append the runs of a fiber, and one that walks them."""
        stmts, at, n = block.stmts, self.runs.at, self.runs.n
        for k, stmt in enumerate(stmts):
            match stmt:
                case imp.Store(ptr, imp.Const(1), count) if count == imp.cast(n, ptr.dtype):
                    adding = stmts[k - 1]
                    to = next((j for j in range(k, len(stmts)) if _is_loop(stmts[j])), k)
                    walk = stmts[to]
                    before, between, behind = stmts[: k - 1], stmts[k + 1 : to], stmts[to + 1 :]
                    # there is no run of this fiber yet
                    anew = _begins(at, -1, before) and _begins(n, 0, before)
                    if not (anew and _is_loop(adding) and isinstance(walk, imp.For)):
                        continue
                    if (walk.start, walk.stop) == (imp.widen(ptr[0]), imp.widen(ptr[1])):
                        return _Walked(before, adding, ptr, between, walk, behind)
        return None

    def _body(self, walk: imp.For) -> imp.Block | None:
        """What is done for the run from `begin` to `at`."""
        held = {self.runs.left: self.begin, self.runs.right: self.runs.at}

        def rule(node: imp.Node) -> imp.Node | None:
            match node:
                case imp.Load(buffer, index) if buffer in held and index == walk.var:
                    return imp.cast(held[buffer], buffer.dtype)
                case imp.Cast(imp.Cast(imp.Var() as var, _), imp.INT) if var in held.values():
                    return var  # it was stored in fewer bits
            return None

        body = rewrite(walk.body, rule)
        leaves = breaks(body) or any(isinstance(s, imp.Return) for s in statements(body))
        return None if leaves or walk.var.name in self.effects.of(body).reads else body

    def _may_change_places(self, found: _Walked, body: imp.Block) -> bool:
        """Whether runs are appended once, and what comes after it may be done in between."""
        appends = sum(s is self.runs.append for s in statements(found.adding.body))
        of, adding = self.effects.of, self._instead(found.adding, None)
        here, between = of(adding), of(imp.Block(found.between))
        later = of(imp.Block((*found.between, body)))
        mine = {self.runs.at.name, self.runs.n.name}
        used = here.reads | here.assigns | between.reads | later.assigns
        alone = appends == 1 and mine.isdisjoint(used)
        parts = (here, of(self.runs.first), of(self.runs.stop))
        return alone and all(independent(part, later) for part in parts)

    def _instead(self, adding: _Loop, new: imp.If | None) -> _Loop:
        """The loop with something else in the place where runs are appended."""
        runs = self.runs

        def rule(node: imp.Node) -> imp.Node | None:
            if not isinstance(node, imp.Block) or not any(s is runs.append for s in node.stmts):
                return None
            k = next(k for k, s in enumerate(node.stmts) if s is runs.append)
            match node.stmts[k + 1 : k + 2]:
                case (imp.Assign(at, stop) as ends,) if (
                    imp.cast(stop, runs.right.dtype) == runs.stop
                ):
                    if at == runs.at:
                        now = () if new is None else (new, ends)
                        return imp.Block((*node.stmts[:k], *now, *node.stmts[k + 2 :]))
            return None

        return rewrite_statements(adding, rule)

    def without_room(self, node: imp.Node) -> imp.Node | None:
        """A block that makes no room for the runs, and tells nobody where they begin."""
        if not isinstance(node, imp.Block):
            return None
        kept = tuple(s for s in node.stmts if not self._is_room(s))
        return imp.Block(kept) if len(kept) < len(node.stmts) else None

    def _is_room(self, stmt: imp.Stmt) -> bool:
        match stmt:
            case imp.Grow(buffer) | imp.Store(buffer, imp.Const(0), imp.Const(0)):
                return buffer.name in self.buffers
        return False

    def is_done(self, body: imp.Block) -> bool:
        """Whether nobody else has written or read the runs, or tells how many there are."""
        all_told = self.effects.of(body)
        lengths = {s.buffer.name for s in statements(body) if isinstance(s, imp.SetLength)}
        used = all_told.loads | all_told.changes | lengths
        return used.isdisjoint(self.buffers) and self.runs.n.name not in all_told.reads


def _begins(var: imp.Var, value: int, stmts: tuple[imp.Stmt, ...]) -> bool:
    """Whether one of these statements gives a variable its first value."""
    first = imp.Const(value, imp.INT)
    return imp.Let(var, first) in stmts or imp.Assign(var, first) in stmts


def _is_loop(stmt: imp.Stmt) -> TypeGuard[_Loop]:
    return isinstance(stmt, imp.For | imp.While)
