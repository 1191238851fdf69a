"""Exponentials, logarithms, roots and waves of complex numbers: what C's complex functions give.

Restricted Python, compiled for the parts of a number in double precision. Where a formula would
overflow, lose digits or make NaN of what is known, there is a branch: the cases are those of C99's
annex G, and where that leaves a sign open, what NumPy gives.
"""

from __future__ import annotations

import math

from linnet.imp.floats import fma

LARGE = 4.49423283715579e307  # a quarter of the largest number
_SMALL = 1e-290  # so small that halves and squares lose digits
_UP = 324518553658426726783156020576256.0  # 2 ** 108
_UP_LOG = 74.85989550047407  # its logarithm
_UP_ROOT_INVERSE = 5.551115123125783e-17  # 2 ** -54
_LN2 = 0.6931471805599453
_LOG2E = 1.4426950408889634
_LOG10E = 0.4342944819032518
_E700 = 1.0142320547350045e304  # exp 700


# -- exponentials ----------------------------------------------------------------------------------


def times_exp(v: float, x: float) -> float:
    """`v exp x`, where `exp x` alone may overflow."""
    if x > 700:
        v = v * _E700
        x = x - 700
    if x > 700:
        v = v * _E700
        x = x - 700
    return v * math.exp(x)


def half_exp(v: float, x: float) -> float:
    """`v exp(x) / 2`, for an x above 700: the hyperbolic functions are no different there."""
    return times_exp(0.5 * (v * _E700), x - 700)


def complex_exp(x: float, y: float) -> complex:
    """`exp x (cos y + i sin y)`; a real number stays real."""
    if y == 0:
        return complex(math.exp(x), y)
    if math.isinf(x) and not math.isfinite(y):
        if x > 0:
            return complex(x, math.nan)
        return complex(0.0, 0.0 if math.isnan(y) else math.copysign(0.0, y))
    return complex(times_exp(math.cos(y), x), times_exp(math.sin(y), x))


def complex_exp2(x: float, y: float) -> complex:
    """`exp(z log 2)`"""
    return complex_exp(x * _LN2, y * _LN2)


def complex_expm1(x: float, y: float) -> complex:
    """`(exp x - 1) cos y - 2 sin² (y / 2) + i exp x sin y`"""
    if x == 0 and y == 0:
        return complex(0.0, y)
    if y == 0:
        return complex(math.expm1(x), y)
    if x > 40 or (math.isinf(x) and not math.isfinite(y)):
        found = complex_exp(x, y)
        return complex(found.real - 1, found.imag)
    half = math.sin(y / 2)
    real = math.expm1(x) * math.cos(y) - 2 * half * half
    return complex(real, math.exp(x) * math.sin(y))


# -- logarithms ------------------------------------------------------------------------------------


def square_less_one(a: float, b: float) -> float:
    """`a² + b² - 1` with all its digits, for an a of 1/2 to 2 that is not less than b."""
    aa = a * a
    bb = b * b
    top = aa - 1
    total = top + bb
    lost = (top - total) + bb if abs(top) > bb else (bb - total) + top
    return total + (lost + (fma(a, a, -aa) + fma(b, b, -bb)))


def log_size(x: float, y: float) -> float:
    """`log |z|`"""
    a = max(abs(x), abs(y))
    b = min(abs(x), abs(y))
    if 0.5 < a < 2:
        return 0.5 * math.log1p(square_less_one(a, b))
    if a > LARGE:
        return math.log(math.hypot(x / 2, y / 2)) + _LN2
    if a < _SMALL:
        return math.log(math.hypot(x * _UP, y * _UP)) - _UP_LOG
    return math.log(math.hypot(x, y))


def complex_log(x: float, y: float) -> complex:
    """`log |z| + i arg z`"""
    return complex(log_size(x, y), math.atan2(y, x))


def complex_log2(x: float, y: float) -> complex:
    """`log z / log 2`"""
    return complex(log_size(x, y) * _LOG2E, math.atan2(y, x) * _LOG2E)


def complex_log10(x: float, y: float) -> complex:
    """`log z / log 10`"""
    return complex(log_size(x, y) * _LOG10E, math.atan2(y, x) * _LOG10E)


def complex_log1p(x: float, y: float) -> complex:
    """`log |1 + z| + i arg (1 + z)`"""
    angle = math.atan2(y, 1 + x)
    if abs(x) < 0.5 and abs(y) < 0.5:
        return complex(math.log1p(x * (2 + x) + y * y) / 2, angle)
    return complex(log_size(1 + x, y), angle)


# -- roots and powers ------------------------------------------------------------------------------


def root_size(x: float, y: float) -> float:
    """`sqrt((|x| + |z|) / 2)`, of a finite number."""
    a = abs(x)
    b = abs(y)
    if a < _SMALL and b < _SMALL:
        a = a * _UP
        b = b * _UP
        return math.sqrt(0.5 * a + 0.5 * math.hypot(a, b)) * _UP_ROOT_INVERSE
    if a > LARGE or b > LARGE:
        return 2 * math.sqrt(0.125 * a + 0.5 * math.hypot(a / 4, b / 4))
    return math.sqrt(0.5 * a + 0.5 * math.hypot(a, b))


def root_real(x: float, y: float) -> float:
    """The real part of the square root of a finite number."""
    t = root_size(x, y)
    if x >= 0 or t == 0:
        return t
    return abs(y) / (2 * t)


def root_imag(x: float, y: float) -> float:
    """The imaginary part of the square root of a finite number."""
    t = root_size(x, y)
    if x >= 0 and t != 0:
        t = abs(y) / (2 * t)
    return math.copysign(t, y)


