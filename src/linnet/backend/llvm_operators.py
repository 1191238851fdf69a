"""Operators on values as LLVM IR text: constants, arithmetic, comparisons, conversions.

A value is a tuple of operands: one, or two for a complex number (real and imaginary part), so that
loops over complex arrays vectorize like any others. All operations are total: dividing by zero
gives zero, shifts past the width shift everything out, conversions saturate.
"""

from __future__ import annotations

import struct

from linnet import imp
from linnet.backend.llvm_writer import BYTES, PARTS, TYPES, Value, Writer
from linnet.errors import InternalError

_ZERO = "0x0000000000000000"


# -- constants -----------------------------------------------------------------------------------


def constant(value: bool | int | float | complex, dtype: str) -> Value:
    """A constant as LLVM writes it: floats by their bits."""
    match dtype[0]:
        case "b":
            return ("true" if value else "false",)
        case "i" | "u":
            bits = 8 * BYTES[TYPES[dtype]]
            return (str((int(value.real) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)),)
        case "f":
            return (float_text(float(value.real), dtype),)
        case _:
            z, part = complex(value), PARTS[dtype]
            return (float_text(z.real, part), float_text(z.imag, part))


def float_text(value: float, dtype: str) -> str:
    """A float by its bits."""
    if dtype == "float32":  # written with the digits of a double, but must be one of its values
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return f"0x{struct.unpack('Q', struct.pack('d', value))[0]:016X}"


# -- operators -----------------------------------------------------------------------------------

_INT = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_BOOL = {"+": "or", "*": "and", "min": "and", "max": "or", "&": "and", "|": "or", "^": "xor"}
_FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_ORDER = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def binary(w: Writer, op: str, a: Value, b: Value, dtype: str, flags: str = "") -> Value:
    """`a op b` for operands of one type. `and` and `or` come here only as reductions."""
    ty, kind = TYPES[dtype], dtype[0]
    if op in _ORDER:
        return (_compare(w, op, a, b, dtype),)
    match kind:
        case "c":
            return _complex(w, op, a, b, ty, flags)
        case "f" if op in _FLOAT:
            return (w.emit(f"{_FLOAT[op]} {flags}{ty} {a[0]}, {b[0]}"),)
        case "f" if op in ("min", "max"):  # NaN wins, as in NumPy
            return (w.intrinsic(f"{op}imum", ty, a[0], b[0], flags="nsz "),)
        case "f" if op == "rem":
            return (w.libm("fmod", ty, a[0], b[0]),)
        case "b" if op in _BOOL or op in imp.LOGICAL:
            return (w.emit(f"{_BOOL.get(op, op)} i1 {a[0]}, {b[0]}"),)
        case "i" | "u" if op in _INT:
            return (w.emit(f"{_INT[op]} {ty} {a[0]}, {b[0]}"),)
        case "i" | "u" if op in ("min", "max"):
            return (w.intrinsic(f"{'s' if kind == 'i' else 'u'}{op}", ty, a[0], b[0]),)
        case "i" | "u" if op in ("div", "rem"):
            return (_divide(w, op, a[0], b[0], ty, kind == "i"),)
        case "i" | "u" if op in ("<<", ">>"):
            return (_shift(w, op, a[0], b[0], ty, kind == "i"),)
    raise InternalError(f"the LLVM back end has no {op} of {dtype}")


def _compare(w: Writer, op: str, a: Value, b: Value, dtype: str) -> str:
    order, ty = _ORDER[op], TYPES[dtype]
    match dtype[0]:
        case "f" if op == "!=" and b[0] == _ZERO:
            # all bits but the sign: one test, where one of floats asks for NaN as well
            bits = f"i{8 * BYTES[ty]}"
            number = w.emit(f"bitcast {ty} {a[0]} to {bits}")
            return w.emit(f"icmp ne {bits} {w.emit(f'shl {bits} {number}, 1')}, 0")
        case "f":
            return w.emit(f"fcmp {'une' if op == '!=' else 'o' + order} {ty} {a[0]}, {b[0]}")
        case "c":
            test, join = ("oeq", "and") if op == "==" else ("une", "or")
            x, y = (w.emit(f"fcmp {test} {ty} {p}, {q}") for p, q in zip(a, b, strict=True))
            return w.emit(f"{join} i1 {x}, {y}")
        case kind:
            sign = "" if op in ("==", "!=") else "s" if kind == "i" else "u"
            return w.emit(f"icmp {sign}{order} {ty} {a[0]}, {b[0]}")


