"""Expressions as LLVM IR text. Used by `llvm`, which writes the statements around them.

A value is a tuple of operands: one, or two for a complex number (real and imaginary part), so that
loops over complex arrays vectorize like any others. All operations are total: dividing by zero
gives zero, shifts past the width shift everything out, conversions saturate.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from linnet import imp
from linnet.errors import InternalError
from linnet.imp.functions import MATH

Value: TypeAlias = tuple[str, ...]

TYPES = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "i8",
    "uint16": "i16",
    "uint32": "i32",
    "uint64": "i64",
    "float32": "float",
    "float64": "double",
    "complex64": "float",  # each of two parts
    "complex128": "double",
}
BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}
PARTS = {"complex64": "float32", "complex128": "float64"}
# What a reduction may do and other code may not: sum in another order, fuse into multiply-add.
REDUCTION = "reassoc nsz contract "
_ZERO = "0x0000000000000000"


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a buffer is: a fixed address, or a slot that holds it; and what its accesses carry."""

    address: str
    in_slot: bool = False
    load: str = ""
    store: str = ""


@dataclass(slots=True)
class Module:
    """What the functions of one module share: declarations and metadata."""

    declarations: dict[str, str] = field(default_factory=dict)
    metadata: list[str] = field(default_factory=list)
    codelets: dict[str, imp.Function] = field(default_factory=dict)

    def node(self, text: str) -> str:
        """A numbered metadata node."""
        self.metadata.append(text)
        return f"!{len(self.metadata) - 1}"


