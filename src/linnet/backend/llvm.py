"""Kernels as LLVM IR text: modules and functions. Statements are in `llvm_statements`.

The text is written directly, which is several times faster than building it as objects. Each buffer
has a type of its own in LLVM's type-based alias analysis, since buffers never overlap. Codelets
that are inlined are part of a kernel's module; those that are called are modules of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import TypeAlias

from linnet import imp
from linnet.backend.identifiers import symbol
from linnet.backend.inlining import (
    ALWAYS,
    NEVER,
    PERHAPS,
    RARELY,
    called,
    fixed,
    inlining,
    within,
)
from linnet.backend.linking import SHARED
from linnet.backend.llvm_memory import give_up, grow_function, growable, slot_value
from linnet.backend.llvm_statements import Scope, give_back, introduce, statements
from linnet.backend.llvm_tasks import around, block_of, functions
from linnet.backend.llvm_values import evaluate, result_type
from linnet.backend.llvm_writer import PARTS, TYPES, Module, Pointer, Shared, Value, Writer
from linnet.backend.survey import Survey, survey
from linnet.imp.effects import effects_of
from linnet.names import identifier
from linnet.target import PLAIN, Target

Constants: TypeAlias = Mapping[int, imp.Const]

_NOTHING: Constants = MappingProxyType({})
_CODELET = {PERHAPS: "#0", ALWAYS: "#1", RARELY: "#3", NEVER: "#5"}
_ATTRIBUTES = f"""
attributes #0 = {{ nounwind }}
attributes #1 = {{ nounwind {ALWAYS} }}
attributes #2 = {{ nounwind willreturn memory(none) }}
attributes #3 = {{ nounwind {RARELY} }}
attributes #4 = {{ nounwind }}
attributes #5 = {{ nounwind {NEVER} }}
attributes #6 = {{ nounwind nofree nosync memory(argmem: readwrite) }}
"""


def render(kernel: imp.Kernel, target: Target = PLAIN) -> str:
    """The kernel and its codelets as one LLVM module, for a target."""
    codelets = _Codelets(kernel)
    return _whole(
        kernel,
        codelets,
        list(codelets.functions),
        Module(codelets=codelets.functions, target=target),
    )


def separate(kernel: imp.Kernel, target: Target = PLAIN) -> tuple[str, dict[str, str]]:
    """The kernel without the codelets that are shared, and the module of each of those.

    They are named for what they are: two kernels that ask for a name mean the same code.
    """
    codelets, modules = _Codelets(kernel), dict[str, str]()
    module, calls = Module(codelets=codelets.functions, target=target), codelets.calls()
    for name in codelets.shared:
        turning_back = name in codelets.surveys[name].called
        passed_on = name in codelets.kernel.tasks.values()
        constants = {} if turning_back or passed_on else fixed(calls[name])
        text = _alone(name, codelets, constants, target)
        found = f"{SHARED}{name}.{sha256(text.encode()).hexdigest()[:16]}"
        modules[found], module.shared[name] = text, Shared(found, constants)
        module.declarations[found] = _declaration(codelets, name, module)
    return _whole(kernel, codelets, codelets.inside, module), modules


class _Codelets:
    """The codelets of a kernel: what they use, what LLVM is told of each, which are shared."""

    def __init__(self, kernel: imp.Kernel) -> None:
        self.functions = {f.name: f for f in kernel.codelets}
        self.effects = effects_of(kernel.codelets)
        self.kernel = survey(kernel, self.effects)
        self.surveys = {f.name: survey(f, self.effects) for f in kernel.codelets}
        self.rare = {f.name for f in kernel.codelets if f.rare}
        self.told = inlining(self.kernel, self.surveys, self.rare)
        apart = called(self.kernel, self.told)
        near = within(self.kernel.called, self.surveys, apart)
        self.shared = [name for name in near if name in apart]
        self.inside = [name for name in near if name not in apart]

    def calls(self) -> dict[str, list[imp.Call]]:
        """The calls of each, in the kernel and in what is part of it."""
        found: dict[str, list[imp.Call]] = {name: [] for name in self.surveys}
        for facts in (self.kernel, *(self.surveys[name] for name in self.inside)):
            for call in facts.calls:
                if call.function in found:
                    found[call.function].append(call)
        return found


def _whole(kernel: imp.Kernel, codelets: _Codelets, names: list[str], module: Module) -> str:
    """A module of the kernel, and codelets of these names."""
    facts = codelets.kernel
    parts = [_kernel(kernel, module, facts)]
    for name in names:
        told = _CODELET[codelets.told[name]]
        parts.append(_codelet(codelets.functions[name], module, codelets.surveys[name], told))
    if facts.tasks:
        parts += [around(symbol(kernel), module, facts.tasks), *functions(module, facts.tasks)]
    if facts.grown:
        parts.append(grow_function(module, kernel.narrow))
    return _finished(parts, module)


def _alone(name: str, codelets: _Codelets, constants: Constants, target: Target) -> str:
    """A module of a codelet that is shared, and of what it calls."""
    surveys = {n: codelets.surveys[n] for n in within([name], codelets.surveys)}
    told = inlining(Survey(places=Counter([name])), surveys, codelets.rare)
    module, parts = Module(codelets=codelets.functions, target=target), []
    for n, facts in surveys.items():
        given = ("", constants) if n == name else ("internal ", _NOTHING)
        parts.append(_codelet(codelets.functions[n], module, facts, _CODELET[told[n]], *given))
    return _finished(parts, module)


def _finished(parts: list[str], module: Module) -> str:
    """The text of a module, with what its functions name."""
    metadata = [f"!{k} = {text}" for k, text in enumerate(module.metadata)]
    return "\n".join([*parts, *module.declarations.values(), _ATTRIBUTES, *metadata]) + "\n"


def _declaration(codelets: _Codelets, name: str, module: Module) -> str:
    """What LLVM would find out about a codelet that it sees."""
    function, written = codelets.functions[name], codelets.effects.written(name)
    symbol, numbers = module.passed(name)
    params = []
    for k in numbers:
        p = function.params[k]
        if isinstance(p, imp.Buffer):
            params.append(f"ptr nocapture{'' if k in written else ' readonly'}")
        else:
            params += [TYPES[p.dtype]] * (2 if p.dtype in PARTS else 1)
    return f"declare {result_type(function.dtype)} @{symbol}({', '.join(params)}) #6"


def _kernel(kernel: imp.Kernel, module: Module, facts: Survey) -> str:
    w = Writer(module)
    _bind_arguments(w, kernel, facts)
    for scratch in kernel.scratch:
        buffer = scratch.buffer
        name, count = f"%{w.label(f'{buffer.name}.')}", scratch.size * (1 + (buffer.dtype in PARTS))
        w.entry.append(f"  {name} = alloca [{count} x {TYPES[buffer.dtype]}], align 64")
        note = _tag(w, identifier(buffer.name))
        w.buffers[buffer.name] = Pointer(name, False, note, note)
    statements(w, kernel.body, Scope(facts))
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


def _codelet(
    function: imp.Function,
    module: Module,
    facts: Survey,
    attributes: str,
    linkage: str = "internal ",
    constants: Constants = _NOTHING,
) -> str:
    w = Writer(module)
    params = []
    for k, p in enumerate(function.params):
        name = f"%p{k}.{identifier(p.name)}"
        if isinstance(p, imp.Buffer):
            params.append(f"ptr noalias {name}")
            w.buffers[p.name] = Pointer(name)
            continue
        parts: Value = (name, f"{name}.im") if p.dtype in PARTS else (name,)
        if k in constants:
            parts = evaluate(w, constants[k])
        else:
            params += [f"{TYPES[p.dtype]} {part}" for part in parts]
        if p.name in facts.assigned:
            introduce(w, p, parts)
        else:
            w.values[p.name] = parts
    s = Scope(facts, result=function.dtype)
    statements(w, function.body, s)
    if w.open:
        give_back(w, None if function.dtype is None else imp.Const(0, function.dtype), s)
    head = f"define {linkage}{result_type(function.dtype)} @codelet.{function.name}"
    head += f"({', '.join(params)}) {attributes} {{"
    return "\n".join([head, "entry:", *w.entry, *w.lines, "}"])
