"""Many components with their values, sorted by digits from the highest on (WORK §5.2). Codelets.

To sort numbers of components and to fetch those afterwards, one from here and one from there, takes
longer than to move components with their values, bucket by bucket, once there are more than a cache
holds. What has accumulated is not needed any more when it has been dealt: it is the spare room.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence

from linnet.codelets.components import MANY, bit_length
from linnet.codelets.merging import append
from linnet.codelets.radix import deal, leading_bits, sort_bucket

Target = MutableSequence[int]
Values = MutableSequence[float]
Combine = Callable[[float, float], float]


def is_rising(crd: Sequence[int], base: int, count: int) -> bool:
    """Whether each of some words is more than the one before it."""
    t = base + 1
    while t < base + count and crd[t - 1] < crd[t]:
        t += 1
    return t == base + count


def last_bits(crd: Sequence[int], w: int, base: int, count: int) -> int:
    """How many of their last bits tell many components of one word apart; -1 of others."""
    if w != 1 or count <= MANY:
        return -1
    found = 0
    for t in range(base, base + count):
        found |= crd[t] ^ crd[base]
    return bit_length(found)


def ordering(combine: Combine) -> Callable[..., int]:
    """The codelet that makes a sorted run of the accumulation array, whose words are numbers."""

    def close_up(run: Target, late: Values, begin: int, end: int, out: int) -> int:
        """Move a sorted bucket to where others end, equal ones combined; return where it ends."""
        q = begin
        while q < end:
            key = run[q]
            value = late[q]
            q += 1
            while q < end and run[q] == key:
                value = combine(value, late[q])
                q += 1
            run[out] = key
            late[out] = value
            out += 1
        return out

    def put_in_order(
        crd: Target, val: Values, base: int, count: int, bits: int, run: Target, late: Values,
        ends: Target,
    ) -> int:  # fmt: skip
        """Copy components in order, those that are the same combined; return how many are left.

        They differ in the last `bits`, one or more. `ends` has room for PLACES words.
        """
        if is_rising(crd, base, count):
            return append(crd, val, 1, base, base + count, run, late, 0)
        deal(crd, val, base, run, late, 0, count, ends, 0, bits)
        width = leading_bits(count, bits)
        begin, out, buckets = 0, 0, 1 << width
        for d in range(buckets):
            n = ends[d] - begin
            if n > 1:
                sort_bucket(run, late, begin, crd, val, base, n, ends, buckets, bits - width, False)
            out = close_up(run, late, begin, begin + n, out)
            begin += n
        return out

    return put_in_order
