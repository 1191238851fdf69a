"""`SparseCOO(n)`: n dimensions at once, as sorted tuples of coordinates."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.errors import FormatError
from linnet.formats.append import (
    Appended,
    around_fiber,
    finish_pointers,
    first_of,
    list_of,
    place_of,
)
from linnet.formats.fiber import Fiber
from linnet.formats.level import POINTERS, Array, Level, search_of
from linnet.formats.looplets import Jumper, Lookup, Looplet, Seek, Spike, Stepper, Thunk
from linnet.formats.validate import check_pointers, check_sorted_coordinates
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Storage


@dataclass(frozen=True, init=False)
class SparseCOO(Appended):
    """Entry q of fiber p, `ptr[p] <= q < ptr[p + 1]`, has the coordinates `idx0[q], idx1[q], …`.

    Walking one dimension narrows the range of entries to those that share its coordinate.
    """

    sliced: ClassVar[bool] = True
    reopens: ClassVar[bool] = True
    resumes: ClassVar[bool] = True
    n: int

    def __init__(self, n: int, child: Level) -> None:
        if not isinstance(n, int) or n < 1:
            raise FormatError(f"SparseCOO stores at least one dimension, not {n!r}")
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "child", child)
        self.__post_init__()

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.n

    @property
    def arrays(self) -> tuple[Array, ...]:  # type: ignore[override]
        coordinates = (
            Array(f"idx{k}", "coordinate", ascends=k == 0, unique=self.n == 1)
            for k in range(self.n)
        )
        return (POINTERS, *coordinates)

    def label(self, child: str) -> str:
        return f"SparseCOO({self.n}, {child})"

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, idx = fiber.buffer("ptr"), fiber.buffer(f"idx{fiber.sub}")
        begin, end = fiber.state or (imp.widen(ptr[fiber.pos]), imp.widen(ptr[fiber.pos + 1]))
        q, target = b.var(f"{fiber.prefix}_q"), b.var("target")
        seek = Seek(target, b.call(search_of(protocol), idx, q, end, target))
        last = imp.widen(idx[q])
        if fiber.sub == self.n - 1:
            stepper = Stepper(q, begin, end, last, Spike(fiber.child(q)), seek)
        else:
            stop = b.var(f"{fiber.prefix}_stop")
            inner = Fiber(fiber.storage, fiber.level, fiber.pos, fiber.sub + 1, (q, stop))
            alike = b.call("run_end", idx, q, end)
            stepper = Stepper(
                q, begin, end, last, Spike(inner), seek,
                setup=(imp.Let(stop, alike),),
                next=(imp.Assign(q, stop),),
                before=b.call("run_begin", idx, begin, q),
            )  # fmt: skip
        return Jumper(stepper) if protocol == "gallop" else stepper

    def positions(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        return self.entries(storage, level, lo, hi)

    def parent(
        self, b: Builder, storage: Storage, level: int, q: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> imp.Expr:
        return list_of(b, storage, level, q, lo, hi)

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        storage, level = fiber.storage, fiber.level
        n, state = self.count(storage, level), (*fiber.state, index)
        if fiber.sub < self.n - 1:
            inner = Fiber(storage, level, fiber.pos, fiber.sub + 1, state, dirty=fiber.dirty)
            looplet: Looplet = Lookup(inner)
        else:
            arrays = [fiber.buffer(f"idx{k}") for k in range(self.n)]
            entry = list(zip(arrays, state, strict=True))
            equal = [imp.eq(a[n - 1], i) for a, i in entry]
            alike = reduce(imp.Operators.__and__, equal, n > first_of(fiber))
            q, here = place_of(b, fiber, n, alike)
            stores = [imp.Store(a, q, imp.cast(i, a.dtype)) for a, i in entry]
            keep: tuple[imp.Stmt, ...] = (*stores, imp.Assign(n, q + 1))
            looplet = self.appended(b, fiber, n, keep, arrays, at=q, here=here)
        if fiber.sub == 0:
            before, after = around_fiber(b, fiber, n)
            return Thunk(before, looplet, after)
        return looplet

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        q = self.count(storage, level)
        finish_pointers(b, storage, level, q, count)
        buffers = storage.buffers[level]
        b.emit(*(imp.SetLength(buffers[f"idx{k}"], q) for k in range(self.n)))
        storage.below(level).freeze(b, storage, level + 1, q)

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        coordinates = [arrays[f"idx{k}"] for k in range(self.n)]
        stored = check_pointers(arrays["ptr"], count, len(coordinates[0]), f"{label}.ptr")
        check_sorted_coordinates(arrays["ptr"], coordinates, dims, label)
        return stored