def complex_sqrt(x: float, y: float) -> complex:
    """With t = sqrt((|x| + |z|) / 2): t + i y/2t if x >= 0, else |y|/2t ± i t; 0 if z = 0"""
    if math.isinf(y):
        return complex(math.inf, y)
    if math.isinf(x):
        if x > 0:
            return complex(x, y if math.isnan(y) else math.copysign(0.0, y))
        return complex(y if math.isnan(y) else 0.0, math.copysign(math.inf, y))
    return complex(root_real(x, y), root_imag(x, y))


def complex_pow(ax: float, ay: float, bx: float, by: float) -> complex:
    """exp(b log a), or for a small whole b a product; 1 if b is 0, and 0 ** b is 0 or NaN."""
    if bx == 0 and by == 0:
        return complex(1.0, 0.0)
    if ax == 0 and ay == 0:
        return complex(0.0, 0.0) if bx > 0 else complex(math.nan, math.nan)
    if by == 0 and abs(bx) < 100 and math.floor(bx) == bx:
        return whole_power(complex(ax, ay), bx)
    size = log_size(ax, ay)
    angle = math.atan2(ay, ax)
    return complex_exp(bx * size - by * angle, bx * angle + by * size)


def whole_power(z: complex, n: float) -> complex:
    """`z ** n`, by squares."""
    left = int(abs(n))
    found = complex(1.0, 0.0)
    while left > 1:
        if left & 1 == 1:
            found = found * z
        z = z * z
        left = left >> 1
    found = found * z
    return complex_reciprocal(found.real, found.imag) if n < 0 else found


def complex_reciprocal(x: float, y: float) -> complex:
    """`1 / z`, without squares that might overflow (Smith)"""
    if abs(y) <= abs(x):
        r = y / x
        d = x + y * r
        return complex(1 / d, -r / d)
    r = x / y
    d = x * r + y
    return complex(r / d, -1 / d)


def complex_sign(x: float, y: float) -> complex:
    """`z / |z|`; 0 for 0, and of one infinite part only that counts."""
    if math.isinf(x) and math.isinf(y):
        return complex(math.nan, math.nan)
    if math.isinf(x):
        return complex(math.copysign(1.0, x), 0.0)
    if math.isinf(y):
        return complex(0.0, math.copysign(1.0, y))
    if x == 0 and y == 0:
        return complex(0.0, 0.0)
    if max(abs(x), abs(y)) > LARGE:
        x = x / 4
        y = y / 4
    if max(abs(x), abs(y)) < _SMALL:
        x = x * _UP
        y = y * _UP
    size = math.hypot(x, y)
    return complex(x / size, y / size)


# -- waves -----------------------------------------------------------------------------------------


def complex_sinh(x: float, y: float) -> complex:
    """`sinh x cos y + i cosh x sin y`"""
    if y == 0:
        return complex(math.sinh(x), y)
    if not math.isfinite(y) and (x == 0 or math.isinf(x)):
        return complex(abs(x) if math.isinf(x) else x, math.nan)  # of either sign
    if abs(x) > 700:
        real = half_exp(math.copysign(1.0, x) * math.cos(y), abs(x))
        return complex(real, half_exp(math.sin(y), abs(x)))
    return complex(math.sinh(x) * math.cos(y), math.cosh(x) * math.sin(y))


def complex_cosh(x: float, y: float) -> complex:
    """`cosh x cos y + i sinh x sin y`"""
    if y == 0:
        return complex(math.cosh(x), y if math.isnan(x) else math.copysign(0.0, x) * y)
    if not math.isfinite(y):
        if x == 0:
            return complex(math.nan, 0.0)
        if math.isinf(x):
            return complex(math.inf, math.nan)
    if abs(x) > 700:
        imag = half_exp(math.copysign(1.0, x) * math.sin(y), abs(x))
        return complex(half_exp(math.cos(y), abs(x)), imag)
    return complex(math.cosh(x) * math.cos(y), math.sinh(x) * math.sin(y))


def complex_tanh(x: float, y: float) -> complex:
    """With t = tan y, s = sinh x, b = 1 + t²: (b s sqrt(1 + s²) + i t) / (1 + b s²)  (Kahan)"""
    if y == 0:
        return complex(math.tanh(x), y)
    if math.isinf(x):  # the sign of zero is that of y, as the standard says; C takes sin(2 y)'s
        return complex(math.copysign(1.0, x), math.copysign(0.0, y))
    if not math.isfinite(y):
        return complex(x if x == 0 else math.nan, math.nan)
    if abs(x) > 20:
        wave = 4 * math.sin(y) * math.cos(y)
        return complex(math.copysign(1.0, x), wave * math.exp(-2 * abs(x)))
    t = math.tan(y)
    s = math.sinh(x)
    b = 1 + t * t
    below = 1 + b * s * s
    return complex(b * s * math.sqrt(1 + s * s) / below, t / below)


def complex_sin(x: float, y: float) -> complex:
    """`-i sinh(i z)`"""
    if not math.isfinite(x) and math.isinf(y):
        return complex(math.nan, math.inf)  # of either sign
    found = complex_sinh(-y, x)
    return complex(found.imag, -found.real)


def complex_cos(x: float, y: float) -> complex:
    """`cosh(i z)`"""
    return complex_cosh(-y, x)


def complex_tan(x: float, y: float) -> complex:
    """`-i tanh(i z)`"""
    found = complex_tanh(-y, x)
    return complex(found.imag, -found.real)
