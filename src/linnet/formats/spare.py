"""Memory that results had, kept for the results of the next calls.

The C library gives large blocks back to the system, which clears every page of one before it hands
it out again. For results of a megabyte that takes as long as most kernels, and for those of a
hundred as long as to copy them. Large blocks that nobody has are kept, too, but on offer: a system
that is short of memory takes their pages, and one that is not leaves them as they are.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable

LEAST = 1 << 15  # bytes: smaller blocks cost next to nothing
LARGE = 16 << 20  # bytes: to offer such a block takes next to no time, since its pages are huge
MOST = 64 << 20  # bytes that are kept of smaller blocks, all in all
_OFFERED = 512 << 20  # and of large ones, if that is a small share of what the machine has
_SHARE = 16
_COUNT = 24  # and how many blocks
_MOMENT = 1.0  # seconds
_PAGE = 2 << 20  # a huge one: it would be cut up if a part of it were on offer
_MADV_FREE = 8  # in Linux: "what is here is of no use, until somebody writes to it"


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


def _most_offered() -> int:
    """How much is kept of large blocks: nothing where they cannot be offered to the system."""
    if sys.platform != "linux" or not hasattr(C, "madvise"):
        return 0
    C.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(_OFFERED, memory // _SHARE)


OFFERED = _most_offered()


class Spare:
    """Blocks of `malloc` that nobody has, the latest last.

    The lock is not waited for: who finds it taken, by another thread or by what a garbage
    collection has interrupted, does without. Only who is out of memory waits a moment.
    """

    def __init__(self) -> None:
        self._blocks: list[tuple[int, int]] = []  # sizes and addresses
        self._totals = [0, 0]  # bytes in small blocks, and in large ones
        self._free: Callable[[int], None] = C.free  # modules may be gone when the last one dies
        self._offer = C.madvise if OFFERED else None
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def release(self, address: int, nbytes: int) -> None:
        """Keep a block for later, or free it."""
        large = self._is_large(nbytes)
        most = OFFERED if large else MOST
        if LEAST <= nbytes <= most and self._lock.acquire(blocking=False):
            try:
                if large:
                    self._on_offer(address, nbytes)
                self._blocks.append((nbytes, address))
                self._totals[large] += nbytes
                while self._totals[large] > most or len(self._blocks) > _COUNT:
                    self._free(self._removed(self._oldest(large))[0])
            finally:
                self._lock.release()
        elif address:
            self._free(address)

    def _on_offer(self, address: int, nbytes: int) -> None:
        """Let the system have the pages of a block, if it needs them before we do."""
        begin, end = -(-address // _PAGE) * _PAGE, (address + nbytes) // _PAGE * _PAGE
        assert self._offer is not None
        self._offer(begin, end - begin, _MADV_FREE)

    def _oldest(self, large: bool) -> int:
        """Where the first block of a kind is; of any kind, if there are too many."""
        if len(self._blocks) > _COUNT:
            return 0
        return next(k for k, (size, _) in enumerate(self._blocks) if self._is_large(size) == large)

    def _is_large(self, nbytes: int) -> bool:
        return nbytes >= LARGE and self._offer is not None

    def _removed(self, k: int) -> tuple[int, int]:
        """The address and the size of a block, which is ours no longer."""
        size, address = self._blocks.pop(k)
        self._totals[self._is_large(size)] -= size
        return address, size

    def take(self, nbytes: int) -> tuple[int, int]:
        """A block of at least this size, and not of twice as much: its address and its size, or 0.

        Its contents are anything.
        """
        if not self._blocks or not self._lock.acquire(blocking=False):
            return 0, 0
        try:
            for k in range(len(self._blocks) - 1, -1, -1):
                if nbytes <= self._blocks[k][0] < 2 * nbytes:
                    return self._removed(k)
            return 0, 0
        finally:
            self._lock.release()

    def drop(self) -> bool:
        """Free everything; False if there is nothing."""
        if not self._lock.acquire(timeout=_MOMENT):
            return False
        try:
            blocks, self._blocks, self._totals = self._blocks, [], [0, 0]
        finally:
            self._lock.release()
        for _, address in blocks:
            self._free(address)
        return bool(blocks)


SPARE = Spare()
