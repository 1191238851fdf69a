"""Tensor components (WORK §4.1): coordinates of `w` words each, in one array. Codelets.

Component e has the words `crd[e * w : e * w + w]`, and components are ordered by them. One word is
enough where coordinates can be numbered in 64 bits, and takes the short way through everything;
otherwise a component has a word for each coordinate, and the order is lexicographic.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from linnet.imp.searching import gallop
from linnet.imp.sorting import sort

Ints = Sequence[int]
Target = MutableSequence[int]

_FEW = 256  # up to this many words are sorted by comparison
_DIGIT = 11  # bits that are sorted by at a time
ROOM = 1 << _DIGIT
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

    Both arrays have room for `count` words and, behind them, for ROOM counts of digits.
    """
    for e in range(count):
        order[e] = e
    if is_sorted(crd, w, base, count, order):
        return
    if w == 1 and _sort_packed(crd, base, count, order, spare):
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


def _sort_packed(crd: Ints, base: int, count: int, order: Target, spare: Target) -> bool:
    """Sort words that hold a key and its id, if there are bits for both."""
    low = crd[base]
    high = crd[base]
    for e in range(base, base + count):
        low = min(low, crd[e])
        high = max(high, crd[e])
    low_bits = bit_length(count - 1)
    bits = bit_length(high - low)
    if bits + low_bits > 63:
        return False
    for e in range(count):
        order[e] = ((crd[base + e] - low) << low_bits) | e
    if count <= _FEW:
        sort(order, 0, count)
    else:
        radix_sort(order, spare, count, low_bits, bits)
    mask = (1 << low_bits) - 1
    for e in range(count):
        order[e] = order[e] & mask
    return True


def bit_length(x: int) -> int:
    """How many bits a number has that is not negative."""
    bits = 0
    while x > 0:
        x = x >> 1
        bits += 1
    return bits


def radix_sort(words: Target, spare: Target, count: int, low: int, bits: int) -> None:
    """Sort words by `bits` bits from bit `low` on, a digit at a time; equal ones stay in order."""
    rounds = (bits + _DIGIT - 1) // _DIGIT
    if rounds == 0:
        return
    digit = (bits + rounds - 1) // rounds
    for r in range(rounds):
        if r & 1 == 0:
            _spread(words, spare, count, low + r * digit, digit)
        else:
            _spread(spare, words, count, low + r * digit, digit)
    if rounds & 1 == 1:
        for t in range(count):
            words[t] = spare[t]


def _spread(words: Ints, to: Target, count: int, shift: int, digit: int) -> None:
    """Move words to where their digit belongs; the counts of digits lie behind, in the target."""
    size = 1 << digit
    for d in range(count, count + size):
        to[d] = 0
    for t in range(count):
        to[count + ((words[t] >> shift) & (size - 1))] += 1
    total = 0
    for d in range(count, count + size):
        here = to[d]
        to[d] = total
        total += here
    for t in range(count):
        word = words[t]
        d = count + ((word >> shift) & (size - 1))
        at = to[d]
        to[d] = at + 1
        to[at] = word


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


def group_pointers(crd: Ints, w: int, stored: int, ptr: Target, count: int) -> None:
    """Where the components of each of `count` fibers begin; the fiber is the first word."""
    q = 0
    for p in range(count):
        ptr[p] = q
        while q < stored and crd[q * w] == p:
            q += 1
    ptr[count] = q
