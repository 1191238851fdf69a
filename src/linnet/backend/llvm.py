"""Kernels as LLVM IR text: statements and functions. Expressions are in `llvm_values`.

The text is written directly, which is several times faster than building it as objects. Variables
that are never assigned are plain values; the others live in stack slots, which LLVM promotes.
Each buffer has a type of its own in LLVM's type-based alias analysis, since buffers never overlap.
"""

from __future__ import annotations

from typing import assert_never

from linnet import imp
from linnet.backend.identifiers import symbol
from linnet.backend.inlining import ALWAYS, NEVER, PERHAPS, RARELY, inlining
from linnet.backend.llvm_lanes import end_lanes, has_lanes, keep_lanes, loop_in_lanes
from linnet.backend.llvm_memory import give_up, grow_function, growable, on_memory, slot_value
from linnet.backend.llvm_operators import binary
from linnet.backend.llvm_tasks import around, block_of, functions, join, spawn
from linnet.backend.llvm_values import call, choose, evaluate, integer, result_type, store
from linnet.backend.llvm_writer import (
    PARTS,
    REDUCTION,
    TYPES,
    Module,
    Pointer,
    Value,
    Writer,
)
from linnet.backend.survey import Survey, survey
from linnet.backend.target import PLAIN, Target
from linnet.backend.versions import Version, versions
from linnet.imp.effects import effects_of
from linnet.imp.prescribed import has_own_places
from linnet.names import identifier

_CODELET = {PERHAPS: "#0", ALWAYS: "#1", RARELY: "#3", NEVER: "#5"}
_ATTRIBUTES = f"""
attributes #0 = {{ nounwind }}
attributes #1 = {{ nounwind {ALWAYS} }}
attributes #2 = {{ nounwind willreturn memory(none) }}
attributes #3 = {{ nounwind {RARELY} }}
attributes #4 = {{ nounwind }}
attributes #5 = {{ nounwind {NEVER} }}
"""


def render(kernel: imp.Kernel, target: Target = PLAIN) -> str:
    """The kernel and its codelets as one LLVM module, for a target."""
    scratch = frozenset(s.buffer.name for s in kernel.scratch)
    module = Module(codelets={f.name: f for f in kernel.codelets}, target=target, scratch=scratch)
    effects = effects_of(kernel.codelets)
    facts = survey(kernel, effects)
    parts = [_kernel(kernel, module, facts)]
    surveys = {f.name: survey(f, effects) for f in kernel.codelets}
    told = inlining(facts, surveys, {f.name for f in kernel.codelets if f.rare})
    parts += [_codelet(f, module, surveys[f.name], _CODELET[told[f.name]]) for f in kernel.codelets]
    if facts.tasks:
        parts += [around(symbol(kernel), module, facts.tasks), *functions(module, facts.tasks)]
    if facts.grown:
        parts.append(grow_function(module, kernel.narrow))
    parts += module.declarations.values()
    parts.append(_ATTRIBUTES)
    parts += [f"!{k} = {text}" for k, text in enumerate(module.metadata)]
    return "\n".join(parts) + "\n"


def _kernel(kernel: imp.Kernel, module: Module, facts: Survey) -> str:
    w = Writer(module)
    _bind_arguments(w, kernel, facts)
    for scratch in kernel.scratch:
        buffer = scratch.buffer
        name, count = f"%{w.label(f'{buffer.name}.')}", scratch.size * (1 + (buffer.dtype in PARTS))
        w.entry.append(f"  {name} = alloca [{count} x {TYPES[buffer.dtype]}], align 64")
        note = _tag(w, identifier(buffer.name))
        w.buffers[buffer.name] = Pointer(name, False, note, note)
    _block(w, kernel.body, _Scope(facts))
    if w.open:
        w.do("ret i64 0")
    if facts.grown:
        give_up(w)
    head = f"define i64 @{symbol(kernel)}(ptr noalias %args) #0 {{"
    if facts.tasks:
        given = "".join(f", ptr {block_of(task)}" for task in facts.tasks)
        head = f"define internal i64 @{symbol(kernel)}.inside(ptr noalias %args{given}) #0 {{"
    return "\n".join([head, "entry:", *w.entry, *w.lines, "}"])


def _tag(w: Writer, name: str) -> str:
    """Memory of which nothing else is a part: no two names are one place."""
    root = w.module.node('!{!"linnet"}')
    kind = w.module.node(f'!{{!"{name}", {root}, i64 0}}')
    return f", !tbaa {w.module.node(f'!{{{kind}, {kind}, i64 0}}')}"


def _bind_arguments(w: Writer, kernel: imp.Kernel, facts: Survey) -> None:
    """Load what is used from the argument block."""
    in_block, invariant = _tag(w, "args"), f", !invariant.load {w.module.node('!{}')}"
    facts.block_note = in_block
    slot = 0
    for argument in kernel.arguments:
        for dim in argument.dims:
            if dim.name in facts.read and dim.name not in w.values:
                w.values[dim.name] = (slot_value(w, slot, "i64", in_block),)
            slot += 1
        for buffer in argument.buffers:
            if buffer.name in facts.buffers:
                # memory that changes hands has one type, whoever has it
                swapped = buffer.name in facts.swapped
                note = _tag(w, "swapped" if swapped else identifier(buffer.name))
                written = buffer.name in facts.written or buffer.growable
                at = slot_value(w, slot, "ptr", in_block)
                if buffer.name in facts.grown:
                    at = growable(w, buffer, at, slot)
                on_load = note if written else note + invariant
                w.buffers[buffer.name] = Pointer(at, buffer.name in facts.grown, on_load, note)
            facts.slots[buffer.name] = slot
            slot += 3


