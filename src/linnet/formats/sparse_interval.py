"""`SparseInterval`: one run per fiber."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.level import Array, Inner
from linnet.formats.looplets import FILL, Looplet, Phase, Run, Sequence
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
from linnet.formats.validate import check_bounds

if TYPE_CHECKING:
    import numpy as np

    from linnet.formats.fiber import Fiber
    from linnet.imp.build import Builder


@dataclass(frozen=True)
class SparseInterval(Inner):
    """`fiber(p) -> fill … | child(p) … | fill …`.

    The run begins at `left[p]` and ends before `right[p]`; that of an empty fiber ends where it begins.
    """

    arrays: ClassVar[tuple[Array, ...]] = (Array("left", "coordinate"), Array("right", "coordinate"))

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Var, protocol: str) -> Looplet:
        left, right = imp.widen(fiber.buffer("left")[fiber.pos]), imp.widen(fiber.buffer("right")[fiber.pos])
        run = Run(fiber.child(fiber.pos))
        phases = (Phase(left, Run(FILL)), Phase(right, run), Phase(None, Run(FILL)))
        return Sequence(phases, inside=True)

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
