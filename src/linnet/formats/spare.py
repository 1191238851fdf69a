"""Memory that results had, kept for the results of the next calls.

The C library gives large blocks back to the system, which clears every page of one before it hands
it out again. For results of a megabyte that takes as long as most kernels.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable

LEAST = 1 << 15  # bytes: smaller blocks cost next to nothing
MOST = 64 << 20  # bytes that are kept, all in all
_COUNT = 24  # and how many blocks
_MOMENT = 1.0  # seconds


def _library() -> ctypes.CDLL:
    """The C library that the kernels of this process allocate from."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    library.malloc.restype = library.realloc.restype = ctypes.c_void_p
    library.malloc.argtypes = [ctypes.c_size_t]
    library.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.free.restype = None
    library.free.argtypes = [ctypes.c_void_p]
    return library


C = _library()


class Spare:
    """Blocks of `malloc` that nobody has, the latest last.

    The lock is not waited for: who finds it taken, by another thread or by what a garbage
    collection has interrupted, does without. Only who is out of memory waits a moment.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[int, int]] = []  # sizes and addresses
        self._total = 0
        self._free: Callable[[int], None] = C.free  # modules may be gone when the last one dies
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def release(self, address: int, nbytes: int) -> None:
        """Keep a block for later, or free it."""
        if LEAST <= nbytes <= MOST and self._lock.acquire(blocking=False):
            try:
                self._blocks.append((nbytes, address))
                self._total += nbytes
                while self._total > MOST or len(self._blocks) > _COUNT:
                    size, address = self._blocks.pop(0)
                    self._total -= size
                    self._free(address)
            finally:
                self._lock.release()
        elif address:
            self._free(address)

    def take(self, nbytes: int) -> tuple[int, int]:
        """A block of at least this size, and not of twice as much: its address and its size, or 0.

        Its contents are anything.
        """
        if not self._blocks or not self._lock.acquire(blocking=False):
            return 0, 0
        try:
            for k in range(len(self._blocks) - 1, -1, -1):
                size, address = self._blocks[k]
                if nbytes <= size < 2 * nbytes:
                    del self._blocks[k]
                    self._total -= size
                    return address, size
            return 0, 0
        finally:
            self._lock.release()

    def drop(self) -> bool:
        """Free everything; False if there is nothing."""
        if not self._lock.acquire(timeout=_MOMENT):
            return False
        try:
            blocks, self._blocks, self._total = self._blocks, [], 0
        finally:
            self._lock.release()
        for _, address in blocks:
            self._free(address)
        return bool(blocks)


SPARE = Spare()
