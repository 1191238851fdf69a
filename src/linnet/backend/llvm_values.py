"""Expressions as LLVM IR text: variables, memory, choices, calls; operators apart.

Used by `llvm`, which writes the statements around them.
"""

from __future__ import annotations

from typing import assert_never

from linnet import imp
from linnet.backend.llvm_operators import absolute, binary, cast, classify, constant, unary
from linnet.backend.llvm_writer import BYTES, PARTS, TYPES, Value, Writer
from linnet.errors import InternalError
from linnet.imp.functions import MATH

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
            return unary(w, op, evaluate(w, x), x.dtype)
        case imp.Select(cond, a, b):
            return _select(w, cond, a, b)
        case imp.Call():
            return call(w, e)
        case _:
            assert_never(e)


def load(w: Writer, buffer: imp.Buffer, index: str) -> Value:
    """`buffer[index]`."""
    ty, note = TYPES[buffer.dtype], w.grouped(w.buffers[buffer.name].load)
    places = addresses(w, buffer, index)
    if ty == "i1":
        return (w.emit(f"icmp ne i8 {w.emit(f'load i8, ptr {places[0]}, align 1{note}')}, 0"),)
    return tuple(w.emit(f"load {ty}, ptr {at}, align {BYTES[ty]}{note}") for at in places)


def store(w: Writer, buffer: imp.Buffer, index: str, value: Value) -> None:
    """`buffer[index] = value`."""
    ty, note = TYPES[buffer.dtype], w.grouped(w.buffers[buffer.name].store)
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


def _unpredictable(w: Writer) -> str:
    """Keeps LLVM from making a branch of a choice, which is what a search by halves must not be."""
    text = "!{}"
    if text not in w.module.metadata:
        w.module.node(text)
    return f", !unpredictable !{w.module.metadata.index(text)}"


def _select(w: Writer, cond: imp.Expr, a: imp.Expr, b: imp.Expr) -> Value:
    """Both sides are evaluated if that costs nothing and touches no memory."""
    ty = TYPES[a.dtype]
    if _simple(a) and _simple(b):
        c = scalar(w, cond)
        parts = zip(evaluate(w, a), evaluate(w, b), strict=True)
        note = _unpredictable(w)
        return tuple(w.emit(f"select i1 {c}, {ty} {x}, {ty} {y}{note}") for x, y in parts)
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


# -- calls ---------------------------------------------------------------------------------------


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
            return (absolute(w, args[0], dtype),)
        case "bits" | "from_bits":
            return (w.emit(f"bitcast {ty} {args[0][0]} to {TYPES[e.dtype]}"),)
        case "lowest_bit":
            return (_lowest_bit(w, args[0][0]),)
        case "count_bits":
            return (w.intrinsic("ctpop", ty, args[0][0]),)
        case "isnan" | "isinf" | "isfinite" | "signbit":
            return (classify(w, name, args[0], dtype),)
    function = MATH.get(name)
    if function is None or dtype[0] != "f":
        raise InternalError(f"the LLVM back end knows no function {name} of {dtype}")
    operands = [a[0] for a in args]
    if function.intrinsic:
        return (w.intrinsic(function.intrinsic, ty, *operands),)
    return (w.libm(name, ty, *operands),)


def _lowest_bit(w: Writer, x: str) -> str:
    """How many bits below the lowest one that is set; of 0, anything."""
    symbol = "@llvm.cttz.i64"
    w.module.declarations.setdefault(symbol, f"declare i64 {symbol}(i64, i1)")
    return w.emit(f"call i64 {symbol}(i64 {x}, i1 true)")


def result_type(dtype: str | None) -> str:
    """What a function of this type returns."""
    if dtype is None or dtype == "void":
        return "void"
    ty = TYPES[dtype]
    return f"{{ {ty}, {ty} }}" if dtype in PARTS else ty


def _call_codelet(w: Writer, e: imp.Call) -> Value:
    symbol, numbers = w.module.passed(e.function)
    operands = []
    for a in [e.args[k] for k in numbers]:
        if isinstance(a, imp.Address):
            operands.append(f"ptr {pointer(w, a.buffer)}")
        else:
            operands += [f"{TYPES[a.dtype]} {part}" for part in evaluate(w, a)]
    dtype = w.module.codelets[e.function].dtype
    ty = result_type(dtype)
    text = f"call {ty} @{symbol}({', '.join(operands)})"
    if ty == "void":
        w.do(text)
        return ()
    result = w.emit(text)
    if dtype not in PARTS:
        return (result,)
    return tuple(w.emit(f"extractvalue {ty} {result}, {k}") for k in (0, 1))
