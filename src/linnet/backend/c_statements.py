"""Statements as C that people read; a function that is being printed.

Declarations of one type share a line, short bodies the line of their head, and braces stand only
where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import assert_never

from linnet import imp
from linnet.backend.c_prelude import STATUS
from linnet.backend.c_tasks import Tasks, structure
from linnet.backend.c_values import (
    Scope,
    Text,
    arguments,
    assigned,
    call,
    expression,
    index,
    negated,
    plain,
    unwidened,
)
from linnet.backend.survey import OnBuffers, Survey
from linnet.imp.effects import Effects
from linnet.imp.prescribed import has_own_places, sums_of
from linnet.imp.rewrite import walk
from linnet.names import identifier
from linnet.records import dataclass

_WIDTH = 96


@dataclass(slots=True)
class Printer:
    """A function being printed."""

    scope: Scope
    facts: Survey
    lines: list[str]
    kernel: bool = False
    tasks: Tasks = field(default_factory=dict)

    def line(self, depth: int, text: str) -> None:
        """Append a line."""
        self.lines.append("  " * depth + text)


def declarations(start: str, items: list[str]) -> Iterator[str]:
    """Declarations of one type, as many on a line as fit."""
    line = ""
    for item in items:
        if line and len(line) + len(item) > _WIDTH - 8:
            yield line + ";"
            line = ""
        line = f"{line}, {item}" if line else start + item
    if line:
        yield line + ";"


def statements(p: Printer, body: imp.Block, depth: int) -> None:
    """Print the statements of a block."""
    stmts = list(_flat(body))
    at = 0
    while at < len(stmts):
        if isinstance(stmts[at], imp.Let):
            at = _lets(p, stmts, at, depth)
        elif append := _append(p, stmts[at : at + 2]):
            p.line(depth, append)
            at += 2
        else:
            _statement(p, stmts[at], depth)
            at += 1


def _append(p: Printer, pair: list[imp.Stmt]) -> str:
    """`x[n] = e; n++` in one: `x[n++] = e`, where `e` does not speak of `n`."""
    s = p.scope
    match pair:
        case [imp.Store(buffer, imp.Var() as n, value), imp.Assign(var, next_value)] if (
            var == n and next_value == n + 1 and n.name not in p.facts.effects.of(value).reads
        ):
            text = assigned(s, value, buffer.dtype)
            return f"{s.names[buffer.name]}[{s.names[n.name]}++] = {text};"
        case _:
            return ""


def _flat(block: imp.Block) -> Iterator[imp.Stmt]:
    """The statements of a block; a block in it that introduces nothing needs no braces."""
    for stmt in block.stmts:
        if isinstance(stmt, imp.Block) and not any(isinstance(s, imp.Let) for s in stmt.stmts):
            yield from _flat(stmt)
        else:
            yield stmt


def _lets(p: Printer, stmts: list[imp.Stmt], at: int, depth: int) -> int:
    """Print consecutive declarations of one type together; return where they end."""
    first = stmts[at]
    assert isinstance(first, imp.Let)
    items = []
    while at < len(stmts):
        stmt = stmts[at]
        if not isinstance(stmt, imp.Let) or stmt.var.dtype != first.var.dtype:
            break
        # the value first: it must not see the name that it is about to get
        value = assigned(p.scope, stmt.value, stmt.var.dtype)
        items.append(f"{p.scope.names[stmt.var.name]} = {value}")
        at += 1
    for text in declarations(f"{p.scope.type(first.var.dtype)} ", items):
        p.line(depth, text)
    return at


def _statement(p: Printer, stmt: imp.Stmt, depth: int) -> None:
    s = p.scope
    match stmt:
        case imp.Assign(var, value):
            p.line(depth, _update(s, expression(s, var), var, value))
        case imp.Accumulate(var, op, value):
            p.line(depth, _accumulate(s, var, op, value))
        case imp.Store() | imp.Grow() | imp.SetLength() | imp.Fill() | imp.Swap() | imp.Prefetch():
            _on_buffers(p, stmt, depth)
        case imp.For():
            _for(p, stmt, depth)
        case imp.While(cond, body, over):
            head = len(p.lines)
            _body(p, f"while ({plain(s, cond)})", body, depth)
            _annotate(p, head, over.text)
        case imp.If():
            _if(p, stmt, depth, "")
        case imp.Spawn():
            _spawn(p, stmt, depth)
        case imp.Join(task):
            if task in p.tasks:
                p.line(depth, f"join_task(&{s.names[task]}->task);")
        case imp.Do(e):
            p.line(depth, f"{call(s, e)};")
        case imp.Comment(text):
            for line in text.splitlines():
                p.line(depth, f"// {_harmless(line)}")
        case imp.Break():
            p.line(depth, "break;")
        case imp.Return(value):
            p.line(depth, _return(s, value, p))
        case imp.Block():
            p.line(depth, "{")
            statements(p, stmt, depth + 1)
            p.line(depth, "}")
        case imp.Let():
            _lets(p, [stmt], 0, depth)
        case _:
            assert_never(stmt)


def _on_buffers(p: Printer, stmt: OnBuffers, depth: int) -> None:
    s = p.scope
    match stmt:
        case imp.Store(buffer, at, value):
            place = Text(f"{s.names[buffer.name]}[{index(s, at)}]", 16, buffer.dtype)
            p.line(depth, _update(s, place, imp.Load(buffer, at), value))
        case imp.Grow():
            _grow(p, stmt, depth)
        case imp.SetLength(buffer, count):
            slot, name = p.facts.slots[buffer.name] + 2, identifier(buffer.name)
            p.line(depth, f"args[{slot}] = {assigned(s, count, imp.INT)};  // length of {name}")
        case imp.Fill():
            _fill(p, stmt, depth)
        case imp.Swap(a, b):
            s.needs.swap = True
            pairs = [f"{s.names[x.name]}, args + {p.facts.slots[x.name]}" for x in (a, b)]
            p.line(depth, f"swap_buffers({', '.join(pairs)});")
        case imp.Prefetch(buffer, at):
            s.needs.prefetch = True
            p.line(depth, f"prefetch({s.names[buffer.name]}, {index(s, at)});")
        case _:
            assert_never(stmt)


def _grow(p: Printer, stmt: imp.Grow, depth: int) -> None:
    s, slot = p.scope, p.facts.slots[stmt.buffer.name]
    s.needs.grow = True
    given = [s.names[stmt.buffer.name], f"args + {slot}", plain(s, stmt.count)]
    if (stmt.done, stmt.whole) != (imp.ONE, imp.TWO):
        given += [plain(s, stmt.done), plain(s, stmt.whole)]
    test = f"grow{'_for' if len(given) > 3 else ''}({', '.join(given)})"
    p.line(depth, f"if ({test}) return OUT_OF_MEMORY;")


def _spawn(p: Printer, stmt: imp.Spawn, depth: int) -> None:
    s, task = p.scope, p.scope.names[stmt.task]
    given = ", ".join(["{0}", *arguments(s, stmt.call)])
    p.line(depth, f"*{task} = ({structure(stmt.task)}){{{given}}};")
    p.line(depth, f"spawn_task(&{task}->task, {p.tasks[stmt.task]});")


def _harmless(text: str) -> str:
    """A comment that cannot continue on the next line."""
    return text.replace("\\", "/").replace("??", "? ?").rstrip()


_COMPOUND = {"+": "+=", "-": "-=", "*": "*=", "/": "/=", "&": "&=", "|": "|=", "^": "^="}


def _update(s: Scope, place: Text, old: imp.Expr, value: imp.Expr) -> str:
    """An assignment; `x = x + e` is `x += e`."""
    match value:
        case imp.Binary(op, a, b, dtype) if a == old and op in _COMPOUND and dtype[0] in "iufc":
            if op == "/" and dtype[0] == "c":
                pass
            elif isinstance(b, imp.Const) and b.value == 1 and op in "+-" and dtype[0] in "iu":
                return f"{place.text}{op}{op};"
            else:
                return f"{place.text} {_COMPOUND[op]} {_operand(s, b)};"
    return f"{place.text} = {assigned(s, value, place.dtype)};"


def _operand(s: Scope, e: imp.Expr) -> str:
    """The right side of `x += e`: integers are widened without saying so."""
    match e:
        case imp.Cast(x, "int64") if x.dtype in ("bool", "int8", "int16", "int32"):
            return plain(s, x)
        case _:
            return plain(s, e)


def _accumulate(s: Scope, var: imp.Var, op: str, value: imp.Expr) -> str:
    if op in imp.LOGICAL:
        sign = "&=" if op == "and" else "|="
        return f"{plain(s, var)} {sign} {plain(s, value)};"
    return _update(s, expression(s, var), var, imp.Binary(op, var, value, var.dtype))


def _return(s: Scope, value: imp.Expr | None, p: Printer) -> str:
    if value is None:
        return "return 0;" if p.kernel else "return;"
    if p.kernel and isinstance(value, imp.Const) and value.value:
        kind, access = int(value.value.real) & 0xFF, int(value.value.real) >> 8
        if kind in STATUS:
            s.needs.statuses.add(kind)
            return f"return {STATUS[kind]}{f' | {access} << 8' if access else ''};"
    return f"return {assigned(s, value, value.dtype)};"


# -- nested statements ---------------------------------------------------------------------------


def _for(p: Printer, stmt: imp.For, depth: int) -> None:
    """A counted loop; a bound that its body could change is read before it."""
    s, var = p.scope, stmt.var
    start, stop = assigned(s, stmt.start, var.dtype), expression(s, unwidened(stmt.stop)).at(11)
    name, before = s.names[var.name], ""
    if _changed_by(p.facts.effects, stmt.stop, stmt.body):
        end = s.names.extra(f"{name}_end")
        before, stop = f", {end} = {assigned(s, stmt.stop, var.dtype)}", end
    for pragma in _pragmas(s, stmt):
        p.line(depth, f"#pragma {pragma}")
    head = f"for ({s.type(var.dtype)} {name} = {start}{before}; {name} < {stop}; {name}++)"
    line = len(p.lines)
    _body(p, head, stmt.body, depth)
    _annotate(p, line, stmt.over.text)


def _pragmas(s: Scope, loop: imp.For) -> Iterator[str]:
    """What compilers are told of a loop: by a schedule, or else how sums may be reordered."""
    how = loop.how
    if how.race:
        sums = list(sums_of(loop).items())
    else:  # copies of what is there, one after the other, are no vectors
        reduces = how.unroll == 1 and any(way.reduces for way in how.ways)
        sums = list(sums_of(loop).items()) if reduces else []
    clauses = [f"reduction({op}:{', '.join(plain(s, v) for v in vars)})" for op, vars in sums]
    if (
        how.unroll > 1 and not sums and (not how.race or has_own_places(loop))
    ):  # of a sum, compilers take one pragma: vectors
        yield from ["GCC ivdep"] if how.race else []
        yield f"GCC unroll {how.unroll}"
    elif how.race and has_own_places(loop) and all(op in "+*" for op, _ in sums):
        yield " ".join(["omp simd", *clauses])
    elif not how.race:
        yield from (f"omp simd {clause}" for clause in clauses)


def _annotate(p: Printer, line: int, note: str) -> None:
    """Put a note at the end of a line."""
    if note:
        p.lines[line] += f"  // {_harmless(note)}"


def _changed_by(effects: Effects, e: imp.Expr, body: imp.Block) -> bool:
    """Whether a block writes something that an expression reads, or may do so."""
    inside, outside = effects.of(body), effects.of(e)
    changed = outside.reads & inside.assigns or outside.loads & inside.changes
    return bool(changed) or any(isinstance(n, imp.Call) for n in walk(e))


def _body(p: Printer, head: str, body: imp.Block, depth: int, unclosed: bool = False) -> None:
    """A statement's body, in braces only if it needs them."""
    stmts = list(_flat(body))
    single = len(stmts) == 1 and not isinstance(stmts[0], (imp.Let, imp.Comment, imp.Block))
    if single and not unclosed:
        p.line(depth, head)
        statements(p, body, depth + 1)
        if not isinstance(stmts[0], (imp.For, imp.While, imp.If, imp.Fill, imp.Grow)):
            _join(p, depth, head)
        return
    if not stmts:
        p.line(depth, f"{head} {{}}")
        return
    p.line(depth, f"{head} {{")
    statements(p, body, depth + 1)
    p.line(depth, "}")


