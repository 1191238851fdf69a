"""Imperative code as text, for debugging and for tests: one line per statement, much like Python.

`x: int64 = e` introduces a variable and `x = e` assigns it; `x += e` is an accumulation, in any
order. `a[i:j] = e` fills. A constant that is not an int64, a float64 or a bool is written as a
conversion, `int32(5)`. The C back end prints the same code for the reader of generated code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.how import Way

# How tightly operators bind, in Python.
_CHOICE, _NOT, _UNARY, _ATOM = 0, 3, 11, 12
_BINARY = {"or": 1, "and": 2, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10}
_BINARY |= {"/": 10} | dict.fromkeys(imp.COMPARISONS, 4)
_PLAIN = ("int64", "float64", "bool")


def show(node: imp.Kernel | imp.Function | imp.Node) -> str:
    """The text of a kernel, a codelet, a statement or an expression."""
    match node:
        case imp.Kernel(name, arguments, body, codelets):
            head = f"kernel {name}({', '.join(map(_argument, arguments))}):"
            own = [f"    {s.buffer.name}: {s.buffer.dtype}[{s.size}]" for s in node.scratch]
            return "\n\n".join([*map(show, codelets), "\n".join([head, *own, *_indented(body)])])
        case imp.Function(name, params, body, dtype):
            head = f"def {name}({', '.join(map(_parameter, params))}) -> {dtype}:"
            return "\n".join([head, *_indented(body)])
        case imp.Buffer():
            return node.name
        case imp.Address(buffer):
            return f"&{buffer.name}"
        case imp.Const() | imp.Var() | imp.Load() | imp.Unary() | imp.Binary():
            return _expr(node)
        case imp.Select() | imp.Cast() | imp.Call():
            return _expr(node)
        case _:
            return "\n".join(_statement(node))


def _argument(argument: imp.Argument) -> str:
    dims = ", ".join(dim.name for dim in argument.dims)
    return f"{argument.name}[{dims}]{{{', '.join(map(_parameter, argument.buffers))}}}"


def _parameter(param: imp.Var | imp.Buffer) -> str:
    if isinstance(param, imp.Var):
        return f"{param.name}: {param.dtype}"
    return f"{param.name}: {param.dtype}{'+' if param.growable else '*'}"


def _indented(block: imp.Block) -> list[str]:
    lines = [line for stmt in block.stmts for line in _statement(stmt)]
    return [f"    {line}" for line in lines or ["pass"]]


def _statement(stmt: imp.Stmt) -> Iterator[str]:
    match stmt:
        case imp.Let(var, value):
            yield f"{var.name}: {var.dtype} = {_expr(value)}"
        case imp.Assign(var, value):
            yield f"{var.name} = {_expr(value)}"
        case imp.Accumulate(var, op, value):
            yield f"{var.name} {op}= {_expr(value)}"
        case imp.Store(buffer, index, value):
            yield f"{buffer.name}[{_expr(index)}] = {_expr(value)}"
        case imp.Fill(buffer, start, stop, value):
            yield f"{buffer.name}[{_expr(start)}:{_expr(stop)}] = {_expr(value)}"
        case imp.For() | imp.While() | imp.If() | imp.Block():
            yield from _nested(stmt)
        case imp.Break():
            yield "break"
        case imp.Return(value):
            yield "return" if value is None else f"return {_expr(value)}"
        case imp.Do(call):
            yield _expr(call)
        case imp.Comment(text):
            yield f"# {text}"
        case imp.Grow(buffer, count, imp.ONE, imp.TWO):
            yield f"grow({buffer.name}, {_expr(count)})"
        case imp.Grow(buffer, count, done, whole):
            yield f"grow({buffer.name}, {_expr(count)}, {_expr(done)} of {_expr(whole)})"
        case imp.SetLength(buffer, count):
            yield f"length({buffer.name}, {_expr(count)})"
        case imp.Swap(a, b):
            yield f"swap({a.name}, {b.name})"
        case imp.Spawn(task, call):
            yield f"spawn {task}: {_expr(call)}"
        case imp.Join(task):
            yield f"join {task}"
        case imp.Prefetch(buffer, index):
            yield f"prefetch({buffer.name}, {_expr(index)})"
        case _:
            assert_never(stmt)


def _over(over: imp.Over, ways: tuple[Way, ...] = ()) -> str:
    """A comment: what a loop goes through, if that is more than a range, and in which ways."""
    spans = ", ".join([_span(span) for span in over.spans if span.tensor])
    parts = f"counts parts of {over.counter}" if over.counter else ""
    said = [text for text in (spans, parts, *map(str, ways)) if text]
    return f"  # {'; '.join(said)}" if said else ""


def _span(span: imp.Span) -> str:
    """`level 1 of A below i`: the entries of a fiber, all of them or a part."""
    fibers = f"below {_expr(span.first)}"
    if fold(span.last - span.first) != imp.ONE:
        fibers += f" … {_expr(span.last)}"
    moved = "" if span.position is None else f"{_expr(span.position)} in "
    return f"{moved}{'part of ' if span.part else ''}level {span.level} of {span.tensor} {fibers}"


def _nested(stmt: imp.For | imp.While | imp.If | imp.Block) -> Iterator[str]:
    match stmt:
        case imp.For(var, _, _, body):
            yield f"for {var.name} in {_range(stmt)}:{_over(stmt.over, stmt.how.ways)}"
            yield from _indented(body)
        case imp.While(cond, body):
            yield f"while {_expr(cond)}:{_over(stmt.over)}"
            yield from _indented(body)
        case imp.If(cond, then, orelse):
            yield f"if {_expr(cond)}:"
            yield from _indented(then)
            match orelse.stmts:
                case ():
                    pass
                case (imp.If() as other,):
                    first, *rest = _nested(other)
                    yield f"el{first}"
                    yield from rest
                case _:
                    yield "else:"
                    yield from _indented(orelse)
        case imp.Block():
            yield "block:"
            yield from _indented(stmt)


def _range(loop: imp.For) -> str:
    """What a loop runs over, and how it is to be run."""
    text, how = f"range({_expr(loop.start)}, {_expr(loop.stop)})", loop.how
    if how.race:
        text = f'vector({text}, "{how.race}")'
    return text if how.unroll == 1 else f"unrolled({text}, {how.unroll})"


def _expr(e: imp.Expr | imp.Address, around: int = _CHOICE) -> str:
    """The text of an expression, in parentheses if what is around it binds more tightly."""
    text, binding = _bound(e)
    return text if binding >= around else f"({text})"


def _bound(e: imp.Expr | imp.Address) -> tuple[str, int]:
    """The text of an expression, and how tightly its outermost operator binds."""
    match e:
        case imp.Const(value, dtype):
            text = repr(value)
            plain = dtype in _PLAIN
            return (text if plain else f"{dtype}({text})"), (
                _UNARY if plain and text.startswith("-") else _ATOM
            )
        case imp.Var(name):
            return name, _ATOM
        case imp.Load(buffer, index):
            return f"{buffer.name}[{_expr(index)}]", _ATOM
        case imp.Binary(op, a, b) if op in _BINARY:
            binding = _BINARY[op]
            left = binding + (op in imp.COMPARISONS)  # comparisons would be a chain
            return f"{_expr(a, left)} {op} {_expr(b, binding + 1)}", binding
        case imp.Binary(op, a, b):
            return f"{op}({_expr(a)}, {_expr(b)})", _ATOM
        case imp.Unary("not", x):
            return f"not {_expr(x, _NOT)}", _NOT
        case imp.Unary(op, x):
            return f"{op}{_expr(x, _UNARY)}", _UNARY
        case imp.Select(cond, a, b):
            return f"{_expr(a, 1)} if {_expr(cond, 1)} else {_expr(b)}", _CHOICE
        case imp.Cast(x, dtype):
            return f"{dtype}({_expr(x)})", _ATOM
        case imp.Call(function, args):
            return f"{function}({', '.join(map(_expr, args))})", _ATOM
        case imp.Address(buffer):
            return f"&{buffer.name}", _ATOM
        case _:
            assert_never(e)
