"""Coordinates in any order: in which order a format stores them, and which of them are equal.

Sorting is by counting, one dimension after the other from the innermost, which takes time in
proportion to entries and dimensions; what is in order already is left alone. Where a dimension is
far larger than the number of entries, NumPy sorts.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.runtime.routine import Routine

Ints: TypeAlias = NDArray[Any]
_FITS = 2**31 - 1
UNSORTED, SORTED, DISTINCT = 0, 1, 2
_SPARSE = 8  # times as many places as entries are too many to count


def group(
    keys: Sequence[int],
    count: int,
    ptr: MutableSequence[int],
    n: int,
    before: Sequence[int],
    after: MutableSequence[int],
) -> None:
    """Sort the order `before` by keys below n, stably, into `after`."""
    for p in range(n + 1):
        ptr[p] = 0
    for q in range(count):
        ptr[keys[q]] += 1
    start = 0
    for p in range(n):
        here = ptr[p]
        ptr[p] = start
        start += here
    for q in range(count):
        entry = before[q]
        key = keys[entry]
        after[ptr[key]] = entry
        ptr[key] += 1


def compare(outer: Sequence[int], inner: Sequence[int], count: int) -> int:
    """How pairs of coordinates are sorted."""
    found = DISTINCT
    for q in range(1, count):
        if outer[q] < outer[q - 1]:
            return UNSORTED
        if outer[q] == outer[q - 1]:
            if inner[q] < inner[q - 1]:
                return UNSORTED
            if inner[q] == inner[q - 1]:
                found = SORTED
    return found


_group, _compare = Routine(group), Routine(compare)


def sorting(coordinates: Sequence[Ints], dims: Sequence[int]) -> Ints | None:
    """The order that sorts entries (outermost dimension first), stably; None if they are sorted.

    Equal entries stay as they are.
    """
    count = len(coordinates[0])
    if how_sorted(coordinates) != UNSORTED:
        return None
    if max(dims) > _SPARSE * count + 1024:
        return np.lexsort(tuple(reversed(coordinates)))
    dtype = np.int32 if count <= _FITS else np.int64
    order: Ints = np.arange(count, dtype=dtype)
    other: Ints = np.empty(count, dtype)
    ptr = np.empty(max(dims) + 1, dtype)
    for k in reversed(range(len(dims))):
        innermost = k == len(dims) - 1
        if innermost and bool((coordinates[k][1:] >= coordinates[k][:-1]).all()):
            continue  # files by columns are
        _group(coordinates[k], count, ptr, dims[k], order, other)
        order, other = other, order
    return order


def how_sorted(coordinates: Sequence[Ints]) -> int:
    """UNSORTED, or SORTED with equal entries side by side, or DISTINCT: every entry once."""
    if len(coordinates) <= 2:
        return _compare(coordinates[0], coordinates[-1], len(coordinates[0]))
    falls = np.zeros(max(0, len(coordinates[0]) - 1), bool)
    equal = ~falls
    for idx in coordinates:
        falls |= equal & (idx[1:] < idx[:-1])
        equal &= idx[1:] == idx[:-1]
    return UNSORTED if falls.any() else SORTED if equal.any() else DISTINCT


def first_of_each(coordinates: Sequence[Ints]) -> Ints | None:
    """Where entries that differ from their predecessor are; None if all do."""
    new = np.zeros(len(coordinates[0]), bool)
    new[:1] = True
    for idx in coordinates:
        new[1:] |= idx[1:] != idx[:-1]
    return None if new.all() else np.flatnonzero(new)
