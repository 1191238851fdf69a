"""The code of each function: from expressions for its arguments to one for its result.

Arguments already have the types that `algebra.types` asks for. The operators of the IR are total:
integers wrap around, division by zero gives 0, a shift by the width or more leaves only zeros or
sign bits, and floats saturate on becoming integers, all as in NumPy. What needs a loop or a local
variable is a call of a codelet (`algebra.codelets`).
"""

from __future__ import annotations

import math

from linnet import imp
from linnet.algebra.dtypes import Number, as_python, kind
from linnet.algebra.function import Emit
from linnet.errors import DTypeError
from linnet.imp import BOOL, Binary, Call, Cast, Const, Expr, Select, Unary

Args = tuple[Expr, ...]

_ON_BOOL = {"+": "or", "*": "and", "min": "and", "max": "or", "&": "and", "|": "or", "^": "!="}
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def constant(value: Number, dtype: str) -> Const:
    """A constant whose Python type fits its dtype."""
    match kind(dtype):
        case "b":
            return Const(bool(value), dtype)
        case "f":
            return Const(float(value), dtype)  # type: ignore[arg-type]
        case "c":
            return Const(complex(value), dtype)
        case _:
            return Const(int(value) if isinstance(value, bool) else value, dtype)


def cast(x: Expr, dtype: str) -> Expr:
    """`x` as another type, if it has not that type already."""
    return x if x.dtype == dtype else Cast(x, dtype)


def widen(x: Expr, dtype: str) -> Expr:
    """`x` as a type that holds all its values."""
    return constant(x.value, dtype) if isinstance(x, Const) else cast(x, dtype)


def infix(op: str) -> Emit:
    """An operator of the IR, or the logical one that it is on booleans."""

    def emit(args: Args, dtype: str) -> Expr:
        a, b = args
        return Binary(_ON_BOOL[op] if dtype == BOOL else op, a, b, dtype)

    return emit


def called(function: str) -> Emit:
    """A function of math.h."""

    def emit(args: Args, dtype: str) -> Expr:
        return Call(function, args, dtype)

    return emit


def power(args: Args, dtype: str) -> Expr:
    """`x ** n` of floats; what n is may be known already."""
    x, n = args
    if isinstance(n, Const):
        return Binary("*", x, x, dtype) if n.value == 2 else Call("pow", args, dtype)
    return Call("power", args, dtype)


def test(function: str) -> Emit:
    """A test of a float, which for integers is known; of a complex number, a test of its parts."""

    def emit(args: Args, dtype: str) -> Expr:
        (x,) = args
        match kind(x.dtype):
            case "f":
                return Call(function, args, BOOL)
            case "c":
                re, im = (Call(function, (y,), BOOL) for y in parts(x))
                return Binary("and" if function == "isfinite" else "or", re, im, BOOL)
            case _:
                return Const(function == "isfinite", BOOL)

    return emit


def parts(z: Expr) -> tuple[Expr, Expr]:
    """The real and imaginary part of a complex number."""
    dtype = "float32" if z.dtype == "complex64" else "float64"
    if isinstance(z, Const):
        value = complex(z.value)
        return Const(value.real, dtype), Const(value.imag, dtype)
    return Call("real", (z,), dtype), Call("imag", (z,), dtype)


# -- comparisons and logic -----------------------------------------------------------------------


def comparison(op: str) -> Emit:
    """`a op b`; a signed and an unsigned number are compared exactly."""

    def emit(args: Args, dtype: str) -> Expr:
        a, b = args
        if a.dtype == b.dtype:
            return Binary(op, a, b, BOOL)
        if a.dtype == "uint64":
            return _mixed(_MIRROR[op], b, a)
        return _mixed(op, a, b)

    return emit


def _mixed(op: str, a: Expr, b: Expr) -> Expr:
    """`a op b` for an int64 and a uint64: a negative number is less than any other."""
    zero = constant(0, a.dtype)
    rest = Binary(op, Cast(a, b.dtype), b, BOOL)
    if op in ("<", "<=", "!="):
        return Binary("or", Binary("<", a, zero, BOOL), rest, BOOL)
    return Binary("and", Binary(">=", a, zero, BOOL), rest, BOOL)


def logical_not(args: Args, dtype: str) -> Expr:
    """`not x`."""
    return Unary("not", args[0], BOOL)


