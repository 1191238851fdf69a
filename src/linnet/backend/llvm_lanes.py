"""Sums over a few neighbours, and parts of rows: whole vectors, the last of them with a mask.

    for j in a … b:             for j in a, a + 8 … while j + 8 < b:
      s += x[j] * y[j]   ->       t[0 … 8] += x[j … j + 8] * y[j … j + 8]
                                t[0 … b - j] += x[j … b] * y[j … b]
                                s += t[0] + … + t[7]

Which loops are run so is said by them (`optimize.vectorize`).
"""

from __future__ import annotations

from linnet import imp
from linnet.backend.llvm_operators import float_text
from linnet.backend.llvm_values import integer, pointer, scalar
from linnet.backend.llvm_writer import BYTES, REDUCTION, TYPES, Writer
from linnet.errors import InternalError
from linnet.imp.how import Kept, Way
from linnet.records import dataclass

_BYTES = 64  # of a vector that can be masked
_FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_NOTHING = {"+": -0.0, "-": 0.0}  # which leaves any number as it is
_INT = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_SHIFT = {"<<": ("shl", "shl"), ">>": ("lshr", "ashr")}  # without a sign, and with one
_MARKS = {"float": "f32", "double": "f64"}


# -- the loop ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Vectors:
    """One time through the body: so many elements at once, perhaps only those under a mask."""

    w: Writer
    lanes: int
    mask: str
    lets: dict[str, str]

    def type(self, dtype: str) -> str:
        """The vector of elements of a type."""
        return f"<{self.lanes} x {TYPES[dtype]}>"