@dataclass(slots=True)
class Writer:
    """One function being written: its lines, and what its names stand for."""

    module: Module
    lines: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    slots: dict[str, Value] = field(default_factory=dict)
    buffers: dict[str, Pointer] = field(default_factory=dict)
    count: int = 0
    block: str = "entry"
    open: bool = True  # whether the current block still lacks a terminator

    def emit(self, text: str) -> str:
        """Append an instruction that gives a value; return the value's name."""
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction that gives none."""
        self.lines.append("  " + text)

    def label(self, hint: str) -> str:
        """A fresh block name."""
        self.count += 1
        return f"{hint}{self.count}"

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block, self.open = label, True

    def jump(self, label: str, note: str = "") -> None:
        """End the block, unless it has ended already."""
        if self.open:
            self.lines.append(f"  br label %{label}{note}")
            self.open = False

    def branch(self, cond: str, yes: str, no: str, note: str = "") -> None:
        """End the block with a choice."""
        self.lines.append(f"  br i1 {cond}, label %{yes}, label %{no}{note}")
        self.open = False

    def intrinsic(self, name: str, ty: str, *args: str, flags: str = "") -> str:
        """Call an overloaded intrinsic whose arguments and result have one type."""
        mark = {"float": "f32", "double": "f64"}.get(ty, ty)
        symbol = f"@llvm.{name}.{mark}"
        params = ", ".join([ty] * len(args))
        self.module.declarations.setdefault(symbol, f"declare {ty} {symbol}({params})")
        return self.emit(f"call {flags}{ty} {symbol}({', '.join(f'{ty} {a}' for a in args)})")

    def libm(self, name: str, ty: str, *args: str) -> str:
        """Call a function of math.h."""
        symbol = f"@{name}{'f' if ty == 'float' else ''}"
        params = ", ".join([ty] * len(args))
        self.module.declarations.setdefault(symbol, f"declare {ty} {symbol}({params}) #2")
        return self.emit(f"call {ty} {symbol}({', '.join(f'{ty} {a}' for a in args)})")


# -- expressions ---------------------------------------------------------------------------------


def scalar(w: Writer, e: imp.Expr) -> str:
    """Evaluate an expression that is not complex."""
    return evaluate(w, e)[0]


def integer(w: Writer, e: imp.Expr) -> str:
    """Evaluate a position or a coordinate, as 64 bits."""
    return evaluate(w, imp.widen(e))[0]


def evaluate(w: Writer, e: imp.Expr) -> Value:
    """Evaluate an expression."""
    match e:
        case imp.Var(name, dtype):
            if name in w.values:
                return w.values[name]
            ty = TYPES[dtype]
            return tuple(w.emit(f"load {ty}, ptr {slot}") for slot in w.slots[name])
        case imp.Const(value, dtype):
            return constant(value, dtype)
        case imp.Load(buffer, index):
            return load(w, buffer, integer(w, index))
        case imp.Binary(op, a, b, _):
            if op in imp.LOGICAL:
                return (_logical(w, e),)
            return binary(w, op, evaluate(w, a), evaluate(w, b), a.dtype)
        case imp.Cast(x, dtype):
            return cast(w, evaluate(w, x), x.dtype, dtype)
        case imp.Unary(op, x, _):
            return _unary(w, op, evaluate(w, x), x.dtype)
        case imp.Select(cond, a, b):
            return _select(w, cond, a, b)
        case imp.Call():
            return call(w, e)
        case _:
            assert_never(e)


def constant(value: bool | int | float | complex, dtype: str) -> Value:
    """A constant as LLVM writes it: floats by their bits."""
    match dtype[0]:
        case "b":
            return ("true" if value else "false",)
        case "i" | "u":
            bits = 8 * BYTES[TYPES[dtype]]
            return (str((int(value.real) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)),)
        case "f":
            return (_float(float(value.real), dtype),)
        case _:
            z, part = complex(value), PARTS[dtype]
            return (_float(z.real, part), _float(z.imag, part))


def _float(value: float, dtype: str) -> str:
    if dtype == "float32":  # written with the digits of a double, but must be one of its values
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return f"0x{struct.unpack('Q', struct.pack('d', value))[0]:016X}"


def load(w: Writer, buffer: imp.Buffer, index: str) -> Value:
    """`buffer[index]`."""
    ty, note = TYPES[buffer.dtype], w.buffers[buffer.name].load
    places = addresses(w, buffer, index)
    if ty == "i1":
        return (w.emit(f"icmp ne i8 {w.emit(f'load i8, ptr {places[0]}, align 1{note}')}, 0"),)
    return tuple(w.emit(f"load {ty}, ptr {at}, align {BYTES[ty]}{note}") for at in places)


def store(w: Writer, buffer: imp.Buffer, index: str, value: Value) -> None:
    """`buffer[index] = value`."""
    ty, note = TYPES[buffer.dtype], w.buffers[buffer.name].store
    places = addresses(w, buffer, index)
    if ty == "i1":
        ty, value = "i8", (w.emit(f"zext i1 {value[0]} to i8"),)
    for at, part in zip(places, value, strict=True):
        w.do(f"store {ty} {part}, ptr {at}, align {BYTES[ty]}{note}")


def pointer(w: Writer, buffer: imp.Buffer) -> str:
    """The address of a buffer as it is now."""
    p = w.buffers[buffer.name]
    return w.emit(f"load ptr, ptr {p.address}") if p.in_slot else p.address


def addresses(w: Writer, buffer: imp.Buffer, index: str) -> Value:
    """The address of an element, or those of its two parts."""
    ty, base = TYPES[buffer.dtype], pointer(w, buffer)
    if buffer.dtype not in PARTS:
        ty = "i8" if ty == "i1" else ty
        return (w.emit(f"getelementptr inbounds {ty}, ptr {base}, i64 {index}"),)
    real = w.emit(f"getelementptr inbounds [2 x {ty}], ptr {base}, i64 {index}")
    return (real, w.emit(f"getelementptr inbounds {ty}, ptr {real}, i64 1"))


# -- choices -------------------------------------------------------------------------------------


def choose(w: Writer, cond: imp.Expr, yes: str, no: str) -> None:
    """Branch on a condition; the right side of `and` and `or` is reached only if it matters."""
    match cond:
        case imp.Binary("and", a, b, _) if not _simple(b):
            middle = w.label("and")
            choose(w, a, middle, no)
            w.start(middle)
            choose(w, b, yes, no)
        case imp.Binary("or", a, b, _) if not _simple(b):
            middle = w.label("or")
            choose(w, a, yes, middle)
            w.start(middle)
            choose(w, b, yes, no)
        case imp.Unary("not", x, _):
            choose(w, x, no, yes)
        case _:
            w.branch(scalar(w, cond), yes, no)


def _simple(e: imp.Expr) -> bool:
    """Whether an expression can be evaluated although nobody needs it: no memory, little work."""
    match e:
        case imp.Const() | imp.Var():
            return True
        case imp.Unary(_, x, _) | imp.Cast(x, _):
            return _simple(x)
        case imp.Binary(op, a, b, _):
            return op not in {"div", "rem", "/"} and _simple(a) and _simple(b)
        case imp.Select(cond, a, b):
            return _simple(cond) and _simple(a) and _simple(b)
        case _:
            return False


def _logical(w: Writer, e: imp.Binary) -> str:
    if _simple(e.b):
        return w.emit(f"{e.op} i1 {scalar(w, e.a)}, {scalar(w, e.b)}")
    more, done = w.label("more"), w.label("done")
    a = scalar(w, e.a)
    first = w.block
    w.branch(a, *((more, done) if e.op == "and" else (done, more)))
    w.start(more)
    b = scalar(w, e.b)
    second = w.block
    w.jump(done)
    w.start(done)
    early = "false" if e.op == "and" else "true"
    return w.emit(f"phi i1 [ {early}, %{first} ], [ {b}, %{second} ]")


def _select(w: Writer, cond: imp.Expr, a: imp.Expr, b: imp.Expr) -> Value:
    """Both sides are evaluated if that costs nothing and touches no memory."""
    ty = TYPES[a.dtype]
    if _simple(a) and _simple(b):
        c = scalar(w, cond)
        parts = zip(evaluate(w, a), evaluate(w, b), strict=True)
        return tuple(w.emit(f"select i1 {c}, {ty} {x}, {ty} {y}") for x, y in parts)
    yes, no, done = w.label("yes"), w.label("no"), w.label("done")
    choose(w, cond, yes, no)
    w.start(yes)
    left, left_block = evaluate(w, a), w.block
    w.jump(done)
    w.start(no)
    right, right_block = evaluate(w, b), w.block
    w.jump(done)
    w.start(done)
    return tuple(
        w.emit(f"phi {ty} [ {x}, %{left_block} ], [ {y}, %{right_block} ]")
        for x, y in zip(left, right, strict=True)
    )


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
    parts of both numbers swapped, and the imaginary part negated.
    """
    (ar, ai), (br, bi) = a, b
    size_r, size_i = (w.intrinsic("fabs", ty, x) for x in b)
    c = w.emit(f"fcmp oge {ty} {size_r}, {size_i}")

    def pick(x: str, y: str) -> str:
        return w.emit(f"select i1 {c}, {ty} {x}, {ty} {y}")

    large, small = pick(br, bi), pick(bi, br)
    p, q = pick(ar, ai), pick(ai, ar)
    zero, nothing = (
        w.emit(f"fcmp oeq {ty} {large}, {_ZERO}"),
        f"select i1 %s, {ty} {_ZERO}, {ty} %s",
    )
    # dividing by zero divides each part by zero: 0/0 must not spread through the ratio
    ratio = w.emit(nothing % (zero, w.emit(f"fdiv {ty} {small}, {large}")))
    d = w.emit(f"fadd {ty} {large}, {w.emit(f'fmul {ty} {small}, {ratio}')}")
    d = w.emit(nothing % (zero, d))
    real = w.emit(f"fadd {ty} {p}, {w.emit(f'fmul {ty} {q}, {ratio}')}")
    imag = w.emit(f"fsub {ty} {q}, {w.emit(f'fmul {ty} {p}, {ratio}')}")
    imag = pick(imag, w.emit(f"fneg {ty} {imag}"))
    return (w.emit(f"fdiv {ty} {real}, {d}"), w.emit(f"fdiv {ty} {imag}, {d}"))


