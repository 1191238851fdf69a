"""Elementary functions in single precision: computed in double precision, and rounded once.

Short polynomials suffice, and nothing that is rounded off has to be carried along. Results are
nearly always the nearest float. Without branches, tables or calls, so that loops vectorize.
"""

from __future__ import annotations

import math

import numpy as np

from linnet.algebra import angles, logarithms, roots
from linnet.algebra.exponentials import LN2, LOG2E, SHIFT, SHIFT_BITS, power_of_two, rounded_off
from linnet.algebra.logarithms import LOG10E, exponent, fraction, settled
from linnet.imp.floats import bits, fma

# -- exponentials --------------------------------------------------------------------------------


def short_expm1(r: float) -> float:
    """`exp r - 1` for |r| <= 0.3467."""
    p = fma(r, 0.0001989101718430203, 0.0013933673732931852)
    p = fma(r, p, 0.00833331090172597)
    p = fma(r, p, 0.04166646471137908)
    p = fma(r, p, 0.16666666681647016)
    p = fma(r, p, 0.5000000013487226)
    return fma(r * r, p, r)


def wide_exp(y: float) -> float:
    """`e ** y` to 32 bits, for |y| < 700."""
    shifted = fma(y, LOG2E, SHIFT)
    r = fma(shifted - SHIFT, -LN2, y)
    return (1 + short_expm1(r)) * power_of_two(bits(shifted) - SHIFT_BITS)


def wide_expm1(y: float) -> float:
    """`e ** y - 1` to 32 bits, for |y| < 700."""
    shifted = fma(y, LOG2E, SHIFT)
    r = fma(shifted - SHIFT, -LN2, y)
    s = power_of_two(bits(shifted) - SHIFT_BITS)
    return fma(s, short_expm1(r), s - 1)


def bounded(x: float, most: float) -> float:
    """x, but no more than `most` in size."""
    y = most if x > most else x
    return -most if y < -most else y


def exp(x: np.float32) -> np.float32:
    """`e ** x`"""
    return np.float32(wide_exp(bounded(float(x), 110.0)))


def exp2(x: np.float32) -> np.float32:
    """`2 ** x`"""
    y = bounded(float(x), 160.0)
    shifted = y + SHIFT
    r = y - (shifted - SHIFT)
    p = fma(r, 1.529734162283227e-05, 0.00015461467905285986)
    p = fma(r, p, 0.001333350234150156)
    p = fma(r, p, 0.00961805662050108)
    p = fma(r, p, 0.05550410883930555)
    p = fma(r, p, 0.2402265092256076)
    p = fma(r, p, LN2)
    return np.float32(fma(r, p, 1.0) * power_of_two(bits(shifted) - SHIFT_BITS))


def expm1(x: np.float32) -> np.float32:
    """`e ** x - 1`"""
    y = np.float32(wide_expm1(bounded(float(x), 110.0)))
    return x if x == 0 else y


def sinh(x: np.float32) -> np.float32:
    """With h = exp |x| - 1: (h + h / (h + 1)) / 2."""
    h = wide_expm1(bounded(abs(float(x)), 110.0))
    return np.float32(math.copysign(0.5 * (h + h / (h + 1)), float(x)))


def cosh(x: np.float32) -> np.float32:
    """`(exp |x| + exp -|x|) / 2`"""
    h = wide_exp(bounded(abs(float(x)), 110.0))
    return np.float32(0.5 * (h + 1 / h))


def tanh(x: np.float32) -> np.float32:
    """With h = exp 2 |x| - 1: h / (h + 2)."""
    h = wide_expm1(2 * bounded(abs(float(x)), 20.0))
    return np.float32(math.copysign(h / (h + 2), float(x)))


# -- logarithms ----------------------------------------------------------------------------------


def short_log(f: float) -> float:
    """`log(1 + f)`, for an f from -0.293 to 0.4143."""
    s = f / (2 + f)
    z = s * s
    p = fma(z, 0.2333096405177204, 0.2855080255327671)
    p = fma(z, p, 0.4000012200081688)
    p = fma(z, p, 0.6666666655430018)
    half = 0.5 * f * f
    return f - (half - s * fma(z, p, half))


def log(x: np.float32) -> np.float32:
    """The natural logarithm."""
    y = float(x)
    return np.float32(settled(fma(float(exponent(y)), LN2, short_log(fraction(y))), y))


def log1p(x: np.float32) -> np.float32:
    """`log(1 + x)`"""
    y = float(x)
    u = 1 + y
    lost = rounded_off(1.0, y, u) / u
    z = np.float32(settled(fma(float(exponent(u)), LN2, lost + short_log(fraction(u))), u))
    return x if x == 0 else z


def log2(x: np.float32) -> np.float32:
    """The logarithm to base 2."""
    y = float(x)
    return np.float32(settled(fma(short_log(fraction(y)), LOG2E, float(exponent(y))), y))


