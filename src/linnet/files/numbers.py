"""Numbers in text, read exactly. Codelets: ordinary Python, compiled on demand.

A decimal number w * 10**q becomes the double that is nearest to it by one or two products with a
power of five to 128 bits (Lemire, "Number parsing at a gigabyte per second", 2021), in integers
only: what is stored are the bits. What takes more (20 digits, the ends of the range, `nan`) is left
to Python: a negative result says so. Digits are taken by eights, so that up to seven bytes behind a
text are looked at.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING

from linnet.files.powers import GREATEST, LEAST

if TYPE_CHECKING:
    uint64 = int  # all integers are, to who only looks at types
else:
    from numpy import uint64

Text = Sequence[int]
Bits = MutableSequence[int]

_LOW = 0xFFFFFFFF
_HIGH = 0xF0F0F0F0F0F0F0F0  # of each byte
_TOP = 1 << 63


def read_real(text: Text, p: int, values: Bits, at: int, powers: Sequence[int]) -> int:
    """Read a number that begins at p into values[at]; return where it ends, or -1."""
    negative = text[p] == 45
    if negative or text[p] == 43:
        p += 1
    start = p
    w = uint64(0)
    while 48 <= text[p] <= 57:
        w = w * 10 + uint64(text[p] - 48)
        p += 1
    digits = p - start
    q = 0
    if text[p] == 46:
        p += 1
        dot = p
        word = eight(text, p)
        while is_digits(word):
            w = w * 100000000 + number_of(word)
            p += 8
            word = eight(text, p)
        while 48 <= text[p] <= 57:
            w = w * 10 + uint64(text[p] - 48)
            p += 1
        q = dot - p
        digits -= q
    if digits == 0:
        return -1
    if digits > 19 and digits - zeros_in_front(text, start) > 19:
        return -1
    if (text[p] | 32) == 101 or (text[p] | 32) == 100:  # e, or d as in Fortran
        start = p + 1
        p = exponent_end(text, start)
        q += exponent(text, start, p)
    if p < 0 or text[p] > 32:
        return -1
    bits = nearest(w, q, powers)
    if bits == _TOP:
        return -1
    values[at] = bits | _TOP if negative else bits
    return p


def eight(text: Text, p: int) -> int:
    """Eight characters as one number, the first in the lowest byte: one load."""
    low = uint64(text[p]) | uint64(text[p + 1]) << 8 | uint64(text[p + 2]) << 16
    low = low | uint64(text[p + 3]) << 24 | uint64(text[p + 4]) << 32 | uint64(text[p + 5]) << 40
    return low | uint64(text[p + 6]) << 48 | uint64(text[p + 7]) << 56


def is_digits(word: int) -> bool:
    """Whether eight characters are digits: 0x30 to 0x39 each, also when 6 is added."""
    more = ((word + 0x0606060606060606) & _HIGH) >> 4
    return ((word & _HIGH) | more) == 0x3333333333333333


def number_of(word: int) -> int:
    """The number that eight digits are: neighbours are joined to pairs, fours, and all."""
    word = (word & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8
    word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16
    return (word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32


def zeros_in_front(text: Text, p: int) -> int:
    """How many digits of a number are 0 before the first other one."""
    zeros = 0
    while text[p] == 48 or text[p] == 46:
        zeros += text[p] == 48
        p += 1
    return zeros


def exponent_end(text: Text, p: int) -> int:
    """Where an exponent ends, or -1 if there is none, or one beyond all reason."""
    start = p + (text[p] == 45 or text[p] == 43)
    p = start
    while 48 <= text[p] <= 57:
        p += 1
    return p if 0 < p - start < 10 else -1


def exponent(text: Text, p: int, end: int) -> int:
    """The exponent in text[p:end], with its sign."""
    negative = text[p] == 45
    e = 0
    for k in range(p + (negative or text[p] == 43), end):
        e = e * 10 + (text[k] - 48)
    return -e if negative else e


def nearest(w: int, q: int, powers: Sequence[int]) -> int:
    """The bits of the double nearest to w * 10**q, or those of -0.0 where this takes more."""
    if w == 0:
        return uint64(0)
    if q < LEAST or q > GREATEST:
        return uint64(_TOP)
    zeros = leading_zeros(w)
    w = w << uint64(zeros)
    at = 2 * (q - LEAST)
    high, low = times_high(w, powers[at]), w * powers[at]
    if (high & 0x1FF) == 0x1FF:  # the first 64 bits of the power do not tell
        more = times_high(w, powers[at + 1])
        low = low + more
        high = high + uint64(more > low)
    upper = high >> 63
    mantissa = high >> (upper + 9)
    power = ((217706 * q) >> 16) + 1086 + int(upper) - zeros
    if power <= 0:
        return uint64(_TOP)
    halfway = low <= 1 and -4 <= q <= 23 and (mantissa & 3) == 1
    if halfway and (mantissa << (upper + 9)) == high:
        mantissa = mantissa - 1  # exactly between two: the even one
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >= (2 << 52):
        mantissa = mantissa >> 1
        power += 1
    if power >= 2047:
        return uint64(_TOP)
    return (mantissa & ((1 << 52) - 1)) | (uint64(power) << 52)


def times_high(a: int, b: int) -> int:
    """The upper half of the product of two numbers of 64 bits."""
    mid = (a >> 32) * (b & _LOW) + ((a & _LOW) * (b & _LOW) >> 32)
    other = (a & _LOW) * (b >> 32) + (mid & _LOW)
    return (a >> 32) * (b >> 32) + (mid >> 32) + (other >> 32)


def leading_zeros(w: int) -> int:
    """How many bits of a number other than 0 are 0 in front, of 64."""
    zeros = 0
    size = 32
    while size > 0:
        small = w < (uint64(1) << uint64(64 - size))
        w = (w << uint64(size)) if small else w
        zeros += size * small
        size >>= 1
    return zeros


def read_whole(text: Text, p: int, values: Bits, at: int) -> int:
    """Read an integer that begins at p into values[at]; return where it ends, or -1."""
    negative = text[p] == 45
    if negative or text[p] == 43:
        p += 1
    start = p
    w = 0
    while 48 <= text[p] <= 57:
        w = w * 10 + (text[p] - 48)
        p += 1
    if p == start or p - start > 18 or text[p] > 32:
        return -1
    values[at] = uint64(-w if negative else w)
    return p
