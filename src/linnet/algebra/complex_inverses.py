"""Inverse functions of complex waves, in the manner of `complex_codelets`.

Far from overflow the formulas are Kahan's; near it a logarithm stands for the square roots. What C
says of infinities and NaN comes out of `hypot` and `atan2`, but for the cases that are written out.
"""

from __future__ import annotations

import math

from linnet.algebra.complex_codelets import LARGE, root_imag, root_real

_LARGE_ROOT = 6.703903964971298e153  # the root of LARGE
_SMALL_ROOT = 1.4916681462400413e-154  # the root of the smallest normal number
_LN4 = 1.3862943611198906
_HALF_PI = 1.5707963267948966


def complex_acos(x: float, y: float) -> complex:
    """2 atan(Re sqrt(1 - z) / Re sqrt(1 + z)) + i asinh(Im (conj sqrt(1 + z) sqrt(1 - z)))"""
    if abs(x) <= LARGE and abs(y) <= LARGE:
        ax = root_real(1 - x, -y)
        ay = root_imag(1 - x, -y)
        bx = root_real(1 + x, y)
        by = root_imag(1 + x, y)
        return complex(2 * math.atan2(ax, bx), math.asinh(bx * ay - by * ax))
    if x == 0 and math.isnan(y):
        return complex(_HALF_PI, y)
    size = math.log(math.hypot(x / 2, y / 2)) + _LN4
    return complex(math.atan2(abs(y), x), math.copysign(size, -y))


def complex_acosh(x: float, y: float) -> complex:
    """asinh(Re (conj sqrt(z - 1) sqrt(z + 1))) + 2i atan(Im sqrt(z - 1) / Re sqrt(z + 1))"""
    if abs(x) <= LARGE and abs(y) <= LARGE:
        ax = root_real(x - 1, y)
        ay = root_imag(x - 1, y)
        bx = root_real(x + 1, y)
        by = root_imag(x + 1, y)
        return complex(math.asinh(ax * bx + ay * by), 2 * math.atan2(ay, bx))
    if x == 0 and math.isnan(y):
        return complex(y, _HALF_PI)
    return complex(math.log(math.hypot(x / 2, y / 2)) + _LN4, math.atan2(y, x))


def complex_asinh(x: float, y: float) -> complex:
    """asinh(Im (conj sqrt(1 + iz) sqrt(1 - iz))) + i atan(y / Re (sqrt(1 + iz) sqrt(1 - iz)))"""
    if abs(x) <= LARGE and abs(y) <= LARGE:
        ax = root_real(1 + y, -x)
        ay = root_imag(1 + y, -x)
        bx = root_real(1 - y, x)
        by = root_imag(1 - y, x)
        return complex(math.asinh(ax * by - bx * ay), math.atan2(y, ax * bx - ay * by))
    if y == 0 and math.isnan(x):
        return complex(x, y)
    size = math.log(math.hypot(x / 2, y / 2)) + _LN4
    return complex(math.copysign(size, x), math.atan2(y, abs(x)))


def complex_asin(x: float, y: float) -> complex:
    """`-i asinh(i z)`"""
    if abs(x) <= LARGE and abs(y) <= LARGE:
        ax = root_real(1 + x, y)
        ay = root_imag(1 + x, y)
        bx = root_real(1 - x, -y)
        by = root_imag(1 - x, -y)
        return complex(math.atan2(x, ax * bx - ay * by), -math.asinh(ax * by - bx * ay))
    if x == 0 and math.isnan(y):
        return complex(x, y)
    size = math.log(math.hypot(x / 2, y / 2)) + _LN4
    return complex(math.atan2(x, abs(y)), math.copysign(size, y))


def atanh_real(x: float, y: float) -> float:
    """log1p(4x / ((1 - x)² + y²)) / 4"""
    a = abs(x)
    b = abs(y)
    if math.isinf(x) or math.isinf(y):
        return math.copysign(0.0, x)
    if math.isnan(x) or math.isnan(y):
        return x if x == 0 else math.nan
    if a > _LARGE_ROOT or b > _LARGE_ROOT:
        h = math.hypot(a / 2, b / 2)
        return math.copysign(a / 4 / h / h, x)
    if a == 1 and b == 0:
        return math.copysign(math.inf, x)
    if a == 1 and b < _SMALL_ROOT:
        return math.copysign(-math.log(math.sqrt(b) / math.sqrt(math.hypot(b, 2.0))), x)
    return math.copysign(math.log1p(4 * a / ((1 - a) * (1 - a) + b * b)) / 4, x)


def atanh_imag(x: float, y: float) -> float:
    """atan(2y / ((1 - x)(1 + x) - y²)) / 2"""
    a = abs(x)
    b = abs(y)
    if math.isnan(y) or (math.isnan(x) and not math.isinf(y)):
        return math.nan
    if a > _LARGE_ROOT or b > _LARGE_ROOT:
        return math.copysign(_HALF_PI, y)
    if a == 1 and b == 0:
        return y
    if a == 1 and b < _SMALL_ROOT:
        return math.copysign(math.atan2(2.0, -b) / 2, y)
    return -math.atan2(-2 * y, (1 - a) * (1 + a) - b * b) / 2


def complex_atanh(x: float, y: float) -> complex:
    """The parts of the inverse of `tanh`."""
    return complex(atanh_real(x, y), atanh_imag(x, y))


def complex_atan(x: float, y: float) -> complex:
    """`-i atanh(i z)`"""
    return complex(atanh_imag(-y, x), -atanh_real(-y, x))
