"""Outputs in formats that kernels cannot write: another tensor is written, and converted.

Nothing says of a program that what it writes is symmetric, say. It writes both halves, which are
compared when they are there: then one of them is kept, or the first place where they differ named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import repeat

from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor
from linnet.runtime.call import Entry


class StandIns(Entry):
    """Machine code that writes other tensors in place of some of the outputs."""

    others: tuple[int, ...] = ()  # their positions

    def run(self, tensors: Sequence[Tensor], held: Sequence[Contents | None]) -> bool:
        """Call the kernel, and convert what it has written."""
        used = list(tensors)
        for p in self.others:
            used[p] = Tensor(tensors[p]._output.format.written, tensors[p].shape)
        if not Entry.run(self, used, held):
            return False
        made = [used[p].to(tensors[p]._output.format).contents() for p in self.others]
        others = [tensors[p] for p in self.others]
        deque(map(setattr, others, repeat("_contents"), made), 0)  # nothing comes in between
        return True


def with_stand_ins(entry: Entry, others: tuple[int, ...]) -> Entry:
    """The entry, if some outputs have stand-ins one that knows of them."""
    if not others:
        return entry
    made = StandIns(*entry)
    made.others = others
    return made
