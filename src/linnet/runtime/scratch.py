"""Memory of temporaries: where they are small, a kernel keeps it from one call to the next.

To free blocks from Python, and to make them again, takes a fifth of a small call; and the C library
may give what is free at the end of its memory back to the system, in every call. What is kept goes
when the kernel does. Large blocks are there for all kernels (`formats.spare`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from linnet.formats.buffers import GUARD
from linnet.formats.spare import LEAST, C
from linnet.runtime.handover import Result, release, spare


class Scratch:
    """What the temporaries of an argument block have between calls; they are the last in it."""

    __slots__ = ("_fits", "_left", "_tail", "temporaries")

    def __init__(self, temporaries: tuple[tuple[Result, int], ...]) -> None:
        self.temporaries = temporaries  # and where the memory of each begins
        self._tail = temporaries[0][1]
        self._left: list[array[int]] = []  # the end of the block of a call that is done, or none
        # the same, of the last ones that were kept: a kernel may exchange two of its arrays
        self._fits: tuple[array[int], ...] = ()

    def lend(self, block: array[int]) -> None:
        """Hand memory to a call, whose contents are anything; a kernel makes what is missing."""
        left = self._left
        with GUARD.lock:
            if left:  # no call comes between the next two, after which an interrupt could
                block[self._tail :] = left[0]
                del left[0]
                return
        for r, at in self.temporaries:
            if any(r.rooms):
                spare(r, block, at)

    def take_back(self, block: array[int]) -> None:
        """Keep what a call is done with, if it is little and no other call has left as much."""
        slots = block[self._tail :]
        fits = slots in self._fits
        if fits or self._is_little(block):
            with GUARD.lock:
                if not self._left:
                    self._fits = self._fits if fits else (slots, *self._fits[:1])
                    self._left.append(slots)
                    return
        for r, at in self.temporaries:
            release(r, block, at)

    def _is_little(self, block: array[int]) -> bool:
        """Whether every array is small, and none was too large to be made."""
        for r, at in self.temporaries:
            if any(r.rooms):
                return False
            end = at + 3 * len(r.kinds)
            rooms = zip(block[at + 1 : end : 3], r.kinds, strict=True)
            small = all(capacity * kind.itemsize < LEAST for capacity, kind in rooms)
            if not small or any(block[at + 2 : end : 3]):
                return False
        return True

    # The function is an argument since, at exit, modules are cleared before the last objects die.
    def __del__(self, free: Callable[[int], None] = C.free) -> None:
        for slots in getattr(self, "_left", ()):  # an interrupt may have come when this was made
            for r, at in self.temporaries:
                first = at - self._tail
                for address in slots[first : first + 3 * len(r.kinds) : 3]:
                    free(address)
