"""Sets of numbers as bits of words, and the order of numbers by them. Codelets.

One bit tells that a number is there. Where words have many, they are listed word by word. Where
most have one, it is counted how many come before each word, which tells the place of each number.
Where few have any, a bit of a second level tells that a word has, and one of a third that a word of
the second has: what is set is found from above, in order, at the cost of an instruction for each
bit, and 64 ** 3 places take one word to look at.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from linnet import imp
from linnet.imp.floats import count_bits, lowest_bit

Ints = MutableSequence[int]

_WORD = 6  # bits of the number of a bit in its word
_IN_WORD = 63  # what masks them

# To clear as many places takes as long as to clear a word that is looked up.
_FULL = 256


def words_of(n: imp.Expr) -> imp.Expr:
    """Enough words for all levels of numbers below n: half of them are those of the first."""
    return imp.binary(">>", n, imp.Const(_WORD - 1, imp.INT)) + 3


def has_bit(bits: imp.Buffer, k: imp.Expr) -> imp.Expr:
    """Whether number k is there."""
    return imp.ne(imp.binary("&", bits[_word(k)], _bit(k)), imp.ZERO)


def set_bit(bits: imp.Buffer, k: imp.Expr) -> imp.Store:
    """Put number k there."""
    return imp.Store(bits, _word(k), imp.binary("|", bits[_word(k)], _bit(k)))


def _word(k: imp.Expr) -> imp.Expr:
    return imp.binary(">>", k, imp.Const(_WORD, imp.INT))


def _bit(k: imp.Expr) -> imp.Expr:
    return imp.binary("<<", imp.ONE, _in_word(k))


def _in_word(k: imp.Expr) -> imp.Expr:
    return imp.binary("&", k, imp.Const(_IN_WORD, imp.INT))


def clear_bits(bits: Ints, n: int, keys: Sequence[int], count: int) -> None:
    """Clear the bits of numbers below n that are there, which are listed; if they are many, all."""
    if count * _FULL > n:
        for word in range((n + _IN_WORD) >> _WORD):
            bits[word] = 0
    else:
        for q in range(count):
            bits[keys[q] >> _WORD] = 0


def sort_by_bits(keys: Ints, count: int, n: int, bits: Ints, base: int) -> None:
    """Sort different numbers below n, with words that are 0 and will be, from `base` on."""
    q = 0
    while q < count:  # one loop, where back ends make two of a `for` that writes all over an array
        k = keys[q]
        bits[base + (k >> _WORD)] |= 1 << (k & _IN_WORD)
        q += 1
    list_by_levels(keys, count, n, bits, base)
    q = 0
    while q < count:
        bits[base + (keys[q] >> _WORD)] = 0
        q += 1


def list_words(keys: Ints, n: int, bits: Sequence[int]) -> None:
    """List all numbers below n that are there, in order."""
    out = 0
    for word in range((n + _IN_WORD) >> _WORD):
        out = _list_word(keys, out, bits[word], word)


def sort_by_rank(keys: Ints, count: int, n: int, bits: Ints) -> None:
    """Put the numbers in order that are listed, and there, with room for as many behind them.

    Before a number come those of the words before its own, and those below it in that: nothing
    depends on what is found, where a loop over the bits of a word ends as nobody can tell. The
    words of higher levels hold how many come before each word, and are 0 again.
    """
    before = (n >> _WORD) + 1
    rank = count
    for word in range(before):
        bits[before + word] = rank
        rank += count_bits(bits[word])
    q = 0
    while q < count:
        k = keys[q]
        word = k >> _WORD
        below = bits[word] & ((1 << (k & _IN_WORD)) - 1)
        keys[bits[before + word] + count_bits(below)] = k
        q += 1
    for t in range(count):
        keys[t] = keys[count + t]
    for word in range(before):
        bits[before + word] = 0


def list_by_levels(keys: Ints, count: int, n: int, bits: Ints, base: int) -> None:
    """Put the numbers in order that are listed, and there; words of higher levels stay 0."""
    second = base + (n >> _WORD) + 1
    third = second + (n >> 2 * _WORD) + 1
    q = 0
    while q < count:
        k = keys[q]
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
        out = _list_word(keys, out, bits[base + word], word)
    return out


def _list_word(keys: Ints, out: int, found: int, word: int) -> int:
    """List the numbers of a word."""
    while found != 0:
        keys[out] = (word << _WORD) + lowest_bit(found)
        found &= found - 1
        out += 1
    return out
