"""Expressions as C text, without a parenthesis or a cast that its readers do not need.

Used by `c`, which prints the statements around them. Operations that C leaves undefined for some
operands (division by zero, wide shifts, floats that do not fit an integer) are small functions in
the prelude, with the meaning that they have in `llvm_values`.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import assert_never

from linnet import imp
from linnet.backend import c_prelude as prelude
from linnet.backend.c_prelude import TYPES, Needs
from linnet.backend.identifiers import Identifiers
from linnet.errors import InternalError
from linnet.imp.functions import MATH
from linnet.records import dataclass

_PRIMARY, _UNARY, _CHOICE = 16, 14, 3
_PRECEDENCE = {
    **dict.fromkeys(("*", "/", "div", "rem"), 13),
    **dict.fromkeys(("+", "-"), 12),
    **dict.fromkeys(("<<", ">>"), 11),
    **dict.fromkeys(("<", "<=", ">", ">="), 10),
    **dict.fromkeys(("==", "!="), 9),
    "&": 8,
    "^": 7,
    "|": 6,
    "and": 5,
    "or": 4,
}
_OBSCURE = frozenset({"&", "|", "^", "<<", ">>"})
_SYMBOL = {"div": "/", "rem": "%", "and": "&&", "or": "||"}
_OPPOSITE = {"==": "!=", "!=": "=="}
_ORDERED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_NARROW = frozenset({"int8", "int16", "uint8", "uint16"})  # C computes these in int
_WIDE = frozenset({"int64", "uint64", "uint32"})


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of C: how tightly it binds, and the type that C gives it."""

    text: str
    precedence: int
    dtype: str

    def at(self, precedence: int) -> str:
        """The text as an operand of something that binds so tightly."""
        return self.text if self.precedence >= precedence else f"({self.text})"


@dataclass(slots=True)
class Scope:
    """One function being printed: its names, and what it needs of the prelude."""

    needs: Needs
    names: Identifiers
    codelets: dict[str, str] = field(default_factory=dict)

    def type(self, dtype: str) -> str:
        """The C name of a type."""
        self.needs.types.add(dtype)
        return TYPES[dtype]


def plain(s: Scope, e: imp.Expr) -> str:
    """An expression that stands alone."""
    return expression(s, e).text


def assigned(s: Scope, e: imp.Expr, dtype: str) -> str:
    """An expression whose value is stored as `dtype`, which converts it."""
    match e:
        case imp.Const(value, kind) if kind[0] in "fc" and _whole(value):
            return str(int(value.real))
        case imp.Cast(x, kind) if kind == dtype and not _saturates(x.dtype, kind):
            return plain(s, x)
        case imp.Binary(op, a, b, kind) if kind == dtype and kind in _NARROW:
            return _operate(s, op, a, b).text
        case _:
            return plain(s, e)


def _whole(value: bool | int | float | complex) -> bool:
    z = complex(value)
    positive = math.copysign(1, z.real) > 0 and math.copysign(1, z.imag) > 0
    return positive and z.imag == 0 and z.real.is_integer() and z.real < 2**31


def _saturates(source: str, target: str) -> bool:
    """Whether a conversion is more than C's own."""
    return (source[0] in "fc" and target[0] in "iu") or (source[0] == "c" and target[0] != "c")


def index(s: Scope, e: imp.Expr) -> str:
    """An expression between brackets: any integer type will do."""
    match e:
        case imp.Cast(x, "int64") if x.dtype[0] in "iub":
            return plain(s, x)
        case _:
            return plain(s, e)


def expression(s: Scope, e: imp.Expr) -> Text:
    """Any expression."""
    match e:
        case imp.Var(name, dtype):
            return Text(s.names[name], _PRIMARY, dtype)
        case imp.Const(value, dtype):
            return constant(s, value, dtype)
        case imp.Load(buffer, at):
            return Text(f"{s.names[buffer.name]}[{index(s, at)}]", _PRIMARY, buffer.dtype)
        case imp.Binary(op, a, b, dtype):
            result = _operate(s, op, a, b)
            narrow = dtype in _NARROW and op not in ("min", "max")
            return _converted(s, result, dtype) if narrow else result
        case imp.Cast(x, dtype):
            return _cast(s, x, dtype)
        case imp.Unary(op, x, dtype):
            return _unary(s, op, x, dtype)
        case imp.Select(cond, a, b):
            yes, no = expression(s, a), expression(s, b)
            text = f"{expression(s, cond).at(_CHOICE + 1)} ? {yes.at(_CHOICE)} : {no.at(_CHOICE)}"
            return Text(text, _CHOICE, yes.dtype if yes.dtype == no.dtype else a.dtype)
        case imp.Call():
            return Text(call(s, e), _PRIMARY, e.dtype)
        case _:
            assert_never(e)


