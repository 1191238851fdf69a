"""Exponentials in double precision without branches, tables or calls, so that loops vectorize.

    exp x = 2 ** k * exp r     with k whole and |r| <= ln 2 / 2
    exp r = 1 + r + r² tail(r)

Polynomials are near-minimax fits. Where a sum would lose digits, what is rounded off is carried
along as a second number. Errors are below one unit in the last place, as tests measure.
"""

from __future__ import annotations

import math

from linnet.imp.floats import bits, fma, from_bits

# Added to a number it leaves the nearest whole number in the lowest bits.
SHIFT = 6755399441055744.0  # 1.5 * 2 ** 52
SHIFT_BITS = 0x4338000000000000
LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453  # and what is rounded off:
LN2_LOW = 2.3190468138462996e-17
TINY = 1e-17  # x is beyond the last digit of one
SMALL = 1e-9  # x² is


def power_of_two(k: int) -> float:
    """`2 ** k`, for a k from -1022 to 1023."""
    return from_bits((k + 1023) << 52)


def exp_tail(r: float) -> float:
    """`(exp r - 1 - r) / r²` for |r| <= 0.3467."""
    p = fma(r, 2.0914707069612355e-09, 2.510524515390137e-08)
    p = fma(r, p, 2.7557273594799413e-07)
    p = fma(r, p, 2.755725533255441e-06)
    p = fma(r, p, 2.480158732558584e-05)
    p = fma(r, p, 0.00019841269874873975)
    p = fma(r, p, 0.0013888888888883737)
    p = fma(r, p, 0.00833333333332612)
    p = fma(r, p, 0.04166666666666667)
    p = fma(r, p, 0.1666666666666667)
    return fma(r, p, 0.5)


def scaled(y: float, k: int) -> float:
    """`y * 2 ** k`, in two steps, of which only the second may round."""
    half = k >> 1
    return y * power_of_two(half) * power_of_two(k - half)


def exp(x: float) -> float:
    """`e ** x`"""
    x = 710.0 if x > 710.0 else x
    x = -746.0 if x < -746.0 else x
    shifted = fma(x, LOG2E, SHIFT)
    n = shifted - SHIFT
    r = fma(n, -LN2_LOW, fma(n, -LN2, x))
    total = 1 + r
    y = total + fma(r * r, exp_tail(r), (1 - total) + r)
    return scaled(y, bits(shifted) - SHIFT_BITS)


def exp2(x: float) -> float:
    """`2 ** x`"""
    x = 1025.0 if x > 1025.0 else x
    x = -1076.0 if x < -1076.0 else x
    shifted = x + SHIFT
    r = x - (shifted - SHIFT)
    p = fma(r, 2.5729344553786755e-11, 4.455822025014915e-10)
    p = fma(r, p, 7.054897292691627e-09)
    p = fma(r, p, 1.0178057064573359e-07)
    p = fma(r, p, 1.3215486808727859e-06)
    p = fma(r, p, 1.5252733841601815e-05)
    p = fma(r, p, 0.00015403530393370715)
    p = fma(r, p, 0.0013333558146406436)
    p = fma(r, p, 0.00961812910762848)
    p = fma(r, p, 0.055504108664821625)
    p = fma(r, p, 0.24022650695910072)
    p = fma(r, p, LN2)
    return scaled(fma(r, p, 1.0), bits(shifted) - SHIFT_BITS)


# `(exp x - 1) / 4` as the sum of two numbers; divided, it overflows no earlier than its users do.
# With s = 2 ** (k - 2) it is (s - 1/4) + s r + s r² tail(r), where the first sum is the larger
# number, and what that has rounded off is part of the smaller one.


def quarter_expm1(x: float) -> float:
    """The larger part, for an x from -40 to 710.6."""
    shifted = fma(x, LOG2E, SHIFT)
    n = shifted - SHIFT
    s = power_of_two(bits(shifted) - SHIFT_BITS - 2)
    return fma(s, fma(n, -LN2, x) - n * LN2_LOW, s - 0.25)


def quarter_expm1_rest(x: float) -> float:
    """The smaller part, a third of the larger at most."""
    shifted = fma(x, LOG2E, SHIFT)
    n = shifted - SHIFT
    s = power_of_two(bits(shifted) - SHIFT_BITS - 2)
    whole = fma(n, -LN2, x)
    r = whole - n * LN2_LOW
    lost = fma(n, -LN2_LOW, whole - r)
    start = s - 0.25
    added = fma(s, r, start - fma(s, r, start)) + ((s - start) - 0.25)
    return fma(s, fma(r * r, exp_tail(r), fma(lost, r, lost)), added)


def expm1(x: float) -> float:
    """`exp x - 1`"""
    y = 710.0 if x > 710.0 else x
    y = -40.0 if y < -40.0 else y
    z = 4 * (quarter_expm1(y) + quarter_expm1_rest(y))
    return x if abs(x) < TINY else z


def rounded_off(a: float, b: float, total: float) -> float:
    """What `total = a + b` has lost."""
    seen = total - a
    return (a - (total - seen)) + (b - seen)


def sinh(x: float) -> float:
    """With h = (exp |x| - 1) / 4: 2 (h + h / (4 h + 1))."""
    a = abs(x)
    y = 710.6 if a > 710.6 else a
    first = quarter_expm1(y)
    second = quarter_expm1_rest(y)
    h = first + second
    low = (first - h) + second
    below = 4 * h + 1
    below_low = rounded_off(4 * h, 1.0, below) + 4 * low
    inverse = 1 / below
    q = h * inverse
    q_low = (fma(-q, below, h) + fma(-q, below_low, low)) * inverse
    total = h + q
    y = total + ((h - total) + q + (low + q_low))
    y = h if h > 1e300 else y  # four times as much is infinite
    return x if a < SMALL else math.copysign(2 * y, x)


def cosh(x: float) -> float:
    """With h = exp |x| / 4: 2 (h + 1 / (16 h))."""
    a = abs(x)
    a = 710.6 if a > 710.6 else a
    first = quarter_expm1(a)
    second = quarter_expm1_rest(a)
    part = first + second
    h = part + 0.25
    low = rounded_off(part, 0.25, h) + ((first - part) + second)
    inverse = 0.0625 / h
    inverse_low = (fma(-inverse, h, 0.0625) - inverse * low) * (16 * inverse)
    total = h + inverse
    return 2 * (total + (rounded_off(h, inverse, total) + (low + inverse_low)))


def tanh(x: float) -> float:
    """With h = (exp 2 |x| - 1) / 4: h / (h + 1 / 2)."""
    a = abs(x)
    y = 44.0 if a > 22.0 else 2 * a
    first = quarter_expm1(y)
    second = quarter_expm1_rest(y)
    h = first + second
    low = (first - h) + second
    below = h + 0.5
    below_low = rounded_off(h, 0.5, below) + low
    inverse = 1 / below
    q = h * inverse
    y = fma(fma(-q, below, h) + fma(-q, below_low, low), inverse, q)
    return x if a < SMALL else math.copysign(y, x)
