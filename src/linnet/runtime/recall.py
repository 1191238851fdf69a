"""Operations that have been done before, by this process or another, as calls of kernels.

The first call of an operation on tensors of certain formats goes the general way. The array layer
says which kernel its plan has called; reductions, conversions and functions of several kernels
(`runtime.operation`) are watched. The next call goes to that kernel, and its step is kept in the
disk cache for the next process, which then imports nothing of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linnet.formats.contents import Contents, Signature
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.records import NamedTuple
from linnet.runtime import kept
from linnet.runtime.bound import Operation, Steps
from linnet.runtime.call import Slots
from linnet.runtime.memory import Memory
from linnet.runtime.watch import Seen, watch
from linnet.shortage import imported


class _Never:
    """What is more than calls of kernels, and takes the general way every time."""

    def run(self, given: Sequence[Slots], held: Sequence[Contents]) -> Tensor | None:
        return None


KNOWN: Memory[tuple[object, ...], Operation | _Never] = Memory()
"""By operation, options, and what else the way of doing it depends on."""
NEVER = _Never()


def recalled(key: tuple[object, ...]) -> Operation | _Never | None:
    """What another process has found for an operation, which is known from now on."""
    found = kept.load(_text(key), current(), Steps) if type(key[0]) is str else None
    return None if found is None else KNOWN.put(key, Operation(*found))


class Computed(NamedTuple):
    """What the general way gives, where it knows which kernels it has called."""

    tensor: Tensor
    calls: Callable[[], Seen]


def result(found: Any) -> Any:
    """What the general way gives, whatever else it tells."""
    return found.tensor if type(found) is Computed else found


def first(
    key: tuple[object, ...],
    args: Sequence[Tensor],
    general: Callable[..., Any],
    given: Sequence[object],
) -> Any:
    """What the general way gives; what it says of how it got there is remembered.

    It may be remembered under the same key on the way: there is nothing to be said of that here.
    """
    found = general(*given)
    if type(found) is not Computed:
        KNOWN.put(key, NEVER)
        return found
    seen, steps = found.calls(), None
    if len(seen) == 1:
        steps = imported("linnet.runtime.learning").steps_of(seen, args, found.tensor)
    return known_as(key, None if steps and steps.numbers else steps, seen, found.tensor)


def learned(
    key: tuple[object, ...],
    args: Sequence[Tensor],
    general: Callable[..., Any],
    given: Sequence[object],
    sized: bool = False,
) -> Any:
    """What the general way gives, which is watched; how it got there is remembered.

    `sized` says that the key has all sizes, so that numbers may follow from them, and that which
    kernels are called follows from it.
    """
    with watch() as seen:
        found = general(*given)
    steps = None
    if type(found) is Tensor and (len(seen) == 1 or (seen and sized)):
        steps = imported("linnet.runtime.learning").steps_of(seen, args, found)
    return known_as(
        key, steps if steps is None or sized or not steps.numbers else None, seen, found
    )


def known_as(key: tuple[object, ...], steps: Steps | None, seen: Seen, found: Any) -> Any:
    """Remember how an operation came to what was found, by the kernels that were seen."""
    if KNOWN.get(key) is not None:  # the general way has asked for the same
        return found
    if steps is None:
        KNOWN.put(key, NEVER)
        return found
    entries = [entry for entry, _ in seen]
    KNOWN.put(key, Operation(steps, [entry.call for entry in entries]))
    if type(key[0]) is str:  # a function of a user is known by itself, in this process
        kept.store(_text(key), current(), steps, [entry.key for entry in entries])
    return found


def _text(key: tuple[object, ...]) -> str:
    """The key as another process would write it; options are told elsewhere."""
    name, _, *parts = key
    told = [kept.told(part) if isinstance(part, Signature) else repr(part) for part in parts]
    return f"operation {name} {' | '.join(told)}"