def _divide(w: Writer, op: str, a: str, b: str, ty: str, signed: bool) -> str:
    """Integer division as in C, where that is defined; x / 0 and x % 0 are 0, x / -1 wraps."""
    code = ("s" if signed else "u") + op
    if b.lstrip("-").isdigit() and b not in ("0", "-1"):
        return w.emit(f"{code} {ty} {a}, {b}")
    zero = odd = w.emit(f"icmp eq {ty} {b}, 0")
    if signed:
        minus = w.emit(f"icmp eq {ty} {b}, -1")
        odd = w.emit(f"or i1 {zero}, {minus}")
    result = w.emit(f"{code} {ty} {a}, {w.emit(f'select i1 {odd}, {ty} 1, {ty} {b}')}")
    if op == "rem":
        return result  # the remainder of a division by 1 is 0
    if signed:
        negated = w.emit(f"sub {ty} 0, {a}")
        result = w.emit(f"select i1 {minus}, {ty} {negated}, {ty} {result}")
    return w.emit(f"select i1 {zero}, {ty} 0, {ty} {result}")


def _shift(w: Writer, op: str, a: str, b: str, ty: str, signed: bool) -> str:
    """A shift by the width or more (or by less than nothing) leaves only zeros or sign bits."""
    bits = 8 * BYTES[ty]
    code = "shl" if op == "<<" else "ashr" if signed else "lshr"
    if b.isdigit() and int(b) < bits:
        return w.emit(f"{code} {ty} {a}, {b}")
    inside = w.emit(f"icmp ult {ty} {b}, {bits}")
    amount = w.emit(f"select i1 {inside}, {ty} {b}, {ty} {bits - 1}")
    shifted = w.emit(f"{code} {ty} {a}, {amount}")
    if code == "ashr":
        return shifted
    return w.emit(f"select i1 {inside}, {ty} {shifted}, {ty} 0")


def _complex(w: Writer, op: str, a: Value, b: Value, ty: str, flags: str) -> Value:
    match op:
        case "+" | "-":
            code = _FLOAT[op]
            parts = zip(a, b, strict=True)
            return tuple(w.emit(f"{code} {flags}{ty} {x}, {y}") for x, y in parts)
        case "*":
            (ar, ai), (br, bi) = a, b
            rr, ii = w.emit(f"fmul {flags}{ty} {ar}, {br}"), w.emit(f"fmul {flags}{ty} {ai}, {bi}")
            ri, ir = w.emit(f"fmul {flags}{ty} {ar}, {bi}"), w.emit(f"fmul {flags}{ty} {ai}, {br}")
            return (w.emit(f"fsub {flags}{ty} {rr}, {ii}"), w.emit(f"fadd {flags}{ty} {ri}, {ir}"))
        case "/":
            return _complex_divide(w, a, b, ty)
    raise InternalError(f"the LLVM back end has no {op} of complex numbers")


def _complex_divide(w: Writer, a: Value, b: Value, ty: str) -> Value:
    """Smith's method, as in NumPy: scale by the larger part of the divisor.

    With |br| >= |bi|: r = bi/br, d = br + bi r, ((ar + ai r)/d, (ai - ar r)/d); else with the
    parts of both numbers swapped, and (ai r - ar)/d.
    """
    (ar, ai), (br, bi) = a, b
    size_r, size_i = (w.intrinsic("fabs", ty, x) for x in b)
    c = w.emit(f"fcmp oge {ty} {size_r}, {size_i}")

    def pick(x: str, y: str) -> str:
        return w.emit(f"select i1 {c}, {ty} {x}, {ty} {y}")

    large, small = pick(br, bi), pick(bi, br)
    p, q = pick(ar, ai), pick(ai, ar)
    ratio = w.emit(f"fdiv {ty} {small}, {large}")
    d = w.emit(f"fadd {ty} {large}, {w.emit(f'fmul {ty} {small}, {ratio}')}")
    real = w.emit(f"fadd {ty} {p}, {w.emit(f'fmul {ty} {q}, {ratio}')}")
    crossed = w.emit(f"fmul {ty} {p}, {ratio}")
    imag = pick(*(w.emit(f"fsub {ty} {x}, {y}") for x, y in ((q, crossed), (crossed, q))))
    # what is divided by zero, and not by NaN beside a zero, is so in each part: 0/0 does not spread
    size = w.emit(f"fadd {ty} {size_r}, {size_i}")
    zero = w.emit(f"fcmp oeq {ty} {size}, {_ZERO}")
    real, imag, d = (
        w.emit(f"select i1 {zero}, {ty} {x}, {ty} {y}")
        for x, y in ((ar, real), (ai, imag), (_ZERO, d))
    )
    return (w.emit(f"fdiv {ty} {real}, {d}"), w.emit(f"fdiv {ty} {imag}, {d}"))


