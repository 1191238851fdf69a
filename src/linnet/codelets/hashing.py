"""A hash table of entries that are told by a parent position and a coordinate. Codelets.

Entries are numbered as they come, and kept in two arrays, `parent` and `coord`. The table has a
power of two of slots; a slot holds the number of an entry plus one, or zero if it is empty. An
entry lies in the first slot, from the one it hashes to onwards, that was empty.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from numpy import uint64

Ints = Sequence[int]
Slots = MutableSequence[int]

_MIX_PARENT = 0x9E3779B97F4A7C15
_MIX = 0xD6E8FEB86659FD93


def hash_find(table: Slots, mask: int, parent: Ints, coord: Ints, p: int, i: int) -> int:
    """The slot of entry (p, i), or the empty one where it belongs; `mask` is capacity - 1."""
    slot = _hash(p, i) & mask
    entry = table[slot]
    while entry != 0 and (coord[entry - 1] != i or parent[entry - 1] != p):
        slot = (slot + 1) & mask
        entry = table[slot]
    return slot


def hash_rehash(table: Slots, capacity: int, parent: Ints, coord: Ints, count: int) -> None:
    """Forget all slots, then enter the first `count` entries, which differ from each other."""
    for slot in range(capacity):
        table[slot] = 0
    mask = capacity - 1
    for entry in range(count):
        at = _hash(parent[entry], coord[entry]) & mask
        while table[at] != 0:
            at = (at + 1) & mask
        table[at] = entry + 1


def _hash(p: int, i: int) -> int:
    """Scatter neighbours: both halves of the product end up in the low bits."""
    h = (uint64(p) * _MIX_PARENT + uint64(i)) * _MIX
    return int(h ^ (h >> 32))