def _codelet(function: imp.Function, module: Module, facts: Survey, attributes: str) -> str:
    w = Writer(module)
    params = []
    for k, p in enumerate(function.params):
        name = f"%p{k}.{identifier(p.name)}"
        if isinstance(p, imp.Buffer):
            params.append(f"ptr noalias {name}")
            w.buffers[p.name] = Pointer(name)
            continue
        parts = (name, f"{name}.im") if p.dtype in PARTS else (name,)
        params += [f"{TYPES[p.dtype]} {part}" for part in parts]
        if p.name in facts.assigned:
            _introduce(w, p, parts)
        else:
            w.values[p.name] = parts
    s = _Scope(facts, result=function.dtype)
    _block(w, function.body, s)
    if w.open:
        _return(w, None if function.dtype is None else imp.Const(0, function.dtype), s)
    head = f"define internal {result_type(function.dtype)} @codelet.{function.name}"
    head += f"({', '.join(params)}) {attributes} {{"
    return "\n".join([head, "entry:", *w.entry, *w.lines, "}"])


# -- statements ----------------------------------------------------------------------------------


class _Scope:
    """Where a statement stands: in which function, in which loop."""

    __slots__ = ("facts", "leave", "result")

    def __init__(self, facts: Survey, result: str | None = imp.INT, leave: str = "") -> None:
        self.facts, self.result, self.leave = facts, result, leave

    def inside(self, leave: str) -> _Scope:
        """The body of a loop that `break` leaves to the block `leave`."""
        return _Scope(self.facts, self.result, leave)


def _block(w: Writer, block: imp.Block, s: _Scope) -> None:
    for stmt in block.stmts:
        if not w.open:
            return  # nothing is reached after break or return
        _statement(w, stmt, s)


def _statement(w: Writer, stmt: imp.Stmt, s: _Scope) -> None:
    match stmt:
        case imp.Let(var, value):
            parts = evaluate(w, value)
            if var.name in s.facts.assigned:
                _introduce(w, var, parts)
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
            _block(w, stmt, s)
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
            _return(w, value, s)
        case imp.Do(e):
            call(w, e)
        case _:
            assert_never(stmt)


def _introduce(w: Writer, var: imp.Var, value: Value) -> None:
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


def _if(w: Writer, stmt: imp.If, s: _Scope) -> None:
    yes, no, done = w.label("then"), w.label("else"), w.label("end")
    choose(w, stmt.cond, yes, no if stmt.orelse.stmts else done)
    w.start(yes)
    _block(w, stmt.then, s)
    reached = w.open or not stmt.orelse.stmts
    w.jump(done)
    if stmt.orelse.stmts:
        w.start(no)
        _block(w, stmt.orelse, s)
        reached = reached or w.open
        w.jump(done)
    if reached:
        w.start(done)


def _for(w: Writer, stmt: imp.For, s: _Scope) -> None:
    """A counted loop, perhaps in several versions; the bound is read once, before it."""
    start, stop = integer(w, stmt.start), integer(w, stmt.stop)
    leave = w.label("end")
    kept = keep_lanes(w, stmt)
    *others, last = versions(stmt)
    for version in others:
        here, next_one = w.label("long"), w.label("short")
        count = w.emit(f"sub nsw i64 {stop}, {start}")
        w.branch(w.emit(f"icmp sge i64 {count}, {version.least}"), here, next_one)
        w.start(here)
        _count(w, stmt, (start, stop, leave), version, s)
        w.start(next_one)
    if last.few and has_lanes(stmt, w.module.target.masks):
        loop_in_lanes(w, stmt, start, stop, leave)
    else:
        _count(w, stmt, (start, stop, leave), last, s)
    w.start(leave)
    end_lanes(w, kept)


def _count(
    w: Writer, stmt: imp.For, bounds: tuple[str, str, str], version: Version, s: _Scope
) -> None:
    """One version of a loop, from here to the block after it."""
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
    around, hints = w.group, version.hints
    if stmt.how.race and has_own_places(stmt):
        w.group = w.module.node("distinct !{}")
        hints = (*hints, f'!"llvm.loop.parallel_accesses", {w.group}')
    _block(w, stmt.body, s.inside(leave))
    w.group = around
    w.jump(step)
    w.start(step)
    w.lines.append(f"  {var}.next = add nsw i64 {var}, 1")
    w.jump(head, _hints(w, hints))


def _hints(w: Writer, hints: tuple[str, ...]) -> str:
    if not hints:
        return ""
    nodes = [w.module.node(f"!{{{hint}}}") for hint in hints]
    own = f"!{len(w.module.metadata)}"
    w.module.node(f"distinct !{{{', '.join([own, *nodes])}}}")
    return f", !llvm.loop {own}"


def _while(w: Writer, stmt: imp.While, s: _Scope) -> None:
    head, body, leave = (w.label(h) for h in ("while", "body", "end"))
    w.jump(head)
    w.start(head)
    choose(w, stmt.cond, body, leave)
    w.start(body)
    _block(w, stmt.body, s.inside(leave))
    w.jump(head)
    w.start(leave)


def _return(w: Writer, value: imp.Expr | None, s: _Scope) -> None:
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