def unary(w: Writer, op: str, x: Value, dtype: str) -> Value:
    """`op x`."""
    ty = TYPES[dtype]
    match op, dtype[0]:
        case "-", "f" | "c":
            return tuple(w.emit(f"fneg {ty} {part}") for part in x)
        case "-", "i" | "u":
            return (w.emit(f"sub {ty} 0, {x[0]}"),)
        case "~", "i" | "u":
            return (w.emit(f"xor {ty} {x[0]}, -1"),)
        case (("~" | "not"), "b"):
            return (w.emit(f"xor i1 {x[0]}, true"),)
    raise InternalError(f"the LLVM back end has no unary {op} of {dtype}")


# -- conversions and tests -----------------------------------------------------------------------


def cast(w: Writer, x: Value, source: str, target: str) -> Value:
    """Convert between any two types."""
    if source == target:
        return x
    if source[0] == "c":
        part = PARTS[source]
        if target == "bool":
            return (_compare(w, "!=", x, constant(0, source), source),)
        if target[0] == "c":
            return tuple(_cast(w, p, part, PARTS[target]) for p in x)
        return (_cast(w, x[0], part, target),)
    if target[0] == "c":
        part = PARTS[target]
        return (_cast(w, x[0], source, part), float_text(0.0, part))
    return (_cast(w, x[0], source, target),)


def _cast(w: Writer, x: str, source: str, target: str) -> str:
    s, t = TYPES[source], TYPES[target]
    signed = source[0] == "i"
    if source == target:
        return x
    if target == "bool":
        return _compare(w, "!=", (x,), constant(0, source), source)
    match source[0], target[0]:
        case "f", "f":
            return w.emit(f"{'fpext' if t == 'double' else 'fptrunc'} {s} {x} to {t}")
        case "f", sign:
            name = f"fpto{'s' if sign == 'i' else 'u'}i.sat"
            symbol = f"@llvm.{name}.{t}.{'f32' if s == 'float' else 'f64'}"
            w.module.declarations.setdefault(symbol, f"declare {t} {symbol}({s})")
            return w.emit(f"call {t} {symbol}({s} {x})")
        case _, "f":
            return w.emit(f"{'s' if signed else 'u'}itofp {s} {x} to {t}")
    if BYTES[s] == BYTES[t] and s != "i1":
        return x
    code = "trunc" if BYTES[t] < BYTES[s] else "sext" if signed else "zext"
    return w.emit(f"{code} {s} {x} to {t}")


def absolute(w: Writer, x: Value, dtype: str) -> str:
    """The size of a number."""
    ty = TYPES[dtype]
    match dtype[0]:
        case "f":
            return w.intrinsic("fabs", ty, x[0])
        case "c":
            return w.libm("hypot", ty, *x)
        case "i":
            negative = w.emit(f"icmp slt {ty} {x[0]}, 0")
            minus = w.emit(f"sub {ty} 0, {x[0]}")
            return w.emit(f"select i1 {negative}, {ty} {minus}, {ty} {x[0]}")
        case _:
            return x[0]


def classify(w: Writer, name: str, x: Value, dtype: str) -> str:
    """Tests of floats; a complex number is NaN or infinite if a part is."""
    ty = TYPES[dtype]
    if dtype[0] not in "fc":
        return "true" if name == "isfinite" else "false"
    if len(x) == 2:
        both = tuple(classify(w, name, (part,), PARTS[dtype]) for part in x)
        return w.emit(f"{'and' if name == 'isfinite' else 'or'} i1 {both[0]}, {both[1]}")
    if name == "isnan":
        return w.emit(f"fcmp uno {ty} {x[0]}, {x[0]}")
    if name == "signbit":
        integer = f"i{8 * BYTES[ty]}"
        return w.emit(f"icmp slt {integer} {w.emit(f'bitcast {ty} {x[0]} to {integer}')}, 0")
    size = w.intrinsic("fabs", ty, x[0])
    test = "oeq" if name == "isinf" else "one"
    return w.emit(f"fcmp {test} {ty} {size}, {float_text(float('inf'), 'float64')}")