def _unary(w: Writer, op: str, x: Value, dtype: str) -> Value:
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


# -- conversions and calls -----------------------------------------------------------------------


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
        return (_cast(w, x[0], source, part), _float(0.0, part))
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


def call(w: Writer, e: imp.Call) -> Value:
    """Call a codelet, or a function of math.h."""
    name = e.function
    if name in w.module.codelets:
        return _call_codelet(w, e)
    args = [evaluate(w, a) for a in e.args if not isinstance(a, imp.Address)]
    dtype = e.args[0].dtype
    ty = TYPES[dtype]
    match name:
        case "complex":
            return (args[0][0], args[1][0])
        case "real" | "imag":
            x = args[0] if dtype in PARTS else (*args[0], *constant(0, dtype))
            return (x[0] if name == "real" else x[1],)
        case "conj":
            return (args[0][0], *(w.emit(f"fneg {ty} {y}") for y in args[0][1:]))
        case "abs":
            return (_absolute(w, args[0], dtype),)
        case "isnan" | "isinf" | "isfinite" | "signbit":
            return (_test(w, name, args[0], dtype),)
    function = MATH.get(name)
    if function is None or dtype[0] != "f":
        raise InternalError(f"the LLVM back end knows no function {name} of {dtype}")
    operands = [a[0] for a in args]
    if function.intrinsic:
        return (w.intrinsic(function.intrinsic, ty, *operands),)
    return (w.libm(name, ty, *operands),)


