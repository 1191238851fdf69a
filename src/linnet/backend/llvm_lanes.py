"""Sums over a few neighbours, and parts of rows: whole vectors, the last of them with a mask.

    for j in a … b:             for j in a, a + 8 … while j + 8 < b:
      s += x[j] * y[j]   ->       t[0 … 8] += x[j … j + 8] * y[j … j + 8]
                                t[0 … b - j] += x[j … b] * y[j … b]
                                s += t[0] + … + t[7]

A loop over what whole vectors leave would end where no processor foresees it; a mask ends nothing.
With AVX2 a mask costs something: there is one only for what whole vectors and a half leave, or
where nobody foresees how many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from linnet import imp
from linnet.backend.llvm_operators import float_text
from linnet.backend.llvm_values import integer, pointer, scalar
from linnet.backend.llvm_writer import BYTES, REDUCTION, TYPES, Writer
from linnet.backend.versions import versions
from linnet.errors import InternalError
from linnet.imp.fold import fold
from linnet.imp.rewrite import statements, walk
from linnet.optimize.loops import is_short, streams, walks
from linnet.records import dataclass

_BYTES = 64  # of a vector that can be masked
_FEW = 2  # sums, each of which has two registers
_FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_NOTHING = {"+": -0.0, "-": 0.0}  # which leaves any number as it is
_INT = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_SHIFT = {"<<": ("shl", "shl"), ">>": ("lshr", "ashr")}  # without a sign, and with one
_MARKS = {"float": "f32", "double": "f64"}


# -- which loops ---------------------------------------------------------------------------------


def has_lanes(loop: imp.For, masks: str) -> bool:
    """Whether a loop only adds up floats, or writes neighbours, that come from neighbours.

    `masks` says what a machine can do in part: nothing, "load" (as with AVX2), or "all".
    """
    sums = _sums(loop)
    hidden, lets = {loop.var.name, *(s.var.name for s in sums)}, set[str]()
    if len(hidden) <= len(sums) or len(_results(loop)) != 1 or not (sums or streams(loop)):
        return False
    if not masks or (masks == "load" and not _pays(loop)):
        return False
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value) if _is_laned(value, loop, hidden, lets):
                lets.add(var.name)
            case imp.Accumulate(var, "+" | "-", value) if var.dtype.startswith("float"):
                if not _is_laned(value, loop, hidden, lets):
                    return False
            case imp.Store(_, _, value) if not sums and _is_laned(value, loop, hidden, lets):
                pass
            case imp.Comment():
                pass
            case _:
                return False
    return True


def _pays(loop: imp.For) -> bool:
    """Whether lanes are better than LLVM's vectors, where masks cost something.

    Of many sums the lanes do not fit into registers. A loop of a known length has no end that would
    have to be foreseen, and lanes do if they are as many as it takes.
    """
    count, length = len(_sums(loop)), fold(imp.widen(loop.stop) - imp.widen(loop.start))
    if isinstance(length, imp.Const):
        vectors = count * _lanes(loop) * _size(*_results(loop)) / (_BYTES / 2)
        return length.value in (4, 8) and _lanes(loop) == length.value and vectors <= 4 * _FEW
    return 0 < count <= _FEW


def _sums(loop: imp.For) -> list[imp.Accumulate]:
    return [stmt for stmt in loop.body.stmts if isinstance(stmt, imp.Accumulate)]


def _results(loop: imp.For) -> set[str]:
    """The types of what a loop adds up or writes."""
    stores = {s.buffer.dtype for s in loop.body.stmts if isinstance(s, imp.Store)}
    return {s.var.dtype for s in _sums(loop)} | stores


def _is_laned(e: imp.Expr, loop: imp.For, hidden: set[str], lets: set[str]) -> bool:
    """Whether a value is one that vectors compute, and that no lane can fail to compute."""
    if e.dtype[0] not in "fiu":
        return False
    match e:
        case imp.Var(name, _):
            return name not in hidden
        case imp.Const():
            return True
        case imp.Load(_, index):
            return walks(index, loop.var.name, lets)
        case imp.Binary(("<<" | ">>"), x, imp.Const(int(by)), dtype) if 0 <= by < 8 * _size(dtype):
            return _is_laned(x, loop, hidden, lets)
        case imp.Binary(op, a, b, dtype) if op in (_FLOAT if dtype[0] == "f" else _INT):
            return _is_laned(a, loop, hidden, lets) and _is_laned(b, loop, hidden, lets)
        case imp.Cast(x, dtype) if x.dtype == dtype or x.dtype[0] == dtype[0] == "f":
            return _is_laned(x, loop, hidden, lets)
        case imp.Unary("-", x, dtype) if dtype[0] == "f":
            return _is_laned(x, loop, hidden, lets)
        case _:
            return False


def _size(dtype: str) -> int:
    return BYTES[TYPES[dtype]]


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


def loop_in_lanes(w: Writer, loop: imp.For, start: str, stop: str, leave: str) -> None:
    """Write the loop, from here to the block `leave`."""
    sums, (dtype,) = _sums(loop), _results(loop)
    lanes, free = _lanes(loop), w.module.target.masks == "all" or _reads_scratch(loop, w)
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


def _reads_scratch(loop: imp.For, w: Writer) -> bool:
    """Whether a loop adds up what was computed ahead for it, row by row (`imp.uneven_rows`)."""
    loads = [node for node in walk(loop.body) if isinstance(node, imp.Load)]
    return is_short(loop) and all(load.buffer.name in w.module.scratch for load in loads)


def _rest(w: Writer, loop: imp.For, slots: list[str], stop: str, lanes: int) -> None:
    """What whole vectors leave, where a mask costs something: perhaps a half, perhaps a part."""
    (dtype,), (var,) = _results(loop), w.values[loop.var.name]
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


Kept = list[tuple[imp.Var, int, imp.Var]]
"""Sums of loops, in so many lanes each, and what they are added to."""


def keep_lanes(w: Writer, loop: imp.For) -> Kept:
    """Let the lanes of loops inside live as long as this one: which sums, and of what."""
    carried = list(_carried(loop, w.module.target.masks))
    for part, lanes, _ in carried:
        w.kept[part.name, lanes] = _empty(w, part.dtype, lanes)
    return carried


def end_lanes(w: Writer, carried: Kept) -> None:
    """Add what the lanes have after the loop that they were kept for."""
    for part, lanes, total in carried:
        _add(w, total, w.kept.pop((part.name, lanes)), lanes)


def _carried(loop: imp.For, masks: str) -> Iterator[tuple[imp.Var, int, imp.Var]]:
    """The sums of loops inside, each with what it is added to, and nobody reads before the end."""
    if not masks:
        return
    inside = [s for s in _chosen(loop.body) if isinstance(s, imp.For) and versions(s)[-1].few]
    laned = [inner for inner in inside if has_lanes(inner, masks)]
    parts: dict[imp.Var, set[int]] = {}
    for inner in laned:
        for s in _sums(inner):
            parts.setdefault(s.var, set()).add(_lanes(inner))
    if not parts:
        return
    reads = Counter(node for node in walk(loop.body) if isinstance(node, imp.Var))
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Accumulate(total, "+", imp.Var() as part) if part in parts:
                if reads[part] == 1 and not reads[total] and not _changes(loop, total):
                    yield from ((part, lanes, total) for lanes in sorted(parts[part]))


def _chosen(block: imp.Block) -> Iterator[imp.Stmt]:
    """The statements of a block, and those of its branches."""
    for stmt in block.stmts:
        yield stmt
        if isinstance(stmt, imp.If):
            yield from _chosen(stmt.then)
            yield from _chosen(stmt.orelse)


def _changes(loop: imp.For, total: imp.Var) -> bool:
    """Whether a loop does anything to a sum but add to it."""
    for stmt in statements(loop.body):
        match stmt:
            case imp.Accumulate(var, "+" | "-", _):
                pass
            case imp.Let(var, _) | imp.Assign(var, _) | imp.Accumulate(var, _, _) if var == total:
                return True
    return False


def _lanes(loop: imp.For) -> int:
    """How many elements a vector has: no more than a loop of a known length, if that is short."""
    (dtype,) = _results(loop)
    most, length = _BYTES // _size(dtype), fold(imp.widen(loop.stop) - imp.widen(loop.start))
    if isinstance(length, imp.Const) and isinstance(length.value, int) and _sums(loop):
        return min(most, 1 << max(1, (length.value - 1).bit_length()))
    return most


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
    number = f"i{8 * _size(dtype)}"
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
    w, ty, size = v.w, v.type(buffer.dtype), _size(buffer.dtype)
    at, note = _place(v, buffer, index), w.buffers[buffer.name].load
    if not v.mask:
        return w.emit(f"load {ty}, ptr {at}, align {size}{note}")
    symbol, bits = f"@llvm.masked.load.{_mark(v.lanes, buffer.dtype)}.p0", f"<{v.lanes} x i1>"
    w.module.declarations.setdefault(symbol, f"declare {ty} {symbol}(ptr, i32, {bits}, {ty})")
    given = f"ptr {at}, i32 {size}, {bits} {v.mask}, {ty} zeroinitializer"
    return w.emit(f"call {ty} {symbol}({given}){note}")


def _store(v: _Vectors, buffer: imp.Buffer, index: str, value: str) -> None:
    """Write neighbours, those under the mask."""
    w, ty, size = v.w, v.type(buffer.dtype), _size(buffer.dtype)
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
