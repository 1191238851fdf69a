"""`SparseBand`: one block of neighbouring elements per fiber (banded, triangular, ragged)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.level import Array, Inner
from linnet.formats.looplets import FILL, Looplet, Lookup, Phase, Run, Sequence, Thunk
from linnet.formats.validate import check_bands, check_pointers

if TYPE_CHECKING:
    import numpy as np

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