def loop_in_lanes(w: Writer, loop: imp.For, way: Way, start: str, stop: str, leave: str) -> None:
    """Write the loop, from here to the block `leave`."""
    lanes, free, dtype = way.width, way.masked == "all", _result(loop)
    sums = [stmt for stmt in loop.body.stmts if isinstance(stmt, imp.Accumulate)]
    before, head, body, last = w.block, *(w.label(h) for h in ("vectors", "whole", "masked"))
    kept = [w.kept.get((stmt.var.name, lanes)) for stmt in sums]
    slots = [slot or _empty(w, dtype, lanes) for slot in kept]
    w.jump(head)
    w.start(head)
    var, step = f"%{head}.at", f"%{head}.next"
    w.lines.append(f"  {var} = phi i64 [ {start}, %{before} ], [ {step}, %{body} ]")
    w.lines.append(f"  {step} = add nsw i64 {var}, {lanes}")
    w.values[loop.var.name] = (var,)
    w.branch(w.emit(f"icmp {'slt' if free else 'sle'} i64 {step}, {stop}"), body, last)
    w.start(body)
    _body(_Vectors(w, lanes, "", {}), loop, slots)
    w.jump(head)
    w.start(last)
    if free:
        _body(_Vectors(w, lanes, _mask(w, lanes, dtype, f"{stop}, {var}"), {}), loop, slots)
    else:
        _rest(w, loop, slots, stop, lanes // 2)
    for stmt, slot, outside in zip(sums, slots, kept, strict=True):
        if outside is None:
            _add(w, stmt.var, slot, lanes)
    w.jump(leave)


def _result(loop: imp.For) -> str:
    """The type of what a loop adds up or writes."""
    stmts = loop.body.stmts
    sums = (stmt.var for stmt in stmts if isinstance(stmt, imp.Accumulate))
    return next((var.dtype for var in sums), "") or next(
        stmt.buffer.dtype for stmt in stmts if isinstance(stmt, imp.Store)
    )


def _rest(w: Writer, loop: imp.For, slots: list[str], stop: str, lanes: int) -> None:
    """What whole vectors leave, where a mask costs something: perhaps a half, perhaps a part."""
    dtype, (var,) = _result(loop), w.values[loop.var.name]
    some, half, part, last, done = (w.label(h) for h in ("some", "half", "part", "masked", "done"))
    w.branch(w.emit(f"icmp slt i64 {var}, {stop}"), some, done)
    w.start(some)
    step = w.emit(f"add nsw i64 {var}, {lanes}")
    w.branch(w.emit(f"icmp sle i64 {step}, {stop}"), half, part)
    w.start(half)
    _body(_Vectors(w, lanes, "", {}), loop, slots)
    w.jump(part)
    w.start(part)
    at = w.emit(f"phi i64 [ {var}, %{some} ], [ {step}, %{half} ]")
    w.values[loop.var.name] = (at,)
    w.branch(w.emit(f"icmp slt i64 {at}, {stop}"), last, done)
    w.start(last)
    _body(_Vectors(w, lanes, _mask(w, lanes, dtype, f"{stop}, {at}"), {}), loop, slots)
    w.jump(done)
    w.start(done)


def keep_lanes(w: Writer, kept: tuple[Kept, ...]) -> None:
    """Let the lanes of loops inside live as long as the one that begins here."""
    for sum_ in kept:
        w.kept[sum_.part.name, sum_.lanes] = _empty(w, sum_.part.dtype, sum_.lanes)


def end_lanes(w: Writer, kept: tuple[Kept, ...]) -> None:
    """Add what the lanes have after the loop that they were kept for."""
    for sum_ in kept:
        _add(w, sum_.total, w.kept.pop((sum_.part.name, sum_.lanes)), sum_.lanes)


def _empty(w: Writer, dtype: str, lanes: int) -> str:
    """A sum in each lane; of nothing."""
    name, ty = w.label("lanes"), f"<{lanes} x {TYPES[dtype]}>"
    w.entry.append(f"  %{name} = alloca {ty}, align {_BYTES}")
    w.do(f"store {ty} {_constant(lanes, dtype, _NOTHING['+'])}, ptr %{name}")
    return f"%{name}"


def _constant(lanes: int, dtype: str, number: float) -> str:
    """The same number in each lane."""
    return f"<{', '.join([f'{TYPES[dtype]} {float_text(number, dtype)}'] * lanes)}>"


def _mask(w: Writer, lanes: int, dtype: str, ends: str) -> str:
    """The first lanes, as many as there are elements left, if there are any: one comparison."""
    left = w.intrinsic("smax", "i64", w.emit(f"sub nsw i64 {ends}"), "0")
    number = f"i{8 * BYTES[TYPES[dtype]]}"
    if number != "i64":
        left = w.emit(f"trunc i64 {left} to {number}")
    ty = f"<{lanes} x {number}>"
    numbers = ", ".join(f"{number} {k}" for k in range(lanes))
    return w.emit(f"icmp sgt {ty} {_splat(w, ty, f'{number} {left}')}, <{numbers}>")


def _splat(w: Writer, ty: str, value: str) -> str:
    """One value in each lane."""
    one, lanes = w.emit(f"insertelement {ty} poison, {value}, i64 0"), ty.split()[0]
    return w.emit(f"shufflevector {ty} {one}, {ty} poison, {lanes} x i32> zeroinitializer")


def _body(v: _Vectors, loop: imp.For, slots: list[str]) -> None:
    """The statements of a loop, for some elements at once."""
    left = iter(slots)
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value):
                v.lets[var.name] = _value(v, value)
            case imp.Accumulate(var, op, value):
                w, slot, ty = v.w, next(left), v.type(var.dtype)
                old = w.emit(f"load {ty}, ptr {slot}")
                part, free = _value(v, value, "contract "), w.module.target.masks == "all"
                if v.mask and not free:  # the next sum waits for this addition, and for no choice
                    part = _under(v, ty, part, _constant(v.lanes, var.dtype, _NOTHING[op]))
                new = w.emit(f"{_FLOAT[op]} {REDUCTION}{ty} {old}, {part}")
                if v.mask and free:
                    new = _under(v, ty, new, old)
                w.do(f"store {ty} {new}, ptr {slot}")
            case imp.Store(buffer, index, value):
                _store(v, buffer, integer(v.w, index), _value(v, value))


def _under(v: _Vectors, ty: str, yes: str, no: str) -> str:
    """One value under the mask, another elsewhere."""
    return v.w.emit(f"select <{v.lanes} x i1> {v.mask}, {ty} {yes}, {ty} {no}")


