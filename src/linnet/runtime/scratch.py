"""Memory of temporaries: a kernel finds in a call what it has had in the last one.

To free blocks from Python, and to make or find them again, takes a fifth of a small call; and the
C library may give what is free at the end of its memory back to the system, in every call. Small
blocks are kept here, and go when the kernel does. Larger ones are kept together by `formats.spare`,
so that there is an end to all of them, and they are freed when memory is short. What is larger
still is there for all kernels.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from linnet.formats.spare import LEAST, SPARE, TOGETHER, Blocks, C
from linnet.runtime.handover import Result, release, spare

Fit = tuple["array[int]", Blocks, int]
"""The end of the argument block of a call that is done, the memory that is in it, and its bytes."""


class Scratch:
    """What the temporaries of an argument block have between calls; they are the last in it."""

    __slots__ = ("_fits", "_kept", "_left", "_tail", "temporaries")

    def __init__(self, temporaries: tuple[tuple[Result, int], ...]) -> None:
        self.temporaries = temporaries  # and where the memory of each begins
        self._tail = temporaries[0][1]
        self._left: list[array[int]] = []  # the end of the block of a call that is done, or none
        self._kept: Fit | None = None  # the same, of more, which may be freed meanwhile
        self._fits: tuple[Fit, ...] = ()  # the last: a kernel may exchange two of its arrays

    def lend(self, block: array[int]) -> None:
        """Hand memory to a call, whose contents are anything; a kernel makes what is missing."""
        left, kept = self._left, self._kept
        with suppress(IndexError):  # nothing is left
            # what is taken there is put here, and nothing comes in between
            deque(map(block.__setitem__, (slice(self._tail, None),), map(left.pop, (0,))), 0)
            return
        if kept is not None:
            try:  # nor between these: who has deleted the blocks has them
                del SPARE.together[kept[1]]
                block[self._tail :] = kept[0]
                return
            except KeyError:  # another call was first, or they are freed
                pass
        for r, at in self.temporaries:
            if any(r.rooms):
                spare(r, block, at)

    def take_back(self, block: array[int]) -> None:
        """Keep what a call is done with, if no other call has left as much."""
        slots = block[self._tail :]
        for fit in self._fits:
            if fit[0] == slots:
                break
        else:
            fit = self._fit(slots)
            self._fits = (fit, *self._fits[:1])
        if self._keep(*fit):
            return
        for r, at in self.temporaries:
            release(r, block, at)

    def _keep(self, slots: array[int], blocks: Blocks, nbytes: int) -> bool:
        """Whether that is kept: it is not too much, and there is nothing yet."""
        if nbytes < LEAST:
            if not self._left:  # or some more, if two threads come at once
                self._left.append(slots)
                return True
            return False
        kept = self._kept
        if nbytes > TOGETHER or (kept is not None and kept[1] in SPARE.together):
            return False
        self._kept = slots, blocks, nbytes
        SPARE.together[blocks] = nbytes
        SPARE.shrink_together()
        return True

    def _fit(self, slots: array[int]) -> Fit:
        """What is in the end of a block: too much, if an array was too large to be made."""
        blocks, failed = [], False
        for r, at in self.temporaries:
            first = at - self._tail
            for k, kind in enumerate(r.kinds):
                address, capacity, length = slots[first + 3 * k : first + 3 * k + 3]
                blocks.append((address, capacity * kind.itemsize))
                failed = failed or length != 0
        nbytes = TOGETHER + 1 if failed else sum([size for _, size in blocks])
        return slots, tuple(blocks), nbytes

    # Functions are arguments since, at exit, modules are cleared before the last objects die.
    def __del__(
        self,
        free: Callable[[int], None] = C.free,
        give_up: Callable[[list[Blocks]], None] = SPARE.give_up_together,
        ending: Callable[[], bool] = sys.is_finalizing,
    ) -> None:
        for slots in getattr(self, "_left", ()):  # an interrupt may have come when this was made
            for r, at in self.temporaries:
                first = at - self._tail
                for address in slots[first : first + 3 * len(r.kinds) : 3]:
                    free(address)
        kept = getattr(self, "_kept", None)
        if kept is not None and not ending():  # `give_up` needs more than its arguments
            give_up([kept[1]])
