"""`Again`: a kernel that has just read a tensor and a dense array, called with other arrays.

A solver multiplies one matrix with thousands of vectors. The tensor remembers how that went: there
is nothing to be looked up, and an argument block in which two addresses change. This is for small
dense results; beside larger ones, what takes a microsecond in Python is nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from sys import _getframe

import numpy as np

from linnet.formats.addresses import address_of
from linnet.formats.contents import Contents, Signature, hold, let_go
from linnet.formats.tensor import Tensor
from linnet.options import Options
from linnet.records import NamedTuple
from linnet.runtime.ready import Frame, Ready

_empty = np.empty
_FEW = 1 << 12  # elements: to write to others instead takes next to no time


class Like(NamedTuple):
    """What arrays are like that lie in memory without gaps, of NumPy or in a tensor."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    signature: Signature


class Again:
    """What is the same in all calls with arrays of one dtype and shape."""

    __slots__ = ("blocks", "count", "dtype", "kind", "layout", "options", "read", "ready", "shape",
                 "signature", "template", "written")  # fmt: skip

    def __init__(self, ready: Ready, frame: Frame, read: int, like: Like, options: Options) -> None:
        self.ready, self.layout, self.options = ready, frame.layout, options
        self.dtype, self.shape, self.signature = like
        self.count, self.kind = frame.layout.small, ready.kind
        self.read, self.written = read, frame.layout.starts[0]
        self.template = frame.block[:]
        self.template[self.written + 1] = self.count
        self.blocks: list[
            tuple[array[int], int]
        ] = []  # that no thread uses now, and where they are

    def run(self, p: Contents, read: int) -> Tensor | None:
        """The result for what a tensor holds and an array; None if the general way has to be gone.

        Needs: contents that this was made for, and the address of an array of its dtype and shape
        without gaps, to which nobody writes.
        """
        try:
            block, where = self.blocks.pop()
        except IndexError:  # the first call, or another thread has it
            block = self.template[:]
            where = block.buffer_info()[0]
        values, at = _empty(self.count, self.kind), self.written
        block[self.read] = read
        block[at] = address_of(values)
        block[at + 2] = 0
        status = self.ready.call(where) if p._shared else self._pinned(p, where)
        self.blocks.append((block, where))
        if status:
            return None
        found = self.ready.tensor(self.layout, values)
        found._contents._shared = True  # type: ignore[union-attr]
        return found

    def _pinned(self, p: Contents, where: int) -> int:
        """The status of a call meanwhile nobody writes to the tensor; not 0 if somebody does."""
        held: list[Contents | None] = []
        try:
            return self.ready.call(where) if hold((p,), held, _getframe()) else -1
        finally:
            let_go(held, _getframe())


def again(
    ready: Ready, known: Sequence[tuple[int, ...]], p: Contents, like: Like, options: Options
) -> Again | None:
    """How to call a kernel again that was called with a tensor and an array, at these slots.

    None if its result is not small and dense, or there is more to it.
    """
    frame = next((frame for frame in ready.frames if frame.known == known), None)
    if frame is None or not frame.layout.small or len(ready.results) > 1 or not ready.straight:
        return None
    keep(p)
    parts, at = (*known, *frame.layout.memory), 0
    for k in ready.recipe.order:
        if k == 1:
            return Again(ready, frame, at + len(like.shape), like, options)
        at += len(parts[k])
    return None


def keep(contents: Contents) -> None:
    """Let nobody write to memory that is small, so that no call has to see to it."""
    if max([b.length for b in contents.buffers], default=0) <= _FEW and contents.export():
        contents._shared = True
