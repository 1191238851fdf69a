"""The meaning of imperative IR: runs a kernel over NumPy arrays, one node at a time.

Slow and strict: every access is checked, a growable buffer has exactly the room that was asked
for, and memory that was never written holds odd values. What compiled code does differently is a
bug in a back end; what is refused here is a bug in what made the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeAlias, assert_never

import numpy as np

from linnet import imp
from linnet.errors import InternalError
from linnet.imp.calculate import Scalar, apply_unary, convert, operate
from linnet.imp.functions import BITS, MATH, TESTS, WORDS
from linnet.records import dataclass

Array: TypeAlias = np.ndarray
Operand: TypeAlias = tuple[Sequence[int], Mapping[str, Array]]

_MOST_BYTES = 1 << 40  # memory beyond this there is not


class _Break(Exception):
    """Leaves a loop."""


class _Return(Exception):
    """Leaves a function."""

    def __init__(self, value: Scalar | None) -> None:
        self.value = value


@dataclass(slots=True)
class _Frame:
    """One call: its variables and buffers, and the functions it may call."""

    codelets: Mapping[str, imp.Function]
    values: dict[str, Scalar] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    lent: dict[str, set[str]] = field(default_factory=dict)  # task: buffers it has


def run(kernel: imp.Kernel, arguments: Mapping[str, Operand]) -> tuple[int, dict[str, Array]]:
    """Run a kernel; return its status and its buffers as they are afterwards.

    `arguments` gives each argument's dimensions and its arrays by buffer name; a growable buffer
    may be left out, and is empty then. Given arrays are written in place while they are not grown.
    """
    frame = _Frame({f.name: f for f in kernel.codelets})
    for argument in kernel.arguments:
        dims, arrays = arguments.get(argument.name, ((), {}))
        if len(dims) != len(argument.dims):
            raise InternalError(f"{argument.name} has {len(argument.dims)} dimensions")
        frame.values |= {d.name: int(n) for d, n in zip(argument.dims, dims, strict=True)}
        for buffer in argument.buffers:
            array = arrays.get(buffer.name, np.empty(0, buffer.dtype))
            if array.dtype != buffer.dtype:
                raise InternalError(f"{buffer.name} holds {buffer.dtype}, not {array.dtype}")
            frame.arrays[buffer.name] = array
            frame.lengths[buffer.name] = len(array)
    for scratch in kernel.scratch:
        frame.arrays[scratch.buffer.name] = np.empty(scratch.size, scratch.buffer.dtype)
    status = _call_body(frame, kernel.body)
    for name, length in frame.lengths.items():
        frame.arrays[name] = frame.arrays[name][:length]
    return int(status or 0), {name: frame.arrays[name] for name in frame.lengths}


def _call_body(frame: _Frame, body: imp.Block) -> Scalar | None:
    with np.errstate(all="ignore"):
        try:
            _block(frame, body)
        except _Return as result:
            return result.value
    return None


# -- statements ----------------------------------------------------------------------------------


def _block(f: _Frame, block: imp.Block) -> None:
    for stmt in block.stmts:
        _statement(f, stmt)


def _statement(f: _Frame, stmt: imp.Stmt) -> None:
    match stmt:
        case imp.Let(var, value) | imp.Assign(var, value):
            f.values[var.name] = _expr(f, value)
        case imp.Accumulate(var, op, value):
            old, new = f.values[var.name], _expr(f, value)
            f.values[var.name] = operate(op, old, new, var.dtype)
        case imp.Store(buffer, index, value):
            array, at = _place(f, buffer, _int(f, index))
            array[at] = _expr(f, value)
        case imp.For(var, start, stop, body):
            _loop(f, var.name, _int(f, start), _int(f, stop), body)
        case imp.While(cond, body):
            _while(f, cond, body)
        case imp.If(cond, then, orelse):
            _block(f, then if _expr(f, cond) else orelse)
        case imp.Block():
            _block(f, stmt)
        case imp.Fill():
            _fill(f, stmt)
        case imp.Grow(buffer, count):  # as much as is asked for
            _grow(f, buffer, _int(f, count))
        case imp.SetLength(buffer, count):
            f.lengths[buffer.name] = length = _int(f, count)
            if length:
                _place(f, buffer, length - 1)
        case imp.Swap() | imp.Spawn() | imp.Join():
            _handover(f, stmt)
        case imp.Do(call):
            _call(f, call)
        case imp.Break():
            raise _Break
        case imp.Return(value):
            raise _Return(None if value is None else _expr(f, value))
        case imp.Prefetch(_, index):
            _int(f, index)
        case imp.Comment():
            pass
        case _:
            assert_never(stmt)


def _loop(f: _Frame, var: str, start: int, stop: int, body: imp.Block) -> None:
    try:
        for k in range(start, stop):
            f.values[var] = k
            _block(f, body)
    except _Break:
        pass


def _while(f: _Frame, cond: imp.Expr, body: imp.Block) -> None:
    try:
        while _expr(f, cond):
            _block(f, body)
    except _Break:
        pass


def _handover(f: _Frame, stmt: imp.Swap | imp.Spawn | imp.Join) -> None:
    """Buffers that change hands."""
    match stmt:
        case imp.Swap(a, b):
            _unlent(f, a.name, b.name)
            f.arrays[a.name], f.arrays[b.name] = f.arrays[b.name], f.arrays[a.name]
        case imp.Spawn(task, call):
            if task in f.lent:
                raise InternalError(f"the task {task} is spawned before it is joined")
            _call(f, call)
            f.lent[task] = {a.buffer.name for a in call.args if isinstance(a, imp.Address)}
        case imp.Join(task, lent):
            if not f.lent.pop(task, set()) <= {buffer.name for buffer in lent}:
                raise InternalError(f"the task {task} was lent more than is taken back")


def _fill(f: _Frame, stmt: imp.Fill) -> None:
    start, stop = _int(f, stmt.start), _int(f, stmt.stop)
    if start < stop:
        _place(f, stmt.buffer, start)
        _place(f, stmt.buffer, stop - 1)
        f.arrays[stmt.buffer.name][start:stop] = _expr(f, stmt.value)


def _unlent(f: _Frame, *names: str) -> None:
    """Nobody touches what a task has: what it finds there would depend on who is faster."""
    for task, lent in f.lent.items():
        if not lent.isdisjoint(names):
            raise InternalError(f"the task {task} has {', '.join(sorted(lent & set(names)))}")


def _grow(f: _Frame, buffer: imp.Buffer, count: int) -> None:
    _unlent(f, buffer.name)
    old = f.arrays[buffer.name]
    if count <= len(old):
        return
    if count * old.itemsize > _MOST_BYTES:
        raise _Return(imp.OUT_OF_MEMORY)
    new = np.frombuffer(b"\xa5" * (count * old.itemsize), buffer.dtype).copy()
    new[: len(old)] = old
    f.arrays[buffer.name] = new


def _place(f: _Frame, buffer: imp.Buffer, at: int) -> tuple[Array, int]:
    _unlent(f, buffer.name)
    array = f.arrays.get(buffer.name)
    if array is None:
        raise InternalError(f"there is no buffer {buffer.name}")
    if not 0 <= at < len(array):
        raise InternalError(f"{buffer.name}[{at}] is out of bounds: it has {len(array)} elements")
    return array, at


# -- expressions ---------------------------------------------------------------------------------


def _int(f: _Frame, e: imp.Expr) -> int:
    return int(_expr(f, e))


def _expr(f: _Frame, e: imp.Expr) -> Scalar:
    match e:
        case imp.Var(name, _):
            if name not in f.values:
                raise InternalError(f"the variable {name} has no value")
            return f.values[name]
        case imp.Const(value, dtype):
            return convert(value, dtype)
        case imp.Load(buffer, index):
            array, at = _place(f, buffer, _int(f, index))
            return convert(array[at], buffer.dtype)
        case imp.Binary("and", a, b, _):
            return bool(_expr(f, a)) and bool(_expr(f, b))
        case imp.Binary("or", a, b, _):
            return bool(_expr(f, a)) or bool(_expr(f, b))
        case imp.Binary(op, a, b, _):
            return operate(op, _expr(f, a), _expr(f, b), a.dtype)
        case imp.Unary(op, x, dtype):
            return apply_unary(op, _expr(f, x), dtype)
        case imp.Select(cond, a, b):
            yes, no = _expr(f, a), _expr(f, b)  # both sides may be evaluated, so both must be safe
            return yes if _expr(f, cond) else no
        case imp.Cast(x, dtype):
            return convert(_expr(f, x), dtype)
        case imp.Call():
            result = _call(f, e)
            assert result is not None
            return result
        case _:
            assert_never(e)


def _call(f: _Frame, e: imp.Call) -> Scalar | None:
    function = f.codelets.get(e.function)
    if function is None:
        args = [_expr(f, a) for a in e.args if not isinstance(a, imp.Address)]
        return _mathematics(e, args)
    inner = _Frame(f.codelets)
    for p, a in zip(function.params, e.args, strict=True):
        if isinstance(a, imp.Address):
            _unlent(f, a.buffer.name)
            inner.arrays[p.name] = f.arrays[a.buffer.name]
        else:
            inner.values[p.name] = _expr(f, a)
    return _call_body(inner, function.body)


def _mathematics(e: imp.Call, args: list[Scalar]) -> Scalar:
    match e.function:
        case "complex":
            return convert(complex(float(args[0].real), float(args[1].real)), e.dtype)
        case "real":
            return convert(args[0].real, e.dtype)
        case "imag":
            return convert(args[0].imag, e.dtype)
        case "conj":
            return convert(np.conj(args[0]), e.dtype)
        case "abs":
            return convert(abs(args[0]), e.dtype)
        case name if name in TESTS:
            part = args[0]
            if name == "signbit" and isinstance(part, int):
                return False
            return bool(TESTS[name](part))
        case name if name in BITS | WORDS:
            return convert((BITS | WORDS)[name](*args), e.dtype)
        case name if name in MATH:
            return convert(MATH[name].meaning(*args), e.dtype)
    raise InternalError(f"there is no function {e.function}")
