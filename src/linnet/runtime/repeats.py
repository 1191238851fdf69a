"""`Repeats`: the calls that a kernel may be asked to repeat, found by the tensors of a call."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

from linnet.formats.contents import Contents
from linnet.options import current

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor
    from linnet.runtime.call import Entry
    from linnet.runtime.repeat import Repeat

Value = TypeVar("Value")
# What a repeated call gives back in Python rests on where Python 3.11 looks for interrupts.
MAY_BE = sys.version_info < (3, 12)
_MOST = 8  # calls that are remembered: loops swap a few tensors

Key = tuple[int, ...]
"""Where the tensors of a call are; what they hold is compared before it is repeated."""


class Repeats:
    """Calls of one kernel that can be repeated, and those that were made once."""

    __slots__ = ("_known", "_once", "latest")

    def __init__(self) -> None:
        self.latest: Repeat | None = None  # which is tried first, by its jump
        self._known: dict[Key, Repeat] = {}
        self._once: dict[Key, list[tuple[int, ...]]] = {}  # and what their operands held

    def another(self, args: Sequence[object]) -> Any:
        """Make a call again where the jump of the latest does not; else `NotImplemented`."""
        latest = self.latest
        if not args or latest is None or (len(self._known) == 1 and latest.first != id(args[0])):
            return NotImplemented  # as where results are new every time
        key = (*map(id, args),)
        repeat = self._known.get(key)
        if repeat is None or repeat.options is not current():
            return NotImplemented
        found = NotImplemented if repeat is latest else repeat.jump(*args)
        if found is NotImplemented:
            found = repeat.again(args)
        if found is NotImplemented:  # they hold something else
            self._known.pop(key, None)
            self.latest = next(iter([*self._known.values()]), None)
        else:
            self.latest = repeat
        return found

    def remember(
        self,
        entry: Entry,
        tensors: Sequence[Tensor],
        held: Sequence[Contents | None],
        written: Sequence[Contents | None],
    ) -> None:
        """A call was made whose results are where they were: the third like it is a `Repeat`."""
        key, known = (*map(id, tensors),), [() if c is None else c._slots or c.slots for c in held]
        last = self._once.get(key)
        if last is None or not all(map(is_, known, last)):
            self._once = {**_few(self._once), key: known}
        elif MAY_BE and entry.repeats and None not in written:  # no other thread had taken one
            repeat = import_module("linnet.runtime.repeat").repeat(entry, tensors, held, written)
            if repeat is not None:
                self._known, self.latest = {**_few(self._known), key: repeat}, repeat


def results(
    tensors: Sequence[Tensor], returned: tuple[int, ...]
) -> Tensor | tuple[Tensor, ...] | None:
    """What a call gives: a tensor, several, or nothing."""
    if len(returned) == 1:
        return tensors[returned[0]]
    return tuple([tensors[p] for p in returned]) or None


def _few(calls: dict[Key, Value]) -> dict[Key, Value]:
    """The calls, unless they are too many."""
    return calls if len(calls) < _MOST else {}
