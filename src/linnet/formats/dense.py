"""`Dense`: every index has a subfiber, at position `p * n + i`. Nothing is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linnet import imp
from linnet.formats.alike import all_alike
from linnet.formats.level import Inner
from linnet.formats.looplets import Lookup, Looplet
from linnet.records import dataclass

if TYPE_CHECKING:
    import numpy as np

    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage


@dataclass(frozen=True)
class Dense(Inner):
    """`fiber(p)[i] -> child(p * n + i)`."""

    full: ClassVar[bool] = True

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        return Lookup(fiber.child(fiber.pos * fiber.dim + index))

    def positions(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        n = storage.dim(level)
        return lo * n, hi * n

    def parent(
        self, b: Builder, storage: Storage, level: int, q: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> imp.Expr:
        return imp.binary("div", q, storage.dim(level))

    def stretch(
        self, storage: Storage, level: int, p: imp.Expr, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        first = p * storage.dim(level)
        return lo - first, hi - first

    def update(self, b: Builder, fiber: Fiber, index: imp.Expr) -> Looplet:
        pos = fiber.pos * fiber.dim + index
        return Lookup(fiber.child(pos, dirty=fiber.dirty, fresh=fiber.fresh))

    def reserve(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        storage.below(level).reserve(b, storage, level + 1, stop * storage.dim(level))

    def initialize(
        self, b: Builder, storage: Storage, level: int, start: imp.Expr, stop: imp.Expr
    ) -> None:
        n = storage.dim(level)
        storage.below(level).initialize(b, storage, level + 1, start * n, stop * n)

    def forget(self, b: Builder, storage: Storage, level: int, start: imp.Expr) -> None:
        storage.below(level).forget(b, storage, level + 1, start * storage.dim(level))

    def freeze(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        storage.below(level).freeze(b, storage, level + 1, count * storage.dim(level))

    def thaw(self, b: Builder, storage: Storage, level: int, count: imp.Expr) -> None:
        storage.below(level).thaw(b, storage, level + 1, count * storage.dim(level))

    def complete(self, b: Builder, storage: Storage, level: int, stop: imp.Expr) -> None:
        storage.below(level).complete(b, storage, level + 1, stop * storage.dim(level))

    def alike(
        self, b: Builder, storage: Storage, level: int, p: imp.Expr, q: imp.Expr
    ) -> imp.Expr | None:
        n, below = storage.dim(level), storage.below(level)
        return all_alike(b, n, lambda t: below.alike(b, storage, level + 1, p * n + t, q * n + t))

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        return count * dims[0]
