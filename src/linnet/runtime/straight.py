"""A kernel of one new result, called with tensors, arrays of positions and numbers.

The first calls on operands of certain formats go the general way, and the second is watched; those
after it need neither tensors for arrays and numbers nor the checks that it has passed (`bound`).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from linnet.formats.addresses import address_of
from linnet.formats.contents import NARROW
from linnet.formats.format import Format
from linnet.formats.from_numpy import share
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.runtime.bound import Operation, Steps
from linnet.runtime.memory import Memory
from linnet.runtime.slices import sizes, slots_of
from linnet.runtime.watch import WATCHED, watch

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel

_KNOWN: Memory[tuple[object, ...], Operation | str] = Memory()
_ONCE: Memory[tuple[object, ...], bool] = Memory()  # what has been called once may never be again
_NEVER = "goes the general way every time"


def made(
    kernel: Kernel,
    target: Format,
    tensors: Sequence[Tensor],
    maps: Sequence[NDArray[Any]],
    numbers: tuple[int, ...],
) -> Tensor:
    """The result of a kernel, in this format.

    Needs: arrays that nobody changes meanwhile, and numbers, if any, that are not negative.
    """
    held = [x.contents() for x in tensors]
    key: tuple[object, ...] = (
        kernel, id(current()), target, *[c._signature or c.signature for c in held],
    )  # fmt: skip
    if maps:
        # a kernel goes from neighbour to neighbour; `share`, in the first call, sees to it as well
        maps = [array if array.flags.c_contiguous else array.copy() for array in maps]
        key = (*key, *[(array.dtype, array.ndim) for array in maps])
    if len({*map(id, tensors)}) < len(tensors):
        key = (*key, tuple([[*map(id, tensors)].index(id(x)) for x in tensors]))
    known = _KNOWN.get(key)
    # who watches is to see the kernel
    if type(known) is Operation and not WATCHED and max(numbers, default=0) < NARROW:
        slots = [c._slots or c.slots for c in held]
        slots += [(*a.shape, address_of(a), a.size, a.size) for a in maps]
        found = known.run([*slots, slots_of(numbers)] if numbers else slots, held)
        if found is not None:
            return found
    args = [*tensors, *map(share, maps), *([sizes(numbers)] if numbers else ())]
    return _generally(kernel, target, args, key)


def _generally(
    kernel: Kernel, target: Format, args: Sequence[Tensor], key: tuple[object, ...]
) -> Tensor:
    """The same, through all that a kernel looks at; how it went the second time is remembered."""
    result = Tensor(target, None)
    if _KNOWN.get(key) is not None or _ONCE.get(key) is None:
        _ONCE.put(key, True)
        kernel(result, *args)
        return result
    with watch() as seen:
        kernel(result, *args)
    if len(seen) == 1:
        step = import_module("linnet.runtime.learning").step_of(*seen[0], args, result)
        found = None if step is None else Operation(Steps((step,)), [seen[0][0].call])
        _KNOWN.put(key, found or _NEVER)
    return result
