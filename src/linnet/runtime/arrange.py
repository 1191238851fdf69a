"""Coordinates in any order: are they sorted, and which of them are equal?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.runtime.routine import Routine

Ints: TypeAlias = NDArray[Any]
UNSORTED, SORTED, DISTINCT = 0, 1, 2


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


_compare = Routine(compare)


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


def first_of_each(coordinates: Sequence[Ints]) -> Ints:
    """Where entries that differ from their predecessor are."""
    new = np.zeros(len(coordinates[0]), bool)
    new[:1] = True
    for idx in coordinates:
        new[1:] |= idx[1:] != idx[:-1]
    return np.flatnonzero(new)
