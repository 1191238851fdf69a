"""Angles in double precision, without tables.

    sin, cos x     of r = x - k pi/2 with |r| <= pi/4, and k tells which of them and which sign
    atan x         of t = (x - c) / (1 + c x) for the nearest c of 0, 1 and infinity
    asin, acos x   of x up to 1/2, and beyond of sqrt((1 - |x|) / 2)

Loops with the last three vectorize; sine and cosine leave large angles to math.h, and do not.
"""

from __future__ import annotations

import math

from linnet.algebra.exponentials import SHIFT, SHIFT_BITS, SMALL, rounded_off
from linnet.imp.floats import bits, fma

HALF_PI = 1.5707963267948966  # and what is rounded off, twice:
HALF_PI_LOW = 6.123233995736766e-17
HALF_PI_LEAST = -1.4973849048591698e-33
TWO_OVER_PI = 0.6366197723675814
LARGE_ANGLE = 1e9  # up to here three parts of pi are enough


def angle(x: float, n: float) -> float:
    """`x - n pi / 2`"""
    return fma(n, -HALF_PI, x) - n * HALF_PI_LOW


def angle_low(x: float, n: float) -> float:
    """What `angle` has rounded off."""
    r = fma(n, -HALF_PI, x)
    p = n * HALF_PI_LOW
    p_low = fma(n, HALF_PI_LOW, -p) + n * HALF_PI_LEAST
    a = r - p
    return rounded_off(r, -p, a) - p_low


def sine(r: float, low: float) -> float:
    """`sin(r + low)` for |r| <= pi / 4."""
    z = r * r
    p = fma(z, 1.5918115263265974e-10, -2.505113165023518e-08)
    p = fma(z, p, 2.7557316101617874e-06)
    p = fma(z, p, -0.00019841269836756774)
    p = fma(z, p, 0.008333333333330948)
    p = fma(z, p, -0.16666666666666666)
    return r + fma(z * r, p, fma(-0.5 * z, low, low))


def cosine(r: float, low: float) -> float:
    """`cos(r + low)` for |r| <= pi / 4."""
    z = r * r
    p = fma(z, -1.1382623647474604e-11, 2.087614614655861e-09)
    p = fma(z, p, -2.7557317271145144e-07)
    p = fma(z, p, 2.480158729876456e-05)
    p = fma(z, p, -0.0013888888888887398)
    p = fma(z, p, 0.041666666666666664)
    half = 0.5 * z
    top = 1 - half
    return top + (((1 - top) - half) + fma(z * z, p, -r * low))


def sin(x: float) -> float:
    """The sine."""
    if abs(x) > LARGE_ANGLE:
        return math.sin(x)
    shifted = fma(x, TWO_OVER_PI, SHIFT)
    n = shifted - SHIFT
    quarter = bits(shifted) - SHIFT_BITS
    r = angle(x, n)
    low = angle_low(x, n)
    s = sine(r, low)
    c = cosine(r, low)
    y = s if quarter & 1 == 0 else c
    y = y if quarter & 2 == 0 else -y
    return x if x == 0 else y


def cos(x: float) -> float:
    """The cosine."""
    if abs(x) > LARGE_ANGLE:
        return math.cos(x)
    shifted = fma(x, TWO_OVER_PI, SHIFT)
    n = shifted - SHIFT
    quarter = bits(shifted) - SHIFT_BITS
    r = angle(x, n)
    low = angle_low(x, n)
    s = sine(r, low)
    c = cosine(r, low)
    y = c if quarter & 1 == 0 else s
    return y if (quarter + 1) & 2 == 0 else -y


def atan_tail(z: float) -> float:
    """`(atan t - t) / t³` for z = t² <= 0.1716."""
    p = fma(z, 0.01628276708716178, -0.03456786390703014)
    p = fma(z, p, 0.04551488299468242)
    p = fma(z, p, -0.052304312669133525)
    p = fma(z, p, 0.05878925874152081)
    p = fma(z, p, -0.0666642461403704)
    p = fma(z, p, 0.07692296359903143)
    p = fma(z, p, -0.09090908752977567)
    p = fma(z, p, 0.11111111105144929)
    p = fma(z, p, -0.1428571428565972)
    p = fma(z, p, 0.19999999999999804)
    return fma(z, p, -0.3333333333333333)


def atan(x: float) -> float:
    """The inverse of the tangent."""
    a = abs(x)
    a = 1e300 if a > 1e300 else a
    small = a < 0.4142135623730951
    steep = a > 2.414213562373095
    above = a - 1
    above_low = rounded_off(a, -1.0, above)
    above = -1.0 if steep else above
    above = a if small else above
    below = a + 1
    below_low = rounded_off(a, 1.0, below)
    below = a if steep else below
    below = 1.0 if small else below
    simple = small or steep
    below_low = 0.0 if simple else below_low
    above_low = 0.0 if simple else above_low
    start = 0.7853981633974483
    start = HALF_PI if steep else start
    start = 0.0 if small else start
    start_low = start * 3.8981718325193755e-17  # as of pi, so of its parts
    inverse = 1 / below
    t = above * inverse
    t_low = (fma(-t, below, above) + fma(-t, below_low, above_low)) * inverse
    z = t * t
    total = start + t
    lost = (start - total) + t
    lost = 0.0 if small else lost
    y = total + (lost + fma(t * z, atan_tail(z), start_low + t_low))
    return x if a < SMALL else math.copysign(y, x)


def asin_tail(z: float) -> float:
    """`(asin t - t) / t³` for z = t² <= 1 / 4."""
    p = fma(z, 0.028757851367421566, -0.014851887071247204)
    p = fma(z, p, 0.01740087944269402)
    p = fma(z, p, 0.005457506718640358)
    p = fma(z, p, 0.01032281435018578)
    p = fma(z, p, 0.011479177415184906)
    p = fma(z, p, 0.013971212973552933)
    p = fma(z, p, 0.017352392720869973)
    p = fma(z, p, 0.02237217294214989)
    p = fma(z, p, 0.030381944138531247)
    p = fma(z, p, 0.04464285714635543)
    p = fma(z, p, 0.07499999999998433)
    return fma(z, p, 0.16666666666666669)


def root_low(z: float, root: float) -> float:
    """What `root = sqrt(z)` has rounded off."""
    lost = fma(-root, root, z) / (root + root)
    return lost if root > 0 else 0.0


def asin(x: float) -> float:
    """The inverse of the sine."""
    a = abs(x)
    far = 0.5 * (1 - a)
    root = math.sqrt(far)
    near = a <= 0.5
    z = a * a if near else far
    p = z * asin_tail(z)
    inner = fma(a, p, a)
    double = 2 * root
    rest = fma(double, p, 2 * root_low(far, root)) - HALF_PI_LOW
    total = HALF_PI - double
    outer = total + ((HALF_PI - total) - double - rest)
    y = inner if near else outer
    return x if a < SMALL else math.copysign(y, x)


def acos(x: float) -> float:
    """The inverse of the cosine."""
    a = abs(x)
    far = 0.5 * (1 - a)
    root = math.sqrt(far)
    near = a <= 0.5
    z = a * a if near else far
    p = z * asin_tail(z)
    total = HALF_PI - x
    inner = total + ((HALF_PI - total) - x - fma(x, p, -HALF_PI_LOW))
    double = 2 * root
    rest = fma(double, p, 2 * root_low(far, root))
    back = 2 * HALF_PI - double
    back = back + ((2 * HALF_PI - back) - double - (rest - 2 * HALF_PI_LOW))
    outer = double + rest if x > 0 else back
    return inner if near else outer