def _value(v: _Vectors, e: imp.Expr, flags: str = "") -> str:
    """A value in each lane; a product that is added may be so without being rounded."""
    w, ty = v.w, v.type(e.dtype)
    match e:
        case imp.Var(name, _) if name in v.lets:
            return v.lets[name]
        case imp.Var() | imp.Const():
            return _splat(w, ty, f"{TYPES[e.dtype]} {scalar(w, e)}")
        case imp.Load(buffer, index):
            return _load(v, buffer, integer(w, index))
        case imp.Binary(op, a, b, dtype):
            code = _code(op, dtype) + (f" {flags}" if flags and op == "*" else "")
            return w.emit(f"{code} {ty} {_value(v, a)}, {_value(v, b)}")
        case imp.Unary("-", x, _):
            return w.emit(f"fneg {ty} {_value(v, x)}")
        case imp.Cast(x, dtype):
            if x.dtype == dtype:
                return _value(v, x)
            code = "fpext" if dtype == "float64" else "fptrunc"
            return w.emit(f"{code} {v.type(x.dtype)} {_value(v, x)} to {ty}")
    raise InternalError(f"there are no lanes of {type(e).__name__}")


def _code(op: str, dtype: str) -> str:
    if op in _SHIFT:
        return _SHIFT[op][dtype[0] == "i"]
    return (_FLOAT if dtype[0] == "f" else _INT)[op]


def _load(v: _Vectors, buffer: imp.Buffer, index: str) -> str:
    """Neighbours, those under the mask; beyond them nothing is read."""
    w, ty, size = v.w, v.type(buffer.dtype), BYTES[TYPES[buffer.dtype]]
    at, note = _place(v, buffer, index), w.buffers[buffer.name].load
    if not v.mask:
        return w.emit(f"load {ty}, ptr {at}, align {size}{note}")
    symbol, bits = f"@llvm.masked.load.{_mark(v.lanes, buffer.dtype)}.p0", f"<{v.lanes} x i1>"
    w.module.declarations.setdefault(symbol, f"declare {ty} {symbol}(ptr, i32, {bits}, {ty})")
    given = f"ptr {at}, i32 {size}, {bits} {v.mask}, {ty} zeroinitializer"
    return w.emit(f"call {ty} {symbol}({given}){note}")


def _store(v: _Vectors, buffer: imp.Buffer, index: str, value: str) -> None:
    """Write neighbours, those under the mask."""
    w, ty, size = v.w, v.type(buffer.dtype), BYTES[TYPES[buffer.dtype]]
    at, note = _place(v, buffer, index), w.buffers[buffer.name].store
    if not v.mask:
        w.do(f"store {ty} {value}, ptr {at}, align {size}{note}")
        return
    symbol, bits = f"@llvm.masked.store.{_mark(v.lanes, buffer.dtype)}.p0", f"<{v.lanes} x i1>"
    w.module.declarations.setdefault(symbol, f"declare void {symbol}({ty}, ptr, i32, {bits})")
    w.do(f"call void {symbol}({ty} {value}, ptr {at}, i32 {size}, {bits} {v.mask}){note}")


def _place(v: _Vectors, buffer: imp.Buffer, index: str) -> str:
    """The address of an element, which need not be there if no lane is under the mask."""
    base = pointer(v.w, buffer)
    return v.w.emit(f"getelementptr {TYPES[buffer.dtype]}, ptr {base}, i64 {index}")


def _mark(lanes: int, dtype: str) -> str:
    """A vector type, as the names of intrinsics have it."""
    return f"v{lanes}{_MARKS.get(TYPES[dtype], TYPES[dtype])}"


def _add(w: Writer, var: imp.Var, slot: str, lanes: int) -> None:
    """Add what all lanes have to a variable."""
    one = TYPES[var.dtype]
    ty, symbol = f"<{lanes} x {one}>", f"@llvm.vector.reduce.fadd.{_mark(lanes, var.dtype)}"
    w.module.declarations.setdefault(symbol, f"declare {one} {symbol}({one}, {ty})")
    lane = w.emit(f"load {ty}, ptr {slot}")
    (total,) = w.slots[var.name]
    old = w.emit(f"load {one}, ptr {total}")
    new = w.emit(f"call {REDUCTION}{one} {symbol}({one} {old}, {ty} {lane})")
    w.do(f"store {one} {new}, ptr {total}")
