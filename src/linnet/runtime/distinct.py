"""Which values of an array are different, where each is first, and how often it occurs: compiled.

Values are sorted as integers in the same order. Zeros of both signs are equal, and no NaN is equal
to another.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.codelets.sorting import sort, sort_pairs
from linnet.runtime.fibers import ordered, restored
from linnet.runtime.routine import Routine

Ints: TypeAlias = NDArray[Any]
Target = MutableSequence[int]
_HIGHEST = 2**63 - 1


def count_values(keys: Target, n: int, equal: int, first: Target, counts: Target) -> int:
    """Sort keys; where each different one begins, and how often it occurs. Return their number.

    From `equal` on, all of the sorted keys count as different.
    """
    sort(keys, 0, n)
    u = -1
    for t in range(n):
        if t == 0 or t >= equal or keys[t] != keys[t - 1]:
            u += 1
            first[u] = t
            counts[u] = 0
        counts[u] += 1
    return u + 1


def number_values(
    keys: Target, order: Target, n: int, equal: int, inverse: Target, first: Target, counts: Target
) -> int:
    """The same with the entries of keys: the first of each number, and the number of each."""
    for q in range(n):
        order[q] = q
    sort_pairs(keys, order, 0, n)
    sort(order, equal, n)
    u = -1
    for t in range(n):
        q = order[t]
        if t == 0 or t >= equal or keys[t] != keys[t - 1]:
            u += 1
            first[u] = q
            counts[u] = 0
        first[u] = min(first[u], q)
        counts[u] += 1
        inverse[q] = u
    return u + 1


_count_values, _number_values = Routine(count_values), Routine(number_values)


def counted(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """The different values, sorted, and how often each occurs."""
    if values.dtype.kind == "c":
        found, _, counts = distinct(values)
        return values[found], counts
    n = len(values)
    keys, (first, counts) = _keys(values), (np.empty(n, np.int64) for _ in range(2))
    count = _count_values(keys, n, _equal(values), first, counts)
    return restored(keys[first[:count]], values.dtype), counts[:count].copy()


def distinct(values: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """For each different value, sorted, its first entry; for each entry, its value; the counts."""
    n = len(values)
    order, inverse, first, counts = (np.empty(n, np.int64) for _ in range(4))
    count = _number_values(_keys(values), order, n, _equal(values), inverse, first, counts)
    return first[:count].copy(), inverse, counts[:count].copy()


def _keys(values: NDArray[Any]) -> Ints:
    """Integers of 64 bits in the order of values, with one zero; NaN comes last."""
    if values.dtype.kind != "c":
        return ordered(values + 0.0 if values.dtype.kind == "f" else values)
    lost = np.isnan(values)
    whole = np.where(lost, 0, values)
    keys = distinct(whole.real.copy())[1] * len(values) + distinct(whole.imag.copy())[1]
    keys[lost] = _HIGHEST
    return keys


def _equal(values: NDArray[Any]) -> int:
    """How many values may be equal to another."""
    return len(values) - int(np.isnan(values).sum()) if values.dtype.kind in "fc" else len(values)
