"""`SparsePinpoint`: one element per fiber."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.formats.level import Array, Inner
from linnet.formats.looplets import FILL, Looplet, Phase, Run, Sequence, Switch, Thunk
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

if TYPE_CHECKING:
    from linnet.formats.fiber import Fiber
    from linnet.imp.build import Builder


@dataclass(frozen=True)
class SparsePinpoint(Inner):
    """`fiber(p) -> fill … | child(p) | fill …`, where the element is at index `idx[p]`.

    The index of an empty fiber is the size of the dimension, which none of its elements has.
    """

    arrays: ClassVar[tuple[Array, ...]] = (Array("idx", "coordinate"),)

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Var, protocol: str) -> Looplet:
        at = b.var(f"{fiber.prefix}_i")
        before, after = Phase(at, Run(FILL)), Phase(None, Run(FILL))
        here = Phase(at + 1, Run(fiber.child(fiber.pos)))
        found = Sequence((before, here, after), inside=True)
        load = imp.Let(at, imp.widen(fiber.buffer("idx")[fiber.pos]))
        return Thunk((load,), Switch(at < fiber.dim, found, Run(FILL)))

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
