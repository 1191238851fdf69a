"""Logarithms in double precision without branches, tables or calls, so that loops vectorize.

    log x = k ln 2 + log m        with k whole and m = 1 + f between the roots of 1/2 and 2
    log m = f - f²/2 + s (f²/2 + s² tail(s²))        with s = f / (2 + f)

Where a sum would lose digits, what is rounded off is carried along as a second number.
"""

from __future__ import annotations

import math

from linnet.algebra.exponentials import LN2, LOG2E, SMALL, rounded_off
from linnet.imp.floats import bits, fma, from_bits

ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
LEAST = 2.2250738585072014e-308  # the least normal number
UPSCALE = 18014398509481984.0  # 2 ** 54
LN2_SHORT = 0.6931471805598903  # 42 bits: its products with exponents are exact
LN2_REST = 5.497923018708371e-14
LOG2E_LOW = 2.0355273740931033e-17
LOG10E = 0.4342944819032518
LOG10E_LOW = 1.098319650216765e-17
LOG10_2_SHORT = 0.30102999566395283
LOG10_2_REST = 2.8363394551044964e-14


def log_tail(z: float) -> float:
    """`(log((1 + s) / (1 - s)) - 2 s) / s³` for z = s² <= 0.02945."""
    p = fma(z, 0.1461703754879165, 0.1533167403016786)
    p = fma(z, p, 0.18182890556695602)
    p = fma(z, p, 0.2222221111514416)
    p = fma(z, p, 0.2857142862609589)
    p = fma(z, p, 0.3999999999989924)
    return fma(z, p, 0.666666666666667)


def log_rest(f: float) -> float:
    """`f - log(1 + f)`, for an f from -0.293 to 0.4143."""
    s = f / (2 + f)
    z = s * s
    half = 0.5 * f * f
    return half - s * fma(z, log_tail(z), half)


def exponent(y: float) -> int:
    """k, where y = m * 2 ** k, for a normal number."""
    return (bits(y) - ROOT_HALF_BITS) >> 52


def fraction(y: float) -> float:
    """f, where y = (1 + f) * 2 ** k, for a normal number."""
    return from_bits(bits(y) - (exponent(y) << 52)) - 1


def normal(x: float) -> float:
    """x, or if it is too small, 2 ** 54 of it."""
    up = x * UPSCALE
    return up if x < LEAST else x


def whole(x: float) -> float:
    """The exponent of any positive number."""
    n = float(exponent(normal(x)))
    return n - 54 if x < LEAST else n


def settled(y: float, x: float) -> float:
    """y, if it is the logarithm of a positive number x; else what the logarithm of x is."""
    y = y if x < math.inf else x
    edge = -math.inf if x == 0 else math.nan
    return y if x > 0 else edge


def log(x: float) -> float:
    """The natural logarithm."""
    n = whole(x)
    f = fraction(normal(x))
    top = n * LN2_SHORT
    total = top + f
    low = ((top - total) + f) + fma(n, LN2_REST, -log_rest(f))
    return settled(total + low, x)


def log_of_sum(x: float, more: float) -> float:
    """`log(1 + x + more)`, where `more` is below the last digit of 1 + x."""
    u = 1 + x
    ratio = (rounded_off(1.0, x, u) + more) / u
    lost = 0.0 if u > 1e300 else ratio
    n = float(exponent(u))
    f = fraction(u)
    top = n * LN2_SHORT
    total = top + f
    low = ((top - total) + f) + (fma(n, LN2_REST, lost) - log_rest(f))
    return total + low


def log1p(x: float) -> float:
    """`log(1 + x)`"""
    y = settled(log_of_sum(x, 0.0), 1 + x)
    return x if x == 0 else y


def log2(x: float) -> float:
    """The logarithm to base 2."""
    n = whole(x)
    f = fraction(normal(x))
    rest = log_rest(f)
    h = f - rest
    low = (f - h) - rest
    p = h * LOG2E
    p_low = fma(h, LOG2E, -p) + fma(h, LOG2E_LOW, low * LOG2E)
    total = n + p
    return settled(total + ((n - total) + p + p_low), x)


def log10(x: float) -> float:
    """The logarithm to base 10."""
    n = whole(x)
    f = fraction(normal(x))
    rest = log_rest(f)
    h = f - rest
    low = (f - h) - rest
    p = h * LOG10E
    p_low = fma(h, LOG10E, -p) + fma(h, LOG10E_LOW, low * LOG10E)
    top = n * LOG10_2_SHORT
    total = top + p
    return settled(total + ((top - total) + p + fma(n, LOG10_2_REST, p_low)), x)


def asinh(x: float) -> float:
    """`log(1 + |x| + x² / (1 + sqrt(1 + x²)))`, or `log 2 |x|` if that is large."""
    a = abs(x)
    c = 1e8 if a > 1e8 else a
    square = c * c
    below = 1 + math.sqrt(1 + square)
    inverse = 1 / below
    t = square * inverse
    t_low = (fma(-t, below, square) + fma(c, c, -square)) * inverse
    total = c + t
    y = log_of_sum(total, (c - total) + t + t_low)
    large = log(a) + LN2
    y = large if a > 1e8 else y
    return x if a < SMALL else math.copysign(y, x)


def acosh(x: float) -> float:
    """`log(1 + t + sqrt(2 t + t²))` with t = x - 1, or `log 2 x` if that is large."""
    t = 1e8 if x > 1e8 else x - 1
    square = fma(t, t, 2 * t)
    root = math.sqrt(square)
    root_low = (fma(-root, root, square) + fma(t, t, 2 * t - square)) / (root + root)
    root_low = root_low if root > 0 else 0.0
    total = t + root
    y = log_of_sum(total, rounded_off(root, t, total) + root_low)
    y = math.nan if x < 1 else y
    large = log(x) + LN2
    return large if x > 1e8 else y


def atanh(x: float) -> float:
    """`log(1 + 2 |x| / (1 - |x|)) / 2`"""
    a = abs(x)
    below = 1 - a
    lost = (1 - below) - a
    inverse = 1 / below
    q = 2 * a * inverse
    q_low = (fma(-q, below, 2 * a) - q * lost) * inverse
    y = 0.5 * log_of_sum(q, q_low)
    y = math.inf if a == 1 else y
    y = math.nan if a > 1 else y
    return x if a < SMALL else math.copysign(y, x)
