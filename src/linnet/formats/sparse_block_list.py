"""`SparseBlockList`: blocks of neighbouring elements, with fill between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.formats.append import Appended
from linnet.formats.level import Array
from linnet.formats.looplets import FILL, Lookup, Looplet, Phase, Run, Seek, Sequence, Stepper, Thunk
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

if TYPE_CHECKING:
    from linnet.formats.fiber import Fiber
    from linnet.imp.build import Builder


@dataclass(frozen=True)
class SparseBlockList(Appended):
    """`fiber(p) -> fill … block(t) | fill … block(t + 1) | … | fill …`, `ptr[p] <= t < ptr[p + 1]`.

    Block t holds the children from `ofs[t]` up to `ofs[t + 1]`; the last of them is the element
    before index `idx[t]`.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        Array("ptr", "position"),
        Array("idx", "coordinate"),
        Array("ofs", "position"),
    )

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Var, protocol: str) -> Looplet:
        ptr, idx, ofs = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.buffer("ofs")
        t, target = b.var(f"{fiber.prefix}_t"), b.var("target")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        # The element at index i is stored at position i + shift.
        shift, stop = b.var(f"{fiber.prefix}_shift"), imp.widen(idx[t])
        between = Phase(imp.widen(ofs[t]) - shift, Run(FILL))
        block = Phase(None, Lookup(fiber.child(index + shift)))
        return Stepper(
            pos=t,
            begin=begin,
            end=end,
            last=stop - 1,
            chunk=Thunk(
                (imp.Let(shift, imp.widen(ofs[t + 1]) - stop),),
                Sequence((between, block), inside=True),
            ),
            seek=Seek(target, b.call("search", idx, t, end, target + 1)),
        )

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