def logical(op: str) -> Emit:
    """`and`, `or`, or `!=` for the exclusive or."""

    def emit(args: Args, dtype: str) -> Expr:
        return Binary(op, args[0], args[1], BOOL)

    return emit


def invert(args: Args, dtype: str) -> Expr:
    """`~x`."""
    return Unary("not" if dtype == BOOL else "~", args[0], dtype)


def signbit(args: Args, dtype: str) -> Expr:
    """Whether there is a minus sign, if only before a zero."""
    (x,) = args
    match kind(x.dtype):
        case "f":
            return Call("signbit", args, BOOL)
        case "i":
            return Binary("<", x, constant(0, x.dtype), BOOL)
        case _:
            return imp.FALSE


# -- signs ---------------------------------------------------------------------------------------


def negative(args: Args, dtype: str) -> Expr:
    """`-x`."""
    return Unary("-", args[0], dtype)


def same(args: Args, dtype: str) -> Expr:
    """The (first) argument as it is."""
    return args[0]


def second(args: Args, dtype: str) -> Expr:
    """The second argument as it is."""
    return args[1]


def absolute(args: Args, dtype: str) -> Expr:
    """`abs(x)`; that of the least integer wraps around to itself."""
    (x,) = args
    match kind(x.dtype):
        case "i":
            return Binary("max", x, Unary("-", x, dtype), dtype)
        case "f":
            return Call("fabs", args, dtype)
        case "c":
            return Call("abs", args, dtype)
        case _:
            return x


def sign(args: Args, dtype: str) -> Expr:
    """-1, 0, 1 or NaN."""
    (x,) = args
    zero, one = constant(0, dtype), constant(1, dtype)
    above, below = Binary(">", x, zero, BOOL), Binary("<", x, zero, BOOL)
    match kind(dtype):
        case "u":
            return Cast(above, dtype)
        case "i":
            return Binary("-", Cast(above, dtype), Cast(below, dtype), dtype)
        case _:
            level = Select(Binary("==", x, zero, BOOL), zero, x)  # not zero: NaN
            return Select(above, one, Select(below, constant(-1, dtype), level))


def heaviside(args: Args, dtype: str) -> Expr:
    """0 below zero, 1 above, the second argument at zero; NaN stays NaN."""
    x, at_zero = args
    zero, one = constant(0, dtype), constant(1, dtype)
    above, below = Binary(">", x, zero, BOOL), Binary("<", x, zero, BOOL)
    level = Select(Binary("==", x, zero, BOOL), at_zero, x)
    return Select(above, one, Select(below, zero, level))


# -- the rest ------------------------------------------------------------------------------------


def square(args: Args, dtype: str) -> Expr:
    """`x * x`."""
    return Binary("*", args[0], args[0], dtype)


def on_floats(function: str) -> Emit:
    """A function that rounds floats, and leaves integers as they are."""

    def emit(args: Args, dtype: str) -> Expr:
        return Call(function, args, dtype) if kind(dtype) == "f" else args[0]

    return emit


def ignoring_nan(function: str, op: str) -> Emit:
    """`fmin` or `fmax` of floats, else the plain minimum or maximum."""

    def emit(args: Args, dtype: str) -> Expr:
        return Call(function, args, dtype) if kind(dtype) == "f" else infix(op)(args, dtype)

    return emit


def clip(args: Args, dtype: str) -> Expr:
    """`min(max(x, low), high)`."""
    x, low, high = args
    return infix("min")((infix("max")((x, low), dtype), high), dtype)


def where(args: Args, dtype: str) -> Expr:
    """`a if cond else b`."""
    return Select(*args)


def logaddexp(args: Args, dtype: str) -> Expr:
    """`log(exp(a) + exp(b))` without overflow."""
    a, b = args
    minus = Unary("-", Call("fabs", (Binary("-", a, b, dtype),), dtype), dtype)
    less = Call("log1p", (Call("exp", (minus,), dtype),), dtype)
    unequal = Binary("+", Binary("max", a, b, dtype), less, dtype)
    equal = Binary("+", a, constant(math.log(2), dtype), dtype)  # also where a - b is inf - inf
    return Select(Binary("==", a, b, BOOL), equal, unequal)


