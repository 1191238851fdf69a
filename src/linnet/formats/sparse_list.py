"""`SparseList`: the stored indices of each fiber, sorted: `idx[ptr[p]:ptr[p + 1]]` (CSR, CSF …)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.append import Appended, close_fiber, finish_pointers, open_fiber
from linnet.formats.level import Array
from linnet.formats.looplets import Jumper, Looplet, Seek, Spike, Stepper, Thunk
from linnet.formats.validate import check_pointers, check_sorted

if TYPE_CHECKING:
    import numpy as np

    from linnet.formats.fiber import Fiber, Storage
    from linnet.imp.build import Builder


@dataclass(frozen=True)
class SparseList(Appended):
    """`fiber(p) -> fill … child(q) | fill … child(q + 1) | … | fill`, `ptr[p] <= q < ptr[p + 1]`."""

    arrays: ClassVar[tuple[Array, ...]] = (Array("ptr", "position"), Array("idx", "coordinate"))

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Var, protocol: str) -> Looplet:
        ptr, idx = fiber.buffer("ptr"), fiber.buffer("idx")
        q = b.var(f"{fiber.prefix}_q")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        target = b.var("target")
        codelet = "gallop" if protocol == "gallop" else "search"
        stepper = Stepper(
            pos=q,
            begin=begin,
            end=end,
            last=imp.widen(idx[q]),
            chunk=Spike(fiber.child(q)),
            seek=Seek(target, b.call(codelet, idx, q, end, target)),
        )
        return Jumper(stepper) if protocol == "gallop" else stepper

    def update(self, b: Builder, fiber: Fiber, index: imp.Var) -> Looplet:
        idx, q = fiber.buffer("idx"), self.count(fiber.storage, fiber.level)
        append = (imp.Store(idx, q, imp.cast(index, idx.dtype)), imp.Assign(q, q + 1))
        body = self.appended(b, fiber, q, append, [idx])
        return Thunk(open_fiber(b, fiber, q), body, close_fiber(b, fiber, q))

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
