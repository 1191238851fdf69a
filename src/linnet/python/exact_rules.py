"""The rules of codelets: Python's own, but that integers have 64 bits."""

from __future__ import annotations

from types import FunctionType

from linnet import imp
from linnet.imp.floats import bits, count_bits, fma, from_bits, lowest_bit
from linnet.imp.functions import MATH, TESTS
from linnet.python import arithmetic
from linnet.python.arithmetic import coerce, combine, concrete, join, kind
from linnet.python.rules import Once, Rules

_CONVERSIONS = {"int": "int64", "float": "float64", "complex": "complex128", "bool": "bool"} | {
    name: name
    for name in """int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64
    complex128""".split()
}
_NAMED_OTHERWISE = {"gamma": "tgamma"}  # functions of Python's `math`, in C
_TO_INTEGER = ("floor", "ceil", "trunc")  # Python's give an integer


def literal(value: object) -> imp.Const | None:
    """A number of Python."""
    if not isinstance(value, bool | int | float | complex):
        return None
    return arithmetic.literal(value)


def unary(op: str, x: imp.Expr) -> imp.Expr:
    """A sign, or the bits of an integer turned over."""
    match op:
        case "-":
            return arithmetic.negate(x)
        case "~":
            return arithmetic.invert(x)
        case _:
            return x


def call(function: object, args: list[imp.Expr], once: Once) -> imp.Expr | None:
    """`min`, `max`, `abs`, a conversion, a part of a number, or a function of `math`."""
    if function in ("real", "imag") and args[0].dtype == "complex128":
        return imp.Call(str(function), tuple(args), "float64")
    if function is complex and len(args) == 2:
        return imp.Call("complex", tuple(_convert(x, "float64") for x in args), "complex128")
    name, count = getattr(function, "__name__", ""), len(args)
    if function in (min, max) and count >= 2:
        result, *rest = args
        for arg in rest:
            result = combine(name, result, arg)
        return result
    if function is abs and count == 1:
        return arithmetic.absolute(once(args[0]))
    if isinstance(function, type) and name in _CONVERSIONS and count == 1:
        return _convert(args[0], _CONVERSIONS[name])
    if function is bits and count == 1:
        return imp.Call("bits", (_convert(args[0], "float64"),), imp.INT)
    if function is from_bits and count == 1:
        return imp.Call("from_bits", (_convert(args[0], imp.INT),), "float64")
    if function in (count_bits, lowest_bit) and count == 1:
        return imp.Call(name, (_convert(args[0], imp.INT),), imp.INT)
    if function is fma and count == 3:
        return _math("fma", args)
    if getattr(function, "__module__", "") == "math":
        name = _NAMED_OTHERWISE.get(name, name)
        if (name in MATH and MATH[name].arity == count) or (name in TESTS and count == 1):
            return _math(name, args)
    return None


def _convert(x: imp.Expr, dtype: str) -> imp.Expr:
    if isinstance(x, imp.Const):
        return coerce(x, dtype)
    return x if x.dtype == dtype else imp.Cast(x, dtype)


def _math(name: str, args: list[imp.Expr]) -> imp.Expr:
    dtype = "weak_float"
    for arg in args:
        dtype = join(dtype, arg.dtype)
    if kind(dtype) == "c":
        raise TypeError(f"math.{name} is for real numbers")
    dtype = concrete(dtype)
    args = [coerce(arg, dtype) for arg in args]
    found = imp.Call(name, tuple(args), imp.BOOL if name in TESTS else dtype)
    return imp.Cast(found, imp.INT) if name in _TO_INTEGER else found


def text(function: object) -> tuple[FunctionType, str | None] | None:
    """A Python function is its own text, but for those that are instructions."""
    instruction = function in (bits, count_bits, fma, from_bits, lowest_bit)
    if instruction or not isinstance(function, FunctionType):
        return None
    return (function, None)


def passed(x: imp.Expr) -> imp.Expr:
    """Integers in 64 bits: one specialization of a codelet, not one per width."""
    wide = kind(x.dtype) in "iu" and x.dtype != "uint64"
    return coerce(x, imp.INT if wide else concrete(x.dtype))


EXACT = Rules(
    literal=literal,
    join=join,
    held=concrete,
    coerce=coerce,
    combine=combine,
    unary=unary,
    call=call,
    text=text,
    passed=passed,
    finish=lambda function: function,
)
