"""Sorting of keys in place, alone or with a payload. Codelets: ordinary Python, compiled on demand.

Quicksort whose partitions have no branches to mispredict, with a heap sort to fall back on (so that
no input takes more than n log n steps) and an exchange sort, branch-free too, for small parts.
Equal keys end up in any order.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from linnet.python.rare import rare

Ints = MutableSequence[int]

SMALL = 16  # up to this many keys are sorted by exchanges
_HIGHEST = 2**63 - 1  # no key is greater


def sort(keys: Ints, lo: int, hi: int) -> None:
    """Sort keys[lo:hi] ascending, in place."""
    q = lo + 1
    while q < hi and keys[q - 1] <= keys[q]:
        q += 1
    if q < hi:
        quicksort(keys, lo, hi, hi - lo)


def quicksort(keys: Ints, lo: int, hi: int, budget: int) -> None:
    """Sort; the budget shrinks by a quarter with each partition, and is spent if they are bad."""
    limit, least = 0, False
    while hi - lo > SMALL:
        if budget == 0:
            _heapsort(keys, lo, hi)
            return
        budget = (budget >> 1) + (budget >> 2)
        if least:
            limit += 1
        else:
            limit = _pivot(keys, lo, hi)
        mid = _partition(keys, lo, hi, limit)
        if least:
            lo, least = mid, False
        elif mid == lo:  # no key is less than the pivot: next, set aside those that equal it
            if limit == _HIGHEST:
                return
            least = True
        elif mid - lo < hi - mid:
            quicksort(keys, lo, mid, budget)
            lo = mid
        else:
            quicksort(keys, mid, hi, budget)
            hi = mid
    sort_small(keys, lo, hi)


def _pivot(keys: Ints, lo: int, hi: int) -> int:
    """A key that is likely near the median."""
    n = hi - lo
    q = lo + (n >> 4)  # nine places, so spread that a few sorted runs do not mislead
    step = (7 * n) >> 6
    return _median(
        _median(keys[q], keys[q + step], keys[q + 2 * step]),
        _median(keys[q + 3 * step], keys[q + 4 * step], keys[q + 5 * step]),
        _median(keys[q + 6 * step], keys[q + 7 * step], keys[q + 8 * step]),
    )


def _median(a: int, b: int, c: int) -> int:
    """The middle one of three keys."""
    return max(min(a, b), min(max(a, b), c))


def _partition(keys: Ints, lo: int, hi: int, limit: int) -> int:
    """Move the keys below the limit to the front, without branches; return where they end."""
    end = lo
    for q in range(lo, hi):
        key = keys[q]
        keys[q] = keys[end]
        keys[end] = key
        end += key < limit
    return end


def sort_small(keys: Ints, lo: int, hi: int) -> None:
    """Bubble sort that carries the two largest keys along, without branches."""
    end = hi
    while end - lo > 1:
        x = min(keys[lo], keys[lo + 1])
        y = max(keys[lo], keys[lo + 1])
        for q in range(lo + 2, end):
            z = keys[q]
            keys[q - 2] = min(x, z)
            x = max(x, min(y, z))
            y = max(y, z)
        keys[end - 2] = x
        keys[end - 1] = y
        end -= 2


@rare
def _heapsort(keys: Ints, lo: int, hi: int) -> None:
    """Sort in n log n steps, whatever the keys: make a heap, then take the largest off."""
    n = hi - lo
    start = n >> 1
    while n > 1:
        if start > 0:
            start -= 1
        else:
            n -= 1
            keys[lo], keys[lo + n] = keys[lo + n], keys[lo]
        root = start
        child = 2 * root + 1
        key = keys[lo + root]
        while child < n:
            if child + 1 < n and keys[lo + child] < keys[lo + child + 1]:
                child += 1
            if keys[lo + child] <= key:
                break
            keys[lo + root] = keys[lo + child]
            root = child
            child = 2 * root + 1
        keys[lo + root] = key


# -- the same with a payload that is carried along ------------------------------------------------


def sort_pairs(keys: Ints, payload: Ints, lo: int, hi: int) -> None:
    """Sort keys[lo:hi] ascending, in place, and carry payload[lo:hi] along."""
    q = lo + 1
    while q < hi and keys[q - 1] <= keys[q]:
        q += 1
    if q < hi:
        quicksort_pairs(keys, payload, lo, hi, hi - lo)


def quicksort_pairs(keys: Ints, payload: Ints, lo: int, hi: int, budget: int) -> None:
    """The same as `quicksort`, with the payload."""
    limit, least = 0, False
    while hi - lo > SMALL:
        if budget == 0:
            _heapsort_pairs(keys, payload, lo, hi)
            return
        budget = (budget >> 1) + (budget >> 2)
        if least:
            limit += 1
        else:
            limit = _pivot(keys, lo, hi)
        mid = _partition_pairs(keys, payload, lo, hi, limit)
        if least:
            lo, least = mid, False
        elif mid == lo:
            if limit == _HIGHEST:
                return
            least = True
        elif mid - lo < hi - mid:
            quicksort_pairs(keys, payload, lo, mid, budget)
            lo = mid
        else:
            quicksort_pairs(keys, payload, mid, hi, budget)
            hi = mid
    _sort_small_pairs(keys, payload, lo, hi)


def _partition_pairs(keys: Ints, payload: Ints, lo: int, hi: int, limit: int) -> int:
    end = lo
    for q in range(lo, hi):
        key, with_key = keys[q], payload[q]
        keys[q], payload[q] = keys[end], payload[end]
        keys[end], payload[end] = key, with_key
        end += key < limit
    return end


def _sort_small_pairs(keys: Ints, payload: Ints, lo: int, hi: int) -> None:
    end = hi
    while end - lo > 1:
        first, second = keys[lo], keys[lo + 1]
        swapped = second < first
        x, y = min(first, second), max(first, second)
        first, second = payload[lo], payload[lo + 1]
        with_x = second if swapped else first
        with_y = first if swapped else second
        for q in range(lo + 2, end):
            z, with_z = keys[q], payload[q]
            below_x, below_y = z < x, z < y
            keys[q - 2] = z if below_x else x
            payload[q - 2] = with_z if below_x else with_x
            x = x if below_x else (z if below_y else y)
            with_x = with_x if below_x else (with_z if below_y else with_y)
            y = y if below_y else z
            with_y = with_y if below_y else with_z
        keys[end - 2], keys[end - 1] = x, y
        payload[end - 2], payload[end - 1] = with_x, with_y
        end -= 2


@rare
def _heapsort_pairs(keys: Ints, payload: Ints, lo: int, hi: int) -> None:
    n = hi - lo
    start = n >> 1
    while n > 1:
        if start > 0:
            start -= 1
        else:
            n -= 1
            keys[lo], keys[lo + n] = keys[lo + n], keys[lo]
            payload[lo], payload[lo + n] = payload[lo + n], payload[lo]
        root = start
        child = 2 * root + 1
        key, with_key = keys[lo + root], payload[lo + root]
        while child < n:
            if child + 1 < n and keys[lo + child] < keys[lo + child + 1]:
                child += 1
            if keys[lo + child] <= key:
                break
            keys[lo + root], payload[lo + root] = keys[lo + child], payload[lo + child]
            root = child
            child = 2 * root + 1
        keys[lo + root], payload[lo + root] = key, with_key
