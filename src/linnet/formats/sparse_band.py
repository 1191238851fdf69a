"""`SparseBand`: one block of neighbouring elements per fiber (banded, triangular, ragged)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.formats.alike import all_alike, same_length
from linnet.formats.append import (
    Appended,
    around_fiber,
    finish_pointers,
    first_of,
    first_time,
    list_of,
)
from linnet.formats.level import Array
from linnet.formats.looplets import FILL, Lookup, Looplet, Phase, Run, Sequence, Thunk
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
from linnet.formats.stretches import spread, stretches
from linnet.formats.validate import check_bands, check_pointers
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class SparseBand(Appended):
    """`fiber(p) -> fill … | child(q), child(q + 1), … | fill …`, `ofs[p] <= q < ofs[p + 1]`.

    The last of them is the element before index `idx[p]`.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        Array("idx", "coordinate", fiber=True),
        Array("ofs", "position", fiber=True, ascends=True),
    )
    sliced: ClassVar[bool] = True
    per_fiber: ClassVar[bool] = True
    spans: ClassVar[bool] = True
    reopens: ClassVar[bool] = True
    resumes: ClassVar[bool] = True
    skips: ClassVar[bool] = True  # the children of elements that are skipped
    pointers: ClassVar[str] = "ofs"

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        idx, ofs = fiber.buffer("idx"), fiber.buffer("ofs")
        stop = imp.widen(idx[fiber.pos])
        # The element at index i is stored at position i + shift.
        shift = b.var(f"{fiber.prefix}_shift")
        start = imp.widen(ofs[fiber.pos]) - shift
        block = Phase(stop, Lookup(fiber.child(index + shift)))
        phases = (Phase(start, Run(FILL)), block, Phase(None, Run(FILL)))
        return Thunk(
            (imp.Let(shift, imp.widen(ofs[fiber.pos + 1]) - stop),), Sequence(phases, inside=True)
        )

    def positions(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        return self.entries(storage, level, lo, hi)

    def parent(
        self, b: Builder, storage: Storage, level: int, q: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> imp.Expr:
        return list_of(b, storage, level, q, lo, hi)

    def stretch(
        self, storage: Storage, level: int, p: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        idx, ofs = storage.buffers[level]["idx"], storage.buffers[level]["ofs"]
        shift = imp.widen(idx[p]) - imp.widen(ofs[p + 1])
        return lo + shift, hi + shift

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        super().reserve(b, storage, level, stop)
        b.emit(imp.Grow(storage.buffers[level]["idx"], stop))

    def initialize(
        self, b: Builder, storage: Storage, level: int, start: imp.Expr, stop: imp.Expr
    ) -> None:
        idx = storage.buffers[level]["idx"]
        b.emit(imp.Fill(idx, start, stop, imp.Const(0, idx.dtype)))

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        """Elements that are skipped lie in the band, too: they are made when one behind them is."""
        storage, level, prefix = fiber.storage, fiber.level, fiber.prefix
        n, below = self.count(storage, level), storage.below(level)
        first, shift, q = b.var(f"{prefix}_first"), b.var(f"{prefix}_shift"), b.var(f"{prefix}_q")
        anchor = imp.If(imp.eq(n, first), imp.Block((imp.Assign(shift, n - index),)), imp.EMPTY)
        with b.collect() as room:
            below.reserve(b, storage, level + 1, q + (fiber.dim - index))
        wide = imp.If(n < q, imp.Block(tuple(room)), imp.EMPTY)
        place: imp.Expr = index + shift
        if fiber.reopened:  # by another index, perhaps, which the level above refuses later
            place = imp.maximum(place, n - 1 if fiber.again else n)
        here = (anchor, imp.Let(q, place), wide, *first_time(b, fiber, q, n))
        with b.collect() as between:
            below.initialize(b, storage, level + 1, n, q)
        keep = (imp.If(n < q, imp.Block(tuple(between)), imp.EMPTY), imp.Assign(n, q + 1))
        body = self.appended(b, fiber, n, keep, [], at=q, here=here)
        before, after = around_fiber(b, fiber, n)
        idx = fiber.buffer("idx")
        begin = (*before, imp.Let(first, n), imp.Let(shift, imp.ZERO))
        if fiber.reopened:  # what comes goes to the same band
            same = imp.Assign(shift, n - imp.widen(idx[fiber.pos]))
            goes_on = imp.If(n > first, imp.Block((same,)), imp.EMPTY)
            begin = (*before, imp.Let(first, first_of(fiber)), imp.Let(shift, imp.ZERO), goes_on)
        empty = imp.Store(idx, fiber.pos, imp.Const(0, idx.dtype)) if fiber.fresh else imp.EMPTY
        stop = imp.Store(idx, fiber.pos, imp.cast(n - shift, idx.dtype))
        end = imp.If(n > first, imp.Block((stop,)), imp.Block((empty,)))
        return Thunk(begin, body, (end, *after))

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        n = self.count(storage, level)
        finish_pointers(b, storage, level, n, count)
        b.emit(imp.SetLength(storage.buffers[level]["idx"], count))
        storage.below(level).freeze(b, storage, level + 1, n)

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        idx, ofs = storage.buffers[level]["idx"], storage.buffers[level]["ofs"]
        below = storage.below(level)
        length, same = same_length(ofs, p, q)
        here, there = imp.widen(ofs[p]), imp.widen(ofs[q])
        same = same & (imp.eq(length, imp.ZERO) | imp.eq(idx[p], idx[q]))
        return all_alike(
            b, length, lambda t: below.alike(b, storage, level + 1, here + t, there + t), same
        )

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        idx, ofs = arrays["idx"], arrays["ofs"]
        stored = check_pointers(ofs, count, int(ofs[-1]) if len(ofs) else 0, f"{label}.ofs")
        check_bands(idx, ofs, dims[0], label)
        return stored


@pack_level.register(SparseBand)
def _(
    level: SparseBand, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    found = stretches(fibers, coordinates[0], equal=False)
    left, right = np.full(fibers.count, dims[0]), np.zeros(fibers.count, np.int64)
    left[found.fiber[::-1]] = found.left[::-1]  # the first of each fiber stays
    right[found.fiber] = found.right  # the last one stays
    length = np.maximum(right - left, 0)
    total = int(length.sum())
    ofs = zeros(fibers.count + 1, index_dtype(total))
    np.cumsum(length, out=ofs[1:])
    at = ofs[fibers.at] + (coordinates[0] - left[fibers.at])
    return {"idx": right.astype(index_dtype(dims[0])), "ofs": ofs}, Fibers(total, total, at)


@unpack_level.register(SparseBand)
def _(level: SparseBand, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    idx, begin = arrays["idx"][at].astype(np.int64), arrays["ofs"][at].astype(np.int64)
    left = idx - (arrays["ofs"][at + 1] - begin)
    owner, index = spread(left, idx)
    return Entries(owner, [index], index + (begin - left)[owner])
