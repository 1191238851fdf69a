"""What imperative IR must satisfy: names known, types agreeing, loops and functions well formed.

Run after every stage that makes or changes a kernel when `Options.check` is set. What it refuses is
a bug in Linnet, never in the user's program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import NoReturn, assert_never

from linnet import imp
from linnet.errors import InternalError
from linnet.imp.functions import BITS, COMPLEX, MATH, TESTS, WORDS
from linnet.imp.how import RACES
from linnet.records import dataclass

_FIXED, _ASSIGNABLE = False, True
_ANY_KIND = {"==": "biufc", "!=": "biufc", **dict.fromkeys(("<", "<=", ">", ">="), "biuf")}
_KINDS = {
    **_ANY_KIND,
    "+": "biufc",
    "-": "iufc",
    "*": "biufc",
    "/": "fc",
    "div": "iu",
    "rem": "iuf",
    **dict.fromkeys(("&", "|", "^"), "biu"),
    **dict.fromkeys(("<<", ">>"), "iu"),
    **dict.fromkeys(("min", "max"), "biuf"),
    **dict.fromkeys(("and", "or"), "b"),
}
_UNARY_KINDS = {"-": "iufc", "~": "biu", "not": "b"}
_PARTS = {"complex64": "float32", "complex128": "float64"}


@dataclass(slots=True)
class _Scope:
    """What is known at some point of a function."""

    codelets: Mapping[str, imp.Function]
    result: str | None
    buffers: Mapping[str, imp.Buffer]
    growing: bool  # whether buffers may be grown here
    listed: frozenset[tuple[str, int]] = frozenset()  # levels of tensors that list their entries
    variables: dict[str, tuple[str, bool]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # of every name, for good
    tasks: dict[str, str] = field(default_factory=dict)  # and their codelets
    in_loop: bool = False

    def inner(self, in_loop: bool | None = None) -> _Scope:
        """A block inside this one."""
        loop = self.in_loop if in_loop is None else in_loop
        return replace(self, variables=dict(self.variables), in_loop=loop)

    def introduce(self, var: imp.Var, assignable: bool, node: imp.Stmt) -> None:
        """A new variable."""
        if var.name in self.variables:
            _refuse(f"the variable {var.name} is introduced twice", node)
        if self.types.setdefault(var.name, var.dtype) != var.dtype:
            _refuse(f"the variable {var.name} has two types", node)
        self.variables[var.name] = (var.dtype, assignable)


def check(kernel: imp.Kernel) -> None:
    """Raise InternalError, with the offending node, unless the kernel is well formed."""
    codelets = {f.name: f for f in kernel.codelets}
    given = [b for a in kernel.arguments for b in a.buffers]
    buffers = _unique([*given, *(s.buffer for s in kernel.scratch)])
    scope = _Scope(codelets, imp.INT, buffers, growing=True)
    for argument in kernel.arguments:
        for dim in argument.dims:
            if dim.dtype != imp.INT:
                _refuse(f"the dimension {dim.name} is not an int64", dim)
            scope.variables[dim.name] = (dim.dtype, _FIXED)
            scope.types[dim.name] = dim.dtype
    _entries(scope, kernel)
    _block(scope, kernel.body)
    for function in kernel.codelets:
        params = _unique([p for p in function.params if isinstance(p, imp.Buffer)])
        inner = _Scope(codelets, function.dtype, params, growing=False)
        for p in function.params:
            if isinstance(p, imp.Var):
                inner.variables[p.name] = (p.dtype, _ASSIGNABLE)
                inner.types[p.name] = p.dtype
        _block(inner, function.body)


def _entries(s: _Scope, kernel: imp.Kernel) -> None:
    """Where levels list their entries is told by what a kernel is called with."""
    told = s.inner()
    for end in (imp.FIRST, imp.LAST):
        told.variables[end.name] = (end.dtype, _FIXED)
    found = [(a, k, e) for a in kernel.arguments for k, e in enumerate(a.entries) if e is not None]
    for argument, _, entries in found:
        _integer(told, entries.begin, argument)
        _integer(told, entries.end, argument)
    s.listed = frozenset((argument.name, k) for argument, k, _ in found)


def _unique(buffers: list[imp.Buffer]) -> dict[str, imp.Buffer]:
    known: dict[str, imp.Buffer] = {}
    for buffer in buffers:
        if buffer.name in known:
            _refuse(f"there are two buffers {buffer.name}", buffer)
        known[buffer.name] = buffer
    return known


def _refuse(problem: str, node: imp.Node | imp.Argument) -> NoReturn:
    raise InternalError(f"malformed imperative code: {problem}", why=f"in {node!r:.400}")


# -- statements ----------------------------------------------------------------------------------


def _block(s: _Scope, block: imp.Block) -> None:
    for stmt in block.stmts:
        _statement(s, stmt)


def _statement(s: _Scope, stmt: imp.Stmt) -> None:
    match stmt:
        case imp.Let(var, value):
            _typed(s, value, var.dtype, stmt)
            s.introduce(var, _ASSIGNABLE, stmt)
        case imp.Assign(var, value):
            _assignable(s, var, stmt)
            _typed(s, value, var.dtype, stmt)
        case imp.Accumulate():
            _reduction(s, stmt)
        case imp.Store() | imp.Fill() | imp.Grow() | imp.SetLength() | imp.Prefetch():
            _memory(s, stmt)
        case imp.For() | imp.While() | imp.If() | imp.Block():
            _nested(s, stmt)
        case imp.Swap() | imp.Spawn() | imp.Join():
            _handover(s, stmt)
        case imp.Break():
            if not s.in_loop:
                _refuse("break outside a loop", stmt)
        case imp.Return(value):
            _return(s, value, stmt)
        case imp.Do(call):
            if call.function not in s.codelets:
                _refuse(f"there is no codelet {call.function}", stmt)
            _call(s, call)
        case imp.Comment():
            pass
        case _:
            assert_never(stmt)


def _memory(
    s: _Scope, stmt: imp.Store | imp.Fill | imp.Grow | imp.SetLength | imp.Prefetch
) -> None:
    """A buffer that is written, asked for, or given another size."""
    _buffer(s, stmt.buffer, stmt)
    match stmt:
        case imp.Store(buffer, index, value):
            _integer(s, index, stmt)
            _typed(s, value, buffer.dtype, stmt)
        case imp.Fill(buffer, start, stop, value):
            _integer(s, start, stmt)
            _integer(s, stop, stmt)
            _typed(s, value, buffer.dtype, stmt)
        case imp.Grow(buffer, count) | imp.SetLength(buffer, count):
            _integer(s, count, stmt)
            if not buffer.growable or not s.growing:
                _refuse(f"the buffer {buffer.name} cannot be grown here", stmt)
            if isinstance(stmt, imp.Grow):
                _integer(s, stmt.done, stmt)
                _integer(s, stmt.whole, stmt)
        case imp.Prefetch(_, index):
            _integer(s, index, stmt)


def _handover(s: _Scope, stmt: imp.Swap | imp.Spawn | imp.Join) -> None:
    """Buffers that change hands: only a kernel has them to give."""
    if not s.growing:
        _refuse("a codelet hands over buffers", stmt)
    match stmt:
        case imp.Swap(a, b):
            _buffer(s, a, stmt)
            _buffer(s, b, stmt)
            if a.name == b.name or a.dtype != b.dtype or not (a.growable and b.growable):
                _refuse(f"the buffers {a.name} and {b.name} cannot be swapped", stmt)
        case imp.Spawn(task, call):
            function = s.codelets.get(call.function)
            if function is None or function.dtype is not None:
                _refuse(f"the task {task} is no codelet without a result", stmt)
            if s.tasks.setdefault(task, call.function) != call.function:
                _refuse(f"the task {task} has two codelets", stmt)
            _call(s, call)
        case imp.Join(_, lent):
            for buffer in lent:
                _buffer(s, buffer, stmt)


def _nested(s: _Scope, stmt: imp.For | imp.While | imp.If | imp.Block) -> None:
    match stmt:
        case imp.For(var, start, stop, body):
            _integer(s, start, stmt)
            _integer(s, stop, stmt)
            if var.dtype != imp.INT:
                _refuse(f"the loop variable {var.name} is not an int64", stmt)
            if stmt.how.unroll < 1 or stmt.how.race not in ("", *RACES):
                _refuse(f"nobody can run the loop over {var.name} so", stmt)
            _over(s, stmt)
            inner = s.inner(in_loop=True)
            inner.introduce(var, _FIXED, stmt)
            _block(inner, body)
        case imp.While(cond, body):
            _typed(s, cond, imp.BOOL, stmt)
            _over(s, stmt)
            _block(s.inner(in_loop=True), body)
        case imp.If(cond, then, orelse):
            _typed(s, cond, imp.BOOL, stmt)
            _block(s.inner(), then)
            _block(s.inner(), orelse)
        case imp.Block():
            _block(s.inner(), stmt)


def _over(s: _Scope, loop: imp.For | imp.While) -> None:
    """What a loop is said to go through is said in words that mean something here."""
    for span in loop.over.spans:
        if span.tensor and (span.tensor, span.level) not in s.listed:
            _refuse(f"level {span.level} of {span.tensor} has no list to go through", loop)
        _integer(s, span.first, loop)
        _integer(s, span.last, loop)
        if span.position is not None:
            _integer(s, span.position, loop)


def _assignable(s: _Scope, var: imp.Var, stmt: imp.Stmt) -> None:
    _expr(s, var)
    if not s.variables[var.name][1]:
        _refuse(f"{var.name} is not a variable that may be assigned", stmt)


def _reduction(s: _Scope, stmt: imp.Accumulate) -> None:
    _assignable(s, stmt.var, stmt)
    _typed(s, stmt.value, stmt.var.dtype, stmt)
    if stmt.op in imp.COMPARISONS or stmt.var.dtype[0] not in _KINDS.get(stmt.op, ""):
        _refuse(f"there is no reduction {stmt.op} of {stmt.var.dtype}", stmt)


def _return(s: _Scope, value: imp.Expr | None, stmt: imp.Stmt) -> None:
    if value is not None:
        if s.result is None:
            _refuse("a value is returned from a codelet that has none", stmt)
        _typed(s, value, s.result, stmt)
    elif s.result is not None and not s.growing:
        _refuse("a codelet returns without its value", stmt)


# -- expressions ---------------------------------------------------------------------------------


def _typed(s: _Scope, e: imp.Expr, dtype: str, node: imp.Node) -> None:
    _expr(s, e)
    if e.dtype != dtype:
        _refuse(f"{e.dtype} where {dtype} is wanted", node)


def _integer(s: _Scope, e: imp.Expr, node: imp.Node | imp.Argument) -> None:
    _expr(s, e)
    if e.dtype[0] not in "iu":
        _refuse(f"{e.dtype} where an integer is wanted", node)


def _buffer(s: _Scope, buffer: imp.Buffer, node: imp.Node) -> None:
    if s.buffers.get(buffer.name) != buffer:
        _refuse(f"the buffer {buffer.name} is unknown, or has another type", node)


def _expr(s: _Scope, e: imp.Expr) -> None:
    match e:
        case imp.Var(name, dtype):
            known = s.variables.get(name)
            if known is None:
                _refuse(f"the variable {name} is used before it is introduced", e)
            if known[0] != dtype:
                _refuse(f"the variable {name} is a {known[0]}", e)
        case imp.Const(value, dtype):
            _constant(value, dtype, e)
        case imp.Load(buffer, index):
            _buffer(s, buffer, e)
            _integer(s, index, e)
        case imp.Binary(op, a, b, dtype):
            _expr(s, a)
            _typed(s, b, a.dtype, e)
            if a.dtype[0] not in _KINDS.get(op, ""):
                _refuse(f"there is no {op} of {a.dtype}", e)
            if dtype != (imp.BOOL if op in imp.COMPARISONS else a.dtype):
                _refuse(f"{op} of {a.dtype} does not give {dtype}", e)
        case imp.Unary(op, x, dtype):
            _typed(s, x, dtype, e)
            if dtype[0] not in _UNARY_KINDS.get(op, ""):
                _refuse(f"there is no unary {op} of {dtype}", e)
        case imp.Select(cond, a, b):
            _typed(s, cond, imp.BOOL, e)
            _expr(s, a)
            _typed(s, b, a.dtype, e)
        case imp.Cast(x, _):
            _expr(s, x)
        case imp.Call():
            _call(s, e)
        case _:
            assert_never(e)


def _constant(value: bool | int | float | complex, dtype: str, node: imp.Const) -> None:
    kind = dtype[0]
    wanted = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float), "c": (int, float, complex)}
    if not isinstance(value, wanted[kind]) or (isinstance(value, bool) and kind != "b"):
        _refuse(f"the constant {value!r} is not a {dtype}", node)
    if kind in "iu":
        bits = int(dtype.lstrip("uint"))
        low = -(1 << bits - 1) if kind == "i" else 0
        if not low <= int(value.real) < low + (1 << bits):
            _refuse(f"the constant {value!r} does not fit {dtype}", node)


def _call(s: _Scope, e: imp.Call) -> None:
    for a in e.args:
        if isinstance(a, imp.Address):
            _buffer(s, a.buffer, e)
        else:
            _expr(s, a)
    function = s.codelets.get(e.function)
    if function is None:
        _mathematics(e)
        return
    given = [a.dtype for a in e.args]
    wanted = [f"{p.dtype}*" if isinstance(p, imp.Buffer) else p.dtype for p in function.params]
    if given != wanted or e.dtype != (function.dtype or "void"):
        _refuse(f"{e.function} takes {wanted} and gives {function.dtype}", e)


def _mathematics(e: imp.Call) -> None:
    name, kinds = e.function, {a.dtype for a in e.args}
    first = e.args[0].dtype if e.args else ""
    if name in MATH:
        alike = len(kinds) == 1 and first[0] == "f" and e.dtype == first
        if len(e.args) != MATH[name].arity or not alike:
            _refuse(f"{name} takes and gives floats of one type", e)
    elif name in TESTS:
        if len(e.args) != 1 or e.dtype != imp.BOOL:
            _refuse(f"{name} takes one number and gives a bool", e)
    elif name in BITS:
        if (first, e.dtype) != (("float64", imp.INT) if name == "bits" else (imp.INT, "float64")):
            _refuse(f"{name} is between int64 and float64", e)
    elif name in WORDS:
        if len(e.args) != 1 or kinds | {e.dtype} != {imp.INT}:
            _refuse(f"{name} takes and gives an int64", e)
    elif name == "complex":
        if len(e.args) != 2 or kinds != {_PARTS.get(e.dtype)}:
            _refuse("complex takes two floats", e)
    elif name in COMPLEX:
        result = first if name == "conj" else _PARTS.get(first, first)
        if len(e.args) != 1 or e.dtype != result:
            _refuse(f"{name} of {first} gives {result}", e)
    else:
        _refuse(f"there is no function {name}", e)
