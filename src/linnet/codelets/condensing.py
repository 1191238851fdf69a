"""Many components, added up in dense memory group by group (WORK §5.2, bucket sort). Codelets.

Those that lie close together need not be sorted. They are dealt into groups by their
highest bits, and each group is added up in room for all numbers that it may have. One flag for each
tells what is there; flags of flags tell where to look for it.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence

from linnet.codelets.components import deal

Ints = Sequence[int]
Target = MutableSequence[int]
Values = MutableSequence[float]
Combine = Callable[[float, float], float]

_GROUPS = 12  # bits by which components are dealt into groups
_NARROW = 12  # bits of a group that are always worth having dense
_WIDE = 18  # bits of a group whose values and flags still fit a cache
_THIN = 1024  # places of a group for each of its components: with more, sorting is faster
_WORD = 5  # bits of the number of a flag in its word
_DE_BRUIJN = 0x077CB531  # every five bits of it, read around, are another number
TABLES = (1 << _GROUPS) + 1 + 32 + 2 * (1 << (_WIDE - _WORD))  # words of all that is below


def group_bits(bits: int, count: int) -> int:
    """How many bits a group has of components that differ in the last `bits`; -1: sort them."""
    narrow = max(bits - _GROUPS, _NARROW)
    if bits < 0 or narrow > _WIDE:
        return -1
    return narrow if 1 << narrow <= _THIN * max(count >> (bits - min(narrow, bits)), 1) else -1


def adding_up(combine: Combine) -> Callable[..., None]:
    """The codelet that adds up a group in dense memory."""

    def add_up(
        run: Ints, late: Values, begin: int, end: int, low: int, dense: int, tables: Target,
        flags: int, marks: int,
    ) -> None:  # fmt: skip
        """Put the components of a group where their numbers say."""
        for q in range(begin, end):
            x = run[q] - low
            word, bit = flags + (x >> _WORD), 1 << (x & 31)
            old = tables[word]
            if old & bit != 0:
                late[dense + x] = combine(late[dense + x], late[q])
            else:
                late[dense + x] = late[q]
                tables[word] = old | bit
                tables[marks + (x >> 2 * _WORD)] |= 1 << ((x >> _WORD) & 31)

    return add_up


def condensing(combine: Combine) -> Callable[..., int]:
    """The codelet that makes a sorted run of the accumulation array, without sorting it."""
    add_up = adding_up(combine)

    def condense(
        crd: Ints, val: Sequence[float], base: int, count: int, bits: int, shift: int, run: Target,
        late: Values, tables: Target,
    ) -> int:  # fmt: skip
        """Copy components in order, those that are the same combined; return how many are left.

        They differ in the last `bits`, and those of a group in `shift` of them. `late` has room for
        a group behind all components, `tables` for TABLES words.
        """
        low, groups = crd[base] >> bits << bits, 1 << max(bits - shift, 0)
        numbers, marks = groups, groups + 32
        flags = marks + (1 << (shift - 2 * _WORD))
        deal(crd, val, base, count, low, shift, run, late, tables, groups)
        _number_bits(tables, numbers)
        for t in range(marks, flags + (1 << (shift - _WORD))):
            tables[t] = 0
        begin, out = 0, 0
        for d in range(groups):
            end, first = tables[d], low + (d << shift)
            if begin < end:
                add_up(run, late, begin, end, first, count, tables, flags, marks)
                out = _list(run, late, out, first, count, tables, flags, marks, numbers)
            begin = end
        return out

    return condense


def _number_bits(tables: Target, numbers: int) -> None:
    """The number of the only bit that is set, by what De Bruijn's sequence makes of it."""
    for k in range(32):
        tables[numbers + (((_DE_BRUIJN << k) & 0xFFFFFFFF) >> 27)] = k


def _list(
    run: Target, late: Values, out: int, low: int, dense: int, tables: Target, flags: int,
    marks: int, numbers: int,
) -> int:  # fmt: skip
    """List a group in order, from `out` on, and clear its flags; return where it ends."""
    for mark in range(marks, flags):
        words = tables[mark]
        tables[mark] = 0
        while words != 0:
            word = ((mark - marks) << _WORD) + _lowest_bit(words, tables, numbers)
            words = words & (words - 1)
            bits = tables[flags + word]
            tables[flags + word] = 0
            while bits != 0:
                x = (word << _WORD) + _lowest_bit(bits, tables, numbers)
                bits = bits & (bits - 1)
                run[out] = low + x
                late[out] = late[dense + x]
                out += 1
    return out


def _lowest_bit(word: int, tables: Ints, numbers: int) -> int:
    """The number of the lowest bit that is set."""
    return tables[numbers + ((((word & -word) * _DE_BRUIJN) & 0xFFFFFFFF) >> 27)]
