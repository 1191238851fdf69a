"""`RunList`: runs of equal subfibers, one behind the other, that cover the dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.formats.append import (
    Appended,
    around_fiber,
    finish_pointers,
    first_of,
    marks_below,
)
from linnet.formats.level import POINTERS, Array, search_of
from linnet.formats.looplets import Jumper, Looplet, Run, Seek, Stepper, Thunk
from linnet.formats.packing import (
    Arrays,
    Entries,
    Fibers,
    Ints,
    index_dtype,
    pack_level,
    ranges,
    unpack_level,
    zeros,
)
from linnet.formats.runs import Code, end_run, make_room, run_lookup, span_of
from linnet.formats.stretches import Stretches, spread, stretches
from linnet.formats.validate import check_pointers, check_runs
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class RunList(Appended):
    """`fiber(p) -> child(q) … | child(q + 1) … | …`, `ptr[p] <= q < ptr[p + 1]`.

    Run q ends before `right[q]`, where the next one begins; the first begins at 0, and the last one
    ends with the dimension.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        POINTERS,
        Array("right", "coordinate", ascends=True, unique=True),
    )
    sliced: ClassVar[bool] = True
    covers: ClassVar[bool] = True
    runs: ClassVar[bool] = True
    reopens: ClassVar[bool] = True
    skips: ClassVar[bool] = True  # the children of gaps

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, right = fiber.buffer("ptr"), fiber.buffer("right")
        q, target = b.var(f"{fiber.prefix}_q"), b.var("target")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        stepper = Stepper(
            pos=q,
            begin=begin,
            end=end,
            last=imp.widen(right[q]) - 1,
            chunk=Run(fiber.child(q)),
            seek=Seek(target, b.call(search_of(protocol), right, q, end, target + 1)),
            covers=True,
        )
        return Jumper(stepper) if protocol == "gallop" else stepper

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level = fiber.storage, fiber.level
        n, at, span = self.count(storage, level), b.var(f"{fiber.prefix}_at"), span_of(b)
        wrote = b.var(f"{fiber.prefix}_wrote", imp.BOOL)
        saved, forget = marks_below(b, fiber)
        begin = (*self._gap(b, fiber, at, span.start), *saved)
        end = (*self._end(b, fiber, at, span.stop, forget), imp.Assign(wrote, imp.TRUE))
        body = run_lookup(b, fiber, n, span, begin, end, forget)
        opened, closed = around_fiber(b, fiber, n)
        with b.collect() as enter:
            b.emit(*opened, imp.Let(at, imp.ZERO), imp.Let(wrote, imp.FALSE))
            make_room(b, storage, level, ("right",), n + 2)
            if fiber.reopened:
                self._reopen(b, fiber, at, wrote)
        leave = self._leave(b, fiber, at)
        if fiber.dirty is not None:  # if nothing is written, it is as if it had not been visited
            storage.found.add(level)
            first, (before, undo) = b.var(f"{fiber.prefix}_first"), marks_below(b, fiber)
            enter += (*before, imp.Let(first, n))
            undo = (*undo, imp.Assign(n, first))
            leave = (imp.If(wrote, imp.Block(leave), imp.Block(undo)),)
        return Thunk(tuple(enter), body, (*leave, *closed))

    def _leave(self, b: Builder, fiber: Fiber, at: imp.Var) -> Code:
        """Cover the rest of a fiber; where it may be opened again, say from where on that is."""
        gap = self._gap(b, fiber, at, fiber.dim)
        if not fiber.reopened:
            return gap
        n, right = self.count(fiber.storage, fiber.level), fiber.buffer("right")
        rest = b.var(f"{fiber.prefix}_rest")  # is kept behind the runs: there is room
        return (imp.Let(rest, at), *gap, imp.Store(right, n, imp.cast(rest, right.dtype)))

    def _reopen(self, b: Builder, fiber: Fiber, at: imp.Var, wrote: imp.Var) -> None:
        """Take back with what the rest of a fiber has been covered, if it has been left before."""
        storage, level, right = fiber.storage, fiber.level, fiber.buffer("right")
        n, first = self.count(storage, level), first_of(fiber)
        with b.collect() as back:
            b.emit(imp.Assign(n, n - 1))
            storage.below(level).forget(b, storage, level + 1, n)
        own = imp.eq(at, imp.ZERO) | ((n - 1 > first) & imp.eq(right[n - 2], at))
        shorter = imp.Block((imp.Store(right, n - 1, imp.cast(at, right.dtype)),))
        whole = imp.If(own, imp.Block(tuple(back)), shorter)
        again = (
            imp.Assign(at, imp.widen(right[n])),
            imp.If(at < fiber.dim, imp.Block((whole,)), imp.EMPTY),
            imp.Assign(wrote, imp.TRUE),
        )
        b.emit(imp.If(n > first, imp.Block(again), imp.EMPTY))

    def _gap(self, b: Builder, fiber: Fiber, at: imp.Var, stop: imp.Expr) -> Code:
        """A run of fill up to `stop`, if the runs so far end before it."""
        storage, level, n = fiber.storage, fiber.level, self.count(fiber.storage, fiber.level)
        saved, forget = marks_below(b, fiber)
        with b.collect() as fill:
            b.emit(*saved)
            storage.below(level).initialize(b, storage, level + 1, n, n + 1)
        fill += self._end(b, fiber, at, stop, forget)
        return (imp.If(at < stop, imp.Block(tuple(fill)), imp.EMPTY),)

    def _end(self, b: Builder, fiber: Fiber, at: imp.Var, stop: imp.Expr, forget: Code) -> Code:
        """The run at the end is complete, and goes on to `stop`."""
        storage, level, right = fiber.storage, fiber.level, fiber.buffer("right")
        n, end = self.count(storage, level), imp.cast(stop, right.dtype)
        with b.collect() as new:
            b.emit(imp.Store(right, n, end), imp.Assign(n, n + 1))
            make_room(b, storage, level, ("right",), n + 2)
        longer = (imp.Store(right, n - 1, end),)
        with b.collect() as code:
            end_run(b, fiber, n, at > 0, longer, tuple(new), forget)
            b.emit(imp.Assign(at, stop))
        return tuple(code)

    def forget(self, b: Builder, storage: Storage, level: int, start: imp.Expr) -> None:
        super().forget(b, storage, level, start)
        storage.below(level).forget(b, storage, level + 1, self.count(storage, level))

    def skipped(self, b: Builder, storage: Storage, level: int) -> None:
        n, dim = self.count(storage, level), storage.dim(level)
        right = storage.buffers[level]["right"]
        with b.collect() as fill:
            make_room(b, storage, level, ("right",), n + 1)
            storage.below(level).initialize(b, storage, level + 1, n, n + 1)
            b.emit(imp.Store(right, n, imp.cast(dim, right.dtype)), imp.Assign(n, n + 1))
        b.emit(imp.If(dim > 0, imp.Block(tuple(fill)), imp.EMPTY))

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        n = self.count(storage, level)
        finish_pointers(b, storage, level, n, count)
        b.emit(imp.SetLength(storage.buffers[level]["right"], n))
        storage.below(level).freeze(b, storage, level + 1, n)

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        stored = check_pointers(arrays["ptr"], count, len(arrays["right"]), f"{label}.ptr")
        check_runs(arrays["ptr"], arrays["right"], dims[0], f"{label}.right")
        return stored


