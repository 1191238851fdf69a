"""Entries in any order, sorted by their coordinates and combined where those are equal: compiled.

All coordinates of an entry become one key of up to 63 bits. What does not fit, and functions that
only Python can call, are left to `formats.coordinates`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import concrete
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.codelets import radix
from linnet.errors import LinnetError
from linnet.formats.coordinates import key_bits
from linnet.runtime.combine import Combining
from linnet.runtime.routine import Routine

Ints = NDArray[Any]

_append_bits = Routine(radix.append_bits)
_take_bits = Routine(radix.take_bits)
_first_descent = Routine(radix.first_descent)
_sort_entries, _combine_entries = Routine(radix.sort_entries), Combining(radix.combine_entries)


def sort_entries(
    coordinates: list[Ints], dims: Sequence[int], values: NDArray[Any], op: object, same: int = 0
) -> tuple[list[Ints], NDArray[Any], bool]:
    """Coordinates (outermost first) and values, sorted; and whether they are distinct now.

    So many leading bits of all keys are the `same`.
    Equal coordinates may remain, in the order given, where the function is none that is compiled.
    What is not needed any more makes room for what is next, since a system may take longer to find
    memory than we to fill it: the list given is emptied, and the result takes the place of keys.
    """
    bits = key_bits(dims)
    count, values = len(values), np.ascontiguousarray(values)
    keys = _keys(coordinates, bits)
    if _first_descent(keys, count) == count:
        return list(coordinates), values, True
    function = lookup(op)
    if function is not None and not _keeps_type(function, str(values.dtype)):
        function = None
    kinds = [idx.dtype for idx in coordinates]
    coordinates.clear()
    found, held = np.empty_like(keys), np.empty_like(values)
    count = _sort(function, keys, values, found, held, max(1, sum(bits) - same))
    places = _places(keys, count, kinds)
    for k, idx in enumerate(places):
        _take_bits(found, idx, count, sum(bits[k + 1 :]), bits[k])
    return places, held[:count], function is not None


def _keys(coordinates: Sequence[Ints], bits: Sequence[int]) -> Ints:
    """All coordinates of each entry as one number; one that was broadcast takes memory here."""
    keys = coordinates[0].astype(np.int64, order="C")
    for idx, width in zip(coordinates[1:], bits[1:], strict=True):
        _append_bits(keys, np.ascontiguousarray(idx), len(keys), width)
    return keys


def _sort(
    function: Function | None,
    keys: Ints,
    values: NDArray[Any],
    found: Ints,
    held: NDArray[Any],
    bits: int,
) -> int:
    """Sort into `found` and `held`, and combine if there is a function; how many entries remain."""
    spare, other = np.empty_like(keys), np.empty_like(values)  # mostly untouched
    ends = np.empty(radix.PLACES, np.int64)
    args = (keys, values, found, held, spare, other, ends, len(keys), bits)
    if function is None:
        return _sort_entries(*args)
    return _combine_entries(function, str(values.dtype), *args)


def _places(keys: Ints, count: int, kinds: Sequence[np.dtype[Any]]) -> list[Ints]:
    """Arrays of so many coordinates: where keys were, if they fit there and leave little of it."""
    room = keys.view(np.uint8) if 2 * count > len(keys) else keys[:0].view(np.uint8)
    places: list[Ints] = []
    at = 0
    for kind in kinds:
        at = -(-at // kind.itemsize) * kind.itemsize
        end = at + count * kind.itemsize
        fits = end <= len(room)
        places.append(room[at:end].view(kind) if fits else np.empty(count, kind))
        at = end if fits else at
    return places


def _keeps_type(function: Function, dtype: str) -> bool:
    """Whether a function of two values of a type gives a value of that type."""
    if function.arity != 2:
        return False
    try:
        return concrete(function.types((dtype, dtype))[1]) == dtype
    except LinnetError:
        return False
