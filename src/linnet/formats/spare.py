"""Memory that results had, kept for the results of the next calls.

The C library gives large blocks back to the system, which clears every page of one before it hands
it out again. For results of a megabyte that takes as long as most kernels, and for those of a
hundred as long as to copy them. Large blocks that nobody has are kept, too, but on offer: a system
that is short of memory takes their pages, and one that is not leaves them as they are.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import TypeVar

Block = tuple[int, int]
"""Where memory of `malloc` is, and how large it is."""

Blocks = tuple[Block, ...]
"""What a call has had at once, and the next one like it will want again."""

Key = TypeVar("Key", Block, Blocks)

LEAST = 1 << 15  # bytes: smaller blocks cost next to nothing
LARGE = 16 << 20  # bytes: to offer such a block takes next to no time, since its pages are huge
MOST = 64 << 20  # bytes that are kept of smaller blocks, all in all
TOGETHER = 16 << 20  # bytes of blocks that are kept together; and of all such blocks, twice as much
_OFFERED = 512 << 20  # and of large ones, if that is a small share of what the machine has
_SHARE = 16
_COUNT = 24  # and how many blocks of either kind
_PAGE = 2 << 20  # a huge one: it would be cut up if a part of it were on offer
_SMALL_PAGE = mmap.PAGESIZE
_ADVISED = 4 << 20  # bytes: kernels ask for huge pages for such a block
_LOOKED_AT = 1 << 20  # to look whether pages are there takes as long as to clear ten of them
_MADV_FREE = 8  # in Linux: "what is here is of no use, until somebody writes to it"
_address, _nbytes = itemgetter(0), itemgetter(1)


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


def _looks() -> Callable[[int, int, ctypes.Array[ctypes.c_char]], int] | None:
    """What tells which pages are in memory, where that is known to be told of a process's own."""
    if sys.platform != "linux" or not hasattr(C, "mincore"):
        return None
    C.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    return C.mincore


_MINCORE = _looks()


def is_untouched(address: int, used: int, nbytes: int) -> bool:
    """Whether what a block has behind its first bytes takes no memory, or hardly any.

    Nobody has written there since the system has given it: its pages exist by name. A third of what
    is used may have been written to, or what shares a huge page with that.
    """
    slack = max(used // 3, _PAGE if nbytes >= _ADVISED else 0)
    page = -(-(address + used + slack) // _SMALL_PAGE) * _SMALL_PAGE
    if _MINCORE is None or nbytes < _LOOKED_AT:
        return False
    found = ctypes.create_string_buffer(1)
    if page >= address + nbytes:
        return True
    return not _MINCORE(page, 1, found) and found.raw[0] & 1 == 0


def _most_offered() -> int:
    """How much is kept of large blocks: nothing where they cannot be offered to the system."""
    if sys.platform != "linux" or not hasattr(C, "madvise"):
        return 0
    C.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(_OFFERED, memory // _SHARE)


OFFERED = _most_offered()


class Spare:
    """Blocks that nobody has, with their sizes, the latest last.

    There is no lock, which an interrupt, a fork or a garbage collection could leave taken. A block
    is kept by one assignment to a dictionary, and belongs to whoever deletes it there. Between that
    and the next step Python looks for no interrupt: it does so after calls, and in loops. The size
    is a part of the key: what another thread has taken may come back smaller.
    """

    def __init__(self) -> None:
        self._small: dict[Block, int] = {}
        self._large: dict[Block, int] = {}
        self.together: dict[Blocks, int] = {}  # for who has had them: see `runtime.scratch`
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
            blocks[address, nbytes] = nbytes
        if nbytes <= most:
            self._give_up(blocks, _oldest(blocks, most))
        else:
            self._give_up(blocks, [(address, nbytes)])

    def shrink_together(self) -> None:
        """Free those that were kept together and have waited longest, while they are too many."""
        self.give_up_together(_oldest(self.together, 2 * TOGETHER))

    def _on_offer(self, address: int, nbytes: int) -> None:
        """Let the system have the pages of a block, if it needs them before we do."""
        begin, end = -(-address // _PAGE) * _PAGE, (address + nbytes) // _PAGE * _PAGE
        assert self._offer is not None
        self._offer(begin, end - begin, _MADV_FREE)

    def _give_up(self, blocks: dict[Block, int], given: list[Block]) -> None:
        """Free blocks that nobody has taken meanwhile.

        What `filter` has deleted, `map` frees at once: no interrupt comes in between.
        """
        for block in given:
            with suppress(KeyError):  # another thread was first
                deque(map(self._free, map(_address, filter(blocks.pop, (block,)))), 0)

    def give_up_together(self, given: list[Blocks]) -> None:
        """The same of blocks that are kept together."""
        for blocks in given:
            with suppress(KeyError):
                found: Iterator[Blocks] = filter(self.together.pop, (blocks,))
                deque(map(self._free, map(_address, chain.from_iterable(found))), 0)

    def take(self, nbytes: int) -> Block:
        """A block of at least this size, and not of twice as much: its address and its size, or 0.

        The smallest that will do is taken, so that larger ones are there for who needs them; of
        several, the latest. Its contents are anything.
        """
        for blocks in (self._small, self._large):
            for block in _fitting(blocks, nbytes):
                try:
                    del blocks[block]
                    return block
                except KeyError:  # another thread was first
                    continue
        return 0, 0

    def kept(self) -> dict[int, int]:
        """The sizes of all blocks, by their addresses."""
        return dict([*self._small, *self._large, *chain(*self.together)])

    def drop(self) -> bool:
        """Free everything; False if there is nothing."""
        found = bool(self._small or self._large or self.together)
        self.give_up_together(list(self.together))
        for blocks in (self._small, self._large):
            self._give_up(blocks, list(blocks))
        return found


def _oldest(kept: Mapping[Key, int], most: int) -> list[Key]:
    """The oldest of what is kept, if there is too much of it, or too many."""
    excess = sum(list(kept.values())) - most  # at once: without a GIL, others change them
    if excess <= 0 and len(kept) <= _COUNT:
        return []
    oldest, count = list(kept), 0  # no items: to make them may collect who gives others back
    while excess > 0 and count < len(oldest):
        excess -= kept.get(oldest[count], 0)
        count += 1
    return oldest[: max(count, len(oldest) - _COUNT)]


def _fitting(blocks: dict[Block, int], nbytes: int) -> list[Block]:
    """Those of at least this size and not of twice as much, the smallest and latest first."""
    latest = list(blocks)
    latest.reverse()
    exact = [block for block in latest if block[1] == nbytes]
    # A call that is like the last one finds what that has left, and looks no further.
    return exact or sorted([b for b in latest if nbytes < b[1] < 2 * nbytes], key=_nbytes)


SPARE = Spare()
