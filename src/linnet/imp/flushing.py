"""What becomes of a full accumulation array: one codelet, for both places that call it (WORK §4).

It is sorted, and merged into the all array. Codelets, made of those for one policy and function.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence

from linnet.imp.components import MANY, check_order, group
from linnet.imp.condensing import condensing
from linnet.imp.merging import gathering, merging

Ints = Sequence[int]
Target = MutableSequence[int]
Values = MutableSequence[float]
Combine = Callable[[float, float], float]
Sort = Callable[..., None]


def flushing(combine: Combine, sort: Sort, groups: bool, checked: bool) -> Callable[..., int]:
    """The codelet that gives the number of components in the all array, or -1 if `sort` is wrong.

    With `groups`, components may be moved before they are sorted, and need not be sorted at all
    where `bits` is that of a group of them.
    """
    gather, merge, condense = gathering(combine), merging(combine), condensing(combine)
    right = check_order if checked else _believed

    def arranged(
        crd: Ints, val: Values, w: int, stored: int, count: int, run: Target, late: Values,
        order: Target, slots: Ints, size: int,
    ) -> int:  # fmt: skip
        sort(crd, w, stored, count, order, run, slots, size)
        if not right(crd, w, stored, count, order):
            return -1
        return gather(crd, val, w, stored, count, order, run, late)

    def flush(
        crd: Target, val: Values, w: int, stored: int, count: int, bits: int, run: Target,
        late: Values, order: Target, slots: Ints, size: int,
    ) -> int:  # fmt: skip
        """Sort, and merge; `order` and `late` have room as `bits` says."""
        n = arranged(crd, val, w, stored, count, run, late, order, slots, size)
        if n < 0:
            return n
        return merge(crd, val, w, stored, run, late, n)

    def flush_groups(
        crd: Target, val: Values, w: int, stored: int, count: int, bits: int, run: Target,
        late: Values, order: Target, slots: Ints, size: int,
    ) -> int:  # fmt: skip
        """Add up in groups, or sort; and merge."""
        if bits >= 0:
            n = condense(crd, val, stored, count, bits, run, late, order)
        else:
            if w == 1 and count > MANY:
                group(crd, val, stored, count, run, late, order)
            n = arranged(crd, val, w, stored, count, run, late, order, slots, size)
        if n < 0:
            return n
        return merge(crd, val, w, stored, run, late, n)

    return flush_groups if groups else flush


def _believed(crd: Ints, w: int, base: int, count: int, order: Ints) -> bool:
    """The order need not be looked at."""
    return True


def keep(
    crd: Ints, w: int, base: int, count: int, order: Ints, spare: Ints, slots: Ints, size: int
) -> None:
    """What has been sorted already."""
    return
