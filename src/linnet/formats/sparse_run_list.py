"""`SparseRunList`: runs of equal subfibers, with fill between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.append import (
    Appended,
    around_fiber,
    finish_pointers,
    first_of,
    marks_below,
)
from linnet.formats.level import POINTERS, Array, search_of
from linnet.formats.looplets import (
    FILL,
    Jumper,
    Looplet,
    Phase,
    Run,
    Seek,
    Sequence,
    Stepper,
    Thunk,
)
from linnet.formats.packing import (
    Arrays,
    Entries,
    Fibers,
    Ints,
    index_dtype,
    pack_level,
    ranges,
    unpack_level,
)
from linnet.formats.runs import end_run, last_of_stretch, make_room, run_lookup, span_of
from linnet.formats.stretches import spread, stretches
from linnet.formats.validate import check_intervals, check_pointers
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class SparseRunList(Appended):
    """`fiber(p) -> fill … child(q) … | fill … child(q + 1) … | … | fill …`.

    Run q, `ptr[p] <= q < ptr[p + 1]`, begins at `left[q]` and ends before `right[q]`.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        POINTERS,
        Array("left", "coordinate", ascends=True, unique=True),
        Array("right", "coordinate", ascends=True, unique=True),
    )
    sliced: ClassVar[bool] = True
    runs: ClassVar[bool] = True
    reopens: ClassVar[bool] = True

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, left, right = fiber.buffer("ptr"), fiber.buffer("left"), fiber.buffer("right")
        q, target = b.var(f"{fiber.prefix}_q"), b.var("target")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        between = Phase(imp.widen(left[q]), Run(FILL))
        # the runs of a temporary have been joined where they hold the same
        apart = fiber.storage.temporary and fiber.child(q).constant is not None
        stepper = Stepper(
            pos=q,
            begin=begin,
            end=end,
            last=imp.widen(right[q]) - 1,
            chunk=Sequence((between, Phase(None, Run(fiber.child(q)))), inside=True),
            seek=Seek(target, b.call(search_of(protocol), right, q, end, target + 1)),
            reach=q if apart else b.call(last_of_stretch, left, right, q, end),
        )
        return Jumper(stepper) if protocol == "gallop" else stepper

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level, names = fiber.storage, fiber.level, ("left", "right")
        left, right = fiber.buffer("left"), fiber.buffer("right")
        n, at, span = self.count(storage, level), b.var(f"{fiber.prefix}_at"), span_of(b)
        saved, forget = marks_below(b, fiber)
        stop = imp.cast(span.stop, right.dtype)
        with b.collect() as new:
            b.emit(imp.Store(left, n, imp.cast(span.start, left.dtype)))
            b.emit(imp.Store(right, n, stop), imp.Assign(n, n + 1))
            make_room(b, storage, level, names, n + 1)
        longer = (imp.Store(right, n - 1, stop),)
        with b.collect() as end:
            end_run(b, fiber, n, span.follows & imp.eq(at, span.start), longer, tuple(new), forget)
            b.emit(imp.Assign(at, span.stop))
        opened, closed = around_fiber(b, fiber, n)
        with b.collect() as begin:
            b.emit(*opened, imp.Let(at, imp.Const(-1, imp.INT)))
            make_room(b, storage, level, names, n + 1)
            if fiber.reopened:  # what comes may go on with the last run
                last = imp.Assign(at, imp.widen(right[n - 1]))
                b.emit(imp.If(n > first_of(fiber), imp.Block((last,)), imp.EMPTY))
        body = run_lookup(b, fiber, n, span, saved, tuple(end), forget)
        return Thunk(tuple(begin), body, closed)

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        n, arrays = self.count(storage, level), storage.buffers[level]
        finish_pointers(b, storage, level, n, count)
        b.emit(imp.SetLength(arrays["left"], n), imp.SetLength(arrays["right"], n))
        storage.below(level).freeze(b, storage, level + 1, n)

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        ptr, left, right = arrays["ptr"], arrays["left"], arrays["right"]
        stored = check_pointers(ptr, count, len(right), f"{label}.ptr")
        check_intervals(ptr, left, right, dims[0], label)
        return stored


@pack_level.register(SparseRunList)
def _(
    level: SparseRunList, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    found = stretches(fibers, coordinates[0], equal=True)
    count, dtype = len(found.fiber), index_dtype(dims[0])
    arrays = {
        "ptr": found.pointers(fibers.count, index_dtype(count)),
        "left": found.left.astype(dtype),
        "right": found.right.astype(dtype),
    }
    return arrays, Fibers(count, count, found.member[found.kept], kept=found.kept)


@unpack_level.register(SparseRunList)
def _(level: SparseRunList, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, q = ranges(arrays["ptr"], at)
    which, index = spread(arrays["left"][q], arrays["right"][q])
    return Entries(owner[which], [index], q[which])