@pack_level.register(RunList)
def _(
    level: RunList, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    n, found = dims[0], stretches(fibers, coordinates[0], equal=True)
    gaps = _gaps(found, fibers.count, n)
    owner = np.concatenate([found.fiber, gaps.fiber])
    right = np.concatenate([found.right, gaps.right])
    order = np.lexsort((right, owner))
    place = np.empty(len(order), np.int64)  # of each run, among runs and gaps
    place[order] = np.arange(len(order))
    ptr = zeros(fibers.count + 1, index_dtype(len(order)))
    np.cumsum(np.bincount(owner, minlength=fibers.count), out=ptr[1:])
    at = place[found.member[found.kept]]
    arrays = {"ptr": ptr, "right": right[order].astype(index_dtype(n))}
    return arrays, Fibers(len(order), len(order), at, kept=found.kept)


@unpack_level.register(RunList)
def _(level: RunList, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, q = ranges(arrays["ptr"], at)
    right = arrays["right"][q]
    left = np.zeros(len(q), np.int64)
    left[1:] = np.where(owner[1:] == owner[:-1], right[:-1], 0)
    which, index = spread(left, right)
    return Entries(owner[which], [index], q[which])


def _gaps(found: Stretches, count: int, n: int) -> Stretches:
    """What the runs leave open in each of `count` fibers of length n."""
    fiber = np.concatenate([found.fiber, np.arange(count)])  # before each run; after the last
    before = np.zeros(len(found.fiber), np.int64)
    same = found.fiber[1:] == found.fiber[:-1]
    before[1:][same] = found.right[:-1][same]
    ends = np.zeros(count, np.int64)
    ends[found.fiber] = found.right  # the last one stays
    left = np.concatenate([before, ends])
    right = np.concatenate([found.left, np.full(count, n, np.int64)])
    some = left < right
    return Stretches(fiber[some], left[some], right[some], found.member[:0], found.kept[:0])
