"""Stable sorting of many entries by keys of up to 63 bits, and combining of equal ones. Codelets.

Entries are dealt into buckets by the leading bits of their keys, then each bucket by the bits that
follow, until what is left is short. Work is linear in the entries and in the bits that tell them
apart, whatever the keys.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

Ints = Sequence[int]
Target = MutableSequence[int]
Values = MutableSequence[float]

_SHORT = 16  # up to this many entries are inserted one by one
_MANY = 1 << 14  # more entries than this, read and dealt, do not stay in the cache
_FEW = 9  # bits, among many entries: one line of each bucket stays in the cache
_WIDEST = 12  # bits, otherwise
PLACES = 16 << _WIDEST  # for the counts of all depths at once: each takes five bits or more


def append_bits(keys: Target, idx: Ints, n: int, bits: int) -> None:
    """Make room for a coordinate at the low end of each key, and put it there."""
    for q in range(n):
        keys[q] = (keys[q] << bits) | idx[q]


def take_bits(keys: Ints, idx: Target, n: int, shift: int, bits: int) -> None:
    """The coordinate that was put at `shift` in each key."""
    mask = (1 << bits) - 1
    for q in range(n):
        idx[q] = (keys[q] >> shift) & mask


def first_descent(keys: Ints, n: int) -> int:
    """The first entry whose key is not above the one before; n if there is none."""
    for q in range(1, n):
        if keys[q] <= keys[q - 1]:
            return q
    return n


def leading_bits(n: int, bits: int) -> int:
    """How many bits of the keys of n entries are looked at in one go: half as many buckets."""
    width, rest = 1, n >> 1
    widest = min(bits, _FEW if n > _MANY else _WIDEST)
    while rest > 0 and width < widest:
        width, rest = width + 1, rest >> 1
    return width


def deal(
    keys: Ints,
    values: Sequence[float],
    lo: int,
    keys_to: Target,
    values_to: Values,
    to: int,
    n: int,
    ends: Target,
    base: int,
    bits: int,
) -> int:
    """Deal n entries into buckets by the leading bits of their keys; return the most that one has.

    Entries are read from `lo` on and written from `to` on, where bucket d ends at ends[base + d].
    """
    width = leading_bits(n, bits)
    shift, mask = bits - width, (1 << width) - 1
    for d in range(base, base + mask + 1):
        ends[d] = 0
    for q in range(lo, lo + n):
        ends[base + ((keys[q] >> shift) & mask)] += 1
    at, longest = to, 0
    for d in range(base, base + mask + 1):
        count = ends[d]
        longest = max(longest, count)
        ends[d] = at
        at += count
    for q in range(lo, lo + n):
        key = keys[q]
        d = base + ((key >> shift) & mask)
        at = ends[d]
        ends[d] = at + 1
        keys_to[at] = key
        values_to[at] = values[q]
    return longest


def sort_entries(
    keys: Ints,
    given: Sequence[float],
    found: Target,
    values: Values,
    spare: Target,
    other: Values,
    ends: Target,
    n: int,
    bits: int,
) -> int:
    """Sort n entries into `found` and `values`; equal keys stay in order. Return their number.

    What is given stays as it is; the spare arrays are written to no further than they need to be.
    """
    deal(keys, given, 0, found, values, 0, n, ends, 0, bits)
    width = leading_bits(n, bits)
    begin, deeper = 0, 1 << width
    for d in range(deeper):
        m = ends[d] - begin
        if m > 1:
            sort_bucket(found, values, begin, spare, other, 0, m, ends, deeper, bits - width, False)
        begin += m
    return n


def combine_entries(
    keys: Ints,
    given: Sequence[float],
    found: Target,
    values: Values,
    spare: Target,
    other: Values,
    ends: Target,
    n: int,
    bits: int,
) -> int:
    """The same, and combine the values of equal keys, from the left. Return how many remain."""
    deal(keys, given, 0, found, values, 0, n, ends, 0, bits)
    width = leading_bits(n, bits)
    begin, count, deeper = 0, 0, 1 << width
    for d in range(deeper):
        m = ends[d] - begin
        if m > 1:
            sort_bucket(found, values, begin, spare, other, 0, m, ends, deeper, bits - width, False)
        count = _combine(found, values, begin, m, count)
        begin += m
    return count


def _combine(keys: Target, values: Values, lo: int, n: int, end: int) -> int:
    """Combine the values of equal keys among n sorted ones, which move down to `end`."""
    q, hi = lo, lo + n
    while q < hi:
        key, value = keys[q], values[q]
        q += 1
        while q < hi and keys[q] == key:
            value = combined(value, values[q])
            q += 1
        keys[end] = key
        values[end] = value
        end += 1
    return end


def combined(x: float, y: float) -> float:
    """Stands for the function that combines; its code is put in place of this one's."""
    return x


def combine_groups(
    n: int, values: Sequence[float], order: Ints, to: Ints, placed: int, result: Values
) -> None:
    """Combine the values of n groups, from the left, each into its place of the result.

    `order` lists the values group by group: ~q for one that begins a group, q for one that goes on
    with it, and -1 at the end. Group u goes to result[to[u]] if it is `placed`, else to result[u].
    """
    q = 0
    for u in range(n):
        value = values[~order[q]]
        q += 1
        while order[q] >= 0:
            value = combined(value, values[order[q]])
            q += 1
        result[to[u] if placed != 0 else u] = value


def sort_bucket(
    keys: Target,
    values: Values,
    lo: int,
    spare: Target,
    other: Values,
    to: int,
    n: int,
    ends: Target,
    base: int,
    bits: int,
    away: bool,
) -> None:
    """Sort n entries from `lo` on where they are, or `away` into the spare arrays from `to` on."""
    if n <= _SHORT or bits == 0:
        if away:
            _insert_into(keys, values, lo, spare, other, to, n)
        elif bits > 0:
            _insert(keys, values, lo, n)
        return
    longest = deal(keys, values, lo, spare, other, to, n, ends, base, bits)
    if longest <= _SHORT:  # no entry moves far: all buckets at once
        if away:
            _insert(spare, other, to, n)
        else:
            _insert_into(spare, other, to, keys, values, lo, n)
        return
    width = leading_bits(n, bits)
    begin, deeper, left = to, base + (1 << width), bits - width
    for d in range(base, deeper):
        m = ends[d] - begin
        if m > 0:
            there = lo + begin - to
            sort_bucket(spare, other, begin, keys, values, there, m, ends, deeper, left, not away)
        begin += m


def _insert(keys: Target, values: Values, lo: int, n: int) -> None:
    """Sort a few entries by moving each down to its place."""
    for q in range(lo + 1, lo + n):
        key, value, at = keys[q], values[q], q
        while at > lo and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            values[at] = values[at - 1]
            at -= 1
        keys[at] = key
        values[at] = value


def _insert_into(
    keys: Ints, values: Sequence[float], lo: int, spare: Target, other: Values, to: int, n: int
) -> None:
    """The same, into other arrays."""
    for k in range(n):
        key, at = keys[lo + k], to + k
        while at > to and spare[at - 1] > key:
            spare[at] = spare[at - 1]
            other[at] = other[at - 1]
            at -= 1
        spare[at] = key
        other[at] = values[lo + k]
