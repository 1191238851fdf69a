"""Loop programs as text: the language of `@ln.kernel`, which `frontend.text` reads back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import assert_never

from linnet.algebra.function import Function
from linnet.algebra.table import FUNCTIONS
from linnet.errors import KernelSyntaxError
from linnet.imp.how import PLAIN, How
from linnet.loops.bases import coordinates
from linnet.loops.nodes import (
    NOTHING,
    Access,
    Along,
    Assign,
    Block,
    Bounded,
    Break,
    Call,
    Coordinates,
    Declare,
    Dimension,
    Expr,
    Extent,
    Freeze,
    If,
    Index,
    Let,
    Literal,
    Loop,
    Name,
    Part,
    Parts,
    Place,
    Positions,
    Product,
    Program,
    Range,
    Stmt,
    Swap,
    Thaw,
    Value,
)
from linnet.loops.rewrite import walk
from linnet.records import dataclass

_UPDATES = frozenset("+ - * / // % ** | & ^ << >>".split())
# How tightly operators bind, in Python.
_CHOICE, _NOT, _UNARY, _POWER, _ATOM = 0, 3, 11, 12, 13
_BINARY = {"or": 1, "and": 2, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9}
_BINARY |= dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4)
_BINARY |= dict.fromkeys(("*", "/", "//", "%"), 10)
_COMPARISON = 4
_SHORT = {"minimum": "min", "maximum": "max", "abs": "abs"}


def show(node: Program | Stmt | Expr) -> str:
    """A program, a statement or an expression as Python."""
    try:
        return _shown(node)
    except RecursionError:
        raise too_deep(node) from None


def too_deep(node: Program | Stmt | Expr) -> KernelSyntaxError:
    """The error for what is nested deeper than Python can follow."""
    called = f"`{node.name}`" if isinstance(node, Program) else "a part of a program"
    return KernelSyntaxError(
        f"{called} is nested too deeply",
        at=getattr(node, "at", None),
        hint="split long expressions into lines, and long sums into several updates",
    )


def _shown(node: Program | Stmt | Expr) -> str:
    match node:
        case Program():
            return _Printer(_names(node)).program(node)
        case Loop() | If() | Let() | Assign() | Declare() | Freeze() | Thaw() | Block():
            return "\n".join(_Printer().lines(node))
        case Swap() | Break():
            return "\n".join(_Printer().lines(node))
        case _:
            return _Printer().expr(node)


def show_range(extent: Range) -> str:
    """A range as it is written after `in`."""
    return _Printer().extent(extent)


def _goes_on(loop: Loop, outer: tuple[Index, ...], inner: Loop) -> bool:
    """Whether a loop inside is written in the line of the loops around."""
    extent = loop.extent
    if loop.how != inner.how or loop.how not in (PLAIN, How(flat=True)):
        return False
    if isinstance(extent, Along):
        return extent.depth == 0 and inner.extent == Along(extent.of, outer)
    return extent is None and inner.extent is None


def _names(program: Program) -> frozenset[str]:
    """Names that mean something else than a function in a program."""
    bound = {n.index if isinstance(n, Loop) else n.name
             for n in walk(program.body) if isinstance(n, Loop | Let)}  # fmt: skip
    return frozenset({*program.params, *(t for t, _ in program.temporaries), *bound})


@dataclass(frozen=True, slots=True)
class _Printer:
    """Prints; `taken` are names by which functions cannot be called."""

    taken: frozenset[str] = frozenset()

    # -- programs and statements -----------------------------------------------------------------

    def program(self, program: Program) -> str:
        """The whole function. Temporaries are made at its beginning."""
        lines = [*(f"# {command}" for command in program.schedule)]
        lines.append(f"def {program.name}({', '.join(program.params)}):")
        made = [f"{name} = ln.temp({_qualified(f.describe())})" for name, f in program.temporaries]
        body = [*made, *self.lines(program.body)]
        if program.results:
            body.append(f"return {', '.join(program.results)}")
        if len(body) > 1 and body[-2] == "pass":
            del body[-2]
        return "\n".join(lines + _indented(body))

    def lines(self, stmt: Stmt) -> list[str]:
        """The lines of a block."""
        return list(self._lines(stmt)) or ["pass"]

    def _lines(self, stmt: Stmt) -> Iterator[str]:
        match stmt:
            case Assign():
                yield self._assign(stmt)
            case Block(stmts):
                for s in stmts:
                    yield from self._lines(s)
            case Loop():
                yield from self._loop(stmt)
            case If():
                yield from self._branch(stmt, "if")
            case Let(name, value, body):
                yield f"{name} = {self.expr(value)}"
                yield from self._lines(body)
            case Declare(tensor, init, None):
                yield f"{tensor}[...] = {self.expr(init)}"
            case Declare(tensor, init, dims, _, counts, room):
                more = "" if room is None else f", {self.expr(room)}"
                first = "" if counts is None else f"  # counted first: {counts}"
                begin = f"ln.declare({tensor}, {self.expr(init)}, {self._tuple(dims or ())}{more})"
                yield begin + first
            case Freeze(tensor):
                yield f"ln.freeze({tensor})"
            case Thaw(tensor):
                yield f"ln.thaw({tensor})"
            case Swap(a, b):
                yield f"{a}, {b} = {b}, {a}"
            case Break():
                yield "break"
            case _:
                assert_never(stmt)

    def _assign(self, stmt: Assign) -> str:
        target, op = self.expr(stmt.target), stmt.op
        if op is None:
            return f"{target} = {self.expr(stmt.value)}"
        if op.arity == 2 and op.symbol in _UPDATES:
            return f"{target} {op.symbol}= {self.expr(stmt.value)}"
        return f"{target} = {self.expr(Call(op, (stmt.target, stmt.value)))}"

    def _loop(self, stmt: Loop) -> Iterator[str]:
        indices, body, extent = [stmt.index], stmt.body, stmt.extent
        while isinstance(body, Loop) and _goes_on(stmt, tuple(map(Index, indices)), body):
            indices.append(body.index)
            body = body.body
        whole = extent
        if isinstance(extent, Along):
            together = len(indices) > 1 and coordinates(extent.of) in (0, len(indices))
            whole = extent.of if together else extent
            indices, body = (indices, body) if together else ([stmt.index], stmt.body)
        yield f"for {', '.join(indices)} in {self._how(stmt, self.extent(whole))}:"
        yield from _indented(self.lines(body))

    def _how(self, loop: Loop, text: str) -> str:
        """A range with how it is run, if somebody says so."""
        how = loop.how
        if how.race:
            text = f'ln.vector({text}, "{how.race}")'
        if how.flat:
            text = f"ln.flat({text})"
        return text if how.unroll == 1 else f"ln.unrolled({text}, {how.unroll})"

    def _stored(self, positions: Positions) -> str:
        """`A[i, :]`: what is gone through, and where it is; `...` for what is not looked at.

        Indices are those of the modes from the first to the last, unless an order is said.
        """
        tensor, modes, given = positions.tensor, positions.modes, dict(positions.given)
        within = "" if positions.within is None else f", {self.extent(positions.within)}"
        if not modes:
            return f"{tensor}{within}"
        parts = [
            self.expr(given[m]) if m in given else ":" if m in modes else "..."
            for m in range(max((*modes, *given)) + 1)
        ]
        order = "" if list(modes) == sorted(modes) else f", order={modes}"
        return f"{tensor}[{', '.join(parts)}]{within}{order}"

    def extent(self, extent: Range | None) -> str:
        """What a loop runs over."""
        match extent:
            case None:
                return "..."
            case Extent(Literal(0, None, False) as start, stop) if type(start.value) is int:
                return f"range({self.expr(stop)})"
            case Extent(start, stop):
                return f"range({self.expr(start)}, {self.expr(stop)})"
            case Positions():
                return f"ln.stored({self._stored(extent)})"
            case Product(ranges):
                return f"ln.product({', '.join(map(self.extent, ranges))})"
            case Coordinates(of):
                return f"ln.coordinates({self.extent(of)})"
            case Along(of, outer):
                within = ", ".join([self.extent(of), *map(self.expr, outer)])
                return f"ln.along({within})"
            case Bounded(of, kind, value):
                return f'ln.bound({self.extent(of)}, "{kind}", {value})'
            case Part(of, number, size):
                within = self.extent(of)
                return f"ln.part({within}, {self.expr(number)}, {self.expr(size)})"

    def _branch(self, stmt: If, word: str) -> Iterator[str]:
        yield f"{word} {self.expr(stmt.cond)}:"
        yield from _indented(self.lines(stmt.then))
        if isinstance(stmt.orelse, If):
            yield from self._branch(stmt.orelse, "elif")
        elif stmt.orelse != NOTHING:
            yield "else:"
            yield from _indented(self.lines(stmt.orelse))

    def _tuple(self, exprs: tuple[Expr, ...]) -> str:
        inner = ", ".join(self.expr(e) for e in exprs)
        return f"({inner},)" if len(exprs) == 1 else f"({inner})"

    # -- expressions -----------------------------------------------------------------------------

    def expr(self, expr: Expr, binding: int = _CHOICE) -> str:
        """An expression, in parentheses if it binds less tightly than is asked for."""
        text, tightness = self._expr(expr)
        return f"({text})" if tightness < binding else text

    def _expr(self, expr: Expr) -> tuple[str, int]:
        match expr:
            case Index(name) | Name(name):
                return name, _ATOM
            case Access():
                return self._access(expr), _ATOM
            case Literal():
                text = _literal(expr)
                return text, _UNARY if text.startswith("-") else _ATOM
            case Call(function, args):
                return self._call(function, args)
            case Dimension(tensor, mode):
                return f"{tensor}.shape[{mode}]", _ATOM
            case Parts(of, size):
                return f"ln.parts({self.extent(of)}, {self.expr(size)})", _ATOM
            case Place(of, at):
                return f"ln.place({', '.join([self.extent(of), *map(self.expr, at)])})", _ATOM
            case Value(code):
                return f"<{code}>", _ATOM
            case _:
                assert_never(expr)

    def _access(self, access: Access) -> str:
        tensor = access.tensor if isinstance(access.tensor, str) else access.tensor.storage.name
        protocols = access.protocols or ("",) * len(access.indices)
        parts = [self._index(*each) for each in zip(access.indices, protocols, strict=True)]
        return f"{tensor}[{', '.join(parts) or '()'}]"

    def _index(self, index: Expr, protocol: str) -> str:
        if protocol == "permissive":
            return f"~{self.expr(index, _UNARY)}"
        if protocol:
            return f"ln.{protocol}({self.expr(index)})"
        if isinstance(index, Call) and index.function.symbol == "~":
            return self._named(index.function, index.args)
        return self.expr(index)

    def _call(self, function: Function, args: tuple[Expr, ...]) -> tuple[str, int]:
        symbol = function.symbol
        if function.name == "where":
            cond, yes, no = args
            parts = self.expr(yes, 1), self.expr(cond, 1), self.expr(no)
            return "{} if {} else {}".format(*parts), _CHOICE
        if not symbol or _reads_as_literal(function, args):
            return self._named(function, args), _ATOM
        if len(args) == 1:
            sign, tightness = ("not ", _NOT) if symbol == "not" else (symbol, _UNARY)
            return sign + self.expr(args[0], tightness), tightness
        return self._infix(symbol, *args)

    def _infix(self, symbol: str, a: Expr, b: Expr) -> tuple[str, int]:
        if symbol == "**":
            return f"{self.expr(a, _ATOM)} ** {self.expr(b, _UNARY)}", _POWER
        tightness = _BINARY[symbol]
        left = tightness + 1 if tightness == _COMPARISON else tightness
        return f"{self.expr(a, left)} {symbol} {self.expr(b, tightness + 1)}", tightness

    def _named(self, function: Function, args: tuple[Expr, ...]) -> str:
        name = function.label
        short = _SHORT.get(name, name) if function.body is None else ""
        if FUNCTIONS.get(name) is function or name.startswith("choose("):
            name = f"ln.{name}" if short not in _SHORT.values() or short in self.taken else short
        return f"{name}({', '.join(self.expr(a) for a in args)})"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _qualified(description: str) -> str:
    """`Dense(Element(0.0))` as a user writes it: `ln.Dense(ln.Element(0.0))`."""
    return "".join(
        f"ln.{part}" if part[:1].isupper() and "(" in part else part
        for part in description.replace("(", "(\0").replace(", ", ", \0").split("\0")
    )


def _reads_as_literal(function: Function, args: tuple[Expr, ...]) -> bool:
    """Whether a call of an operator would be read back as a number: `-1`, `1 + 2j`."""
    if not all(isinstance(a, Literal) and a.dtype is None and not a.structural for a in args):
        return False
    if len(args) == 1:
        return function.symbol in ("-", "+")
    return isinstance(args[1], Literal) and isinstance(args[1].value, complex)


def _literal(literal: Literal) -> str:
    text = _number(literal.value)
    if literal.dtype is not None:
        name = "bool_" if literal.dtype == "bool" else literal.dtype
        text = f"np.{name}({text})"
    return f"ln.fill({text})" if literal.structural else text


def _number(value: complex) -> str:
    """A number that Python reads back to the last bit; `inf` and `nan` are names."""
    if not isinstance(value, complex):
        return repr(value)
    if value.real == 0 and math.copysign(1, value.real) > 0 and 0 <= value.imag < math.inf:
        return repr(value)
    return f"complex({value.real!r}, {value.imag!r})"
