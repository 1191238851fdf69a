"""`SparseList`: the stored indices of each fiber, sorted: `idx[ptr[p]:ptr[p + 1]]` (CSR, CSF …)."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.append import (
    Appended,
    around_fiber,
    finish_pointers,
    first_of,
    list_of,
    place_of,
)
from linnet.formats.level import COORDINATES, POINTERS, Array, Level, search_of
from linnet.formats.looplets import Jumper, Lookup, Looplet, Seek, Spike, Stepper, Thunk
from linnet.formats.validate import check_pointers, check_sorted
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class SparseList(Appended):
    """`fiber(p) -> fill … child(q) | fill … child(q + 1) | … | fill`, from `ptr[p]` on."""

    strided: ClassVar[bool] = True
    ascends: ClassVar[bool] = True
    reopens: ClassVar[bool] = True
    resumes: ClassVar[bool] = True
    arrays: ClassVar[tuple[Array, ...]] = (
        POINTERS,
        COORDINATES,
    )

    @property
    def scattered(self) -> Level | None:
        return ScatteredList(self.child)

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, idx = fiber.buffer("ptr"), fiber.buffer("idx")
        q = b.var(f"{fiber.prefix}_q")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        target = b.var("target")
        stepper = Stepper(
            pos=q,
            begin=begin,
            end=end,
            last=imp.widen(idx[q]),
            chunk=Spike(fiber.child(q)),
            seek=Seek(target, b.call(search_of(protocol), idx, q, end, target)),
        )
        return Jumper(stepper) if protocol == "gallop" else stepper

    def positions(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        return self.entries(storage, level, lo, hi)

    def parent(
        self, b: Builder, storage: Storage, level: int, q: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> imp.Expr:
        return list_of(b, storage, level, q, lo, hi)

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        idx, n = fiber.buffer("idx"), self.count(fiber.storage, fiber.level)
        q, here = place_of(b, fiber, n, (n > first_of(fiber)) & imp.eq(idx[n - 1], index))
        append = (imp.Store(idx, q, imp.cast(index, idx.dtype)), imp.Assign(n, q + 1))
        body = self.appended(b, fiber, n, append, [idx], at=q, here=here)
        before, after = around_fiber(b, fiber, n)
        return Thunk(before, body, after)

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        q = self.count(storage, level)
        finish_pointers(b, storage, level, q, count)
        b.emit(imp.SetLength(storage.buffers[level]["idx"], q))
        storage.below(level).freeze(b, storage, level + 1, q)

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        stored = check_pointers(arrays["ptr"], count, len(arrays["idx"]), f"{label}.ptr")
        check_sorted(arrays["ptr"], arrays["idx"], dims[0], f"{label}.idx")
        return stored


@dataclass(frozen=True, repr=False)
class ScatteredList(SparseList):
    """A SparseList whose fibers are written at the same time, each in order: as in a transpose.

    The entries of each fiber have been counted. While writing, `ptr[p + 1]` is where the next entry
    of fiber p goes; when all is written, that is where the fiber ends.
    """

    sequential: ClassVar[bool] = False

    @property
    def scattered(self) -> Level | None:
        return None

    def variables(self, storage: Storage, level: int) -> tuple[imp.Var, ...]:
        return (self.count(storage, level),)

    def declare(self, b: Builder, storage: Storage, level: int) -> None:
        pass

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        counts, n = storage.counts, self.count(storage, level)
        assert counts is not None
        ptr, idx = storage.buffers[level]["ptr"], storage.buffers[level]["idx"]
        b.emit(imp.Grow(ptr, stop + 1))
        b.emit(imp.Assign(n, b.call(allot, counts, stop, ptr)))
        # one more than counted: where an entry is begun that may not be written
        b.emit(imp.Grow(idx, n + 1))
        storage.below(level).reserve(b, storage, level + 1, n + 1)

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        ptr, idx, at = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.pos + 1
        q, dirty = b.var(f"{fiber.prefix}_q"), b.var(f"{fiber.storage.name}_dirty", imp.BOOL)
        here = imp.Let(q, imp.widen(ptr[at]))
        keep: tuple[imp.Stmt, ...] = (
            imp.Store(idx, q, imp.cast(index, idx.dtype)),
            imp.Store(ptr, at, imp.cast(q + 1, ptr.dtype)),
        )
        if fiber.dirty is not None:
            keep = (*keep, imp.Assign(fiber.dirty, imp.TRUE))
        # where this fiber is complete, the next place is the first of another's
        aside = self.count(fiber.storage, fiber.level)
        leaf = fiber.storage.buffers[fiber.level + 1].values()
        moved = tuple(imp.Store(array, q, array[aside]) for array in leaf)
        leave = imp.If(dirty, imp.Block((here, *moved, *keep)), imp.EMPTY)
        return Lookup(
            Thunk((imp.Let(dirty, imp.FALSE),), fiber.child(aside, dirty, fresh=True), (leave,)),
            sure=Thunk((here,), fiber.child(q, fresh=True), keep),
        )

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        n, arrays = self.count(storage, level), storage.buffers[level]
        b.emit(imp.SetLength(arrays["ptr"], count + 1), imp.SetLength(arrays["idx"], n))
        storage.below(level).freeze(b, storage, level + 1, n)


def allot(counts: Sequence[int], count: int, ptr: MutableSequence[int]) -> int:
    """A codelet: where each fiber begins, one place further on than it will be read."""
    total = 0
    ptr[0] = 0
    for p in range(count):
        ptr[p + 1] = total
        total += counts[p]
    return total
