"""`SparseBlockList`: blocks of neighbouring elements, with fill between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.formats.alike import all_alike, both, same_length
from linnet.formats.append import (
    Appended,
    Code,
    around_fiber,
    finish_pointers,
    first_of,
    place_of,
    told,
)
from linnet.formats.level import COORDINATES, POINTERS, Array, search_of
from linnet.formats.looplets import (
    FILL,
    Jumper,
    Lookup,
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
    zeros,
)
from linnet.formats.stretches import spread, stretches
from linnet.formats.validate import check_blocks, check_pointers
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class SparseBlockList(Appended):
    """`fiber(p) -> fill … block(t) | fill … block(t + 1) | … | fill …`, `ptr[p] <= t < ptr[p + 1]`.

    Block t holds the children from `ofs[t]` up to `ofs[t + 1]`; the last of them is the element
    before index `idx[t]`.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        POINTERS,
        COORDINATES,
        Array("ofs", "position"),
    )
    sliced: ClassVar[bool] = True
    reopens: ClassVar[bool] = True
    resumes: ClassVar[bool] = True

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, idx, ofs = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.buffer("ofs")
        t, target = b.var(f"{fiber.prefix}_t"), b.var("target")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        # The element at index i is stored at position i + shift.
        shift, stop = b.var(f"{fiber.prefix}_shift"), imp.widen(idx[t])
        between = Phase(imp.widen(ofs[t]) - shift, Run(FILL))
        block = Phase(None, Lookup(fiber.child(index + shift)))
        stepper = Stepper(
            pos=t,
            begin=begin,
            end=end,
            last=stop - 1,
            chunk=Thunk(
                (imp.Let(shift, imp.widen(ofs[t + 1]) - stop),),
                Sequence((between, block), inside=True),
            ),
            seek=Seek(target, b.call(search_of(protocol), idx, t, end, target + 1)),
        )
        return Jumper(stepper) if protocol == "gallop" else stepper

    def stored(self, storage: Storage, level: int) -> imp.Var:
        """The number of elements in all blocks so far."""
        return imp.Var(f"{storage.prefix(level)}_m")

    def variables(self, storage: Storage, level: int) -> tuple[imp.Var, ...]:
        return (*super().variables(storage, level), self.stored(storage, level))

    def declare(self, b: Builder, storage: Storage, level: int) -> None:
        super().declare(b, storage, level)
        b.emit(imp.Assign(self.stored(storage, level), imp.ZERO))

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level = fiber.storage, fiber.level
        idx, ofs = fiber.buffer("idx"), fiber.buffer("ofs")
        n, m = self.count(storage, level), self.stored(storage, level)
        following = b.var(f"{fiber.prefix}_next")  # the index that would extend the last block
        begin = (
            imp.Grow(idx, n + 1),
            imp.Grow(ofs, n + 1),
            imp.Store(ofs, n, imp.cast(m, ofs.dtype)),
            imp.Assign(n, n + 1),
        )
        append: Code = (
            imp.If(imp.ne(following, index), imp.Block(begin), imp.EMPTY),
            imp.Store(idx, n - 1, imp.cast(index + 1, idx.dtype)),
            imp.Assign(m, m + 1),
            imp.Assign(following, index + 1),
            *(told(fiber) if fiber.reopened else ()),  # also where no block is added
        )
        q, here = place_of(b, fiber, m, imp.eq(following, index + 1))
        if fiber.again:
            append = (imp.If(imp.eq(q, m), imp.Block(append), imp.EMPTY),)
        body = self.appended(b, fiber, m, append, [], at=q, here=here)
        before, after = around_fiber(b, fiber, n)
        opened = (*before, imp.Let(following, imp.Const(-1, imp.INT)))
        if fiber.reopened:  # what comes may go on with the last block
            last = imp.Assign(following, imp.widen(idx[n - 1]))
            opened += (imp.If(n > first_of(fiber), imp.Block((last,)), imp.EMPTY),)
        return Thunk(opened, body, after)

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        n, m = self.count(storage, level), self.stored(storage, level)
        idx, ofs = storage.buffers[level]["idx"], storage.buffers[level]["ofs"]
        finish_pointers(b, storage, level, n, count)
        self._end_blocks(b, storage, level)
        b.emit(imp.SetLength(idx, n), imp.SetLength(ofs, n + 1))
        storage.below(level).freeze(b, storage, level + 1, m)

    def _end_blocks(self, b: Builder, storage: Storage, level: int) -> None:
        """Store where the last block ends; the next one, if there is one, begins there."""
        n, m = self.count(storage, level), self.stored(storage, level)
        ofs = storage.buffers[level]["ofs"]
        b.emit(imp.Grow(ofs, n + 1), imp.Store(ofs, n, imp.cast(m, ofs.dtype)))

    def complete(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        self.complete_pointers(b, storage, level, stop)
        self._end_blocks(b, storage, level)
        storage.below(level).complete(b, storage, level + 1, self.stored(storage, level))

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        ptr, idx, ofs = (storage.buffers[level][name] for name in ("ptr", "idx", "ofs"))
        below = storage.below(level)
        blocks, same = same_length(ptr, p, q)

        def alike_block(t: imp.Var) -> imp.Expr | None:
            here, there = imp.widen(ptr[p]) + t, imp.widen(ptr[q]) + t
            length, equal = same_length(ofs, here, there)
            ends = imp.eq(idx[here], idx[there]) & equal
            first, second = imp.widen(ofs[here]), imp.widen(ofs[there])

            def alike_element(k: imp.Var) -> imp.Expr | None:
                return below.alike(b, storage, level + 1, first + k, second + k)

            return both(b, ends, lambda: all_alike(b, length, alike_element))

        return all_alike(b, blocks, alike_block, same)

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        ptr, idx, ofs = arrays["ptr"], arrays["idx"], arrays["ofs"]
        blocks = check_pointers(ptr, count, len(idx), f"{label}.ptr")
        stored = int(ofs[-1]) if len(ofs) else 0
        check_pointers(ofs, blocks, stored, f"{label}.ofs", fiber="block")
        check_blocks(ptr, idx, ofs, dims[0], label)
        return stored


@pack_level.register(SparseBlockList)
def _(
    level: SparseBlockList, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    found = stretches(fibers, coordinates[0], equal=False)
    length = found.right - found.left
    total = int(length.sum())
    ofs = zeros(len(length) + 1, index_dtype(total))
    np.cumsum(length, out=ofs[1:])
    arrays = {
        "ptr": found.pointers(fibers.count, index_dtype(len(length))),
        "idx": found.right.astype(index_dtype(dims[0])),
        "ofs": ofs,
    }
    at = ofs[found.member] + (coordinates[0] - found.left[found.member])
    return arrays, Fibers(total, total, at)


@unpack_level.register(SparseBlockList)
def _(level: SparseBlockList, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, t = ranges(arrays["ptr"], at)
    idx, begin = arrays["idx"][t].astype(np.int64), arrays["ofs"][t].astype(np.int64)
    left = idx - (arrays["ofs"][t + 1] - begin)
    which, index = spread(left, idx)
    return Entries(owner[which], [index], index + (begin - left)[which])
