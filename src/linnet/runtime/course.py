"""`Course`: an operation that is known to be some calls of kernels, one after the other.

A kernel reads the arguments of the operation, numbers that follow from their sizes, and what the
kernels before it have made. As each of them knows how to succeed and nothing else (`ready`), so
does the whole: nothing has happened if it gives None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from linnet.formats.addresses import address_of
from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor
from linnet.records import NamedTuple
from linnet.runtime.ready import Ready, Recipe, Slots
from linnet.runtime.slices import slots_of

Numbers = tuple[str, bytes] | tuple[int, ...]
"""An operand: a number by dtype and bytes, or several as sizes (`runtime.slices.sizes`)."""


class Steps(NamedTuple):
    """How an operation on tensors is calls of kernels: plain data, which is kept on disk.

    The arguments of a recipe are those of the operation, then the numbers, then the results of the
    recipes before it.
    """

    recipes: tuple[Recipe, ...]
    numbers: tuple[Numbers, ...] = ()


class Course:
    """Kernels with everything bound, and the numbers that they are given."""

    __slots__ = ("_held", "_ready", "_slots")

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
        self._ready = [Ready(*step) for step in zip(steps.recipes, calls, strict=True)]

    def run(self, given: Sequence[Slots], held: Sequence[Contents]) -> Tensor | None:
        """The result for arguments with these slots; None if the general way has to be gone."""
        known, made = [*given, *self._slots], list[Tensor]()  # whose memory is read further on
        for ready in self._ready:
            found = ready.run(tuple(known), held)
            if found is None:
                return None
            made.append(found)
            known.append(found.contents().slots)
        return made[-1]


def course(steps: Steps, calls: Sequence[Callable[[int], int]]) -> Ready | Course:
    """What can be run: a single kernel that is given nothing else needs no more than itself."""
    if len(calls) == 1 and not steps.numbers:
        return Ready(steps.recipes[0], calls[0])
    return Course(steps, calls)
