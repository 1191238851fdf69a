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
from linnet.errors import LinnetError
from linnet.formats.coordinates import key_bits
from linnet.imp import radix
from linnet.runtime.combine import Combining
from linnet.runtime.routine import Routine

Ints = NDArray[Any]

_append_bits = Routine(radix.append_bits)
_take_bits = Routine(radix.take_bits)
_first_descent = Routine(radix.first_descent)
_sort_entries, _combine_entries = Routine(radix.sort_entries), Combining(radix.combine_entries)


def sort_entries(
    coordinates: Sequence[Ints], dims: Sequence[int], values: NDArray[Any], op: object
) -> tuple[list[Ints], NDArray[Any], bool]:
    """Coordinates (outermost first) and values, sorted; and whether they are distinct now.

    Equal coordinates may remain, in the order given, where the function is none that is compiled.
    """
    bits = key_bits(dims)
    count, values = len(values), np.ascontiguousarray(values)
    keys = coordinates[0].astype(np.int64)
    for idx, width in zip(coordinates[1:], bits[1:], strict=True):
        _append_bits(keys, idx, count, width)
    if _first_descent(keys, count) == count:
        return list(coordinates), values, True
    function = lookup(op)
    if function is not None and not _keeps_type(function, str(values.dtype)):
        function = None
    found, held = np.empty_like(keys), np.empty_like(values)
    count = _sort(function, keys, values, found, held, max(1, sum(bits)))
    del keys
    in_order = [
        _coordinate(found[:count], idx.dtype, sum(bits[k + 1 :]), bits[k])
        for k, idx in enumerate(coordinates)
    ]
    return in_order, held[:count], function is not None


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


def _coordinate(keys: Ints, dtype: np.dtype[Any], shift: int, bits: int) -> Ints:
    idx = np.empty(len(keys), dtype)
    _take_bits(keys, idx, len(keys), shift, bits)
    return idx


def _keeps_type(function: Function, dtype: str) -> bool:
    """Whether a function of two values of a type gives a value of that type."""
    if function.arity != 2:
        return False
    try:
        return concrete(function.types((dtype, dtype))[1]) == dtype
    except LinnetError:
        return False
