"""`SparseBand`: one block of neighbouring elements per fiber (banded, triangular, ragged)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.formats.level import Array, Inner
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

if TYPE_CHECKING:
    from linnet.formats.fiber import Fiber
    from linnet.imp.build import Builder


@dataclass(frozen=True)
class SparseBand(Inner):
    """`fiber(p) -> fill … | child(q), child(q + 1), … | fill …`, `ofs[p] <= q < ofs[p + 1]`.

    The last of them is the element before index `idx[p]`.
    """

    arrays: ClassVar[tuple[Array, ...]] = (Array("idx", "coordinate"), Array("ofs", "position"))

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Var, protocol: str) -> Looplet:
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
