"""The cube root in double precision without branches, tables or calls, so that loops vectorize.

    x = v * 8 ** q    with q whole and v from 1 to 8

A polynomial is right to 16 bits, and three of Newton's steps do the rest.
"""

from __future__ import annotations

import math

from linnet.algebra.exponentials import SHIFT, SHIFT_BITS, power_of_two
from linnet.imp.floats import bits, fma, from_bits

LEAST = 2.2250738585072014e-308  # the least normal number
UPSCALE = 18014398509481984.0  # 2 ** 54


def cbrt(x: float) -> float:
    """The cube root."""
    up = abs(x) * UPSCALE
    a = up if abs(x) < LEAST else abs(x)
    n = (bits(a) >> 52) - 1023
    m = from_bits(bits(a) - (n << 52))  # from 1 to 2
    shifted = fma(float(n) - 1, 0.3333333333333333, SHIFT)
    q = shifted - SHIFT
    j = float(n) - 3 * q  # 0, 1 or 2
    root = 1.2599210498948732 if j == 1 else 1.5874010519681996
    root = 1.0 if j == 0 else root
    v = m * power_of_two(int(j))
    p = fma(m, -0.010102212336338642, 0.08307903547963541)
    p = fma(m, p, -0.2939541180848237)
    p = fma(m, p, 0.7117423866025924)
    t = root * fma(m, p, 0.5092481335492415)
    step = 1 / (3 * t * t)
    t = fma(fma(-t * t, t, v), step, t)
    t = fma(fma(-t * t, t, v), step, t)
    square = t * t
    cube = square * t
    lost = fma(square, t, -cube) + fma(t, t, -square) * t
    t = fma((v - cube) - lost, step, t)
    y = t * power_of_two(bits(shifted) - SHIFT_BITS)
    y = y * 3.814697265625e-06 if abs(x) < LEAST else y  # 2 ** -18
    y = y if a < math.inf else a
    return x if x == 0 else math.copysign(y, x)
