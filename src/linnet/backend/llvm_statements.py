"""Statements as LLVM IR text. Modules and functions are in `llvm`, expressions in `llvm_values`.

Variables that are never assigned are plain values; the others live in stack slots, which LLVM
promotes.
"""

from __future__ import annotations

from typing import assert_never

from linnet import imp
from linnet.backend.llvm_lanes import end_lanes, keep_lanes, loop_in_lanes
from linnet.backend.llvm_memory import on_memory
from linnet.backend.llvm_operators import binary
from linnet.backend.llvm_tasks import join, spawn
from linnet.backend.llvm_values import call, choose, evaluate, integer, result_type, store
from linnet.backend.llvm_writer import REDUCTION, TYPES, Value, Writer
from linnet.backend.survey import Survey
from linnet.imp.how import ALL, Way
from linnet.imp.prescribed import has_own_places
from linnet.names import identifier


class Scope:
    """Where a statement stands: in which function, in which loop."""

    __slots__ = ("facts", "leave", "result")

    def __init__(self, facts: Survey, result: str | None = imp.INT, leave: str = "") -> None:
        self.facts, self.result, self.leave = facts, result, leave

    def inside(self, leave: str) -> Scope:
        """The body of a loop that `break` leaves to the block `leave`."""
        return Scope(self.facts, self.result, leave)


def statements(w: Writer, block: imp.Block, s: Scope) -> None:
    """A block of them."""
    for stmt in block.stmts:
        if not w.open:
            return  # nothing is reached after break or return
        _statement(w, stmt, s)


def _statement(w: Writer, stmt: imp.Stmt, s: Scope) -> None:
    match stmt:
        case imp.Let(var, value):
            parts = evaluate(w, value)
            if var.name in s.facts.assigned:
                introduce(w, var, parts)
            else:
                w.values[var.name] = parts
        case imp.Assign(var, value):
            _assign(w, var, evaluate(w, value))
        case imp.Accumulate():
            _accumulate(w, stmt)
        case imp.Store(buffer, index, value):
            store(w, buffer, integer(w, index), evaluate(w, value))
        case imp.If():
            _if(w, stmt, s)
        case imp.For():
            _for(w, stmt, s)
        case imp.While():
            _while(w, stmt, s)
        case imp.Block():
            statements(w, stmt, s)
        case imp.Comment():
            pass
        case imp.Grow() | imp.SetLength() | imp.Swap() | imp.Fill() | imp.Prefetch():
            on_memory(w, stmt, s.facts)
        case imp.Spawn():
            spawn(w, stmt)
        case imp.Join(task):
            if task in s.facts.tasks:
                join(w, task)
        case imp.Break():
            w.jump(s.leave)
        case imp.Return(value):
            give_back(w, value, s)
        case imp.Do(e):
            call(w, e)
        case _:
            assert_never(stmt)


def introduce(w: Writer, var: imp.Var, value: Value) -> None:
    """A stack slot for a variable that will be assigned; one per name, however often introduced."""
    w.values.pop(var.name, None)
    if var.name not in w.slots:
        unique = w.label(f"{identifier(var.name)}.")
        names = [f"%{unique}.{part}" for part in ("re", "im")[: len(value)]]
        w.entry += [f"  {name} = alloca {TYPES[var.dtype]}" for name in names]
        w.slots[var.name] = tuple(names)
    _assign(w, var, value)


def _assign(w: Writer, var: imp.Var, value: Value) -> None:
    for slot, part in zip(w.slots[var.name], value, strict=True):
        w.do(f"store {TYPES[var.dtype]} {part}, ptr {slot}")


def _accumulate(w: Writer, stmt: imp.Accumulate) -> None:
    """A reduction: the only place where floats may be summed in another order."""
    var, flags = stmt.var, REDUCTION if stmt.var.dtype[0] in "fc" else ""
    match stmt.value:
        case imp.Binary("*", a, b, dtype) if flags and stmt.op in "+-":
            value = binary(w, "*", evaluate(w, a), evaluate(w, b), dtype, "contract ")
        case e:
            value = evaluate(w, e)
    parts = evaluate(w, var), value
    if stmt.op in ("min", "max"):  # NaN is looked for in the first, which shall not be waited for
        parts = value, parts[0]
    _assign(w, var, binary(w, stmt.op, *parts, var.dtype, flags))


def _if(w: Writer, stmt: imp.If, s: Scope) -> None:
    yes, no, done = w.label("then"), w.label("else"), w.label("end")
    choose(w, stmt.cond, yes, no if stmt.orelse.stmts else done)
    w.start(yes)
    statements(w, stmt.then, s)
    reached = w.open or not stmt.orelse.stmts
    w.jump(done)
    if stmt.orelse.stmts:
        w.start(no)
        statements(w, stmt.orelse, s)
        reached = reached or w.open
        w.jump(done)
    if reached:
        w.start(done)


