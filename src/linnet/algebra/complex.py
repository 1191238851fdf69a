"""Functions of complex numbers, composed of functions of their real and imaginary parts.

The usual formulas, exact to a few roundings for finite numbers whose results are far from overflow.
At infinities and NaN a part of the result may be NaN where C's complex functions know better.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from linnet.algebra.emit import Args, constant, parts
from linnet.algebra.function import Emit
from linnet.imp import BOOL, Binary, Call, Cast, Const, Expr, Select, Unary

Parts = tuple[Expr, Expr]
OfParts = Callable[[Expr, Expr], Parts]


def of_parts(function: OfParts) -> Emit:
    """A function that maps the parts of a number to the parts of another."""

    def emit(args: Args, dtype: str) -> Expr:
        return Call("complex", function(*parts(args[0])), dtype)

    return emit


def by_codelet(name: str) -> Emit:
    """A function that branches, written out in `complex_codelets`, in double precision."""

    def emit(args: Args, dtype: str) -> Expr:
        x, y = (p if p.dtype == "float64" else Cast(p, "float64") for p in parts(args[0]))
        found = Call(f"complex_{name}", (x, y), "complex128")
        return found if dtype == "complex128" else Cast(found, dtype)

    return emit


def exp(x: Expr, y: Expr) -> Parts:
    """`exp x (cos y + i sin y)`"""
    size = _call("exp", x)
    # the exponential of a real number is real, even if it overflows
    return _mul(size, _call("cos", y)), Select(_is_zero(y), y, _mul(size, _call("sin", y)))


def exp2(x: Expr, y: Expr) -> Parts:
    """`exp(z log 2)`"""
    ln2 = constant(math.log(2), x.dtype)
    return exp(_mul(x, ln2), _mul(y, ln2))


def log(x: Expr, y: Expr) -> Parts:
    """`log |z| + i arg z`"""
    return _call("log", _call("hypot", x, y)), _call("atan2", y, x)


def log2(x: Expr, y: Expr) -> Parts:
    """`log z / log 2`"""
    return _scaled(1 / math.log(2), *log(x, y))


def log10(x: Expr, y: Expr) -> Parts:
    """`log z / log 10`"""
    return _scaled(1 / math.log(10), *log(x, y))


def sqrt(x: Expr, y: Expr) -> Parts:
    """With t = sqrt((|x| + |z|) / 2): t + i y/2t if x >= 0, else |y|/2t ± i t; 0 if z = 0"""
    half = constant(0.5, x.dtype)
    size = _add(_mul(half, _call("fabs", x)), _mul(half, _call("hypot", x, y)))
    t = _call("sqrt", size)
    other = Select(_is_zero(t), t, _div(_mul(half, _call("fabs", y)), t))
    right = Binary(">=", x, constant(0, x.dtype), BOOL)
    return Select(right, t, other), _call("copysign", Select(right, other, t), y)


def sin(x: Expr, y: Expr) -> Parts:
    """`sin x cosh y + i cos x sinh y`"""
    return _mul(_call("sin", x), _call("cosh", y)), _mul(_call("cos", x), _call("sinh", y))


def cos(x: Expr, y: Expr) -> Parts:
    """`cos x cosh y - i sin x sinh y`"""
    return _mul(_call("cos", x), _call("cosh", y)), _neg(_mul(_call("sin", x), _call("sinh", y)))


def tan(x: Expr, y: Expr) -> Parts:
    """`-i tanh(i z)`"""
    re, im = tanh(_neg(y), x)
    return im, _neg(re)


def sinh(x: Expr, y: Expr) -> Parts:
    """`sinh x cos y + i cosh x sin y`"""
    return _mul(_call("sinh", x), _call("cos", y)), _mul(_call("cosh", x), _call("sin", y))


def cosh(x: Expr, y: Expr) -> Parts:
    """`cosh x cos y + i sinh x sin y`"""
    return _mul(_call("cosh", x), _call("cos", y)), _mul(_call("sinh", x), _call("sin", y))


def tanh(x: Expr, y: Expr) -> Parts:
    """With t = tan y, s = sinh x, b = 1 + t²: (b s sqrt(1 + s²) + i t) / (1 + b s²)  (Kahan)

    For large x: ±1 + 4i sin y cos y exp(-2|x|).
    """
    one = constant(1, x.dtype)
    t, s, size = _call("tan", y), _call("sinh", x), _call("fabs", x)
    b, ss = _add(one, _mul(t, t)), _mul(s, s)
    below = _add(one, _mul(b, ss))
    re = _div(_mul(_mul(b, s), _call("sqrt", _add(one, ss))), below)
    wave = _mul(constant(4, x.dtype), _mul(_call("sin", y), _call("cos", y)))
    far = _mul(wave, _call("exp", _mul(constant(-2, x.dtype), size)))
    large = Binary(">", size, constant(20, x.dtype), BOOL)
    return Select(large, _call("copysign", one, x), re), Select(large, far, _div(t, below))


def rint(x: Expr, y: Expr) -> Parts:
    """Each part rounded."""
    return _call("rint", x), _call("rint", y)


def sign(args: Args, dtype: str) -> Expr:
    """`z / |z|`, and 0 for 0."""
    x, y = parts(args[0])
    length = Call("abs", args, x.dtype)
    zero = constant(0, x.dtype)
    shares = (Select(_is_zero(length), zero, _div(part, length)) for part in (x, y))
    return Call("complex", tuple(shares), dtype)


def power(args: Args, dtype: str) -> Expr:
    """exp(b log a); 1 if b is 0, and a power of 0 is 0 or NaN."""
    a, b = args
    if isinstance(b, Const) and b.value in (2, 3):
        square = Binary("*", a, a, dtype)
        return square if b.value == 2 else Binary("*", square, a, dtype)
    (lx, ly), (bx, by) = log(*parts(a)), parts(b)
    exponent = _sub(_mul(bx, lx), _mul(by, ly)), _add(_mul(bx, ly), _mul(by, lx))
    general = Call("complex", exp(*exponent), dtype)
    zero, one, nan = (constant(v, dtype) for v in (0, 1, complex(math.nan, math.nan)))
    of_zero = Select(Binary(">", bx, constant(0, bx.dtype), BOOL), zero, nan)
    nonzero = Select(Binary("==", a, zero, BOOL), of_zero, general)
    return Select(Binary("==", b, zero, BOOL), one, nonzero)


def _call(function: str, *args: Expr) -> Expr:
    return Call(function, args, args[0].dtype)


def _add(a: Expr, b: Expr) -> Expr:
    return Binary("+", a, b, a.dtype)


def _sub(a: Expr, b: Expr) -> Expr:
    return Binary("-", a, b, a.dtype)


def _mul(a: Expr, b: Expr) -> Expr:
    return Binary("*", a, b, a.dtype)


def _div(a: Expr, b: Expr) -> Expr:
    return Binary("/", a, b, a.dtype)


def _neg(a: Expr) -> Expr:
    return Unary("-", a, a.dtype)


def _scaled(factor: float, x: Expr, y: Expr) -> Parts:
    c = constant(factor, x.dtype)
    return _mul(c, x), _mul(c, y)


def _is_zero(x: Expr) -> Expr:
    return Binary("==", x, constant(0, x.dtype), BOOL)
