"""Writes what may be appended in any case, and counts it only where it is to stay.

for q in lo … hi:                        grow(out, c + (hi - lo))
  if keep:                               for q in lo … hi:
    grow(out, c + 1)               ->      out[c] = a[q]
    out[c] = a[q]                          c += keep
    c += 1

What decides is data, and nobody can tell which way a branch will go; the next value is written over
one that does not stay. Only values that can be had in any case, with little work, are treated so.
A loop that has room for one more, and makes it again when it has appended, is treated alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import imp
from linnet.imp.consecutive import Known
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.fold import fold
from linnet.imp.rewrite import rebuild, substitute, walk
from linnet.records import dataclass


def append_anyway(kernel: imp.Kernel, known: Known) -> imp.Kernel:
    """Append without branches, where a loop over stored entries keeps some of them.

    Needs: simplified code, in which room is made for what is not appended under a condition.
    """
    owners = {b.name: a.name for a in kernel.arguments for b in a.buffers}
    body = _Pass(known, effects_of(kernel.codelets), owners).block(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Kept:
    """`if cond: lets; checks; grow …; out[count] = …; count += 1`."""

    cond: imp.Expr
    lets: tuple[imp.Let, ...]
    checks: tuple[imp.If, ...]
    stores: tuple[imp.Store, ...]
    count: imp.Var


def _kept(stmt: imp.Stmt) -> _Kept | None:
    """The statement as one that appends what it keeps, and makes room for it."""
    match stmt:
        case imp.If(
            cond,
            imp.Block((*before, imp.Assign(imp.Var(_, imp.INT) as count, more))),
            imp.Block(()),
        ):
            lets = tuple(s for s in before if isinstance(s, imp.Let))
            checks = tuple(s for s in before if _is_check(s))
            stores = tuple(s for s in before if isinstance(s, imp.Store))
            grows = [s for s in before if isinstance(s, imp.Grow)]
            buffers = {s.buffer for s in stores}
            if len(lets) + len(checks) + len(stores) + len(grows) < len(before):
                return None
            once = len(buffers) == len(stores) > 0 and all(s.index == count for s in stores)
            room = all(g.buffer in buffers and g.count == count + 1 for g in grows)
            if more == count + 1 and once and room:
                return _Kept(cond, lets, checks, stores, count)  # type: ignore[arg-type]
    return None


def _kept_ahead(stmt: imp.Stmt) -> _Kept | None:
    """The same of one that makes room for the next entry when it has appended one."""
    match stmt:
        case imp.If(cond, imp.Block(body), imp.Block(())):
            stores = tuple(s for s in body if isinstance(s, imp.Store))
            match body[len(stores) :]:
                case (imp.Assign(imp.Var(_, imp.INT) as count, more), *grows):
                    ahead = [imp.Grow(s.buffer, count + 1) for s in stores]
                    once = all(s.index == count for s in stores) and len(set(ahead)) == len(stores)
                    if stores and once and more == count + 1 and list(grows) == ahead:
                        return _Kept(cond, (), (), stores, count)
    return None


def _deciding(before: Sequence[imp.Stmt], kept: _Kept) -> list[imp.Load]:
    """The data that decides what is kept."""
    lets = {s.var.name: s.value for s in before if isinstance(s, imp.Let)}
    return [n for n in walk(substitute(kept.cond, lets)) if isinstance(n, imp.Load)]


def _is_check(stmt: imp.Stmt) -> bool:
    match stmt:
        case imp.If(_, imp.Block((imp.Return(),)), imp.Block(())):
            return True
    return False


class _Pass:
    """All blocks; a loop whose last statement keeps some of its entries is changed."""

    def __init__(self, known: Known, effects: Effects, owners: dict[str, str]) -> None:
        self.known, self.effects, self.owners = known, effects, owners

    def block(self, block: imp.Block) -> imp.Block:
        """The block, with room before the loops that append anyway."""
        stmts: list[imp.Stmt] = []
        lets: dict[str, imp.Expr] = {}
        rooms: set[tuple[imp.Buffer, imp.Expr]] = set()  # made here
        for stmt in block.stmts:
            changed = self._changed(stmt, rooms) if isinstance(stmt, imp.For) else None
            if changed is None and isinstance(stmt, imp.For | imp.While):
                changed = self._with_room(stmt, {(b, substitute(n, lets)) for b, n in rooms})
            stmts += changed or [rebuild(stmt, self._inner)]
            if isinstance(stmt, imp.Let):
                lets[stmt.var.name] = substitute(stmt.value, lets)
            elif isinstance(stmt, imp.Grow):
                rooms.add((stmt.buffer, substitute(stmt.count, lets)))
            elif (done := self.effects.of(stmt)).assigns or done.swaps:
                lets, rooms = {}, set()
        same = len(stmts) == len(block.stmts) and all(map(_is, stmts, block.stmts))
        return block if same else imp.Block(tuple(stmts))

    def _inner(self, node: imp.Node) -> imp.Node:
        return self.block(node) if isinstance(node, imp.Block) else node

    def _changed(
        self, loop: imp.For, rooms: set[tuple[imp.Buffer, imp.Expr]]
    ) -> list[imp.Stmt] | None:
        """Room for all entries, unless there is, and the loop that writes all of them."""
        *first, last = loop.body.stmts or (imp.EMPTY,)
        kept = _kept(last)
        if kept is None or breaks(loop.body):
            return None
        before = [s for s in first if not _is_replaced(s, kept)]
        if not self._can(loop, before, kept):
            return None
        length = fold(imp.widen(loop.stop) - imp.widen(loop.start))
        enough = [kept.count + n for n in (length, imp.maximum(length, imp.ZERO))]
        tight = [s.buffer for s in kept.stores if not any((s.buffer, e) in rooms for e in enough)]
        checks = [c if self._implies(c, kept) else _both(c, kept.cond) for c in kept.checks]
        counted = imp.Assign(kept.count, kept.count + imp.Cast(kept.cond, imp.INT))
        body = imp.Block((*before, *kept.lets, *checks, *kept.stores, counted))
        return [*(imp.Grow(b, kept.count + length) for b in tight), replace(loop, body=body)]

    def _with_room(
        self, loop: imp.For | imp.While, rooms: set[tuple[imp.Buffer, imp.Expr]]
    ) -> list[imp.Stmt] | None:
        """The loop that writes all entries, where there always is room for one more."""
        for k, stmt in enumerate(loop.body.stmts):
            kept = _kept_ahead(stmt)
            if kept is None or not all((s.buffer, kept.count + 1) in rooms for s in kept.stores):
                continue
            before, after = loop.body.stmts[:k], loop.body.stmts[k + 1 :]
            if not self._alone(loop, (*before, *after), kept) or not self._is_given(before, kept):
                return None
            if not all(self._is_safe(s.value, kept.count, "", set()) for s in kept.stores):
                return None
            counted = imp.Assign(kept.count, kept.count + imp.Cast(kept.cond, imp.INT))
            grows = (imp.Grow(s.buffer, kept.count + 1) for s in kept.stores)
            body = imp.Block((*before, *kept.stores, counted, *grows, *after))
            return [replace(loop, body=body)]
        return None

    def _alone(self, loop: imp.For | imp.While, rest: tuple[imp.Stmt, ...], kept: _Kept) -> bool:
        """Whether nothing else in a loop has to do with what is appended."""
        written = {s.buffer.name for s in kept.stores}
        parts = [self.effects.of(s) for s in (*rest, kept.cond, *(s.value for s in kept.stores))]
        if isinstance(loop, imp.While):
            parts.append(self.effects.of(loop.cond))
        return not any(
            (e.changes | e.loads | e.swaps) & written or kept.count.name in e.assigns | e.reads
            for e in parts
        )

    def _is_given(self, before: Sequence[imp.Stmt], kept: _Kept) -> bool:
        """Whether operands decide what is kept.

        What the kernel has just written itself would be waited for; a branch goes on without it.
        """
        loads = _deciding(before, kept)
        return bool(loads) and not any(load.buffer.growable for load in loads)

    def _can(self, loop: imp.For, before: Sequence[imp.Stmt], kept: _Kept) -> bool:
        """Whether what is kept can be computed in any case, and nobody sees what is not."""
        rest = [self.effects.of(s) for s in before]
        written = {s.buffer.name for s in kept.stores}
        values = [s.value for s in kept.lets] + [s.value for s in kept.stores]
        values += [c.cond for c in kept.checks]
        for here in [*rest, *map(self.effects.of, (kept.cond, *values))]:
            if here.changes & written or here.loads & written or kept.count.name in here.assigns:
                return False
        if not _deciding(before, kept):
            return False  # it is the same for all
        done = surely_loaded(kept.cond)
        for stmt in before:
            done |= surely_loaded(stmt.value) if isinstance(stmt, imp.Let) else set()
        stored = self._walked(loop)
        return all(self._is_safe(v, loop.var, stored, done) for v in values)

    def _implies(self, check: imp.If, kept: _Kept) -> bool:
        """Whether nothing that is not kept fails: what reaches a size is not negative."""
        lets = {let.var.name: let.value for let in kept.lets}
        match substitute(check.cond, lets), kept.cond:
            case imp.Binary(">=", x, imp.Var(n)), imp.Binary(">=", y, imp.Const(0)):
                return x == y and n in self.known.sizes
        return False

    def _walked(self, loop: imp.For) -> str:
        """The tensor whose entries a loop walks; "" if it does not walk entries."""
        stop = loop.stop.x if isinstance(loop.stop, imp.Cast) else loop.stop
        if isinstance(stop, imp.Load) and stop.buffer.name in self.known.pointers:
            return self.owners.get(stop.buffer.name, "")
        return ""

    def _is_safe(self, e: imp.Expr, var: imp.Var, stored: str, done: set[imp.Load]) -> bool:
        """Whether a value can be computed in any case, as fast as it is tested."""
        match e:
            case imp.Const() | imp.Var():
                return True
            case imp.Load(buffer, index):
                mine = bool(stored) and index == var and self.owners.get(buffer.name) == stored
                return mine or e in done
            case imp.Cast(x) | imp.Unary(_, x):
                return self._is_safe(x, var, stored, done)
            case imp.Binary(op, a, b):
                parts = self._is_safe(a, var, stored, done), self._is_safe(b, var, stored, done)
                return op not in ("div", "rem", "/") and all(parts)
        return False


def _is_replaced(stmt: imp.Stmt, kept: _Kept) -> bool:
    """Whether a statement writes a fill value, in case that nothing is written over it."""
    match stmt:
        case imp.Store(buffer, index, imp.Const()):
            return index == kept.count and any(s.buffer == buffer for s in kept.stores)
    return False


def surely_loaded(cond: imp.Expr) -> set[imp.Load]:
    """What a condition reads whatever comes out."""
    match cond:
        case imp.Binary("and" | "or", a, _):
            return surely_loaded(a)
        case imp.Select(test):
            return surely_loaded(test)
        case _:
            return {n for n in walk(cond) if isinstance(n, imp.Load)}


def _both(check: imp.If, cond: imp.Expr) -> imp.If:
    """The check, of what is kept."""
    return replace(check, cond=imp.Binary("and", check.cond, cond, imp.BOOL))


def _is(a: object, b: object) -> bool:
    return a is b
