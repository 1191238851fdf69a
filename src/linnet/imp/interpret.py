"""The meaning of imperative IR: runs a kernel over NumPy arrays, and counts what it does.

Strict: every access is checked, a growable buffer has exactly the room that was asked for, and
memory that was never written holds odd values. What compiled code does differently is a bug in a
back end; what is refused here is a bug in what made the kernel. Each statement becomes a function
of a frame (`imp.evaluate` has those of expressions), so that a node is looked at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from linnet import imp
from linnet.errors import InternalError
from linnet.imp.calculate import Scalar, operation
from linnet.imp.claims import Check, Lists, Parts, check_buffers, checks_of, lists_of
from linnet.imp.evaluate import (
    Array,
    Frame,
    Lent,
    Step,
    Value,
    call,
    memory_of,
    outside,
    slot,
    value,
)
from linnet.imp.printer import show
from linnet.records import dataclass

Operand: TypeAlias = tuple[Sequence[int], Mapping[str, Array]]

_MOST_BYTES = 1 << 40  # memory beyond this there is not


class _Break(Exception):
    """Leaves a loop."""


class _Return(Exception):
    """Leaves a function."""

    def __init__(self, value: Scalar | None) -> None:
        self.value = value


@dataclass(slots=True)
class _Code:
    """What statements become functions with: a kernel's codelets, and the counts of this run.

    Of a kernel the turns of each loop are counted by what it walks, and elements that are filled by
    whose they are; of a codelet, which is `within`, all together by its name. What goes from part
    to part has `parts` for the loops directly inside.
    """

    codelets: Mapping[str, imp.Function]
    tensors: Mapping[str, str]  # whose a buffer is
    visits: Counter[str]
    lists: Lists
    within: str = ""
    bodies: dict[str, Step] = field(default_factory=dict)
    parts: Parts | None = None

    def find(self, name: str) -> tuple[imp.Function, Value] | None:
        """A codelet, and what runs it: code is made of it when it is first called."""
        function = self.codelets.get(name)
        if function is None:
            return None
        return function, partial(self._run, function)

    def _run(self, function: imp.Function, frame: Frame) -> Scalar | None:
        body = self.bodies.get(function.name)
        if body is None:
            inside = _Code(self.codelets, {}, self.visits, {}, routine(function), self.bodies)
            body = self.bodies[function.name] = _block(function.body, inside)
        return _result(body, frame)

    def counted(self, what: str) -> str:
        """Under which name something is counted, beginning with none."""
        name = self.within or what
        self.visits[name] += 0
        return name

    def value(self, e: imp.Expr) -> Value:
        """An expression as a function."""
        return value(e, self.find)


def run(
    kernel: imp.Kernel, arguments: Mapping[str, Operand], visits: Counter[str] | None = None
) -> tuple[int, dict[str, Array]]:
    """Run a kernel; return its status and its buffers as they are afterwards.

    `arguments` gives each argument's dimensions and its arrays by buffer name; a growable buffer
    may be left out, and is empty then. Given arrays are written in place while they are not grown.
    To `visits` are added every turn of every loop and every element that is filled, by what it is.
    """
    frame, tensors = Frame(), dict[str, str]()
    frame.lengths, frame.lent = {}, {}
    for argument in kernel.arguments:
        dims, arrays = arguments.get(argument.name, ((), {}))
        if len(dims) != len(argument.dims):
            raise InternalError(f"{argument.name} has {len(argument.dims)} dimensions")
        frame |= {d.name: int(n) for d, n in zip(argument.dims, dims, strict=True)}
        for buffer in argument.buffers:
            array = arrays.get(buffer.name, np.empty(0, buffer.dtype))
            if array.dtype != buffer.dtype:
                raise InternalError(f"{buffer.name} holds {buffer.dtype}, not {array.dtype}")
            frame[slot(buffer)] = memory_of(array)
            frame.lengths[buffer.name] = len(array)
            tensors[buffer.name] = argument.name
    for scratch in kernel.scratch:
        frame[slot(scratch.buffer)] = memory_of(np.empty(scratch.size, scratch.buffer.dtype))
    counts: Counter[str] = Counter() if visits is None else visits
    check_buffers(kernel, frame)
    codelets = {f.name: f for f in kernel.codelets}
    code = _Code(codelets, tensors, counts, lists_of(kernel))
    with np.errstate(all="ignore"):
        status = _result(_block(kernel.body, code), frame)
    for lent in frame.lent.values():  # a task ends with the kernel
        frame.update(lent)
    if not status:
        check_buffers(kernel, frame, written=True)
    found = {n: np.asarray(frame[f"{n}[]"])[:length] for n, length in frame.lengths.items()}
    return int(status or 0), found


def _result(body: Step, frame: Frame) -> Scalar | None:
    try:
        body(frame)
    except _Return as result:
        return result.value
    return None


# -- statements ----------------------------------------------------------------------------------


def _statement(stmt: imp.Stmt, c: _Code) -> Step:
    return _MAKE[type(stmt)](stmt, c)


def _block(block: imp.Block, c: _Code) -> Step:
    steps = [_statement(s, c) for s in block.stmts if not isinstance(s, imp.Comment)]
    if len(steps) == 1:
        return steps[0]

    def run(f: Frame) -> None:
        for step in steps:
            step(f)

    return run


def _assign(stmt: imp.Let | imp.Assign, c: _Code) -> Step:
    name, x = stmt.var.name, c.value(stmt.value)

    def assign(f: Frame) -> None:
        f[name] = x(f)

    return assign


def _accumulate(stmt: imp.Accumulate, c: _Code) -> Step:
    name, x, compute = stmt.var.name, c.value(stmt.value), operation(stmt.op, stmt.var.dtype)

    def accumulate(f: Frame) -> None:
        f[name] = compute(f[name], x(f))

    return accumulate


def _if(stmt: imp.If, c: _Code) -> Step:
    cond, then, orelse = c.value(stmt.cond), _block(stmt.then, c), _block(stmt.orelse, c)

    def choose(f: Frame) -> None:
        if cond(f):
            then(f)
        else:
            orelse(f)

    return choose


def _break(stmt: imp.Break, c: _Code) -> Step:
    def leave(f: Frame) -> None:
        raise _Break

    return leave


def _return(stmt: imp.Return, c: _Code) -> Step:
    result = None if stmt.value is None else c.value(stmt.value)

    def leave(f: Frame) -> None:
        raise _Return(None if result is None else result(f))

    return leave


# -- loops, whose turns are counted ----------------------------------------------------------------


def walked(loop: imp.For | imp.While) -> str:
    """What a loop walks, in words of the user if they are known: `k in A[i, k]`."""
    if loop.over.text:
        return loop.over.text
    return loop.var.name if isinstance(loop, imp.For) else f"while {show(loop.cond)}"


def routine(function: imp.Function) -> str:
    """The name of a codelet without the types that it is made for: `search` of `search_i32`."""
    return re.sub(r"(_([iufc]\d+|b))+(_\d+)?$", "", function.name)


def _for(stmt: imp.For, c: _Code) -> Step:
    name, start, stop = stmt.var.name, c.value(stmt.start), c.value(stmt.stop)
    visits, what, counter = c.visits, c.counted(walked(stmt)), stmt.over.counter
    parts = None if stmt.over.spans and not counter else c.parts
    if counter and (parts is None or parts.index != counter):
        parts = Parts(counter)
    body, begins = _block(stmt.body, replace(c, parts=parts)), parts is not c.parts
    checks = checks_of(stmt, c.lists, c.parts, c.value)

    def loop(f: Frame) -> None:
        begin, end = start(f), stop(f)
        if parts is not None and begins:
            parts.begin()
        for _, check in checks:
            check(f, begin, end)
        k = begin - 1
        try:
            for k in range(begin, end):
                f[name] = k
                body(f)
        except _Break:
            pass
        finally:
            visits[what] += k - begin + 1

    return loop


def _while(stmt: imp.While, c: _Code) -> Step:
    visits, what = c.visits, c.counted(walked(stmt))
    cond, body = c.value(stmt.cond), _block(stmt.body, replace(c, parts=None))
    index, parts = stmt.over.index, c.parts
    if begins := parts is None or parts.index != index:
        parts = Parts(index)
    found = checks_of(stmt, c.lists, parts, c.value)
    checks = [(position, check) for position, check in found if position is not None]

    inside = checks_of(stmt, c.lists, None, c.value)
    at_the_end = [(position, check) for position, check in inside if position is not None]

    def check_positions(f: Frame, checks: list[tuple[Value, Check]] = checks) -> None:
        for position, check in checks:
            at = position(f)
            check(f, at, at)

    def loop(f: Frame) -> None:
        turns = 0
        if begins:
            parts.begin()
        try:
            while cond(f):
                turns += 1
                check_positions(f)
                body(f)
            if turns:
                check_positions(f, at_the_end)
        except _Break:
            pass
        finally:
            visits[what] += turns

    return loop


# -- memory ----------------------------------------------------------------------------------------


def _store(stmt: imp.Store, c: _Code) -> Step:
    buffer, name = stmt.buffer, slot(stmt.buffer)
    index, x = c.value(stmt.index), c.value(stmt.value)

    def store(f: Frame) -> None:
        at, memory = index(f), f[name]
        if not 0 <= at < len(memory):
            raise outside(buffer, int(at), memory)
        memory[at] = x(f)

    return store


def _fill(stmt: imp.Fill, c: _Code) -> Step:
    buffer, name, x = stmt.buffer, slot(stmt.buffer), c.value(stmt.value)
    start, stop = c.value(stmt.start), c.value(stmt.stop)
    visits, what = c.visits, c.counted(f"fill {c.tensors.get(buffer.name, buffer.name)}")

    def fill(f: Frame) -> None:
        first, end = int(start(f)), int(stop(f))
        if first >= end:
            return
        memory = f[name]
        for at in (first, end - 1):
            if not 0 <= at < len(memory):
                raise outside(buffer, at, memory)
        np.asarray(memory)[first:end] = x(f)
        visits[what] += end - first

    return fill


def _grow(stmt: imp.Grow, c: _Code) -> Step:
    """As much as is asked for."""
    name, dtype, count = slot(stmt.buffer), np.dtype(stmt.buffer.dtype), c.value(stmt.count)

    def grow(f: Frame) -> None:
        old, size = f[name], int(count(f))
        if size <= len(old):
            return
        if size * dtype.itemsize > _MOST_BYTES:
            raise _Return(imp.OUT_OF_MEMORY)
        new = np.frombuffer(b"\xa5" * (size * dtype.itemsize), dtype).copy()
        new[: len(old)] = np.asarray(old)
        f[name] = memory_of(new)

    return grow


def _set_length(stmt: imp.SetLength, c: _Code) -> Step:
    buffer, name, count = stmt.buffer, slot(stmt.buffer), c.value(stmt.count)

    def set_length(f: Frame) -> None:
        f.lengths[buffer.name] = length = int(count(f))
        if length and not 0 <= length - 1 < len(f[name]):
            raise outside(buffer, length - 1, f[name])

    return set_length


def _prefetch(stmt: imp.Prefetch, c: _Code) -> Step:
    index = c.value(stmt.index)

    def prefetch(f: Frame) -> None:
        index(f)

    return prefetch


# -- buffers that change hands ---------------------------------------------------------------------


def _swap(stmt: imp.Swap, c: _Code) -> Step:
    a, b = slot(stmt.a), slot(stmt.b)

    def swap(f: Frame) -> None:
        for name in (a, b):
            len(f[name])  # which is refused where a task has it
        f[a], f[b] = f[b], f[a]

    return swap


def _do(stmt: imp.Do, c: _Code) -> Step:
    run = call(stmt.call, c.find)

    def do(f: Frame) -> None:
        run(f)

    return do


def _spawn(stmt: imp.Spawn, c: _Code) -> Step:
    """The task is done at once; until it is joined, what it was lent is out of reach."""
    task, run = stmt.task, call(stmt.call, c.find)
    names = [a.buffer.name for a in stmt.call.args if isinstance(a, imp.Address)]

    def spawn(f: Frame) -> None:
        if task in f.lent:
            raise InternalError(f"the task {task} is spawned before it is joined")
        run(f)
        f.lent[task] = {f"{name}[]": f[f"{name}[]"] for name in names}
        f |= {f"{name}[]": Lent(task, name) for name in names}

    return spawn


def _join(stmt: imp.Join, c: _Code) -> Step:
    task, taken = stmt.task, {slot(buffer) for buffer in stmt.lent}

    def join(f: Frame) -> None:
        lent = f.lent.pop(task, {})
        if not lent.keys() <= taken:
            raise InternalError(f"the task {task} was lent more than is taken back")
        f.update(lent)

    return join


_MAKE: dict[type, Callable[[Any, _Code], Step]] = {
    imp.Let: _assign,
    imp.Assign: _assign,
    imp.Accumulate: _accumulate,
    imp.Store: _store,
    imp.Fill: _fill,
    imp.For: _for,
    imp.While: _while,
    imp.If: _if,
    imp.Block: _block,
    imp.Break: _break,
    imp.Return: _return,
    imp.Do: _do,
    imp.Grow: _grow,
    imp.SetLength: _set_length,
    imp.Swap: _swap,
    imp.Spawn: _spawn,
    imp.Join: _join,
    imp.Prefetch: _prefetch,
}
