"""The largest entries of every fiber of a list, among them the fill value where nothing is stored.

What is wanted first has the largest key. Of equal elements the first is wanted first.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.codelets.sorting import sort, sort_pairs
from linnet.runtime.fibers import ordered
from linnet.runtime.routine import Routine

Ints: TypeAlias = NDArray[Any]
Target = MutableSequence[int]
_HIGHEST = 2**63 - 1


def extreme_each(
    ptr: Sequence[int],
    count: int,
    keys: Sequence[int],
    idx: Sequence[int],
    n: int,
    fill: int,
    places: Target,
) -> None:
    """Where the largest element of each fiber of length n is."""
    for p in range(count):
        lo, hi = ptr[p], ptr[p + 1]
        best, at = fill, n
        free = 0  # the first place where nothing is stored
        for q in range(lo, hi):
            if at == n or keys[q] > best:
                best, at = keys[q], idx[q]
            free += idx[q] == free
        if free < n and (at == n or fill > best or (fill == best and free < at)):
            at = free
        places[p] = at


def first_each(
    ptr: Sequence[int],
    count: int,
    keys: Sequence[int],
    idx: Sequence[int],
    n: int,
    fill: int,
    k: int,
    places: Target,
    picked: Target,
    words: Target,
    order: Target,
) -> None:
    """Where the k largest elements of each fiber are, and which entries; -1 where none is stored.

    `words` and `order` are room for the entries of a fiber.
    """
    for p in range(count):
        lo, hi, to, end = ptr[p], ptr[p + 1], p * k, p * k + k
        _rank(keys, lo, hi - lo, words, order)
        t, m = 0, hi - lo
        while t < m and to < end and words[t] < ~fill:
            places[to], picked[to] = idx[lo + order[t]], lo + order[t]
            t, to = t + 1, to + 1
        q, at = lo, 0
        while to < end and at < n:  # what equals the fill value, stored or not
            entry = -1
            if q < hi and idx[q] == at:
                entry = q
                q += 1
            if entry < 0 or keys[q - 1] == fill:
                places[to], picked[to] = at, entry
                to += 1
            at += 1
        while t < m and words[t] == ~fill:
            t += 1
        while t < m and to < end:
            places[to], picked[to] = idx[lo + order[t]], lo + order[t]
            t, to = t + 1, to + 1


def _rank(keys: Sequence[int], lo: int, n: int, words: Target, order: Target) -> None:
    """The entries of a fiber, the one with the largest key first; `words` are keys that rise."""
    for t in range(n):
        words[t] = ~keys[lo + t]
        order[t] = t
    sort_pairs(words, order, 0, n)
    begin = 0
    for t in range(1, n + 1):
        if t == n or words[t] != words[begin]:
            if t - begin > n >> 3:  # many are equal: to look at all takes less than to sort them
                _collect(keys, lo, ~words[begin], order, begin, t)
            elif t - begin > 1:
                sort(order, begin, t)
            begin = t


def _collect(keys: Sequence[int], lo: int, key: int, order: Target, begin: int, end: int) -> None:
    """The entries of a fiber that have a key, of which it is known how many they are."""
    t = 0
    while begin < end:
        order[begin] = t
        begin += keys[lo + t] == key
        t += 1


def order_each(
    count: int, n: int, keys: Sequence[int], places: Target, words: Target, order: Target
) -> None:
    """The elements of each of many rows of length n, none of which is left out."""
    for p in range(count):
        _rank(keys, p * n, n, words, order)
        for t in range(n):
            places[p * n + t] = order[t]


_extreme_each, _first_each, _order_each = map(Routine, (extreme_each, first_each, order_each))


def extremes(
    ptr: Ints, idx: Ints, values: NDArray[Any], n: int, fill: object, largest: bool
) -> Ints:
    """Where the largest (or smallest) element of each fiber of length n is; NaN is either."""
    places = np.empty(len(ptr) - 1, np.int64)
    keys = ranked(values, largest, nan_first=True)
    between = int(ranked(np.full(1, fill, values.dtype), largest, nan_first=True)[0])
    _extreme_each(ptr, len(places), keys, idx, n, between, places)
    return places


def first_of_fibers(
    ptr: Ints, idx: Ints, values: NDArray[Any], n: int, fill: object, k: int, largest: bool
) -> tuple[Ints, Ints]:
    """Where the k largest (or smallest) elements are, in order, and which entries; NaN is large."""
    count = len(ptr) - 1
    places, picked = np.empty(count * k, np.int64), np.empty(count * k, np.int64)
    words, order = (np.empty(int(np.diff(ptr).max(initial=0)), np.int64) for _ in range(2))
    keys = ranked(values, largest, nan_first=largest)
    between = int(ranked(np.full(1, fill, values.dtype), largest, nan_first=largest)[0])
    _first_each(ptr, count, keys, idx, n, between, k, places, picked, words, order)
    return places, picked


def order_of_rows(values: NDArray[Any], n: int, largest: bool) -> Ints:
    """Where the elements of rows of length n are that are stored one after the other, in order."""
    places, words, order = (np.empty(size, np.int64) for size in (len(values), n, n))
    keys = ranked(values, largest, nan_first=largest)
    _order_each(len(values) // max(n, 1), n, keys, places, words, order)
    return places


def ranked(values: NDArray[Any], largest: bool, nan_first: bool) -> Ints:
    """Integers of 64 bits that are larger for what is wanted first; zeros of both signs are one."""
    keys = ordered(values + 0.0 if values.dtype.kind == "f" else values)
    if not largest:
        keys = ~keys
    if nan_first and values.dtype.kind == "f":
        keys[np.isnan(values)] = _HIGHEST
    return keys
