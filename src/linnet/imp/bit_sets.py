"""Sorting of numbers that are all different by setting a bit for each. Codelets.

One bit tells that a number is there, one of a second level that its word has any, and one of a
third that a word of the second has. What is set is found from above, in order, at the cost of an
instruction for each bit, and all is cleared on the way: 64 ** 3 places take one word to look at.
"""

from __future__ import annotations

from collections.abc import MutableSequence

from linnet import imp
from linnet.imp.floats import lowest_bit

Ints = MutableSequence[int]

_WORD = 6  # bits of the number of a bit in its word
_IN_WORD = 63  # what masks them


def words_of(n: imp.Expr) -> imp.Expr:
    """Enough words for all levels of numbers below n: half of them are those of the first."""
    return imp.binary(">>", n, imp.Const(_WORD - 1, imp.INT)) + 3


def sort_by_bits(keys: Ints, count: int, n: int, bits: Ints, base: int) -> None:
    """Sort different numbers below n, with words that are 0 and will be, from `base` on."""
    second = base + (n >> _WORD) + 1
    third = second + (n >> 2 * _WORD) + 1
    q = 0
    while q < count:  # one loop, where back ends make two of a `for` that writes all over an array
        k = keys[q]
        bits[base + (k >> _WORD)] |= 1 << (k & _IN_WORD)
        bits[second + (k >> 2 * _WORD)] |= 1 << ((k >> _WORD) & _IN_WORD)
        bits[third + (k >> 3 * _WORD)] |= 1 << ((k >> 2 * _WORD) & _IN_WORD)
        q += 1
    out = 0
    for t in range((n >> 3 * _WORD) + 1):
        parts = bits[third + t]
        bits[third + t] = 0
        while parts != 0:
            part = (t << _WORD) + lowest_bit(parts)
            parts &= parts - 1
            out = _list_part(keys, out, bits, base, second, part)


def _list_part(keys: Ints, out: int, bits: Ints, base: int, second: int, part: int) -> int:
    """List the numbers of a word of the second level from `out` on; return where they end."""
    words = bits[second + part]
    bits[second + part] = 0
    while words != 0:
        word = (part << _WORD) + lowest_bit(words)
        words &= words - 1
        found = bits[base + word]
        bits[base + word] = 0
        while found != 0:
            keys[out] = (word << _WORD) + lowest_bit(found)
            found &= found - 1
            out += 1
    return out
