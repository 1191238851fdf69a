"""What becomes of a full accumulation array: it is arranged, and merged (WORK §4, §5.3). Codelets.

`arrange` makes a sorted run of it. `stage` does that, and merges the run into the all array: all
that there is to do for a thread of its own, while others accumulate. Both are made of codelets for
one policy and function.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence

from linnet.codelets.components import ROOM, check_order
from linnet.codelets.condensing import condensing, group_bits
from linnet.codelets.merging import gathering
from linnet.codelets.ordering import ordering

Ints = Sequence[int]
Target = MutableSequence[int]
Values = MutableSequence[float]
Combine = Callable[[float, float], float]
Codelet = Callable[..., None]

ALARM, STORED, FRESH = 0, 2, 3
"""What a stage tells: whether its policy went astray, what is stored now, and what of it is new."""
TOLD = 4


def arranging(combine: Combine, sort: Codelet, groups: bool, checked: bool) -> Callable[..., int]:
    """The codelet that gives the number of components of the run, or -1 if `sort` is wrong.

    With `groups`, many components are moved with their values, told apart by their last `bits`, and
    need not be sorted at all where these lie close together. There is room for what is done.
    """
    gather, condense, put_in_order = gathering(combine), condensing(combine), ordering(combine)
    right = check_order if checked else _believed

    def arrange(
        crd: Ints, val: Values, w: int, base: int, count: int, bits: int, run: Target,
        late: Values, order: Target, slots: Ints, size: int,
    ) -> int:  # fmt: skip
        """Sort."""
        sort(crd, w, base, count, order, run, slots, size)
        if not right(crd, w, base, count, order):
            return -1
        return gather(crd, val, w, base, count, order, run, late)

    def arrange_groups(
        crd: Target, val: Values, w: int, base: int, count: int, bits: int, run: Target,
        late: Values, order: Target, slots: Ints, size: int,
    ) -> int:  # fmt: skip
        """Add up in groups, or sort, values and all."""
        shift = group_bits(bits, count)
        if shift >= 0:
            return condense(crd, val, base, count, bits, shift, run, late, order)
        if bits >= 0:
            return put_in_order(crd, val, base, count, bits, run, late, order)
        return arrange(crd, val, w, base, count, bits, run, late, order, slots, size)

    return arrange_groups if groups else arrange


def staging(
    arrange: Callable[..., int], merge: Callable[..., int], clear: Codelet, doubled: bool
) -> Codelet:
    """The codelet for a thread: it sorts and merges, and clears the table of the policy.

    `told` becomes what is stored then, or -1 if the order is wrong. If the all array is `doubled`,
    the accumulation array is what is merged into.
    """

    def merge_in_place(
        old: Target, old_val: Values, w: int, stored: int, run: Target, late: Values, n: int,
        crd: Ints, val: Values,
    ) -> int:  # fmt: skip
        return merge(old, old_val, w, stored, run, late, n)

    merge_all = merge if doubled else merge_in_place

    def stage(
        crd: Target, val: Values, w: int, count: int, bits: int, run: Target, late: Values,
        order: Target, slots: Target, size: int, old: Target, old_val: Values, stored: int,
        told: Target,
    ) -> None:  # fmt: skip
        n = arrange(crd, val, w, 0, count, bits, run, late, order, slots, size)
        clear(slots, size, count)
        told[STORED] = -1
        if n >= 0:
            told[STORED] = merge_all(old, old_val, w, stored, run, late, n, crd, val)
            told[FRESH] = told[STORED] - stored

    return stage


def guarded_staging(sort: Codelet, stage: Codelet, clear: Codelet) -> Codelet:
    """The same for codelets that somebody else wrote, which are told the lengths of arrays.

    The table has so many `words`. `stage` neither sorts nor clears.
    """

    def guarded_stage(
        crd: Target, val: Values, w: int, count: int, bits: int, run: Target, late: Values,
        order: Target, slots: Target, size: int, old: Target, old_val: Values, stored: int,
        told: Target, words: int,
    ) -> None:  # fmt: skip
        n, run_words = count + ROOM, count * w + ROOM
        sort(crd, w, 0, count, order, run, slots, size, -count * w, n, run_words, words, told)
        if told[ALARM] == 0:
            stage(
                crd, val, w, count, bits, run, late, order, slots, size, old, old_val, stored, told
            )
        clear(slots, size, count, words, told)

    return guarded_stage


def _believed(crd: Ints, w: int, base: int, count: int, order: Ints) -> bool:
    """The order need not be looked at."""
    return True


def keep(
    crd: Ints, w: int, base: int, count: int, order: Ints, spare: Ints, slots: Ints, size: int
) -> None:
    """What has been sorted already."""
    return


def leave(slots: Ints, size: int, count: int) -> None:
    """There is no table to be cleared, or it has been."""
    return
