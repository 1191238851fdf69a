"""Turning entries in any order into sorted fibers: counts, groups, sweeps. Codelets."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from linnet.codelets.bit_sets import list_by_levels, list_words, sort_by_bits, sort_by_rank
from linnet.codelets.sorting import SMALL, sort_pairs, sort_small

Ints = Sequence[int]
Target = MutableSequence[int]
Flags = MutableSequence[bool]

# To look at as many flags as this takes about as long as to sort one more position (if half of them
# follow another, so that less is found at more places), or, to clear them, as to follow one.
_CROWDED, _IN_STRETCHES, _FULL = 4, 64, 16
_IN_WORDS, _BY_RANK = 16, 128  # the same if flags are bits: a quarter of a word, and two
_STRIP = 64  # numbers that are compared before it is asked how they compare


def prefix_sum(ptr: Target, n: int) -> None:
    """Turn the counts ptr[1:n + 1] into ends; ptr[0] is where the first group starts."""
    total = ptr[0]
    for p in range(1, n + 1):
        total += ptr[p]
        ptr[p] = total


def group_by_position(parent: Ints, count: int, ptr: Target, n: int, order: Target) -> None:
    """List the entries 0 … count-1 by their parent, in the order in which they came.

    Those of parent p, of n, are order[ptr[p]:ptr[p + 1]].
    """
    for p in range(n + 1):
        ptr[p] = 0
    for entry in range(count):
        ptr[parent[entry]] += 1
    end = 0
    for p in range(n + 1):
        end += ptr[p]
        ptr[p] = end
    for k in range(count):  # from the last to the first, ends move down to become starts
        entry = count - 1 - k
        at = ptr[parent[entry]] - 1
        ptr[parent[entry]] = at
        order[at] = entry


def sort_groups(ptr: Ints, n: int, coord: Ints, idx: Target, order: Target) -> None:
    """Sort each group of `order` by the coordinates of its entries, which are written to `idx`."""
    for p in range(n):
        lo, hi = ptr[p], ptr[p + 1]
        for q in range(lo, hi):
            idx[q] = coord[order[q]]
        sort_pairs(idx, order, lo, hi)


def clear(tbl: Flags, n: int, keys: Ints, count: int) -> None:
    """Clear the flags that are set, which are listed; if they are many, all n."""
    if count * _FULL > n:
        for k in range(n):
            tbl[k] = False
    else:
        for t in range(count):
            tbl[keys[t]] = False


def order(tbl: Sequence[bool], n: int, keys: Target, count: int, bits: Target, base: int) -> None:
    """Sort the list of the flags that are set; if they are many, by looking at all n.

    `bits` has words for a set of them, from `base` on.
    """
    if _ascends(keys, count):
        return
    if count * _CROWDED > n or (count * _IN_STRETCHES > n and _follow(keys, count) * 2 > count):
        sweep(tbl, 0, n, keys, 0)
    elif count <= SMALL:
        sort_small(keys, 0, count)
    else:
        sort_by_bits(keys, count, n, bits, base)


def order_bits(bits: Target, n: int, keys: Target, count: int) -> None:
    """Sort the list of numbers below n whose bits are set."""
    if _ascends(keys, count):
        return
    if count <= SMALL:
        sort_small(keys, 0, count)
    elif count * _IN_WORDS > n:
        list_words(keys, n, bits)
    elif count * _BY_RANK > n:
        sort_by_rank(keys, count, n, bits)
    else:
        list_by_levels(keys, count, n, bits, 0)


def _ascends(keys: Ints, count: int) -> bool:
    """Whether a list is sorted already."""
    q = 1
    while q < count and keys[q - 1] < keys[q]:
        q += 1
    return q >= count


def _ascends_far(keys: Ints, count: int) -> bool:
    """The same of a long list: most that are not sorted tell soon, the rest is for vectors."""
    q = min(count, _STRIP)
    if not _ascends(keys, q):
        return False
    while q + _STRIP <= count:
        falls = 0
        for k in range(_STRIP):
            falls += int(keys[q + k - 1] >= keys[q + k])
        if falls > 0:
            return False
        q += _STRIP
    while q < count and keys[q - 1] < keys[q]:
        q += 1
    return q >= count


def _follow(keys: Ints, count: int) -> int:
    """How many positions are the next one to that before them in the list."""
    found = 0
    for q in range(1, count):
        found += keys[q] - keys[q - 1] == 1
    return found


def order_if_cheap(tbl: Sequence[bool], n: int, keys: Target, count: int) -> None:
    """The same for those who need no order: memory is better walked in order where much is set."""
    if count * _CROWDED > n and not _ascends_far(keys, count):
        sweep(tbl, 0, n, keys, 0)


def order_bits_if_cheap(bits: Target, n: int, keys: Target, count: int) -> None:
    """The same of bits."""
    if count * _CROWDED > n and not _ascends_far(keys, count):
        list_words(keys, n, bits)


def sweep(tbl: Sequence[bool], base: int, n: int, idx: Target, out: int) -> int:
    """Write the i < n with tbl[base + i] to idx[out:], in order; return where they end.

    There must be room for n of them: in eight places of which some are set, each is written without
    asking, and the next one replaces it if it was not.
    """
    i = 0
    while i + 8 <= n:
        some = 0
        for k in range(i, i + 8):
            some += tbl[base + k]
        if some > 0:
            for k in range(i, i + 8):
                idx[out] = k
                out += tbl[base + k]
        i += 8
    for k in range(i, n):
        idx[out] = k
        out += tbl[base + k]
    return out
