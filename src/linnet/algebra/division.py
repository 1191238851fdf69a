"""The code of division and powers of integers, rounded as Python rounds.

The operators of the IR are total: division by zero gives 0, and what does not fit wraps around. A
divisor that is known makes the code short, as in index arithmetic. Where NumPy raises an error (a
negative power of an integer), the result is the true one rounded toward zero.
"""

from __future__ import annotations

from linnet.algebra.dtypes import kind
from linnet.algebra.emit import Args, absolute, cast, constant, widen
from linnet.algebra.function import Emit
from linnet.imp import BOOL, Binary, Call, Cast, Const, Expr, Select, Unary


def floor_div(args: Args, dtype: str) -> Expr:
    """`a // b`, rounded down."""
    a, b = args
    match kind(dtype), b:
        case "f", _:
            return Call("float_floor_div", args, dtype)
        case _, Const(int(value)):
            return _div_by(a, value, dtype)
        case "u", _:
            return Binary("div", a, b, dtype)
        case _:
            return _wide("floor_div", args, dtype)


def floor_mod(args: Args, dtype: str) -> Expr:
    """`a % b`, with the sign of b."""
    a, b = args
    match kind(dtype), b:
        case "f", _:
            return Call("float_floor_mod", args, dtype)
        case _, Const(int(value)):
            return _mod_by(a, value, dtype)
        case "u", _:
            return Binary("rem", a, b, dtype)
        case _:
            return _wide("floor_mod", args, dtype)


def _div_by(a: Expr, b: int, dtype: str) -> Expr:
    """`a // b` for a known b."""
    if b in (0, 1, -1):
        return {0: constant(0, dtype), 1: a, -1: Unary("-", a, dtype)}[b]
    if b > 0 and b & (b - 1) == 0:
        return Binary(">>", a, constant(b.bit_length() - 1, dtype), dtype)
    quotient = Binary("div", a, constant(b, dtype), dtype)
    if kind(dtype) == "u":
        return quotient
    return Binary("-", quotient, Cast(_odd_sign(a, b, dtype), dtype), dtype)


def _mod_by(a: Expr, b: int, dtype: str) -> Expr:
    """`a % b` for a known b."""
    if b in (0, 1, -1):
        return constant(0, dtype)
    if b > 0 and b & (b - 1) == 0:
        return Binary("&", a, constant(b - 1, dtype), dtype)
    rest = Binary("rem", a, constant(b, dtype), dtype)
    if kind(dtype) == "u":
        return rest
    return Select(_odd_sign(a, b, dtype), Binary("+", rest, constant(b, dtype), dtype), rest)


def _odd_sign(a: Expr, b: int, dtype: str) -> Expr:
    """Whether C's remainder is not zero and has not the sign of b."""
    rest = Binary("rem", a, constant(b, dtype), dtype)
    return Binary("<" if b > 0 else ">", rest, constant(0, dtype), BOOL)


def remainder(args: Args, dtype: str) -> Expr:
    """C's remainder, with the sign of a."""
    a, b = args
    return Call("fmod", args, dtype) if kind(dtype) == "f" else Binary("rem", a, b, dtype)


def reciprocal(args: Args, dtype: str) -> Expr:
    """`1 / x`; of an integer rounded toward zero, and 0 for 0."""
    (x,) = args
    one = constant(1, dtype)
    match kind(dtype):
        case "u":
            return Cast(Binary("==", x, one, BOOL), dtype)
        case "i":
            return _unit(x, dtype)
        case _:
            return Binary("/", one, x, dtype)


def _unit(x: Expr, dtype: str) -> Expr:
    """`x` if it is 1 or -1, else 0."""
    one, minus = (Binary("==", x, constant(n, dtype), BOOL) for n in (1, -1))
    return Select(Binary("or", one, minus, BOOL), x, constant(0, dtype))


def integer_power(args: Args, dtype: str) -> Expr:
    """`x ** n`; a negative power is rounded toward zero, so that only 1 and -1 have one."""
    x, n = args
    if isinstance(n, Const) and n.value == 2:
        return Binary("*", x, x, dtype)
    one, two = constant(1, dtype), constant(2, dtype)
    if kind(dtype) == "i" and not (isinstance(n, Const) and n.value >= 0):  # type: ignore[operator]
        negative = Binary("<", n, constant(0, dtype), BOOL)
        x = Select(negative, _unit(x, dtype), x)
        # an odd negative power of 0, 1, -1 is its first, an even one its second
        n = Select(negative, Binary("-", two, Binary("&", n, one, dtype), dtype), n)
    return _wide("ipow", (x, n, one), dtype)


def _wide(codelet: str, args: Args, dtype: str) -> Expr:
    """A codelet on integers, in 64 bits; narrowing the result wraps around as it should."""
    wide = "int64" if kind(dtype) == "i" else "uint64"
    return cast(Call(codelet, tuple(widen(x, wide) for x in args), wide), dtype)


def bit_count(args: Args, dtype: str) -> Expr:
    """How many bits of the absolute value are set."""
    (x,) = args
    size = x if x.dtype == "uint64" else cast(absolute((widen(x, "int64"),), "int64"), "uint64")
    return cast(Call("popcount", (size, constant(0, "uint64")), "uint64"), dtype)


def magnitudes(codelet: str) -> Emit:
    """A codelet on the absolute values of integers."""

    def emit(args: Args, dtype: str) -> Expr:
        sizes = tuple(cast(absolute((widen(x, "int64"),), "int64"), "uint64") for x in args)
        return cast(Call(codelet, args if dtype == "uint64" else sizes, "uint64"), dtype)

    return emit