def _absolute(w: Writer, x: Value, dtype: str) -> str:
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


def _test(w: Writer, name: str, x: Value, dtype: str) -> str:
    """Tests of floats; a complex number is NaN or infinite if a part is."""
    ty = TYPES[dtype]
    if dtype[0] not in "fc":
        return "true" if name == "isfinite" else "false"
    if len(x) == 2:
        both = tuple(_test(w, name, (part,), PARTS[dtype]) for part in x)
        return w.emit(f"{'and' if name == 'isfinite' else 'or'} i1 {both[0]}, {both[1]}")
    if name == "isnan":
        return w.emit(f"fcmp uno {ty} {x[0]}, {x[0]}")
    if name == "signbit":
        integer = f"i{8 * BYTES[ty]}"
        return w.emit(f"icmp slt {integer} {w.emit(f'bitcast {ty} {x[0]} to {integer}')}, 0")
    size = w.intrinsic("fabs", ty, x[0])
    test = "oeq" if name == "isinf" else "one"
    return w.emit(f"fcmp {test} {ty} {size}, {_float(float('inf'), 'float64')}")


def result_type(dtype: str | None) -> str:
    """What a function of this type returns."""
    if dtype is None or dtype == "void":
        return "void"
    ty = TYPES[dtype]
    return f"{{ {ty}, {ty} }}" if dtype in PARTS else ty


def _call_codelet(w: Writer, e: imp.Call) -> Value:
    operands = []
    for a in e.args:
        if isinstance(a, imp.Address):
            operands.append(f"ptr {pointer(w, a.buffer)}")
        else:
            operands += [f"{TYPES[a.dtype]} {part}" for part in evaluate(w, a)]
    dtype = w.module.codelets[e.function].dtype
    ty = result_type(dtype)
    text = f"call {ty} @codelet.{e.function}({', '.join(operands)})"
    if ty == "void":
        w.do(text)
        return ()
    result = w.emit(text)
    if dtype not in PARTS:
        return (result,)
    return tuple(w.emit(f"extractvalue {ty} {result}, {k}") for k in (0, 1))
