"""The merge stage of a sparse workspace (WORK §4.3), for any function that combines two values.

The sorted accumulation array is first gathered into a run without duplicates. That is merged into
the all array from behind, so that no second all array is needed; into a much longer one it is
woven: what both have is searched for and combined first. Or both are merged into a second all array
(WORK §5.3). Words of one side often follow each other: they are copied in loops of their own, which
need not wait for a comparison to know what to compare next. Codelets, made for a function
`combine(old, new)`.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence

from linnet.codelets.components import compare, copy
from linnet.codelets.searching import gallop

Ints = Sequence[int]
Target = MutableSequence[int]
Values = MutableSequence[float]
Combine = Callable[[float, float], float]

_ENOUGH = 1 << 17  # components that are merged at once, if there are so many already
_FRESH = 3  # components that accumulate for each that was new the last time, at most
_NEAR = 8  # a run is merged one by one into an all array that is at most so many times as long


def gathering(combine: Combine) -> Callable[..., int]:
    """The codelet that makes a sorted run of the accumulation array."""

    def gather(
        crd: Ints, val: Values, w: int, base: int, count: int, order: Ints, run: Target,
        late: Values,
    ) -> int:  # fmt: skip
        """Copy components in order, those that are the same combined; return how many are left."""
        last = 0
        if w == 1:
            run[0] = crd[base + order[0]]
            late[0] = val[base + order[0]]
            for t in range(1, count):
                e = base + order[t]
                key = crd[e]
                if key == run[last]:
                    late[last] = combine(late[last], val[e])
                else:
                    last += 1
                    run[last] = key
                    late[last] = val[e]
            return last + 1
        copy(crd, base + order[0], run, 0, w)
        late[0] = val[base + order[0]]
        for t in range(1, count):
            e = base + order[t]
            if compare(crd, e, run, last, w) == 0:
                late[last] = combine(late[last], val[e])
            else:
                last += 1
                copy(crd, e, run, last, w)
                late[last] = val[e]
        return last + 1

    return gather


def absorbing(combine: Combine) -> Callable[..., int]:
    """The codelet that looks a run up in the all array, which may be much longer."""

    def absorb(
        crd: Ints, val: Values, w: int, stored: int, run: Target, late: Values, count: int
    ) -> int:
        """Combine duplicates in the all array; the run keeps the rest, whose number is returned."""
        p, left = 0, 0
        for r in range(count):
            if w == 1:
                p = gallop(crd, p, stored, run[r])
            else:
                while p < stored and compare(crd, p, run, r, w) < 0:
                    p += 1
            if p < stored and compare(crd, p, run, r, w) == 0:
                val[p] = combine(val[p], late[r])
            else:
                for k in range(w):
                    run[left * w + k] = run[r * w + k]
                late[left] = late[r]
                left += 1
        return left

    return absorb


def interleaving(combine: Combine) -> Callable[..., int]:
    """The codelet that merges a run into an all array whose words lie about as close."""

    def interleave(
        crd: Target, val: Values, stored: int, run: Ints, late: Values, count: int
    ) -> int:
        """Merge words from behind, then close the gap that duplicates have left."""
        p, r, out = stored - 1, count - 1, stored + count - 1
        while p >= 0 and r >= 0:
            new = run[r]
            while p >= 0 and crd[p] > new:
                crd[out] = crd[p]
                val[out] = val[p]
                p -= 1
                out -= 1
            if p < 0:
                break
            old = crd[p]
            while r >= 0 and run[r] > old:
                crd[out] = run[r]
                val[out] = late[r]
                r -= 1
                out -= 1
            if r >= 0 and run[r] == old:
                crd[out] = old
                val[out] = combine(val[p], late[r])
                p -= 1
                r -= 1
                out -= 1
        while r >= 0:
            crd[out] = run[r]
            val[out] = late[r]
            r -= 1
            out -= 1
        return close_gap(crd, val, p + 1, out + 1, stored + count)

    return interleave


def close_gap(crd: Target, val: Values, begin: int, end: int, stored: int) -> int:
    """Move what is behind a gap to where it begins; return how much there is then."""
    gap = end - begin
    if gap > 0:
        for t in range(end, stored):
            crd[t - gap] = crd[t]
            val[t - gap] = val[t]
    return stored - gap


def merging(combine: Combine) -> Callable[..., int]:
    """The codelet that merges a run into the all array."""
    absorb, interleave = absorbing(combine), interleaving(combine)

    def merge(
        crd: Target, val: Values, w: int, stored: int, run: Target, late: Values, count: int
    ) -> int:
        """Merge, and say how many components there are then."""
        if w == 1 and stored < _NEAR * count:
            return interleave(crd, val, stored, run, late, count)
        left = absorb(crd, val, w, stored, run, late, count)
        weave(crd, val, w, stored, run, late, left)
        return stored + left

    return merge


def pairing(combine: Combine) -> Callable[..., int]:
    """The codelet that merges an all array and a run whose words lie about as close."""

    def pair(
        crd: Ints, val: Values, stored: int, run: Ints, late: Values, count: int, to: Target,
        to_val: Values,
    ) -> int:  # fmt: skip
        """Merge words into another all array."""
        p, r, out = 0, 0, 0
        while p < stored and r < count:
            new = run[r]
            while p < stored and crd[p] < new:
                to[out] = crd[p]
                to_val[out] = val[p]
                p += 1
                out += 1
            if p >= stored:
                break
            old = crd[p]
            while r < count and run[r] < old:
                to[out] = run[r]
                to_val[out] = late[r]
                r += 1
                out += 1
            if r < count and run[r] == old:
                to[out] = old
                to_val[out] = combine(val[p], late[r])
                p += 1
                r += 1
                out += 1
        out = append(crd, val, 1, p, stored, to, to_val, out)
        return append(run, late, 1, r, count, to, to_val, out)

    return pair


def doubling(combine: Combine) -> Callable[..., int]:
    """The codelet that merges the all array and a run into another all array."""
    pair = pairing(combine)

    def merge_into(
        crd: Ints, val: Values, w: int, stored: int, run: Ints, late: Values, count: int,
        to: Target, to_val: Values,
    ) -> int:  # fmt: skip
        """Merge, and say how many components there are then."""
        if w == 1 and stored < _NEAR * count:
            return pair(crd, val, stored, run, late, count, to, to_val)
        p, out = 0, 0
        for r in range(count):
            begin = p
            if w == 1:
                p = gallop(crd, p, stored, run[r])
            else:
                while p < stored and compare(crd, p, run, r, w) < 0:
                    p += 1
            out = append(crd, val, w, begin, p, to, to_val, out)
            copy(run, r, to, out, w)
            to_val[out] = late[r]
            if p < stored and compare(crd, p, run, r, w) == 0:
                to_val[out] = combine(val[p], late[r])
                p += 1
            out += 1
        return append(crd, val, w, p, stored, to, to_val, out)

    return merge_into


def append(
    crd: Ints, val: Sequence[float], w: int, begin: int, end: int, to: Target, to_val: Values,
    out: int,
) -> int:  # fmt: skip
    """Copy components to where others end; return where these do."""
    for k in range((end - begin) * w):
        to[out * w + k] = crd[begin * w + k]
    for p in range(begin, end):
        to_val[out + p - begin] = val[p]
    return out + end - begin


def weave(
    crd: Target, val: Values, w: int, stored: int, run: Ints, late: Sequence[float], count: int
) -> None:
    """Merge a run that has nothing in common with the all array into it, from behind."""
    p = stored - 1
    for k in range(count):
        r = count - 1 - k
        while p >= 0 and compare(crd, p, run, r, w) > 0:
            for j in range(w):
                crd[(p + r + 1) * w + j] = crd[p * w + j]
            val[p + r + 1] = val[p]
            p -= 1
        copy(run, r, crd, p + r + 1, w)
        val[p + r + 1] = late[r]


def grown(stored: int, first: int, share: int, fresh: int) -> int:
    """How many components to accumulate next: more, the more there are to merge with (WORK §5.1).

    Merging takes time in proportion to what is stored, so that a share of it, told in 256ths, must
    come together to be worth it; a few are not worth a thought. Where few were `fresh` the last
    time, there are few to come in between the others, and no more room is needed.
    """
    more = min((stored * share) >> 8, _FRESH * fresh)
    return max(first, min(8 * stored, ((_ENOUGH * share) >> 8) + more))
