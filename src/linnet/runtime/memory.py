"""`Memory`: what has been found for keys, by any thread; the oldest are forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memory(Generic[K, V]):
    """What has been found for keys; the oldest are forgotten when there are many."""

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._known: dict[K, V] = {}
        self.get: Callable[[K], V | None] = self._known.get

    def put(self, key: K, value: V) -> V:
        """Remember, unless another thread was first: then that is the value."""
        if len(self._known) >= self._most:
            for old in list(self._known)[: self._most // 4]:
                self._known.pop(old, None)  # another thread may forget them, too
        return self._known.setdefault(key, value)
