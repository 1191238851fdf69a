"""`Course`: an operation that is known to be some calls of kernels, one after the other.

A kernel reads the arguments of the operation, numbers that follow from their sizes, and what the
kernels before it have made. As each of them knows how to succeed and nothing else (`ready`), so
does the whole: nothing has happened if it gives None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linnet.formats.addresses import address_of
from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor
from linnet.runtime.ready import Ready, Slots
from linnet.runtime.slices import slots_of

if TYPE_CHECKING:
    from linnet.runtime.recall import Steps


class Course:
    """Kernels with everything bound, and the numbers that they are given."""

    __slots__ = ("_first", "_held", "_last", "_slots")

    def __init__(self, steps: Steps, calls: Sequence[Callable[[int], int]]) -> None:
        self._held: list[NDArray[np.generic]] = []
        self._slots: list[Slots] = []
        for number in steps.numbers:
            match number:
                case (str(dtype), bytes(held)):
                    self._held.append(np.frombuffer(held, dtype).copy())
                    self._slots.append((address_of(self._held[-1]), 1, 1))
                case sizes:
                    self._slots.append(slots_of(sizes))
        ready = [Ready(*step) for step in zip(steps.recipes, calls, strict=True)]
        self._first, self._last = ready[:-1], ready[-1]

    def run(self, given: Sequence[Slots], held: Sequence[Contents]) -> Tensor | None:
        """The result for arguments with these slots; None if the general way has to be gone."""
        known, made = [*given, *self._slots], list[Tensor]()  # whose memory is read further on
        for ready in self._first:
            found = ready.run(tuple(known), held)
            if found is None:
                return None
            made.append(found)
            known.append(found.contents().slots)
        return self._last.run(tuple(known), held)
