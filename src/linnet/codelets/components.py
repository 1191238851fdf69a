"""Tensor components (WORK §4.1): coordinates of `w` words each, in one array. Codelets.

Component e has the words `crd[e * w : e * w + w]`, and components are ordered by them. One word is
enough where coordinates can be numbered in 64 bits, and takes the short way through everything;
otherwise a component has a word for each coordinate, and the order is lexicographic.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from linnet.codelets.searching import gallop
from linnet.codelets.sorting import sort

Ints = Sequence[int]
Target = MutableSequence[int]
Values = MutableSequence[float]

_TINY = 12  # up to this many ids are sorted by insertion
_FEW = 64  # up to this many words are sorted by comparison
_DIGIT = 11  # bits that are sorted by at a time
ROOM = 1 << _DIGIT
MANY = 1 << 14  # components that are too many to be sorted all at once
_RUN = 8  # ids that are sorted by insertion before they are merged


def compare(x: Ints, p: int, y: Ints, q: int, w: int) -> int:
    """-1, 0 or 1: component p of x comes before, is the same as, or comes after q of y."""
    k = 0
    while k < w - 1 and x[p * w + k] == y[q * w + k]:
        k += 1
    a, b = x[p * w + k], y[q * w + k]
    return int(a > b) - int(a < b)


def copy(source: Ints, p: int, target: Target, q: int, w: int) -> None:
    """Let component q of the target be component p of the source."""
    for k in range(w):
        target[q * w + k] = source[p * w + k]


# -- sorting: `order` becomes the ids 0 … count - 1 of the components from `base` on, in order ----


def sort_ids(crd: Ints, w: int, base: int, count: int, order: Target, spare: Target) -> None:
    """Sort ids by their components; equal ones stay in the order of their ids.

    Both arrays have room for `count` words and ROOM more.
    """
    for e in range(count):
        order[e] = e
    if count <= _TINY:
        insertion_sort_ids(crd, w, base, 0, count, order)
        return
    if is_sorted(crd, w, base, count, order):
        return
    if w == 1 and _sort_words(crd, base, count, order, spare):
        return
    merge_sort_ids(crd, w, base, count, order, spare)


def is_sorted(crd: Ints, w: int, base: int, count: int, order: Ints) -> bool:
    """Whether no component comes before the one listed before it."""
    t = 1
    if w == 1:
        while t < count and crd[base + order[t - 1]] <= crd[base + order[t]]:
            t += 1
    else:
        while t < count and compare(crd, base + order[t - 1], crd, base + order[t], w) <= 0:
            t += 1
    return t >= count


def _sort_words(crd: Ints, base: int, count: int, order: Target, spare: Target) -> bool:
    """Sort words that hold a key and its id, if there are bits for both."""
    low, high = lowest(crd, base, count), highest(crd, base, count)
    bits, id_bits = bit_length(high - low), bit_length(count - 1)
    if bits + id_bits > 63:
        return False
    for t in range(count):
        order[t] = ((crd[base + t] - low) << id_bits) | t
    if count <= _FEW:
        sort(order, 0, count)
    else:
        radix_sort(order, spare, count, id_bits, bits)
    mask = (1 << id_bits) - 1
    for t in range(count):
        order[t] = order[t] & mask
    return True


def lowest(crd: Ints, base: int, count: int) -> int:
    """The least of some words."""
    found = crd[base]
    for e in range(base, base + count):
        found = min(found, crd[e])
    return found


def highest(crd: Ints, base: int, count: int) -> int:
    """The greatest of some words."""
    found = crd[base]
    for e in range(base, base + count):
        found = max(found, crd[e])
    return found


def bit_length(x: int) -> int:
    """How many bits a number has that is not negative."""
    bits = 0
    while x > 0:
        x = x >> 1
        bits += 1
    return bits


def radix_sort(words: Target, spare: Target, count: int, low: int, bits: int) -> None:
    """Sort words[0:count] by `bits` bits from bit `low` on, a digit at a time.

    Equal ones stay in order. The counts of digits lie at the start of the spare array.
    """
    most = min(bit_length(count) - 1, _DIGIT)
    rounds = (bits + most - 1) // most
    if rounds == 0:
        return
    digit = (bits + rounds - 1) // rounds
    for r in range(rounds):
        if r & 1 == 0:
            _spread(words, spare, 0, ROOM, count, low + r * digit, digit)
        else:
            _spread_back(spare, words, ROOM, 0, count, low + r * digit, digit)
    if rounds & 1 == 1:
        for t in range(count):
            words[t] = spare[ROOM + t]


def _spread(
    words: Ints, to: Target, lo: int, start: int, count: int, shift: int, digit: int
) -> None:
    """Move words to where their digit belongs; the counts of digits lie before, in the target."""
    size = 1 << digit
    for d in range(size):
        to[d] = 0
    for t in range(lo, lo + count):
        to[(words[t] >> shift) & (size - 1)] += 1
    _starts(to, size, start)
    for t in range(lo, lo + count):
        word = words[t]
        d = (word >> shift) & (size - 1)
        at = to[d]
        to[d] = at + 1
        to[at] = word


def _spread_back(
    words: Target, to: Target, lo: int, start: int, count: int, shift: int, digit: int
) -> None:
    """The same on the way back: the counts of digits lie before the words that are moved."""
    size = 1 << digit
    for d in range(size):
        words[d] = 0
    for t in range(lo, lo + count):
        words[(words[t] >> shift) & (size - 1)] += 1
    _starts(words, size, start)
    for t in range(lo, lo + count):
        word = words[t]
        d = (word >> shift) & (size - 1)
        at = words[d]
        words[d] = at + 1
        to[at] = word


def _starts(counts: Target, size: int, start: int) -> None:
    """Counts become the places where each digit starts."""
    total = start
    for d in range(size):
        here = counts[d]
        counts[d] = total
        total += here


def deal(
    crd: Ints, val: Sequence[float], base: int, count: int, low: int, shift: int, run: Target,
    late: Values, ends: Target, groups: int,
) -> None:  # fmt: skip
    """Copy components by their highest bits, in the order in which they came.

    Those of group d end at ends[d]. Neighbours are often of one group, and moved in one go.
    """
    for d in range(groups):
        ends[d] = 0
    t, stop = base, base + count
    while t < stop:
        d, begin = (crd[t] - low) >> shift, t
        while t < stop and (crd[t] - low) >> shift == d:
            t += 1
        ends[d] += t - begin
    _starts(ends, groups, 0)
    t = base
    while t < stop:
        d = (crd[t] - low) >> shift
        at = ends[d]
        while t < stop and (crd[t] - low) >> shift == d:
            run[at] = crd[t]
            late[at] = val[t]
            at += 1
            t += 1
        ends[d] = at


def merge_sort_ids(crd: Ints, w: int, base: int, count: int, order: Target, spare: Target) -> None:
    """Sort the listed ids by comparison: short runs by insertion, then merged two by two."""
    for lo in range(0, count, _RUN):
        insertion_sort_ids(crd, w, base, lo, min(lo + _RUN, count), order)
    width = _RUN
    while width < count:
        lo = 0
        while lo < count:
            mid, hi = min(lo + width, count), min(lo + 2 * width, count)
            _merge_ids(crd, w, base, lo, mid, hi, order, spare)
            lo = hi
        for t in range(count):
            order[t] = spare[t]
        width *= 2


def insertion_sort_ids(crd: Ints, w: int, base: int, lo: int, hi: int, order: Target) -> None:
    """Sort order[lo:hi] by insertion; equal components stay in order."""
    for t in range(lo + 1, hi):
        e = order[t]
        at = t
        while at > lo and compare(crd, base + order[at - 1], crd, base + e, w) > 0:
            order[at] = order[at - 1]
            at -= 1
        order[at] = e


def _merge_ids(
    crd: Ints, w: int, base: int, lo: int, mid: int, hi: int, order: Ints, spare: Target
) -> None:
    p, q, out = lo, mid, lo
    while p < mid and q < hi:
        if compare(crd, base + order[p], crd, base + order[q], w) <= 0:
            spare[out] = order[p]
            p += 1
        else:
            spare[out] = order[q]
            q += 1
        out += 1
    while p < mid:
        spare[out] = order[p]
        p += 1
        out += 1
    while q < hi:
        spare[out] = order[q]
        q += 1
        out += 1


def check_order(crd: Ints, w: int, base: int, count: int, order: Ints) -> bool:
    """Whether the ids listed are ids, and their components in order and none left out."""
    total = 0
    for t in range(count):
        if order[t] < 0 or order[t] >= count:
            return False
        total += order[t]
    return 2 * total == count * (count - 1) and is_sorted(crd, w, base, count, order)


def check_found(crd: Ints, w: int, base: int, e: int, count: int) -> bool:
    """Whether component e is the last one, or one before it with the same coordinates."""
    if e < 0 or e >= count:
        return e == count
    return compare(crd, base + e, crd, base + count, w) == 0


# -- reading sorted components along coordinate k, those before it being the same ------------------


def coordinate(crd: Ints, w: int, q: int, end: int, k: int, prefix: int, stride: int) -> int:
    """Coordinate k of component q; of a single word, what is left after the prefix."""
    if q >= end:
        return 0
    if w == 1:
        return (crd[q] - prefix) // stride
    return crd[q * w + k]


def last_coordinate(crd: Ints, w: int, q: int, k: int, prefix: int) -> int:
    """The same for the last coordinate, whose stride is one."""
    if w == 1:
        return crd[q] - prefix
    return crd[q * w + k]


def seek_coordinate(
    crd: Ints, w: int, q: int, end: int, k: int, prefix: int, stride: int, target: int
) -> int:
    """The first component from q on whose coordinate k is not less than the target."""
    if w == 1:
        return gallop(crd, q, end, prefix + target * stride)
    if q >= end or crd[q * w + k] >= target:
        return q
    step = 1
    while q + step < end and crd[(q + step) * w + k] < target:
        q += step
        step += step
    lo, hi = q + 1, min(q + step, end)
    while lo < hi:
        mid = (lo + hi) >> 1
        if crd[mid * w + k] < target:
            lo = mid + 1
        else:
            hi = mid
    return lo
