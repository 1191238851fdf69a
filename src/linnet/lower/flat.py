"""Positions with several coordinates, gone through by one loop that tracks the outer ones.

    if (lo < hi) {
      i = fiber_of(ptr, first, n, lo);          // recovered by a search …
      y_i = y[i];
      for (q = lo; q < hi; q++) {
        if (q == ptr[i + 1]) {                  // … and tracked
          y[i] = y_i;
          i++;
          while (q == ptr[i + 1]) i++;
          y_i = y[i];
        }
        y_i += A[q] * x[idx[q]];
      }
      y[i] = y_i;
    }

The loops are lowered in one another, as others are (`lower.stored`). Of that code, what stands
before and after a loop is done where a fiber that has one of the positions begins and ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from linnet import imp, loops
from linnet.errors import ScheduleError
from linnet.formats.fiber import Fiber
from linnet.formats.looplets import Jumper, Looplet, Run, Spike, Stepper, Thunk
from linnet.imp.fold import fold
from linnet.imp.how import PLAIN, How
from linnet.imp.rewrite import walk
from linnet.loops.bases import unbound
from linnet.loops.nodes import base_of
from linnet.lower.around import Around, again, around_loop
from linnet.lower.context import Bounds, Context, Cursor, FlatLoop
from linnet.lower.ranges import bounds_of
from linnet.lower.region import Region, lower_at, reserve
from linnet.lower.walks import own, stepper_of
from linnet.records import dataclass


def lower_flat(ctx: Context, r: Region, loop: loops.Loop, cursor: Cursor, looplet: Looplet) -> None:
    """Emit a loop through positions, the outermost one of several as one for all of them.

    Those inside go through all of a fiber: where a part begins and ends is said outside.
    """
    assert isinstance(loop.extent, loops.Along)
    whole, depth = loop.extent.of, loop.extent.depth
    if depth == 0:
        ctx.flat[whole] = []
        bounds = ctx.clips[whole] = ctx.clips.get(whole) or bounds_of(ctx, whole, loop.index)
    kind = cursor.fiber.kind
    if not isinstance(looplet, Stepper | Jumper) and not kind.full:
        level = f"level {cursor.fiber.level} of `{cursor.name}`, {type(kind).__name__},"
        refuse(ctx.flat[whole][0].loop if depth else loop, f"{level} has no list of positions")
    ctx.wholes.pop(loop.index, None)
    s = own(ctx, stepper_of(looplet)) if isinstance(looplet, Stepper | Jumper) else None
    ctx.flat[whole].append(FlatLoop(loop, cursor.fiber, s))
    code = ctx.collect(lambda: _lower_one(ctx, replace(r, how=PLAIN), cursor, s))
    if depth > 0:
        ctx.b.emit(*code.stmts)
        return
    _Flat(ctx, loop, ctx.flat[whole], bounds).emit(code)
    del ctx.flat[whole]


def _lower_one(ctx: Context, r: Region, cursor: Cursor, s: Stepper | None) -> None:
    """Emit one of the loops, which holds others or the body: they are what is done at one index.

    It stands for what it goes through, and is never run: `next` of a stepper is left out.
    """
    epilogues: list[tuple[imp.Stmt, ...]] = []
    while found := r.find(Thunk):  # fibers that are written in one go
        ctx.b.emit(*found[1].preamble)
        epilogues.append(found[1].epilogue)
        r = r.with_looplet(found[0], found[1].body)
    if s is None:
        reserve(ctx, r, imp.maximum(r.hi - r.lo, 0))
        ctx.leads(r.index.name, r.looplets[cursor])
        body = ctx.collect(lambda: lower_at(ctx, r, r.index))
        ctx.b.emit(imp.For(r.index, r.lo, r.hi, body))
    else:
        assert isinstance(s.chunk, Spike)
        reserve(ctx, r, s.end - s.begin)
        ctx.leads(r.index.name, s.chunk)
        at = r.with_looplet(cursor, Run(s.chunk.tail))
        body = ctx.collect(lambda: lower_at(ctx, at, s.last))
        ctx.b.emit(imp.For(s.pos, s.begin, s.end, imp.Block((*s.setup, *body.stmts))))
    for epilogue in reversed(epilogues):
        ctx.b.emit(*epilogue)


@dataclass(slots=True)
class _Level:
    """One of the loops: the fiber that it goes through, where it is there, and what is around it.

    In a level that stores all coordinates, its `index` may be another number than the position that
    it is `at`. Where several positions have one coordinate, `stop` is where these end.
    """

    fiber: Fiber
    index: imp.Var
    at: imp.Var
    around: Around
    stop: imp.Expr | None = None


@dataclass(slots=True)
class _Flat:
    """The loops through some positions, as they were lowered, on the way to become one."""

    ctx: Context
    loop: loops.Loop
    found: list[FlatLoop]
    bounds: Bounds

    def emit(self, code: imp.Block) -> None:
        """Emit the loop through the positions between the bounds, and what is around it."""
        ctx, (lo, hi) = self.ctx, self.bounds
        levels: list[_Level] = []
        inside, stmt = code, self.loop
        while len(levels) < len(self.positions.modes):
            levels.append(self._level(stmt.index, inside))
            inside = levels[-1].around.loop.body
            stmt = stmt.body  # type: ignore[assignment]
        self._check_left(levels)
        ctx.b.emit(*levels[0].around.before)
        block = ctx.collect(lambda: self._tracked(levels, inside))
        sure = ctx.known.at_most(lo + 1, hi)
        ctx.b.emit(*block.stmts if sure else [imp.If(lo < hi, block, imp.EMPTY)])
        ctx.b.emit(*levels[0].around.after)

    @property
    def positions(self) -> loops.Positions:
        """What all of them go through, or through a part of it."""
        assert self.loop.extent is not None
        found = base_of(self.loop.extent)
        assert isinstance(found, loops.Positions)
        return found

    def _level(self, index: str, inside: imp.Block) -> _Level:
        """The loop over an index in the code."""
        found = [f for f in self.found if f.loop.index == index]
        around = None
        if len(found) == 1:
            s, fiber = found[0].stepper, found[0].fiber
            var = imp.Var(index) if s is None else s.pos
            around = around_loop(self.ctx, inside, var)
        if around is None:
            self.refuse(
                f"the loop over `{index}` is several loops in code, or none",
                "what else is read in the loop around it tells cases apart",
            )
        if s is None:
            last = len(found[0].loop.extent.outer) + 1 == len(self.positions.modes)  # type: ignore[union-attr]
            same = _begin(fiber) == imp.ZERO and not last
            at = var if same else self.ctx.b.var(f"{fiber.prefix}_q")
            return _Level(fiber, var, at, around)
        stop = None if s.next is None else s.next[0].value
        return _Level(fiber, imp.Var(index), var, around, stop)

    def _check_left(self, levels: Sequence[_Level]) -> None:
        """Refuse to leave a fiber early: one loop for all of them would leave all of them.

        A `break` inside is to do that.
        """
        parts = [stmt for level in levels[1:] for stmt in level.around.before + level.around.after]
        if _leaves(parts):
            self.refuse(f"the loop over `{levels[-1].index.name}` may be left early", None)

    # -- the one loop ----------------------------------------------------------------------------

    def _tracked(self, levels: list[_Level], inside: imp.Block) -> None:
        """Recover the outer coordinates once, and go through the positions."""
        ctx, (lo, hi), last = self.ctx, self.bounds, levels[-1]
        if not self._needs_outer(levels, inside):
            alone = imp.Block((*self._index(last), *inside.stmts))
            ctx.b.emit(imp.For(last.at, lo, hi, alone, self._over(levels), self._how()))
            return
        at: imp.Expr = lo
        for k in reversed(range(len(levels) - 1)):
            at = self._recovered(levels[k], levels[k + 1], at)
        for k in range(len(levels) - 1):
            ctx.b.emit(*self._entered(levels, k))
        conds = [c for level in levels for c in level.around.conds]
        body: list[imp.Stmt] = [*self._index(last), *inside.stmts]
        for cond in reversed(conds):
            body = [imp.If(cond, imp.Block(tuple(body)), imp.EMPTY)]
        q = last.at
        body = [*self._moved(levels, len(levels) - 2, q), *body]
        ctx.b.emit(imp.For(q, lo, hi, imp.Block(tuple(body)), self._over(levels), self._how()))
        for level in reversed(levels[1:]):
            ctx.b.emit(*level.around.after)

    def _needs_outer(self, levels: Sequence[_Level], inside: imp.Block) -> bool:
        """Whether something depends on the outer coordinates, besides what finds them."""
        body = (*self._index(levels[-1]), *inside.stmts)
        around = [s for level in levels[1:] for s in level.around.before + level.around.after]
        while True:
            used = {n.name for s in (*body, *around) for n in walk(s) if isinstance(n, imp.Var)}
            left = [s for s in around if not isinstance(s, imp.Let) or s.var.name in used]
            if len(left) == len(around):
                break
            around = left
        outer = {var.name for level in levels[:-1] for var in (level.at, level.index)}
        return bool(around or outer & used)

    def _recovered(self, level: _Level, inner: _Level, child: imp.Expr) -> imp.Var:
        """Introduce the position of the fiber that a child lies in; it is searched for."""
        ctx, fiber = self.ctx, inner.fiber
        if fiber.sub > 0:  # what has the same coordinate goes on from there
            ctx.b.emit(imp.Let(level.at, child))
            return level.at
        k, space = self._above(fiber)
        (least, most), reached = space, self._reached(k)
        first = least if reached is None else reached
        found = fiber.kind.parent(ctx.b, fiber.storage, fiber.level, child, first, most)
        assert found is not None
        ctx.b.emit(imp.Let(level.at, imp.widen(found)))
        if reached is not None:
            ctx.b.emit(imp.Assign(reached, level.at))
        return level.at

    def _above(self, fiber: Fiber) -> tuple[int, Bounds]:
        """Which of the levels is above that of a fiber, and the positions there."""
        space = self.ctx.spaces[self.positions]
        k = fiber.level - space.fiber.level - 1
        return k, space.bounds[k]

    def _reached(self, k: int) -> imp.Var | None:
        """The variable that says how far the searches among some fibers have come."""
        assert isinstance(self.loop.extent, loops.Along)
        part = unbound(self.loop.extent.of)
        number = part.number if isinstance(part, loops.Part) else None
        return self.ctx.reached.get((number.name, k)) if isinstance(number, loops.Index) else None

    def _entered(self, levels: Sequence[_Level], k: int) -> list[imp.Stmt]:
        """What is done where a fiber begins: what stands before the loop through it."""
        return [*self._index(levels[k]), *levels[k + 1].around.before]

    def _index(self, level: _Level) -> list[imp.Stmt]:
        """The coordinate at a position, in a level that stores all of them."""
        if level.at == level.index or level.around.loop.var != level.index:
            return []
        return [imp.Let(level.index, level.at - _begin(level.fiber))]

    def _moved(self, levels: Sequence[_Level], k: int, child: imp.Var) -> list[imp.Stmt]:
        """Leave a fiber where a child lies behind it, and enter the one that has it."""
        level, inner = levels[k], levels[k + 1]
        nearest = k == len(levels) - 2  # its children come one by one
        if inner.fiber.sub > 0:
            assert level.stop is not None
            behind = imp.eq(child, level.stop)
            moves: list[imp.Stmt] = [imp.Assign(level.at, child)]
        else:
            fiber = inner.fiber
            ends = fiber.kind.positions(fiber.storage, fiber.level, level.at, level.at + 1)
            assert ends is not None
            behind = imp.eq(child, ends[1]) if nearest else ends[1] <= child
            step = imp.Assign(level.at, level.at + 1)
            moves = [step, imp.While(behind, imp.Block((step,)))]
        further = self._moved(levels, k - 1, level.at) if k > 0 else []
        left, entered = inner.around.after, again(self._entered(levels, k))
        if not (left or further or entered) and inner.fiber.sub == 0:
            return moves[1:]
        return [imp.If(behind, imp.Block((*left, *moves, *further, *entered)), imp.EMPTY)]

    def _over(self, levels: Sequence[_Level]) -> imp.Over:
        """What the loop goes through: positions of several fibers."""
        fiber, (lo, hi) = levels[-1].fiber, self.bounds
        first, last = fiber.pos, fiber.pos + 1
        space = self.ctx.spaces[self.positions]
        if fiber.level > space.fiber.level:
            first, last = self._above(fiber)[1]
        elif fiber.sub > 0:
            first, last = space.fiber.pos, space.fiber.pos + 1
        span = imp.Span(fiber.storage.name, fiber.level, first, last, part=True)
        names = ", ".join(level.index.name for level in levels)
        text = f"{names} in {fiber.storage.name}"
        return imp.Over(text, (span,), self.ctx.known.at_most(lo, hi), levels[0].index.name)

    def _how(self) -> How:
        """How the loop is run, besides that it is flat."""
        how = self.found[-1].loop.how
        return PLAIN if how == How(flat=True) else replace(how, flat=False)

    def refuse(self, problem: str, why: str | None) -> NoReturn:
        """The loops cannot be run as one."""
        refuse(self.loop, problem, why)


def refuse(loop: loops.Loop, problem: str, why: str | None = None) -> NoReturn:
    """The loops cannot be run as one."""
    raise ScheduleError(
        f"`{loop.how.command}`: {problem}",
        at=loop.how.at,
        why=why,
        hint="leave out `flat`: the loops stand in one another then",
    )


def _begin(fiber: Fiber) -> imp.Expr:
    """The first position of a fiber."""
    found = fiber.kind.positions(fiber.storage, fiber.level, fiber.pos, fiber.pos + 1)
    assert found is not None
    return fold(found[0])


def _leaves(stmts: Sequence[imp.Stmt]) -> bool:
    """Whether a `break` among statements ends the loop around them."""
    for stmt in stmts:
        match stmt:
            case imp.Break():
                return True
            case imp.If(_, then, orelse) if _leaves(then.stmts + orelse.stmts):
                return True
            case imp.Block(inner) if _leaves(inner):
                return True
    return False
