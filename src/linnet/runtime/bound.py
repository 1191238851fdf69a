"""`Operation`: what an operation on arrays is known to be, calls of kernels that are bound.

A kernel reads the arguments of the operation, numbers that follow from their sizes, and what the
kernels before it have made. An operation knows how to succeed, and nothing else: whatever is not as
usual — sizes that do not fit, memory that runs out, an operand that is being written — it leaves to
the general way, which tells. What it is made of, `Steps`, is plain data, which lies in the disk
cache with the machine code: nothing of the compiler is imported to use it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import _getframe

import numpy as np
from numpy.typing import NDArray

from linnet.errors import LinnetError
from linnet.formats.addresses import address_of
from linnet.formats.contents import Contents, Signature, hold, let_go
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.records import NamedTuple
from linnet.runtime.call import Slots
from linnet.runtime.recalled import Plain, Recalled
from linnet.runtime.slices import slots_of
from linnet.runtime.watch import WATCHED

Numbers = tuple[str, bytes] | tuple[int, ...]
"""An operand: a number by dtype and bytes, or several as sizes (`runtime.slices.sizes`)."""

LARGE = 1 << 26  # elements: dense results of more may not be wanted
_new = object.__new__


class Step(NamedTuple):
    """A call of a kernel that writes one new tensor, its first argument."""

    entry: Plain
    sources: tuple[int, ...]  # of operands: among arguments, numbers, results of the steps before
    asked: Format  # what the result was asked for as


class Steps(NamedTuple):
    """How an operation is calls of kernels: plain data."""

    steps: tuple[Step, ...]
    numbers: tuple[Numbers, ...] = ()
    number: str = ""  # the dtype of the last argument, if that is a number (`runtime.with_numbers`)
    filled: bool = False  # the result gets its own fill value, which depends on that


class Call:
    """A step with its kernel bound."""

    __slots__ = ("asked", "entry", "output", "sources")

    def __init__(self, step: Step, call: Callable[[int], int]) -> None:
        self.entry, self.sources = Recalled.of(step.entry, call), step.sources
        self.asked, self.output = step.asked, Signature.of(step.asked)

    def run(self, known: Sequence[Slots]) -> Tensor | None:
        """The result for operands with these slots; None, or an error, if it is not to be had."""
        entry = self.entry
        frame = entry.frame([(), *[known[k] for k in self.sources]], ())
        if frame is None or frame.layout.largest > LARGE:
            return None
        tensor = _new(Tensor)
        tensor._given, tensor._output, tensor._contents = self.asked, self.output, None
        return tensor if entry.run_in(frame, (tensor,), ()) else None


class Operation:
    """Kernels that are bound, and the numbers that they are given."""

    __slots__ = ("_held", "_numbers", "calls", "filled", "number")

    def __init__(self, steps: Steps, calls: Sequence[Callable[[int], int]]) -> None:
        self.number, self.filled = steps.number, steps.filled
        self._held: list[NDArray[np.generic]] = []
        self._numbers: list[Slots] = []
        for number in steps.numbers:
            match number:
                case (str(dtype), bytes(held)):
                    self._held.append(np.frombuffer(held, dtype).copy())
                    self._numbers.append((address_of(self._held[-1]), 1, 1))
                case sizes:
                    self._numbers.append(slots_of(sizes))
        self.calls = tuple([Call(*pair) for pair in zip(steps.steps, calls, strict=True)])

    def run(self, given: Sequence[Slots], held: Sequence[Contents]) -> Tensor | None:
        """The result for arguments with these slots; None if the general way has to be gone.

        `held` are contents that other threads may write to, unless somebody reads them: all but
        those whose memory is shared anyway.
        """
        if WATCHED:  # who watches is to see the kernels
            return None
        pinned: list[Contents | None] = []
        try:
            if held and not hold(held, pinned, _getframe()):
                return None
            if len(self.calls) == 1 and not self._numbers:
                return self.calls[0].run(given)
            return self._in_turn([*given, *self._numbers])
        except LinnetError:  # which the general way tells
            return None
        finally:
            try:
                if pinned:
                    let_go(pinned, _getframe())
            except BaseException:  # an interrupt; after another one nobody waits any more
                let_go(pinned, _getframe())
                raise

    def _in_turn(self, known: list[Slots]) -> Tensor | None:
        """The result of several calls, each of which may read those before it."""
        made: list[Tensor] = []  # whose memory is read further on
        for call in self.calls:
            found = call.run(known)
            if found is None:
                return None
            made.append(found)
            known.append(found.contents().slots)
        return made[-1]