def log10(x: np.float32) -> np.float32:
    """The logarithm to base 10."""
    y = float(x)
    z = fma(float(exponent(y)), LN2, short_log(fraction(y)))
    return np.float32(settled(z * LOG10E, y))


# -- angles --------------------------------------------------------------------------------------

# 2 / pi is the sum of these, 28 bits each, whose products with a float are exact. Of large floats
# the first products are whole turns, and are left out.
_P0 = 0.6366197690367699
_P1 = 3.3308114738561656e-09
_P2 = 2.276010047810136e-18
_P3 = 2.5268260189002822e-26
_P4 = 1.6682867657019525e-34
_P5 = 1.158871328288855e-43
_P6 = 7.053959174404295e-52
_LARGE = 9007199254740992.0  # 2 ** 53
_LARGER = 2.4178516392292583e24  # 2 ** 81
_LARGEST = 6.490371073168535e32  # 2 ** 109


def part_of_turn(x: float, a: float, b: float, c: float, d: float) -> float:
    """One of four numbers, by how large x is."""
    y = b if x >= _LARGE else a
    y = c if x >= _LARGER else y
    return d if x >= _LARGEST else y


def quarters(x: float) -> float:
    """The nearest whole number to `2 x / pi`, less a multiple of four."""
    a = abs(x)
    first = x * part_of_turn(a, _P0, _P1, _P2, _P3)
    second = x * part_of_turn(a, _P1, _P2, _P3, _P4)
    turn = first - 4 * ((0.25 * first + SHIFT) - SHIFT)
    return ((turn + second) + SHIFT) - SHIFT


def beyond(x: float, n: float) -> float:
    """The angle that is left of x after n quarters of a turn."""
    a = abs(x)
    first = x * part_of_turn(a, _P0, _P1, _P2, _P3)
    second = x * part_of_turn(a, _P1, _P2, _P3, _P4)
    third = x * part_of_turn(a, _P2, _P3, _P4, _P5)
    fourth = x * part_of_turn(a, _P3, _P4, _P5, _P6)
    turn = first - 4 * ((0.25 * first + SHIFT) - SHIFT)
    return ((((turn - n) + second) + third) + fourth) * angles.HALF_PI


def short_sin(r: float) -> float:
    """The sine, for |r| <= 0.8."""
    z = r * r
    p = fma(z, 2.7249895230611676e-06, -0.000198400864995936)
    p = fma(z, p, 0.008333331874273714)
    return fma(z * r, fma(z, p, -0.16666666663854168), r)


def short_cos(r: float) -> float:
    """The cosine, for |r| <= 0.8."""
    z = r * r
    p = fma(z, 2.4547916853691016e-05, -0.0013888302919113633)
    return fma(z, fma(z, fma(z, p, 0.041666664658901405), -0.5), 1.0)


def sin(x: np.float32) -> np.float32:
    """The sine."""
    y = float(x)
    n = quarters(y)
    k = bits(n + SHIFT)
    r = beyond(y, n)
    s = short_sin(r)
    z = s if k & 1 == 0 else short_cos(r)
    z = z if k & 2 == 0 else -z
    return x if x == 0 else np.float32(z)


def cos(x: np.float32) -> np.float32:
    """The cosine."""
    y = float(x)
    n = quarters(y)
    k = bits(n + SHIFT)
    r = beyond(y, n)
    c = short_cos(r)
    z = c if k & 1 == 0 else short_sin(r)
    return np.float32(z if (k + 1) & 2 == 0 else -z)


def tan(x: np.float32) -> np.float32:
    """The tangent."""
    y = float(x)
    n = quarters(y)
    r = beyond(y, n)
    s = short_sin(r)
    c = short_cos(r)
    even = bits(n + SHIFT) & 1 == 0
    above = s if even else -c
    below = c if even else s
    return x if x == 0 else np.float32(above / below)


def atan(x: np.float32) -> np.float32:
    """The inverse of the tangent."""
    return np.float32(angles.atan(float(x)))


def asin(x: np.float32) -> np.float32:
    """The inverse of the sine."""
    return np.float32(angles.asin(float(x)))


def acos(x: np.float32) -> np.float32:
    """The inverse of the cosine."""
    return np.float32(angles.acos(float(x)))


def asinh(x: np.float32) -> np.float32:
    """The inverse of the hyperbolic sine."""
    return np.float32(logarithms.asinh(float(x)))


def acosh(x: np.float32) -> np.float32:
    """The inverse of the hyperbolic cosine."""
    return np.float32(logarithms.acosh(float(x)))


def atanh(x: np.float32) -> np.float32:
    """The inverse of the hyperbolic tangent."""
    return np.float32(logarithms.atanh(float(x)))


def cbrt(x: np.float32) -> np.float32:
    """The cube root."""
    return np.float32(roots.cbrt(float(x)))