def _for(w: Writer, stmt: imp.For, s: Scope) -> None:
    """A counted loop, perhaps in several ways; the bound is read once, before it."""
    start, stop = integer(w, stmt.start), integer(w, stmt.stop)
    leave = w.label("end")
    keep_lanes(w, stmt.how.kept)
    *others, last = stmt.how.ways or (Way(),)
    for way in others:
        here, next_one = w.label("long"), w.label("short")
        count = w.emit(f"sub nsw i64 {stop}, {start}")
        w.branch(w.emit(f"icmp sge i64 {count}, {way.least}"), here, next_one)
        w.start(here)
        _count(w, stmt, (start, stop, leave), way, s)
        w.start(next_one)
    if last.masked:
        loop_in_lanes(w, stmt, last, start, stop, leave)
    else:
        _count(w, stmt, (start, stop, leave), last, s)
    w.start(leave)
    end_lanes(w, stmt.how.kept)


def _count(w: Writer, stmt: imp.For, bounds: tuple[str, str, str], way: Way, s: Scope) -> None:
    """A loop that is run in one way, from here to the block after it."""
    start, stop, leave = bounds
    before = w.block
    head, body, step = (w.label(h) for h in ("for", "body", "step"))
    var = f"%{identifier(stmt.var.name)}.{head}"
    w.jump(head)
    w.start(head)
    w.lines.append(f"  {var} = phi i64 [ {start}, %{before} ], [ {var}.next, %{step} ]")
    w.branch(w.emit(f"icmp slt i64 {var}, {stop}"), body, leave)
    w.start(body)
    w.values[stmt.var.name] = (var,)
    around, hints = w.group, _told(way)
    if stmt.how.race and has_own_places(stmt):
        w.group = w.module.node("distinct !{}")
        hints = (*hints, f'!"llvm.loop.parallel_accesses", {w.group}')
    statements(w, stmt.body, s.inside(leave))
    w.group = around
    w.jump(step)
    w.start(step)
    w.lines.append(f"  {var}.next = add nsw i64 {var}, 1")
    w.jump(head, _hints(w, hints))


# A loop of a few instructions is fetched at once, but not where it crosses the end of a cache line.
_ALIGNED = '!"llvm.loop.align", i32 32'


def _told(way: Way) -> tuple[str, ...]:
    """What LLVM is told of a way to run a loop; where it is told nothing, it expects a long one."""
    told = [f'!"llvm.loop.interleave.count", i32 {way.side}'] if way.side else []
    told += [f'!"llvm.loop.vectorize.width", i32 {way.width}'] if way.width else []
    told += [_ALIGNED] if way.side == 1 and way.width < 2 else []
    count = f'!"llvm.loop.unroll.count", i32 {way.copies}'
    copies = '!"llvm.loop.unroll.full"' if way.copies == ALL else count
    if way.copies and way.of_vectors:
        copies = f'!"llvm.loop.vectorize.followup_vectorized", !{{{copies}}}'
    return (*told, copies) if way.copies else (*told,)


def _hints(w: Writer, hints: tuple[str, ...]) -> str:
    if not hints:
        return ""
    nodes = [w.module.node(f"!{{{hint}}}") for hint in hints]
    own = f"!{len(w.module.metadata)}"
    w.module.node(f"distinct !{{{', '.join([own, *nodes])}}}")
    return f", !llvm.loop {own}"


def _while(w: Writer, stmt: imp.While, s: Scope) -> None:
    head, body, leave = (w.label(h) for h in ("while", "body", "end"))
    w.jump(head)
    w.start(head)
    choose(w, stmt.cond, body, leave)
    w.start(body)
    statements(w, stmt.body, s.inside(leave))
    w.jump(head)
    w.start(leave)


def give_back(w: Writer, value: imp.Expr | None, s: Scope) -> None:
    """Return from a function."""
    ty = result_type(s.result)
    if value is None:
        w.do("ret void" if s.result is None else f"ret {ty} 0")
    else:
        parts = evaluate(w, value)
        result = parts[0]
        if len(parts) == 2:
            part = TYPES[value.dtype]
            half = w.emit(f"insertvalue {ty} undef, {part} {parts[0]}, 0")
            result = w.emit(f"insertvalue {ty} {half}, {part} {parts[1]}, 1")
        w.do(f"ret {ty} {result}")
    w.open = False
