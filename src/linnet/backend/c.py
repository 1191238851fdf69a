"""Kernels as C that people read: functions and files.

Statements are in `c_statements`, expressions in `c_values`. The same text is the C back end's
source, what `kernel.code` shows, and what `export` writes.
"""

from __future__ import annotations

from collections.abc import Iterator

from linnet import imp
from linnet.backend.c_prelude import SHORT, TYPES, Needs
from linnet.backend.c_statements import Printer, declarations, statements
from linnet.backend.c_tasks import Tasks, around, define, structure
from linnet.backend.c_values import Scope
from linnet.backend.identifiers import Identifiers, symbol
from linnet.backend.survey import Survey, returns, survey
from linnet.imp.effects import effects_of
from linnet.names import identifier


def render(kernel: imp.Kernel) -> str:
    """The kernel as a C file."""
    needs = Needs(narrow=kernel.narrow)
    globals_ = Identifiers(frozenset({symbol(kernel)}), functions=True)
    codelets = {f.name: globals_[f.name] for f in kernel.codelets}
    effects = effects_of(kernel.codelets)
    surveys = {f.name: survey(f, effects) for f in kernel.codelets}
    functions = [_codelet(f, needs, codelets, surveys[f.name]) for f in kernel.codelets]
    prototypes = [f"{functions[k].partition(' {')[0]};" for k in _called_early(surveys)]
    facts = survey(kernel, effects)
    tasks = {task: globals_[f"run_{task}"] for task in facts.tasks}
    threads = [
        define(Scope(needs, Identifiers(), codelets), task, tasks[task], f, surveys[name])
        for task, name in facts.tasks.items()
        for f in kernel.codelets
        if f.name == name
    ]
    scope = Scope(needs, Identifiers(frozenset(codelets.values())), codelets)
    body = _kernel(kernel, facts, scope, tasks)
    parts = [needs.text(), "\n".join(prototypes), *functions, *threads, *body]
    return "\n\n".join(part for part in parts if part) + "\n"


def _called_early(codelets: dict[str, Survey]) -> list[int]:
    """The numbers of the codelets that are called before their definition."""
    called: set[str] = set()
    early = []
    for k, (name, facts) in enumerate(codelets.items()):
        if name in called:
            early.append(k)
        called |= facts.called - {name}
    return early


def export(kernel: imp.Kernel) -> tuple[str, str]:
    """A stand-alone C file, and a header that says how to call it."""
    name = symbol(kernel)
    flags = "-O3 -march=native -fwrapv -fopenmp-simd"
    flags += " -pthread" if survey(kernel).tasks else ""
    note = f"// Compile with: cc {flags} -c {name}.c\n"
    guard = f"{name.upper()}_H"
    head = [
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stdint.h>",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *_layout(kernel),
        f"int64_t {name}(int64_t *args);",
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
    ]
    return f'{note}#include "{name}.h"\n{render(kernel)}', "\n".join(head) + "\n"


def _layout(kernel: imp.Kernel) -> Iterator[str]:
    """What each slot of the argument block holds."""
    yield "// Arguments are passed in an array of int64. A buffer takes three slots: its address,"
    yield "// its capacity and its length, in elements. A growable one is enlarged with realloc,"
    yield "// and may start as three zeros; afterwards its slots say where it is. The result is 0,"
    yield "// or 1 if there was not enough memory."
    slot = 0
    for argument in kernel.arguments:
        for dim in argument.dims:
            yield f"//   args[{slot}]  {identifier(dim.name)}"
            slot += 1
        for buffer in argument.buffers:
            grows = ", growable" if buffer.growable else ""
            kind = SHORT[buffer.dtype] if buffer.dtype[0] in "iu" else TYPES[buffer.dtype]
            yield f"//   args[{slot}..{slot + 2}]  {identifier(buffer.name)}: {kind}{grows}"
            slot += 3


# -- functions -----------------------------------------------------------------------------------


def _kernel(kernel: imp.Kernel, facts: Survey, scope: Scope, tasks: Tasks) -> list[str]:
    """The function of a kernel; with tasks, it is one inside another."""
    name, inner = symbol(kernel), f"{symbol(kernel)}_inside"
    if not tasks:
        return [_body(kernel, facts, scope, f"i64 {name}(i64 *restrict args) {{", tasks)]
    given = "".join(f", {structure(task)} *{scope.names[task]}" for task in tasks)
    head = f"static i64 {inner}(i64 *restrict args{given}) {{"
    return [_body(kernel, facts, scope, head, tasks), "\n".join(around(name, inner, tasks))]


def _body(kernel: imp.Kernel, facts: Survey, scope: Scope, head: str, tasks: Tasks) -> str:
    _name_all(scope, facts)
    p = Printer(scope, facts, [head], kernel=True, tasks=tasks)
    slot = 0
    dims: dict[str, str] = {}
    pointers = []
    for argument in kernel.arguments:
        for dim in argument.dims:
            if dim.name in facts.read:
                dims.setdefault(dim.name, f"{scope.names[dim.name]} = args[{slot}]")
            slot += 1
        for buffer in argument.buffers:
            facts.slots[buffer.name] = slot
            if buffer.name in facts.buffers:
                pointers.append(f"{_pointer(scope, buffer, facts)} = (void *)args[{slot}];")
            slot += 3
    for scratch in kernel.scratch:
        type_name, name = scope.type(scratch.buffer.dtype), scope.names[scratch.buffer.name]
        pointers.append(f"{type_name} {name}[{scratch.size}];")
    for text in (*declarations("i64 ", list(dims.values())), *pointers):
        p.line(1, text)
    statements(p, kernel.body, 1)
    if not returns(kernel.body):
        p.line(1, "return 0;")
    return "\n".join([*p.lines, "}"])


def _name_all(s: Scope, facts: Survey) -> None:
    """Give the program's variables their names before anything else can take them."""
    for name in facts.introduced:
        s.names[name]


def _pointer(s: Scope, buffer: imp.Buffer, facts: Survey) -> str:
    """The declaration of a buffer; what is only read is const, what is swapped has two names."""
    const = "" if buffer.name in facts.written | facts.grown else "const "
    alone = "" if buffer.name in facts.swapped else "restrict "
    return f"{const}{s.type(buffer.dtype)} *{alone}{s.names[buffer.name]}"


def _codelet(function: imp.Function, needs: Needs, codelets: dict[str, str], facts: Survey) -> str:
    scope = Scope(needs, Identifiers(frozenset(codelets.values())), codelets)
    params = [
        _pointer(scope, q, facts)
        if isinstance(q, imp.Buffer)
        else f"{scope.type(q.dtype)} {scope.names[q.name]}"
        for q in function.params
    ]
    result = "void" if function.dtype is None else scope.type(function.dtype)
    head = f"static {result} {codelets[function.name]}({', '.join(params)}) {{"
    _name_all(scope, facts)
    p = Printer(scope, facts, [head])
    statements(p, function.body, 1)
    if function.dtype is None and p.lines[-1] == "  return;":
        p.lines.pop()
    elif function.dtype is not None and not returns(function.body):
        p.line(1, "return 0;")
    return "\n".join([*p.lines, "}"])
