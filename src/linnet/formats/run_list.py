"""`RunList`: runs of equal subfibers, one behind the other, that cover the dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.append import Appended
from linnet.formats.level import Array
from linnet.formats.looplets import Looplet, Run, Seek, Stepper
from linnet.formats.validate import check_pointers, check_runs

if TYPE_CHECKING:
    import numpy as np

    from linnet.formats.fiber import Fiber
    from linnet.imp.build import Builder


@dataclass(frozen=True)
class RunList(Appended):
    """`fiber(p) -> child(q) … | child(q + 1) … | …`, `ptr[p] <= q < ptr[p + 1]`.

    Run q ends before `right[q]`, where the next one begins; the first begins at 0, and the last one
    ends with the dimension.
    """

    arrays: ClassVar[tuple[Array, ...]] = (Array("ptr", "position"), Array("right", "coordinate"))

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Var, protocol: str) -> Looplet:
        ptr, right = fiber.buffer("ptr"), fiber.buffer("right")
        q, target = b.var(f"{fiber.prefix}_q"), b.var("target")
        begin, end = imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1])
        return Stepper(
            pos=q,
            begin=begin,
            end=end,
            last=imp.widen(right[q]) - 1,
            chunk=Run(fiber.child(q)),
            seek=Seek(target, b.call("search", right, q, end, target + 1)),
            covers=True,
        )

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        stored = check_pointers(arrays["ptr"], count, len(arrays["right"]), f"{label}.ptr")
        check_runs(arrays["ptr"], arrays["right"], dims[0], f"{label}.right")
        return stored
