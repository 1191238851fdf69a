"""Tasks in LLVM IR text: codelets that run on a thread of their own, where there is one to be had.

A task has a block of words: its thread, whether that is running, and then the arguments of its
codelet. A kernel that has tasks is a function inside another one, which holds these blocks and
waits for what is left when the inner one returns.
"""

from __future__ import annotations

from linnet import imp
from linnet.backend.llvm_values import evaluate, pointer
from linnet.backend.llvm_writer import PARTS, TYPES, Module, Writer
from linnet.names import identifier

_ARGUMENTS = 2  # the word at which they begin
_JOIN = """
define internal void @task.join(ptr %task) #0 {
  %at = getelementptr inbounds i64, ptr %task, i64 1
  %running = load i64, ptr %at, align 8
  %is.running = icmp ne i64 %running, 0
  br i1 %is.running, label %wait, label %end
wait:
  %thread = load i64, ptr %task, align 8
  %ignored = call i32 @pthread_join(i64 %thread, ptr null)
  store i64 0, ptr %at, align 8
  br label %end
end:
  ret void
}
"""
# A thread has a stack of 1 MB: with musl it would have 128 kB. If that is refused, it has the usual
# one. What a system holds about a thread to be made takes 64 bytes at most.
_SPAWN = """
define internal void @task.spawn(ptr %task, ptr %run) #0 {
  %at = getelementptr inbounds i64, ptr %task, i64 1
  %wish = alloca [128 x i8], align 16
  %begun = call i32 @pthread_attr_init(ptr %wish)
  %refused = call i32 @pthread_attr_setstacksize(ptr %wish, i64 1048576)
  %failed = call i32 @pthread_create(ptr %task, ptr %wish, ptr %run, ptr %task)
  %ended = call i32 @pthread_attr_destroy(ptr %wish)
  %is.failed = icmp ne i32 %failed, 0
  br i1 %is.failed, label %now, label %later
now:
  %ignored = call ptr %run(ptr %task)
  ret void
later:
  store i64 1, ptr %at, align 8
  ret void
}
"""
_AT_ONCE = """
define internal void @task.join(ptr %task) #1 {
  ret void
}
define internal void @task.spawn(ptr %task, ptr %run) #0 {
  %ignored = call ptr %run(ptr %task)
  ret void
}
"""
_NEEDS = {
    "@pthread_attr_destroy": "declare i32 @pthread_attr_destroy(ptr)",
    "@pthread_attr_init": "declare i32 @pthread_attr_init(ptr)",
    "@pthread_attr_setstacksize": "declare i32 @pthread_attr_setstacksize(ptr, i64)",
    "@pthread_create": "declare i32 @pthread_create(ptr, ptr, ptr, ptr)",
    "@pthread_join": "declare i32 @pthread_join(i64, ptr)",
}


def block_of(task: str) -> str:
    """The name of the block of a task."""
    return f"%task.{identifier(task)}"


def spawn(w: Writer, stmt: imp.Spawn) -> None:
    """Write down the arguments, and start."""
    block, word = block_of(stmt.task), _ARGUMENTS
    for a in stmt.call.args:
        values = (pointer(w, a.buffer),) if isinstance(a, imp.Address) else evaluate(w, a)
        ty = "ptr" if isinstance(a, imp.Address) else TYPES[a.dtype]
        for value in values:
            at = w.emit(f"getelementptr inbounds i64, ptr {block}, i64 {word}")
            w.do(f"store {ty} {value}, ptr {at}, align 8")
            word += 1
    w.do(f"call void @task.spawn(ptr {block}, ptr @run.{stmt.call.function})")


def join(w: Writer, task: str) -> None:
    """Wait."""
    w.do(f"call void @task.join(ptr {block_of(task)})")


def functions(module: Module, tasks: dict[str, str]) -> list[str]:
    """What threads run, and how they are started and waited for, on this system."""
    threads = module.target.system != "windows"
    if threads:
        module.declarations |= _NEEDS
    runs = [_run(module, module.codelets[name]) for name in dict.fromkeys(tasks.values())]
    return [*runs, *((_JOIN, _SPAWN) if threads else (_AT_ONCE,))]


def _run(module: Module, function: imp.Function) -> str:
    """Read the arguments, and call the codelet."""
    lines, operands, word = [], [], _ARGUMENTS
    for p in function.params:
        ty = "ptr" if isinstance(p, imp.Buffer) else TYPES[p.dtype]
        for _ in range(2 if isinstance(p, imp.Var) and p.dtype in PARTS else 1):
            lines.append(f"  %at{word} = getelementptr inbounds i64, ptr %task, i64 {word}")
            lines.append(f"  %a{word} = load {ty}, ptr %at{word}, align 8")
            operands.append(f"{ty} %a{word}")
            word += 1
    call = f"  call void @{module.passed(function.name)[0]}({', '.join(operands)})"
    head = f"define internal ptr @run.{function.name}(ptr %task) #0 {{"
    return "\n".join([head, *lines, call, "  ret ptr null", "}"])


def around(symbol: str, module: Module, tasks: dict[str, str]) -> str:
    """The kernel itself: it calls the inner one, and joins what is left."""
    lines = [f"define i64 @{symbol}(ptr noalias %args) #0 {{"]
    for task, name in tasks.items():
        block, words = block_of(task), _ARGUMENTS + 2 * len(module.codelets[name].params)
        lines.append(f"  {block} = alloca [{words} x i64], align 16")
        lines.append(f"  {block}.at = getelementptr inbounds i64, ptr {block}, i64 1")
        lines.append(f"  store i64 0, ptr {block}.at, align 8")
    given = "".join(f", ptr {block_of(task)}" for task in tasks)
    lines.append(f"  %status = call i64 @{symbol}.inside(ptr %args{given})")
    lines += [f"  call void @task.join(ptr {block_of(task)})" for task in tasks]
    return "\n".join([*lines, "  ret i64 %status", "}"])
