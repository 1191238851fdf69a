"""`SparseInterval`: one run per fiber."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.alike import both
from linnet.formats.append import marks_below
from linnet.formats.level import Array, Inner, Level
from linnet.formats.looplets import FILL, Looplet, Phase, Run, Sequence, Thunk
from linnet.formats.packing import (
    Arrays,
    Entries,
    Fibers,
    Ints,
    index_dtype,
    pack_level,
    unpack_level,
    zeros,
)
from linnet.formats.runs import Code, end_run, run_lookup, span_of
from linnet.formats.sparse_list import SparseList
from linnet.formats.stretches import spread, stretches
from linnet.formats.validate import check_bounds
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class SparseInterval(Inner):
    """`fiber(p) -> fill … | child(p) … | fill …`.

    The run begins at `left[p]` and ends before `right[p]`: where it begins, in an empty fiber.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        Array("left", "coordinate", fiber=True),
        Array("right", "coordinate", fiber=True),
    )
    sliced: ClassVar[bool] = True
    per_fiber: ClassVar[bool] = True
    sequential: ClassVar[bool] = True
    skips: ClassVar[bool] = True  # the child of an empty fiber
    limit: ClassVar[str] = "run"
    runs: ClassVar[bool] = True
    reopens: ClassVar[bool] = True

    def written(self, below: tuple[Level, ...]) -> tuple[Level, ...]:
        # whether a fiber goes on with the run is not seen where it is not in order yet
        return (self,) if all(level.comparable for level in below) else (SparseList(self.child),)

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        left, right = (imp.widen(fiber.buffer(name)[fiber.pos]) for name in ("left", "right"))
        run = Run(fiber.child(fiber.pos))
        phases = (Phase(left, Run(FILL)), Phase(right, run), Phase(None, Run(FILL)))
        return Sequence(phases, inside=True)

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        b.emit(*(imp.Grow(array, stop) for array in storage.buffers[level].values()))
        # one more, to which a run is written before it is found to go on with the last one
        storage.below(level).reserve(b, storage, level + 1, stop + 1)

    def initialize(
        self, b: Builder, storage: Storage, level: int, start: imp.Expr, stop: imp.Expr
    ) -> None:
        for array in storage.buffers[level].values():
            b.emit(imp.Fill(array, start, stop, imp.Const(0, array.dtype)))
        storage.below(level).initialize(b, storage, level + 1, start, stop)

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level, p = fiber.storage, fiber.level, fiber.pos
        q, at, span = b.var(f"{fiber.prefix}_q"), b.var(f"{fiber.prefix}_at"), span_of(b)
        saved, forget = marks_below(b, fiber)
        left, right = fiber.buffer("left"), fiber.buffer("right")
        stop = (imp.Store(right, p, imp.cast(span.stop, right.dtype)),)
        taken: imp.Expr = at >= 0
        if not (fiber.fresh or fiber.reopened):  # it may have been opened before, for another index
            taken = taken | (left[p] < right[p])
        second = imp.If(taken, imp.Block((storage.refuse(level),)), imp.EMPTY)
        new = (second, imp.Store(left, p, imp.cast(span.start, left.dtype)), *stop)
        with b.collect() as end:
            end_run(b, fiber, q, span.follows & imp.eq(at, span.start), stop, new, forget)
            b.emit(imp.Assign(at, span.stop))
        here = (imp.Let(q, p + imp.Cast(taken, imp.INT)), *saved)
        body = run_lookup(b, fiber, q, span, here, tuple(end), forget)
        begin: Code = (imp.Let(at, imp.Const(-1, imp.INT)),)
        if fiber.reopened:  # it has been initialized, and what comes may go on with its run
            last = imp.Assign(at, imp.widen(right[p]))
            begin += (imp.If(left[p] < right[p], imp.Block((last,)), imp.EMPTY),)
            return Thunk(begin, body)
        return Thunk(begin, body, self._leave(b, fiber, at))

    def _leave(self, b: Builder, fiber: Fiber, at: imp.Var) -> Code:
        """A fiber to which nothing was written is empty, and its parent is told of others."""
        with b.collect() as empty:
            if fiber.fresh:
                self.initialize(b, fiber.storage, fiber.level, fiber.pos, fiber.pos + 1)
        told = () if fiber.dirty is None else (imp.Assign(fiber.dirty, imp.TRUE),)
        return (imp.If(at < 0, imp.Block(tuple(empty)), imp.Block(told)),)

    def forget(self, b: Builder, storage: Storage, level: int, start: imp.Expr) -> None:
        storage.below(level).forget(b, storage, level + 1, start)

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        b.emit(*(imp.SetLength(array, count) for array in storage.buffers[level].values()))
        storage.below(level).freeze(b, storage, level + 1, count)

    def complete(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        storage.below(level).complete(b, storage, level + 1, stop)

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        left, right = storage.buffers[level]["left"], storage.buffers[level]["right"]
        same = imp.eq(left[p], left[q]) & imp.eq(right[p], right[q])
        below = storage.below(level)
        return both(b, same, lambda: below.alike(b, storage, level + 1, p, q))

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        check_bounds(arrays["left"], arrays["right"], count, dims[0], label)
        return count


@pack_level.register(SparseInterval)
def _(
    level: SparseInterval, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    found = stretches(fibers, coordinates[0], equal=True)
    found.check_single("run", "use SparseRunList")
    arrays = {name: zeros(fibers.count, index_dtype(dims[0])) for name in ("left", "right")}
    arrays["left"][found.fiber] = found.left
    arrays["right"][found.fiber] = found.right
    below = Fibers(fibers.count, len(found.fiber), fibers.at[found.kept], kept=found.kept)
    return arrays, below


@unpack_level.register(SparseInterval)
def _(level: SparseInterval, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, index = spread(arrays["left"][at], arrays["right"][at])
    return Entries(owner, [index], at[owner])
