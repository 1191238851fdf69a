"""A table that knows the latest component of each hash, of those that accumulate. Codelets."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from numpy import uint64

from linnet.codelets.components import compare

Ints = Sequence[int]
Target = MutableSequence[int]

_MIX = 0x9E3779B97F4A7C15
_NEAR = 6  # bits of a coordinate that tell neighbours apart


def insert_hashed(
    crd: Ints, w: int, base: int, e: int, bucket: int, order: Target, slots: Target, size: int
) -> int:
    """Compare a component with the latest one of its hash, whose place it takes if they differ.

    What is not found though it is there is the same when they are sorted. Coordinates that agree
    but for the last bits of the last one are neighbours in the table, too: what comes together is
    found together, in a cache. Of two heads one tells which component there is: one more than its
    number, if it has one. The other one is its id. Behind all heads, there is what to clear.
    """
    last = (base + e) * w + w - 1
    h = uint64(0)
    for k in range((base + e) * w, last):
        h = (h ^ uint64(crd[k])) * _MIX
        h = h ^ (h >> 32)
    h = (h ^ uint64(crd[last] >> _NEAR)) * _MIX
    head = ((int(h >> 32 << _NEAR) ^ crd[last]) & ((size >> 1) - 1)) << 1
    told = crd[last] + 1 if w == 1 else 1
    found = slots[head + 1]
    if slots[head] == told and (w == 1 or compare(crd, base + found, crd, base + e, w) == 0):
        return found
    slots[head] = told
    slots[head + 1] = e
    slots[size + e] = head
    return e


def clear_hashed(slots: Target, size: int, count: int) -> None:
    """Forget which components there are."""
    for e in range(count):
        slots[slots[size + e]] = 0
