"""`SparsePinpoint`: one element per fiber."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.formats.alike import both
from linnet.formats.append import marks_below
from linnet.formats.level import Array, Inner
from linnet.formats.looplets import FILL, Lookup, Looplet, Phase, Run, Sequence, Switch, Thunk
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
from linnet.formats.stretches import stretches
from linnet.formats.validate import check_length, check_range
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class SparsePinpoint(Inner):
    """`fiber(p) -> fill … | child(p) | fill …`, where the element is at index `idx[p]`.

    The index of an empty fiber is the size of the dimension, which none of its elements has.
    """

    arrays: ClassVar[tuple[Array, ...]] = (Array("idx", "coordinate", fiber=True),)
    sliced: ClassVar[bool] = True
    per_fiber: ClassVar[bool] = True
    limit: ClassVar[str] = "element"
    vacant: ClassVar[bool] = True

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        at = b.var(f"{fiber.prefix}_i")
        before, after = Phase(at, Run(FILL)), Phase(None, Run(FILL))
        here = Phase(at + 1, Run(fiber.child(fiber.pos)))
        found = Sequence((before, here, after), inside=True)
        load = imp.Let(at, imp.widen(fiber.buffer("idx")[fiber.pos]))
        return Thunk((load,), Switch(at < fiber.dim, found, Run(FILL)))

    def positions(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        return lo, hi

    def parent(
        self, b: Builder, storage: Storage, level: int, q: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> imp.Expr:
        return q

    def stretch(
        self, storage: Storage, level: int, p: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        at = imp.widen(storage.buffers[level]["idx"][p])
        return at, imp.minimum(at + (hi - lo), storage.dim(level))

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        b.emit(imp.Grow(storage.buffers[level]["idx"], stop))
        storage.below(level).reserve(b, storage, level + 1, stop)

    def initialize(
        self, b: Builder, storage: Storage, level: int, start: imp.Expr, stop: imp.Expr
    ) -> None:
        idx = storage.buffers[level]["idx"]
        none = imp.cast(storage.dim(level), idx.dtype)
        one = stop == start + 1
        b.emit(imp.Store(idx, start, none) if one else imp.Fill(idx, start, stop, none))
        storage.below(level).initialize(b, storage, level + 1, start, stop)

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level, p = fiber.storage, fiber.level, fiber.pos
        idx, dirty = fiber.buffer("idx"), b.var(f"{storage.name}_dirty", imp.BOOL)
        told = () if fiber.dirty is None else (imp.Assign(fiber.dirty, imp.TRUE),)
        taken = imp.If(imp.ne(idx[p], fiber.dim), imp.Block((storage.refuse(level),)), imp.EMPTY)
        take = (taken, imp.Store(idx, p, imp.cast(index, idx.dtype)))
        keep = (imp.If(imp.ne(idx[p], index), imp.Block(take), imp.EMPTY), *told)
        saved, forget = marks_below(b, fiber)  # all indices share the child, and one keeps it
        leave = imp.If(dirty, imp.Block(keep), imp.Block(forget))
        return Lookup(
            Thunk((imp.Let(dirty, imp.FALSE), *saved), fiber.child(p, dirty=dirty), (leave,)),
            sure=Thunk(keep, fiber.child(p)),
        )

    def forget(self, b: Builder, storage: Storage, level: int, start: imp.Expr) -> None:
        storage.below(level).forget(b, storage, level + 1, start)

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        b.emit(imp.SetLength(storage.buffers[level]["idx"], count))
        storage.below(level).freeze(b, storage, level + 1, count)

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        storage.below(level).thaw(b, storage, level + 1, count)

    def complete(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        storage.below(level).complete(b, storage, level + 1, stop)

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        idx, below = storage.buffers[level]["idx"], storage.below(level)
        same = imp.eq(idx[p], idx[q])
        return both(b, same, lambda: below.alike(b, storage, level + 1, p, q))

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        check_length(arrays["idx"], count, f"{label}.idx")
        check_range(arrays["idx"], dims[0] + 1, f"{label}.idx")
        return count


@pack_level.register(SparsePinpoint)
def _(
    level: SparsePinpoint, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    found = stretches(fibers, coordinates[0], equal=False, longest=1)
    found.check_single("element", "use SparseList")
    idx = zeros(fibers.count, index_dtype(dims[0]))
    idx.fill(dims[0])
    idx[found.fiber] = found.left
    return {"idx": idx}, Fibers(fibers.count, len(found.fiber), fibers.at)


@unpack_level.register(SparsePinpoint)
def _(level: SparsePinpoint, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    index = arrays["idx"][at]
    owner = np.flatnonzero(index < dims[0])
    return Entries(owner, [index[owner]], at[owner])
