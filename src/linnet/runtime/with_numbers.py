"""`A * 2` and its kin by the shortest way: a kernel that is given the number, if it is known.

What is known holds for all numbers alike, but for those that tell where there is something to
compute (0, 1, -1 and what is not finite): each of these has a way of its own. The fill value of the
result is computed at each call, as its kernel is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number, weak_dtype
from linnet.algebra.exact import apply, same
from linnet.algebra.lookup import by_name
from linnet.errors import LinnetError
from linnet.formats.addresses import address_of
from linnet.formats.contents import Signature
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.runtime.bound import Operation, Steps
from linnet.runtime.measure import measure
from linnet.runtime.recall import KNOWN, NEVER, Computed, known_as, recalled
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.algebra.function import Function
    from linnet.runtime.watch import Seen

_LARGE = 1 << 53  # integers that are not floats


def of_number(
    general: Callable[..., Any], name: str | Function, args: tuple[Any, Any], place: int
) -> Any:
    """A function of a tensor, at this place, and an `int` or a `float` at the other."""
    x, number = args[place], args[1 - place]
    p = x._contents
    if p is None or type(name) is not str or not -_LARGE < number < _LARGE:
        return general(name, *args)
    signature, told = p._signature or p.signature, _told(number)
    kind = float if type(number) is float else int
    fill = _fill(name, place, signature, kind, number, told)
    if fill is None:
        return general(name, *args)
    size = p._measure or measure(p)
    key = (
        name,
        id(current().code),
        signature,
        size[:2],
        place,
        kind.__name__,
        told,
        _told(fill[0]),
    )
    ready = KNOWN.get(key) or recalled(key)
    if ready is None:
        return _learned(key, general, name, args, place, fill[0])
    if type(ready) is not Operation:
        return general(name, *args)
    slots, held = [p._slots or p.slots], None
    if ready.number:
        held = _held(number, ready.number)
        if held is None:
            return general(name, *args)
        slots.append((address_of(held), 1, 1))
    found = ready.run(slots, (p,))
    if found is None:
        return general(name, *args)
    return _filled(found, fill[0]) if ready.filled else found


def _told(number: Number) -> str:
    """What of a number is a part of the key: all of it, if it tells where there is work to do."""
    telling = number in (0, 1, -1) or number - number != 0
    return repr(number) if telling else ""


@lru_cache(maxsize=4096)
def _fill(
    name: str, place: int, signature: Signature, kind: type[float], number: float, told: str
) -> tuple[Number] | None:
    """The result where a tensor stores nothing; None if there is none, and others tell why."""
    fill, dtype = signature.format.fill_value, signature.format.dtype
    if fill is None or dtype is None:
        return None
    values, dtypes = (fill, number), (dtype, weak_dtype(kind(number)))
    try:
        found = apply(by_name[name], values[:: 1 - 2 * place], dtypes[:: 1 - 2 * place])
    except (LinnetError, OverflowError, TypeError, ValueError):
        return None
    return (found,)


def _held(number: Number, dtype: str) -> NDArray[Any] | None:
    """A number in memory; None if it is another one there."""
    try:
        held = np.array((number,), dtype)
    except OverflowError:
        return None
    fits = held[0] == number if held.dtype.kind in "iub" else np.isfinite(held[0])
    return held if fits else None


def _filled(found: Tensor, fill: Number) -> Tensor:
    """The result with its own fill value, on which nothing that is stored depends."""
    contents = found.contents()
    format = _with_fill(contents.format, fill, repr(fill))
    return Tensor(format, contents.shape, contents.buffers)


@lru_cache(maxsize=256)
def _with_fill(format: Format, fill: Number, text: str) -> Format:
    return format.with_fill(fill)  # the text tells 1 from 1.0


# -- the first time --------------------------------------------------------------------------------


def _learned(
    key: tuple[object, ...],
    general: Callable[..., Any],
    name: str,
    args: tuple[Any, Any],
    place: int,
    fill: Number,
) -> Any:
    """What the general way gives; what it says of how it got there is remembered."""
    found = general(name, *args)
    if type(found) is not Computed:
        KNOWN.put(key, NEVER)
        return found
    seen, steps = found.calls(), None
    if len(seen) == 1:
        steps = _steps(seen, args[place], args[1 - place], found.tensor, fill)
    return known_as(key, steps, seen, found.tensor)


def _steps(seen: Seen, x: Tensor, number: Number, found: Tensor, fill: Number) -> Steps | None:
    """How the result comes of a kernel; None if it may be otherwise for another number."""
    (entry, tensors) = seen[0]
    given = _numbers([tensors[p] for p in entry.operands], x, number)
    if given is None or (not given and not _told(number)):
        return None
    step = imported("linnet.runtime.learning").step_of(entry, tensors, (x, *given), found)
    if step is None or found.shape != x.shape:
        return None
    filled = not _told(fill) and same(fill, found.fill_value)
    if not _told(fill) and not filled and not _is_full(x.contents().format):
        return None
    return Steps((step,), (), str(given[0].dtype) if given else "", filled)


def _numbers(operands: Sequence[Tensor], x: Tensor, number: Number) -> list[Tensor] | None:
    """The operand that is the number, if there is one; None if there is another."""
    rest = [t for t in operands if t.contents().buffers is not x.contents().buffers]
    if len(rest) > 1 or (rest and rest[0].contents().shape != ()):
        return None
    for tensor in rest:
        held = _held(number, str(tensor.dtype))
        if held is None or held[0] != tensor.item():
            return None
    return rest


def _is_full(format: Format) -> bool:
    return all(level.full for level in format.levels[:-1])