# -- constants -----------------------------------------------------------------------------------


def constant(s: Scope, value: bool | int | float | complex, dtype: str) -> Text:
    """A literal, or the name of a limit."""
    match dtype[0]:
        case "b":
            s.needs.types.add("bool")
            return Text("true" if value else "false", _PRIMARY, dtype)
        case "i" | "u":
            return _integer(int(value.real), dtype)
        case "f":
            text = _float(s, float(value.real), dtype)
            return Text(text, _UNARY if text[0] == "-" else _PRIMARY, dtype)
        case _:
            z, part = complex(value), "float32" if dtype == "complex64" else "float64"
            s.needs.headers.add("complex.h")
            pair = f"{_float(s, z.real, part)}, {_float(s, z.imag, part)}"
            return Text(f"CMPLX{'F' if part == 'float32' else ''}({pair})", _PRIMARY, dtype)


def _integer(value: int, dtype: str) -> Text:
    if value == -(2**63) or (value == -(2**31) and dtype == "int32"):
        return Text(f"INT{dtype[3:]}_MIN", _PRIMARY, dtype)
    if dtype[0] == "u" and value >= 2**31:
        return Text(f"{value}u", _PRIMARY, dtype)
    # a small literal is an int, whatever it is meant to be
    actual = "int32" if -(2**31) < value < 2**31 else "int64"
    return Text(str(value), _UNARY if value < 0 else _PRIMARY, actual)


def _float(s: Scope, value: float, dtype: str) -> str:
    if math.isnan(value) or math.isinf(value):
        s.needs.headers.add("math.h")
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return repr(value) + ("f" if dtype == "float32" else "")


# -- operators -----------------------------------------------------------------------------------


def _operate(s: Scope, op: str, a: imp.Expr, b: imp.Expr) -> Text:
    """`a op b`, in the type in which C computes it."""
    kind = a.dtype
    if function := _named_operation(op, b, kind):
        name = s.needs.function(function, kind)
        return Text(f"{name}({assigned(s, a, kind)}, {assigned(s, b, kind)})", _PRIMARY, kind)
    if kind[0] == "f" and op == "rem":
        s.needs.headers.add("math.h")
        name = "fmodf" if kind == "float32" else "fmod"
        return Text(f"{name}({plain(s, a)}, {plain(s, b)})", _PRIMARY, kind)
    if kind == "bool" and op in ("+", "*", "min", "max"):
        op = "|" if op in ("+", "max") else "&"
    left, right = expression(s, unwidened(a)), expression(s, unwidened(b))
    result = imp.BOOL if op in imp.COMPARISONS or op in imp.LOGICAL else kind
    if kind in _WIDE and kind not in (left.dtype, right.dtype):
        left = _converted(s, left, kind)  # one side must have the type for both to get it
    elif kind in _WIDE and op in ("<<", ">>"):
        left = _converted(s, left, kind)
    if op == "+" and isinstance(b, imp.Const) and right.text[0] == "-":
        op, right = "-", Text(right.text[1:], _PRIMARY, right.dtype)
    if op not in _PRECEDENCE:
        raise InternalError(f"the C back end has no {op} of {kind}")
    level = _PRECEDENCE[op]
    # nobody knows how tightly bits, shifts and comparisons bind, so their operands are enclosed
    enclosed = {"or": _PRECEDENCE["and"] + 1}.get(op, _UNARY if op in _OBSCURE else level)
    left_text = left.text if left.precedence == level else left.at(enclosed)
    if op in imp.COMPARISONS and left.precedence == level:
        left_text = f"({left.text})"
    right_text = right.at(max(enclosed, level + 1))
    return Text(f"{left_text} {_SYMBOL.get(op, op)} {right_text}", level, result)


def _named_operation(op: str, b: imp.Expr, kind: str) -> str:
    """The prelude function of an operation that is more than C's operator."""
    if op in ("min", "max") and kind != "bool":
        return op
    if op in ("div", "rem") and kind[0] in "iu":
        safe = isinstance(b, imp.Const) and b.value not in (0, -1)
        return "" if safe else op
    if op in ("<<", ">>"):
        bits = int(kind.lstrip("uint"))
        safe = isinstance(b, imp.Const) and 0 <= b.value.real < bits
        return "" if safe else "shl" if op == "<<" else "shr"
    return "quotient" if op == "/" and kind[0] == "c" else ""


