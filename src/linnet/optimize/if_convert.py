"""Does in any case what a branch would do, where data decide and nobody can tell which way it goes.

    for q in lo … hi:                        grow(out, c + (hi - lo))
      if keep:                               for q in lo … hi:
        grow(out, c + 1)               ->      out[c] = a[q]
        out[c] = a[q]                          c += keep
        c += 1

    if i == j: n += 1; p += 1                n += i == j
    else: p += i <= j                  ->    p += i <= j

What is written at a counter and does not stay, the next value is written over: there has to be room
for one more. Only values that can be had in any case, with little work, are treated so. A branch
that adds up other numbers, or does more, takes longer than a wrong guess now and then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.fold import fold
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rebuild, substitute, walk
from linnet.names import Names
from linnet.records import dataclass

Loop = imp.For | imp.While
Rooms = set[tuple[imp.Buffer, imp.Expr]]  # how many elements there is room for
Lets = dict[str, imp.Expr]
Steps = dict[imp.Var, imp.Expr]  # by how much integers are made larger


def if_convert(kernel: imp.Kernel) -> imp.Kernel:
    """Append and count without branches, in loops. Needs: simplified code."""
    sizes = frozenset(dim.name for argument in kernel.arguments for dim in argument.dims)
    body = _Pass(sizes, effects_of(kernel.codelets), fresh_names(kernel)).block(kernel.body)
    return kernel if body is kernel.body else replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Branch:
    """What a branch does: it stores at counters, and counts; what it may refuse before that."""

    lets: tuple[imp.Let, ...]
    checks: tuple[imp.If, ...]
    stores: tuple[imp.Store, ...]
    grows: tuple[imp.Grow, ...]  # behind what was stored: for the next
    steps: Steps
    others: Steps  # where it is not taken: as it would be by these
    sums: frozenset[imp.Var]  # what is added up in any order

    @property
    def values(self) -> list[imp.Expr]:
        """What is computed only if the branch is taken."""
        values = [*(s.value for s in self.lets), *(s.value for s in self.stores)]
        return [*values, *(c.cond for c in self.checks), *self.steps.values()]

    @property
    def written(self) -> set[str]:
        """The names of arrays."""
        return {s.buffer.name for s in self.stores}


def _branch(stmt: imp.If) -> _Branch | None:
    """A branch that does nothing else."""
    lets, checks, stores = list[imp.Let](), list[imp.If](), list[imp.Store]()
    early, behind, steps = list[imp.Grow](), list[imp.Grow](), Steps()
    for s in stmt.then.stmts:
        match s:
            case imp.Let():
                lets.append(s)
            case imp.If(_, imp.Block((imp.Return(),)), imp.Block(())):
                checks.append(s)
            case imp.Store(_, imp.Var() as c) if c not in steps:
                stores.append(s)
            case imp.Grow(_, imp.Binary("+", imp.Var() as c)):
                (behind if c in steps else early).append(s)
            case _ if (more := _steps((s,))) and not more.keys() & steps.keys():
                steps |= more
            case _:
                return None
    at, others = {s.buffer: s.index for s in stores}, _steps(stmt.orelse.stmts)
    counted = all(isinstance(c, imp.Var) and steps.get(c) == imp.ONE for c in at.values())
    rooms = all(g.buffer in at and g.count == at[g.buffer] + 1 for g in (*early, *behind))
    ahead = not behind or {g.buffer for g in behind} == at.keys()
    if not (steps and counted and rooms and ahead and len(at) == len(stores)):
        return None
    if others is None or any(not _is_same(stmt.cond, steps.get(v), e) for v, e in others.items()):
        return None  # what is added in both ways is not chosen: that takes longer
    sums = frozenset(s.var for s in stmt.then.stmts if isinstance(s, imp.Accumulate))
    return _Branch(tuple(lets), tuple(checks), tuple(stores), tuple(behind), steps, others, sums)


def _steps(stmts: Iterable[imp.Stmt]) -> Steps | None:
    """The additions to integers that statements are, one for each; None if there are others."""
    found: Steps = {}
    for stmt in stmts:
        match stmt:
            case imp.Accumulate(var, "+", value):
                old: imp.Expr = var
            case imp.Assign(var, imp.Binary("+", old, value)):
                pass
            case _:
                return None
        if old != var or var in found or var.dtype[0] not in "iu":
            return None
        found[var] = value
    return found


@dataclass(frozen=True, slots=True)
class _Pass:
    """All blocks; the branches of loops are taken in any case where that may be."""

    sizes: frozenset[str]
    effects: Effects
    names: Names

    def block(self, block: imp.Block) -> imp.Block:
        """The block, with room before the loops that append in any case."""
        stmts: list[imp.Stmt] = []
        lets: Lets = {}
        rooms: Rooms = set()  # made here
        for stmt in block.stmts:
            new = rebuild(stmt, lambda n: self.block(n) if isinstance(n, imp.Block) else n)
            if isinstance(new, imp.For | imp.While) and not breaks(new.body):
                stmts += self._converted(new, rooms, lets)
            else:
                stmts.append(new)
            if isinstance(stmt, imp.Let):
                lets[stmt.var.name] = substitute(stmt.value, lets)
            elif isinstance(stmt, imp.Grow):
                rooms.add((stmt.buffer, fold(substitute(stmt.count, lets))))
            elif (done := self.effects.of(stmt)).assigns or done.swaps:
                lets, rooms = {}, set()
        same = len(stmts) == len(block.stmts) and all(map(_is, stmts, block.stmts))
        return block if same else imp.Block(tuple(stmts))

    def _converted(self, loop: Loop, rooms: Rooms, lets: Lets) -> list[imp.Stmt]:
        """Room that is wanted, and the loop with the branches that remain."""
        body, before = list(loop.body.stmts), list[imp.Stmt]()
        for stmt in loop.body.stmts:
            branch = _branch(stmt) if isinstance(stmt, imp.If) else None
            if not isinstance(stmt, imp.If) or branch is None:
                continue
            k = next(k for k, s in enumerate(body) if s is stmt)
            rest = [s for s in body[:k] if not _is_replaced(s, branch)], body[k + 1 :]
            room = self._room(loop, branch, rooms, lets)
            if room is not None and self._can(loop, stmt, branch, *rest):
                body = [*rest[0], *self._anyway(stmt.cond, branch), *rest[1]]
                before += room
        if len(body) == len(loop.body.stmts) and all(map(_is, body, loop.body.stmts)):
            return [loop]
        return [*before, replace(loop, body=imp.Block(tuple(body)))]

    def _room(self, loop: Loop, branch: _Branch, rooms: Rooms, lets: Lets) -> list[imp.Stmt] | None:
        """What has to be made before a loop, so that there is always room for one more."""
        at = {s.buffer: s.index for s in branch.stores}

        def there(buffer: imp.Buffer, n: imp.Expr) -> bool:
            return (buffer, fold(substitute(at[buffer] + n, lets))) in rooms

        if branch.grows:
            return [] if all((b, c + 1) in rooms for b, c in at.items()) else None
        if at and not isinstance(loop, imp.For):
            return None
        found: list[imp.Stmt] = []
        for buffer, c in at.items():
            assert isinstance(loop, imp.For)
            length = fold(imp.widen(loop.stop) - imp.widen(loop.start))
            enough = (length, imp.maximum(length, imp.ZERO))
            if not any(there(buffer, n) for n in enough):
                found.append(imp.Grow(buffer, c + length))
        return found

    def _can(
        self,
        loop: Loop,
        stmt: imp.If,
        branch: _Branch,
        before: Sequence[imp.Stmt],
        behind: Sequence[imp.Stmt],
    ) -> bool:
        """Whether values can be had in any case, nobody sees those that go, and data decide."""
        counters = {v.name for v in branch.steps} if branch.stores else set[str]()
        others = [*before, *behind, stmt.cond, *branch.values, getattr(loop, "cond", imp.TRUE)]
        for here in map(self.effects.of, others):
            if (here.changes | here.loads | here.swaps) & branch.written or here.assigns & counters:
                return False
        if any(self.effects.of(v).reads & {v.name for v in branch.steps} for v in branch.values):
            return False
        lets = {s.var.name: s.value for s in before if isinstance(s, imp.Let)}
        loads = [n for n in walk(substitute(stmt.cond, lets)) if isinstance(n, imp.Load)]
        if branch.grows:  # what was just written is waited for: a branch goes on
            loads = [] if any(load.buffer.growable for load in loads) else loads
        done = _loaded(stmt.cond)
        for s in before:
            done |= _loaded(s.value) if isinstance(s, imp.Let) else set()
        return bool(loads) and all(_is_safe(v, loop, done) for v in branch.values)

    def _anyway(self, cond: imp.Expr, branch: _Branch) -> list[imp.Stmt]:
        """What the branch does, in any case."""
        stmts: list[imp.Stmt] = []
        lets = {let.var.name: let.value for let in branch.lets}
        sure = [c for c in branch.checks if self._implies(substitute(c.cond, lets), cond)]
        if len(branch.checks) - len(sure) + len(branch.steps) - len(branch.others) > 1:
            keep = imp.Var(self.names.fresh("keep"), imp.BOOL)
            stmts, cond = [imp.Let(keep, cond)], keep
        checks = [
            c if c in sure else replace(c, cond=imp.Binary("and", c.cond, cond, imp.BOOL))
            for c in branch.checks
        ]
        more = {v: branch.others.get(v, _chosen(cond, e)) for v, e in branch.steps.items()}
        added = [
            imp.Accumulate(v, "+", e) if v in branch.sums else imp.Assign(v, v + e)
            for v, e in more.items()
        ]
        return [*stmts, *branch.lets, *checks, *branch.stores, *added, *branch.grows]

    def _implies(self, check: imp.Expr, cond: imp.Expr) -> bool:
        """Whether nothing that does not stay is refused: what reaches a size is not negative."""
        match check, cond:
            case imp.Binary(">=", x, imp.Var(n)), imp.Binary(">=", y, imp.Const(0)):
                return x == y and n in self.sizes
        return False


def _chosen(cond: imp.Expr, e: imp.Expr) -> imp.Expr:
    """A number if something holds, and else 0."""
    zero, one = imp.Const(0, e.dtype), imp.Const(1, e.dtype)
    return imp.Cast(cond, e.dtype) if e == one else imp.Select(cond, e, zero)


def _is_same(cond: imp.Expr, e: imp.Expr | None, other: imp.Expr) -> bool:
    """Whether a number is 1 where something holds, as another one is: `i == j`, and `i <= j`."""
    match cond, e, other:
        case (
            imp.Binary("==", imp.Var() as i, imp.Var() as j),
            imp.Const(1),
            imp.Cast(imp.Binary("<=", a, b)),
        ):
            return {a, b} == {i, j}
    return False


def _is_replaced(stmt: imp.Stmt, branch: _Branch) -> bool:
    """Whether a statement writes a fill value, in case that nothing is written over it."""
    match stmt:
        case imp.Store(buffer, index, imp.Const()):
            return any((s.buffer, s.index) == (buffer, index) for s in branch.stores)
    return False


def _loaded(cond: imp.Expr) -> set[imp.Load]:
    """What a condition reads whatever comes out."""
    match cond:
        case imp.Binary("and" | "or", a, _):
            return _loaded(a)
        case imp.Select(test):
            return _loaded(test)
        case _:
            return {n for n in walk(cond) if isinstance(n, imp.Load)}


def _is_safe(e: imp.Expr, loop: Loop, done: set[imp.Load]) -> bool:
    """Whether a value can be computed in any case, as fast as it is tested."""
    match e:
        case imp.Const() | imp.Var():
            return True
        case imp.Load(buffer, index):
            held, walked = buffer.holds, {s.tensor for s in loop.over.spans if s.tensor}
            mine = isinstance(loop, imp.For) and index == loop.var and held is not None
            return e in done or (mine and not held.fiber and held.tensor in walked)  # type: ignore
        case imp.Cast(x) | imp.Unary(_, x):
            return _is_safe(x, loop, done)
        case imp.Binary(op, a, b):
            return (
                op not in ("div", "rem", "/")
                and _is_safe(a, loop, done)
                and _is_safe(b, loop, done)
            )
    return False


def _is(a: object, b: object) -> bool:
    return a is b