def _join(p: Printer, depth: int, head: str) -> None:
    """Put a short body on the line of its head."""
    text = p.lines[-1].strip()
    fits = 2 * depth + len(head) + len(text) < 72 and head[0] != "}"
    if fits and p.lines[-2].strip() == head:
        p.lines[-2:] = [f"{'  ' * depth}{head} {text}"]


def _if(p: Printer, stmt: imp.If, depth: int, prefix: str) -> None:
    """An `if` with its chain of `else if`."""
    s, then, orelse = p.scope, stmt.then, stmt.orelse
    cond = plain(s, stmt.cond)
    if not then.stmts and orelse.stmts:
        cond, then, orelse = negated(s, stmt.cond).text, orelse, imp.EMPTY
    rest = list(_flat(orelse))
    # an inner `if` would take our `else`
    _body(p, f"{prefix}if ({cond})", then, depth, unclosed=bool(rest) and _open_ended(then))
    if not rest:
        return
    lead = "else"
    if p.lines[-1] == "  " * depth + "}":
        p.lines.pop()
        lead = "} else"
    if len(rest) == 1 and isinstance(rest[0], imp.If):
        _if(p, rest[0], depth, f"{lead} ")
    else:
        _body(p, lead, orelse, depth, unclosed=lead != "else")


def _open_ended(block: imp.Block) -> bool:
    """Whether a block without braces would end in an `if` without `else`."""
    stmts = list(_flat(block))
    match stmts[-1] if stmts else None:
        case imp.If() | imp.Grow():
            return True
        case imp.For(_, _, _, body) | imp.While(_, body):
            return _open_ended(body)
        case _:
            return False


def _fill(p: Printer, stmt: imp.Fill, depth: int) -> None:
    s = p.scope
    k = s.names.extra("k")
    start, stop = plain(s, stmt.start), expression(s, unwidened(stmt.stop)).at(11)
    value = assigned(s, stmt.value, stmt.buffer.dtype)
    head = f"for (i64 {k} = {start}; {k} < {stop}; {k}++)"
    p.line(depth, f"{head} {s.names[stmt.buffer.name]}[{k}] = {value};")
