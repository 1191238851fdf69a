"""Removes what nobody reads: variables that come to nothing, values that are overwritten.

First, whatever the order of statements, variables that only feed themselves or each other. Then,
backwards from the end, values that no way that control may take reads before they are replaced.
"""

from __future__ import annotations

from dataclasses import field, replace

from linnet import imp
from linnet.imp.effects import Effects
from linnet.imp.rewrite import statements, with_statements
from linnet.records import dataclass

_INTRODUCE = (imp.Let, imp.For)


def remove_dead(body: imp.Block, effects: Effects) -> imp.Block:
    """The block without assignments that make no difference.

    Variables that are assigned, but not introduced, in it are taken to be read after it.
    """
    introduced = {s.var.name for s in statements(body) if isinstance(s, _INTRODUCE)}
    outside = effects.of(body).assigns - introduced
    useful = _useful(body, effects, outside)
    return _Backwards(effects, useful).block(body, set(outside))


def _useful(body: imp.Block, effects: Effects, outside: frozenset[str]) -> set[str]:
    """The variables that have a bearing on what is stored, returned or decided."""
    feeds: dict[str, set[str]] = {}
    found: set[str] = set()
    todo = list(outside)
    for stmt in statements(body):
        match stmt:
            case imp.Let(var, value) | imp.Assign(var, value) | imp.Accumulate(var, _, value):
                summary = effects.of(value)
                feeds.setdefault(var.name, set()).update(summary.reads)
                if summary.changes:
                    todo.append(var.name)
            case imp.If(cond) | imp.While(cond):
                todo += effects.of(cond).reads
            case imp.For(_, start, stop):
                todo += effects.of(start).reads | effects.of(stop).reads
            case imp.Block():
                pass
            case _:
                todo += effects.of(stmt).reads
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += feeds.get(name, ())
    return found


@dataclass(slots=True)
class _Backwards:
    """The backward pass. `live` holds the variables read later, and is changed in place."""

    effects: Effects
    useful: set[str]
    after_loop: list[set[str]] = field(default_factory=list)  # what is live where `break` leads
    exposed: dict[int, frozenset[str]] = field(default_factory=dict)  # by statement

    def block(self, block: imp.Block, live: set[str]) -> imp.Block:
        """A block, given what is live after it."""
        kept: list[imp.Stmt] = []  # from the last to the first
        for stmt in reversed(block.stmts):
            self._statement(stmt, live, kept)
        while kept and isinstance(kept[0], imp.Comment):
            kept.pop(0)  # it spoke of what is gone
        kept.reverse()
        return with_statements(block, kept)

    def _statement(self, stmt: imp.Stmt, live: set[str], kept: list[imp.Stmt]) -> None:
        match stmt:
            case imp.Let() | imp.Assign() | imp.Accumulate():
                self._give(stmt, live, kept)
            case imp.If(cond, then, orelse):
                other = set(live)
                new_then, new_orelse = self.block(then, live), self.block(orelse, other)
                live |= other | self.effects.of(cond).reads
                if new_then.stmts or new_orelse.stmts or self.effects.of(cond).changes:
                    same = new_then is then and new_orelse is orelse
                    kept.append(stmt if same else imp.If(cond, new_then, new_orelse))
            case imp.For() | imp.While():
                self._loop(stmt, live, kept)
            case imp.Block():
                inner = self.block(stmt, live)
                if inner.stmts:
                    kept.append(inner)
            case imp.Break():
                live.clear()
                live |= self.after_loop[-1] if self.after_loop else self.useful
                kept.append(stmt)
            case _:
                if isinstance(stmt, imp.Return):
                    live.clear()
                live |= self.effects.of(stmt).reads
                kept.append(stmt)

    def _give(
        self, stmt: imp.Let | imp.Assign | imp.Accumulate, live: set[str], kept: list[imp.Stmt]
    ) -> None:
        """An assignment stays if its value is read; a `Let` also if it must introduce the name."""
        name, value = stmt.var.name, stmt.value
        if name not in self.useful:
            return
        summary = self.effects.of(value)
        if name in live or summary.changes:
            if not isinstance(stmt, imp.Accumulate):
                live.discard(name)
            live |= summary.reads
            kept.append(stmt)
        elif isinstance(stmt, imp.Let):
            self._introduce(stmt, kept)

    def _introduce(self, stmt: imp.Let, kept: list[imp.Stmt]) -> None:
        """A variable whose first value is not read is introduced where it gets its next one."""
        name = stmt.var.name
        for k in reversed(range(len(kept))):
            found = kept[k]
            if isinstance(found, imp.Assign) and found.var.name == name:
                kept[k] = imp.Let(found.var, found.value)
                return
            summary = self.effects.of(found)
            if name in summary.assigns or name in summary.reads:
                simple = isinstance(stmt.value, imp.Const)
                kept.append(stmt if simple else imp.Let(stmt.var, _zero(stmt.var.dtype)))
                return

    def _loop(self, stmt: imp.For | imp.While, live: set[str], kept: list[imp.Stmt]) -> None:
        """A loop: what an iteration begins by reading may be what the one before has left."""
        inside = live | self._exposed(stmt)
        self.after_loop.append(set(live))
        body = self.block(stmt.body, inside)
        self.after_loop.pop()
        live |= inside
        new: imp.Stmt
        if isinstance(stmt, imp.For):
            live.discard(stmt.var.name)
            start, stop = self.effects.of(stmt.start), self.effects.of(stmt.stop)
            live |= start.reads | stop.reads
            changes = start.changes | stop.changes
            new = replace(stmt, body=body)
        else:
            cond = self.effects.of(stmt.cond)
            live |= cond.reads
            changes = cond.changes
            new = replace(stmt, body=body)
        if changes or body.stmts not in ((), (imp.Break(),)):  # left at once, it does nothing
            kept.append(stmt if body is stmt.body else new)

    def _exposed(self, stmt: imp.Stmt) -> frozenset[str]:
        """The variables that may be read here with the values that they had before."""
        found = self.exposed.get(id(stmt))
        if found is None:
            found = self.exposed[id(stmt)] = self._find_exposed(stmt)
        return found

    def _find_exposed(self, stmt: imp.Stmt) -> frozenset[str]:
        match stmt:
            case imp.Block(stmts):
                return self._exposed_in(stmts)
            case imp.Let(_, value) | imp.Assign(_, value):
                return self.effects.of(value).reads
            case imp.If(cond, then, orelse):
                below = self._exposed(then) | self._exposed(orelse)
                return below | self.effects.of(cond).reads
            case imp.For(var, start, stop, body):
                ends = self.effects.of(start).reads | self.effects.of(stop).reads
                return ends | (self._exposed(body) - {var.name})
            case imp.While(cond, body):
                return self._exposed(body) | self.effects.of(cond).reads
            case imp.Accumulate(var):
                return self.effects.of(stmt).reads | {var.name}
            case _:
                return self.effects.of(stmt).reads

    def _exposed_in(self, stmts: tuple[imp.Stmt, ...]) -> frozenset[str]:
        found: set[str] = set()
        given: set[str] = set()
        for stmt in stmts:
            found |= self._exposed(stmt) - given
            if isinstance(stmt, imp.Let | imp.Assign):
                given.add(stmt.var.name)
        return frozenset(found)


def _zero(dtype: str) -> imp.Expr:
    return imp.Const({"b": False, "f": 0.0, "c": 0j}.get(dtype[0], 0), dtype)
