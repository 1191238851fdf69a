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
from collections import deque
from collections.abc import Callable
from contextlib import suppress

LEAST = 1 << 15  # bytes: smaller blocks cost next to nothing
LARGE = 16 << 20  # bytes: to offer such a block takes next to no time, since its pages are huge
MOST = 64 << 20  # bytes that are kept of smaller blocks, all in all
_OFFERED = 512 << 20  # and of large ones, if that is a small share of what the machine has
_SHARE = 16
_COUNT = 24  # and how many blocks of either kind
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
    """Blocks of `malloc` that nobody has: addresses and sizes, the latest last.

    There is no lock, which an interrupt, a fork or a garbage collection could leave taken. A block
    is kept by one assignment to a dictionary, and belongs to whoever deletes it there. Between that
    and the next step Python looks for no interrupt: it does so after calls, and in loops.
    """

    def __init__(self) -> None:
        self._small: dict[int, int] = {}
        self._large: dict[int, int] = {}
        self._free: Callable[[int], None] = C.free  # modules may be gone when the last one dies
        self._offer = C.madvise if OFFERED else None

    def release(self, address: int, nbytes: int) -> None:
        """Keep a block for later, or free it."""
        if nbytes < LEAST or not address:
            self._free(address)
            return
        large = nbytes >= LARGE and self._offer is not None
        blocks, most = (self._large, OFFERED) if large else (self._small, MOST)
        try:
            if large and nbytes <= most:
                self._on_offer(address, nbytes)
        finally:
            blocks[address] = nbytes
        if nbytes <= most:
            self._shrink(blocks, most)
        else:
            self._give_up(blocks, [address])

    def _on_offer(self, address: int, nbytes: int) -> None:
        """Let the system have the pages of a block, if it needs them before we do."""
        begin, end = -(-address // _PAGE) * _PAGE, (address + nbytes) // _PAGE * _PAGE
        assert self._offer is not None
        self._offer(begin, end - begin, _MADV_FREE)

    def _shrink(self, blocks: dict[int, int], most: int) -> None:
        """Free the oldest blocks, while there are too many of them, or too large ones."""
        excess = sum(blocks.values()) - most
        if excess <= 0 and len(blocks) <= _COUNT:
            return
        addresses, count = list(blocks), 0
        while excess > 0 and count < len(addresses):
            excess -= blocks.get(addresses[count], 0)
            count += 1
        self._give_up(blocks, addresses[: max(count, len(addresses) - _COUNT)])

    def _give_up(self, blocks: dict[int, int], addresses: list[int]) -> None:
        """Free blocks that nobody has taken meanwhile.

        What `filter` has deleted, `map` frees at once: no interrupt comes in between.
        """
        for address in addresses:
            with suppress(KeyError):  # another thread was first
                deque(map(self._free, filter(blocks.pop, (address,))), 0)

    def take(self, nbytes: int) -> tuple[int, int]:
        """A block of at least this size, and not of twice as much: its address and its size, or 0.

        Its contents are anything.
        """
        for blocks in (self._small, self._large):
            for address in reversed(list(blocks) if blocks else ()):
                size = blocks.get(address, 0)
                if nbytes <= size < 2 * nbytes:
                    try:
                        del blocks[address]
                        return address, size
                    except KeyError:  # another thread was first
                        continue
        return 0, 0

    def kept(self) -> dict[int, int]:
        """The sizes of all blocks, by their addresses."""
        return self._small | self._large

    def drop(self) -> bool:
        """Free everything; False if there is nothing."""
        found = bool(self._small or self._large)
        for blocks in (self._small, self._large):
            self._give_up(blocks, list(blocks))
        return found


SPARE = Spare()
