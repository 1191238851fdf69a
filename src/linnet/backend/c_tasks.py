"""Tasks in C: a structure with the arguments of a codelet, and a function for a thread to run.

A kernel that has tasks is a function inside another one, which waits for them: whichever way the
inner one returns, no thread is left behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from linnet import imp
from linnet.backend.c_values import Scope
from linnet.backend.survey import Survey
from linnet.names import identifier

Tasks = dict[str, str]
"""The name of each task's function."""


def structure(task: str) -> str:
    """The type of what a task is given."""
    return f"struct {identifier(task)}"


def define(s: Scope, task: str, run: str, function: imp.Function, facts: Survey) -> str:
    """The structure of a task, and the function that its thread runs."""
    s.needs.tasks = True
    fields = [f"  {_type(s, p, facts)}{s.names[p.name]};" for p in function.params]
    given = s.names.extra("given")
    passed = ", ".join(f"t->{s.names[p.name]}" for p in function.params)
    lines = [
        f"{structure(task)} {{",
        "  Task task;",
        *fields,
        "};",
        f"static void *{run}(void *{given}) {{",
        f"  {structure(task)} *t = {given};",
        f"  {s.codelets[function.name]}({passed});",
        "  return NULL;",
        "}",
    ]
    return "\n".join(lines)


def _type(s: Scope, param: imp.Var | imp.Buffer, facts: Survey) -> str:
    if isinstance(param, imp.Var):
        return f"{s.type(param.dtype)} "
    return f"{'' if param.name in facts.written else 'const '}{s.type(param.dtype)} *"


def around(symbol: str, inner: str, tasks: Tasks) -> Iterator[str]:
    """The kernel itself: it calls the inner one, and joins what is left."""
    names = [f"task{k}" for k in range(len(tasks))]
    yield f"i64 {symbol}(i64 *restrict args) {{"
    for name, task in zip(names, tasks, strict=True):
        yield f"  {structure(task)} {name} = {{{{0}}}};"
    yield f"  i64 status = {inner}(args, {', '.join(f'&{name}' for name in names)});"
    yield from (f"  join_task(&{name}.task);" for name in names)
    yield "  return status;"
    yield "}"
