"""Searches in sorted coordinates. Codelets: ordinary Python, compiled on demand."""

from __future__ import annotations

from collections.abc import Sequence

Ints = Sequence[int]


def search(idx: Ints, lo: int, hi: int, target: int) -> int:
    """The first q in [lo, hi) with idx[q] >= target, else hi."""
    if lo >= hi or idx[lo] >= target:
        return lo
    size = hi - lo  # idx[lo] < target throughout, and idx[lo + size] >= target if it exists
    while size > 1:
        half = size >> 1
        lo = lo + half if idx[lo + half] < target else lo
        size -= half
    return lo + 1


def gallop(idx: Ints, lo: int, hi: int, target: int) -> int:
    """The same as `search`, fast when the place is near `lo`: doubling steps, then bisection."""
    if lo >= hi or idx[lo] >= target:
        return lo
    step = 1
    while lo + step < hi and idx[lo + step] < target:
        lo += step
        step += step
    return search(idx, lo + 1, min(lo + step, hi), target)


def fiber_of(ptr: Ints, lo: int, hi: int, q: int) -> int:
    """The last p in [lo, hi) with ptr[p] <= q, or lo: the fiber that entry q lies in.

    It is soon found if it is near `lo`: a search that goes on from where the last one ended.
    """
    step = 1
    while step < hi - lo and ptr[lo + step] <= q:
        lo += step
        step *= 2
    hi = min(hi, lo + step)
    while hi - lo > 1:
        middle = lo + ((hi - lo) >> 1)
        if ptr[middle] <= q:
            lo = middle
        else:
            hi = middle
    return lo


def run_end(idx: Ints, p: int, end: int) -> int:
    """The first q > p with q == end or idx[q] != idx[p]; the end itself if p is there already."""
    q = p + 1
    while q < end and idx[q] == idx[p]:
        q += 1
    return min(q, end)


def run_begin(idx: Ints, begin: int, p: int) -> int:
    """The first q < p of those that hold what idx[p - 1] does; below `begin` if p is there."""
    q = p - 1
    while q > begin and idx[q - 1] == idx[q]:
        q -= 1
    return q
