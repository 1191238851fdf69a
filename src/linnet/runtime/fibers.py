"""The entries of every fiber of a list, sorted: by their values, or by their coordinates."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.codelets.sorting import sort
from linnet.runtime.routine import Routine

Ints: TypeAlias = NDArray[Any]
_SIGN = np.int64(-(2**63))
_SMALL = 16  # entries of a fiber that are put where they belong by counting


def sort_each(
    ptr: Sequence[int],
    count: int,
    keys: MutableSequence[int],
    idx: MutableSequence[int],
    n: int,
    fill: int,
) -> None:
    """Sort fibers of length n in place; what is not above the fill value comes before it."""
    for p in range(count):
        lo, hi = ptr[p], ptr[p + 1]
        sort(keys, lo, hi)
        for q in range(lo, hi):
            idx[q] = q - lo if keys[q] <= fill else n - hi + q


def turn_each(
    ptr: Sequence[int],
    count: int,
    keys: Sequence[int],
    idx: Sequence[int],
    n: int,
    turned: MutableSequence[int],
    places: MutableSequence[int],
) -> None:
    """Fibers of length n back to front."""
    for p in range(count):
        lo, hi = ptr[p], ptr[p + 1]
        for q in range(lo, hi):
            turned[lo + hi - 1 - q] = keys[q]
            places[lo + hi - 1 - q] = n - 1 - idx[q]


_sort_each, _turn_each = Routine(sort_each), Routine(turn_each)


def sort_fibers(
    ptr: Ints, idx: Ints, values: NDArray[Any], n: int, fill: object, descending: bool
) -> tuple[Ints, NDArray[Any]]:
    """The places and the values of fibers of length n once they are sorted; NaN is the largest."""
    keys, places = ordered(values), np.empty_like(idx)
    limit = np.full(1, fill, values.dtype)
    above = np.inf if fill != fill else limit[0]
    between = int(ordered(np.full(1, above, values.dtype))[0])
    _sort_each(ptr, len(ptr) - 1, keys, places, n, between)
    if descending:
        turned, back = np.empty_like(keys), np.empty_like(places)
        _turn_each(ptr, len(ptr) - 1, keys, places, n, turned, back)
        keys, places = turned, back
    return places, restored(keys, values.dtype)


def ordered(values: NDArray[Any]) -> Ints:
    """Integers of 64 bits in the order of values that are no complex numbers."""
    if values.dtype.kind == "f":
        bits: Ints = np.where(np.isnan(values), np.nan, values).astype(np.float64).view(np.int64)
        bits ^= (bits >> 63) & ~_SIGN  # below zero, a larger one has smaller bits
        return bits
    if values.dtype == np.uint64:
        return values.view(np.int64) ^ _SIGN
    return values.astype(np.int64)


def restored(keys: Ints, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of a type that have these integers."""
    if dtype.kind == "f":
        bits: Ints = keys ^ ((keys >> 63) & ~_SIGN)
        return bits.view(np.float64).astype(dtype)
    if dtype == np.uint64:
        return (keys ^ _SIGN).view(np.uint64)
    return keys.astype(dtype)


# -- by coordinate ---------------------------------------------------------------------------------


def arrange_each(
    ptr: Sequence[int],
    count: int,
    idx: MutableSequence[int],
    values: MutableSequence[float],
    words: MutableSequence[int],
    ranks: MutableSequence[int],
    keys: MutableSequence[int],
    held: MutableSequence[float],
) -> None:
    """Sort entries of fibers in place, by coordinates that differ; the rest is room for a fiber."""
    end = ptr[count] - _SMALL
    for p in range(count):
        lo, n = ptr[p], ptr[p + 1] - ptr[p]
        if n <= _SMALL and lo <= end:
            _arrange_small(lo, n, idx, values, ranks, keys, held)
        else:
            _arrange(lo, n, idx, values, words, held)


def _arrange_small(
    lo: int,
    n: int,
    idx: MutableSequence[int],
    values: MutableSequence[float],
    ranks: MutableSequence[int],
    keys: MutableSequence[int],
    held: MutableSequence[float],
) -> None:
    """Each goes where as many are before it as have smaller coordinates, without branches.

    Those behind the fiber are counted along, so that all that are counted fill vectors.
    """
    for t in range(_SMALL):
        ranks[t] = 0
    for s in range(n):
        key = idx[lo + s]
        for t in range(_SMALL):
            ranks[t] += key < idx[lo + t]
    for t in range(n):
        keys[t] = idx[lo + t]
        held[t] = values[lo + t]
    for t in range(n):
        idx[lo + ranks[t]] = keys[t]
        values[lo + ranks[t]] = held[t]


def _arrange(
    lo: int,
    n: int,
    idx: MutableSequence[int],
    values: MutableSequence[float],
    words: MutableSequence[int],
    held: MutableSequence[float],
) -> None:
    """What is sorted are words, each of a coordinate and the place of its value."""
    bits = 4
    while n >> bits > 0:
        bits += 1
    for t in range(n):
        words[t] = (idx[lo + t] << bits) | t
        held[t] = values[lo + t]
    sort(words, 0, n)
    for t in range(n):
        idx[lo + t] = words[t] >> bits
        values[lo + t] = held[words[t] & ((1 << bits) - 1)]


def sort_indices_each(ptr: Sequence[int], count: int, idx: MutableSequence[int]) -> None:
    """The same for fibers without values."""
    for p in range(count):
        sort(idx, ptr[p], ptr[p + 1])


_arrange_each, _sort_indices_each = Routine(arrange_each), Routine(sort_indices_each)


def arrange_fibers(ptr: Ints, idx: Ints, values: NDArray[Any] | None) -> None:
    """Sort the entries of fibers in place, by their coordinates, of which none comes twice."""
    if values is None:
        _sort_indices_each(ptr, len(ptr) - 1, idx)
        return
    most = int(np.diff(ptr).max(initial=0))
    words, held = np.empty(most, np.int64), np.empty(most, values.dtype)
    ranks, keys = np.empty(_SMALL, idx.dtype), np.empty(_SMALL, idx.dtype)
    _arrange_each(ptr, len(ptr) - 1, idx, values, words, ranks, keys, held)


def fits_words(size: int, most: int) -> bool:
    """Whether coordinates below `size` can be sorted in fibers of `most` entries."""
    return max(size, 1).bit_length() + most.bit_length() < 63