def unwidened(e: imp.Expr) -> imp.Expr:
    """Without a widening of integers, which C does by itself beside a wide operand."""
    match e:
        case imp.Cast(x, "int64") if x.dtype[0] in "biu" and not x.dtype.endswith("64"):
            return x
        case _:
            return e


def _converted(s: Scope, text: Text, dtype: str) -> Text:
    if text.dtype == dtype and dtype not in _NARROW:
        return text
    return Text(f"({s.type(dtype)}){text.at(_UNARY)}", _UNARY, dtype)


def _cast(s: Scope, x: imp.Expr, dtype: str) -> Text:
    source = x.dtype
    if source == dtype:
        return expression(s, x)
    if source[0] == "c" and dtype[0] != "c":
        if dtype == "bool":
            return Text(f"{expression(s, x).at(9)} != 0", 9, dtype)
        part = "float32" if source == "complex64" else "float64"
        return _cast(s, imp.Call("real", (x,), part), dtype)
    if dtype == "bool":
        return Text(f"{expression(s, x).at(9)} != 0", 9, dtype)
    if _saturates(source, dtype):
        return Text(f"{s.needs.function('to', dtype)}({plain(s, x)})", _PRIMARY, dtype)
    return Text(f"({s.type(dtype)}){expression(s, x).at(_UNARY)}", _UNARY, dtype)


def _unary(s: Scope, op: str, x: imp.Expr, dtype: str) -> Text:
    if op == "not" or (op == "~" and dtype == "bool"):
        return negated(s, x)
    text = expression(s, x)
    if dtype in _WIDE:
        text = _converted(s, text, dtype)
    space = " " if text.text[0] == op else ""
    result = Text(f"{op}{space}{text.at(_UNARY)}", _UNARY, dtype)
    return _converted(s, result, dtype) if dtype in _NARROW else result


def negated(s: Scope, e: imp.Expr) -> Text:
    """`not e`: a comparison is turned around where that is the same."""
    match e:
        case imp.Binary(op, a, b, _) if op in _OPPOSITE:
            return _operate(s, _OPPOSITE[op], a, b)
        case imp.Binary(op, a, b, _) if op in _ORDERED and a.dtype[0] in "iu":
            return _operate(s, _ORDERED[op], a, b)
        case imp.Unary("not", x, _):
            return expression(s, x)
        case _:
            return Text(f"!{expression(s, e).at(_UNARY)}", _UNARY, imp.BOOL)


# -- calls ---------------------------------------------------------------------------------------


def call(s: Scope, e: imp.Call) -> str:
    """A call of a codelet, or of a function of math.h or complex.h."""
    return f"{_function(s, e)}({', '.join(arguments(s, e))})"


def arguments(s: Scope, e: imp.Call) -> list[str]:
    """The arguments of a call, which converts them."""

    def argument(a: imp.Expr | imp.Address) -> str:
        if isinstance(a, imp.Address):
            return s.names[a.buffer.name]
        return assigned(s, a, a.dtype)

    return [argument(a) for a in e.args]


def _function(s: Scope, e: imp.Call) -> str:
    name = e.function
    if name in s.codelets:
        return s.codelets[name]
    dtype = e.args[0].dtype
    kind, suffix = dtype[0], "f" if dtype in ("float32", "complex64") else ""
    if name == "complex":
        s.needs.headers.add("complex.h")
        return f"CMPLX{suffix.upper()}"
    if name in ("real", "imag", "conj", "abs") and kind == "c":
        s.needs.headers.add("complex.h")
        return f"{prelude.COMPLEX[name]}{suffix}"
    if name in ("real", "conj") or (name == "abs" and kind in "ub"):
        return ""  # the number itself
    if name in prelude.BITS or name in prelude.WORDS:
        return s.needs.function(name, dtype)
    if name == "imag" or (name == "abs" and kind == "i") or name in prelude.TESTS:
        return s.needs.function(name, dtype)
    s.needs.headers.add("math.h")
    if name == "abs":
        return f"fabs{suffix}"
    if name in MATH and kind == "f":
        return name + suffix
    raise InternalError(f"the C back end knows no function {name} of {dtype}")