def logaddexp2(args: Args, dtype: str) -> Expr:
    """`log2(2 ** a + 2 ** b)` without overflow."""
    a, b = args
    minus = Unary("-", Call("fabs", (Binary("-", a, b, dtype),), dtype), dtype)
    natural = Call("log1p", (Call("exp2", (minus,), dtype),), dtype)
    less = Binary("*", natural, constant(1 / math.log(2), dtype), dtype)
    unequal = Binary("+", Binary("max", a, b, dtype), less, dtype)
    equal = Binary("+", a, constant(1, dtype), dtype)  # also where a - b is inf - inf
    return Select(Binary("==", a, b, BOOL), equal, unequal)


def scaled(factor: float) -> Emit:
    """`x * factor`."""

    def emit(args: Args, dtype: str) -> Expr:
        return Binary("*", args[0], constant(factor, dtype), dtype)

    return emit


def spacing(args: Args, dtype: str) -> Expr:
    """The distance to the next number away from zero, with the sign of x."""
    (x,) = args
    size = Call("fabs", args, dtype)
    step = Binary("-", Call("nextafter", (size, constant(math.inf, dtype)), dtype), size, dtype)
    return Select(Binary("<", x, constant(0, dtype), BOOL), Unary("-", step, dtype), step)


def pair(args: Args, dtype: str) -> Expr:
    """1 where neither is zero, else 0."""
    tests = [Binary("!=", x, constant(0, x.dtype), BOOL) for x in args]
    return cast(Binary("and", tests[0], tests[1], BOOL), dtype)


def ldexp(args: Args, dtype: str) -> Expr:
    """`x * 2 ** n`, rounded once."""
    x, n = args
    limit = 5000 if dtype == "float64" else 400  # beyond them the result is 0 or infinite
    bounded = Binary("max", n, constant(-limit, "int64"), "int64")
    bounded = Binary("min", bounded, constant(limit, "int64"), "int64")
    if dtype == "float64":
        return Call("scale", (x, bounded), dtype)
    return Cast(Call("scale", (Cast(x, "float64"), bounded), "float64"), dtype)


def fraction(args: Args, dtype: str) -> Expr:
    """What is behind the point, with the sign of x; of an infinity 0."""
    (x,) = args
    rest = Binary("-", x, Call("trunc", args, dtype), dtype)
    infinite = Call("isinf", args, BOOL)
    return Call("copysign", (Select(infinite, constant(0, dtype), rest), x), dtype)


def exponent(args: Args, dtype: str) -> Expr:
    """The power of two above the absolute value."""
    return Cast(Call("exponent", (cast(args[0], "float64"),), "float64"), dtype)


def mantissa(args: Args, dtype: str) -> Expr:
    """What its exponent leaves of a number; computed in double precision, which is exact."""
    x = cast(args[0], "float64")
    power = Call("exponent", (x,), "float64")
    return cast(Call("mantissa", (x, power), "float64"), dtype)


def conversion(args: Args, dtype: str) -> Expr:
    """To another type; of a complex number only its real part becomes real, but all of it true."""
    (x,) = args
    if kind(x.dtype) == "c" and kind(dtype) not in "cb":
        x = parts(x)[0]
    return cast(x, dtype)


def choose(z: Number) -> Emit:
    """The first argument that is not z."""

    def emit(args: Args, dtype: str) -> Expr:
        a, b = args
        if z != z and kind(dtype) in "fc":
            return Select(Binary("==", a, a, BOOL), a, b)  # only NaN differs from itself
        try:
            other = constant(as_python(z, dtype), dtype)
        except DTypeError:
            return a  # no value of this type is z
        return Select(Binary("!=", a, other, BOOL), a, b)

    return emit


def real(args: Args, dtype: str) -> Expr:
    """The real part."""
    return parts(args[0])[0] if kind(args[0].dtype) == "c" else args[0]


def imag(args: Args, dtype: str) -> Expr:
    """The imaginary part."""
    return parts(args[0])[1] if kind(args[0].dtype) == "c" else constant(0, dtype)


def conj(args: Args, dtype: str) -> Expr:
    """The complex conjugate."""
    return Call("conj", args, dtype) if kind(dtype) == "c" else args[0]


def by_kind(real: Emit, complex_: Emit, integer: Emit | None = None) -> Emit:
    """One code for real numbers, another for complex ones, perhaps a third for integers."""

    def emit(args: Args, dtype: str) -> Expr:
        match kind(args[0].dtype):
            case "c":
                return complex_(args, dtype)
            case "i" | "u" if integer is not None:
                return integer(args, dtype)
            case _:
                return real(args, dtype)

    return emit
