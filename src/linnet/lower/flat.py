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
from linnet.formats.looplets import Jumper, Looplet, Stepper
from linnet.imp.fold import fold
from linnet.imp.how import PLAIN, How
from linnet.lower.around import Around, again, around_loop
from linnet.lower.context import Bounds, Context, Cursor, FlatLoop
from linnet.lower.ranges import bounds_of
from linnet.lower.region import Region, lower_region
from linnet.lower.walks import stepper_of
from linnet.records import dataclass


def lower_flat(ctx: Context, r: Region, loop: loops.Loop, cursor: Cursor, looplet: Looplet) -> None:
    """Emit a loop through positions, the outermost one of several as one for all of them.

    Those inside go through all of a fiber: where a part begins and ends is said outside.
    """
    assert isinstance(loop.extent, loops.Along)
    whole, depth = loop.extent.of, loop.extent.depth
    if depth == 0:
        ctx.flat[whole] = []
        bounds = bounds_of(ctx, whole, loop.index)
    stepper = None
    if isinstance(looplet, Stepper | Jumper):
        stepper = replace(stepper_of(looplet), leads=True)
        r = r.with_looplet(cursor, stepper)
    ctx.wholes.pop(loop.index, None)
    ctx.flat[whole].append(FlatLoop(loop, cursor.fiber, stepper))
    code = ctx.collect(lambda: lower_region(ctx, replace(r, how=PLAIN)))
    if depth > 0:
        ctx.b.emit(*code.stmts)
        return
    found = ctx.flat.pop(whole)
    if code.stmts:
        _Flat(ctx, loop, found, bounds).emit(code)


@dataclass(slots=True)
class _Level:
    """One of the loops: the fiber that it goes through, where it is there, and what is around it.

    In a level that stores all coordinates, its `index` is another number than the position that it
    is `at`. Where several positions have one coordinate, `stop` is where these end.
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
        inside = code
        for k, found in enumerate(self.found):
            around = around_loop(ctx, inside, found.loop.index)
            if around is None or [f.loop.index for f in self.found].count(found.loop.index) > 1:
                self.refuse(
                    f"the loop over `{found.loop.index}` is several loops in code, or none",
                    "what else is read there is cut at its bounds, or tells cases apart",
                )
            levels.append(self._level(found, around, inner=k + 1 == len(self.found)))
            inside = _body(around.loop)
        self._check_left(levels, inside)
        first, *_ = levels
        ctx.b.emit(*first.around.before)
        block = ctx.collect(lambda: self._tracked(levels, inside))
        sure = ctx.known.at_most(lo + 1, hi)
        ctx.b.emit(*block.stmts if sure else [imp.If(lo < hi, block, imp.EMPTY)])
        ctx.b.emit(*first.around.after)

    def _level(self, found: FlatLoop, around: Around, inner: bool) -> _Level:
        """A loop as it was lowered, if it goes through all of its fiber."""
        stmt, fiber, s = around.loop, found.fiber, found.stepper
        index = imp.Var(found.loop.index)
        match stmt:
            case imp.For(var, start, stop) if s is not None and (start, stop) == (s.begin, s.end):
                return _Level(fiber, index, var, around)
            case imp.For(var, start, stop) if s is None and (start, stop) == (imp.ZERO, fiber.dim):
                same = _begin(fiber) == imp.ZERO and not inner
                at = var if same else self.ctx.b.var(f"{fiber.prefix}_q")
                return _Level(fiber, index, at, around)
            case imp.While(imp.Binary("<", imp.Var() as var, end)) if s is not None and not inner:
                moves = stmt.body.stmts[-1]
                begin = imp.Let(var, s.begin)
                if end == s.end and begin in around.before and isinstance(moves, imp.Assign):
                    before = tuple([b for b in around.before if b != begin])
                    around = replace(around, before=before)
                    return _Level(fiber, index, var, around, moves.value)
            case _:
                pass
        tensor = fiber.storage.name
        return self.refuse(
            f"the loop over `{index.name}` goes through a part of what `{tensor}` stores",
            "what else is read there begins or ends before it",
        )

    def _check_left(self, levels: Sequence[_Level], inside: imp.Block) -> None:
        """Refuse to leave a fiber early: one loop for all of them would leave all of them."""
        parts = [stmt for level in levels[1:] for stmt in level.around.before + level.around.after]
        if _leaves(inside.stmts) or _leaves(parts):
            self.refuse(f"the loop over `{levels[-1].index.name}` may be left early", None)

    # -- the one loop ----------------------------------------------------------------------------

    def _tracked(self, levels: list[_Level], inside: imp.Block) -> None:
        """Recover the outer coordinates once, and go through the positions."""
        ctx, (lo, hi), last = self.ctx, self.bounds, levels[-1]
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
        whole = loops.nodes.base_of(self.loop.extent)  # type: ignore[arg-type]
        assert isinstance(whole, loops.Positions)
        space = self.ctx.spaces[whole]
        k = fiber.level - space.fiber.level - 1
        return k, space.bounds[k]

    def _reached(self, k: int) -> imp.Var | None:
        """The variable that says how far the searches among some fibers have come."""
        assert isinstance(self.loop.extent, loops.Along)
        part = loops.nodes.unbound(self.loop.extent.of)
        number = part.number if isinstance(part, loops.Part) else None
        return self.ctx.reached.get((number.name, k)) if isinstance(number, loops.Index) else None

    def _entered(self, levels: Sequence[_Level], k: int) -> list[imp.Stmt]:
        """What is done where a fiber begins: what stands before the loop through it."""
        return [*self._index(levels[k]), *levels[k + 1].around.before]

    def _index(self, level: _Level) -> list[imp.Stmt]:
        """The coordinate at a position, in a level that stores all of them."""
        if level.at == level.index or not isinstance(level.around.loop, imp.For):
            return []
        if level.around.loop.var != level.index:
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
        whole = loops.nodes.base_of(self.loop.extent)  # type: ignore[arg-type]
        space = self.ctx.spaces[whole]  # type: ignore[index]
        if fiber.level > space.fiber.level:
            first, last = self._above(fiber)[1]
        elif fiber.sub > 0:
            first, last = space.fiber.pos, space.fiber.pos + 1
        span = imp.Span(fiber.storage.name, fiber.level, first, last, part=True)
        names = ", ".join(level.index.name for level in levels)
        text = f"{names} in {fiber.storage.name}"
        return imp.Over(text, (span,), self.ctx.known.at_most(lo, hi))

    def _how(self) -> How:
        """How the loop is run, besides that it is flat."""
        how = self.found[-1].loop.how
        return PLAIN if how == How(flat=True) else replace(how, flat=False)

    def refuse(self, problem: str, why: str | None) -> NoReturn:
        """The loops cannot be run as one."""
        how = self.loop.how
        raise ScheduleError(
            f"`{how.command}`: {problem}",
            at=how.at,
            why=why,
            hint="leave out `flat`: the loops stand in one another then",
        )


def _begin(fiber: Fiber) -> imp.Expr:
    """The first position of a fiber."""
    found = fiber.kind.positions(fiber.storage, fiber.level, fiber.pos, fiber.pos + 1)
    assert found is not None
    return fold(found[0])


def _body(loop: imp.For | imp.While) -> imp.Block:
    """What a loop does in every turn, without moving on."""
    return loop.body if isinstance(loop, imp.For) else imp.Block(loop.body.stmts[:-1])


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
