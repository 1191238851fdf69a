"""Index notation in a string, read: the equation, and the parts of operands in it.

Every node of its tree has its place in the equation, whatever else was written for it, so that an
error marks the place; `marked` turns it into one of the line where the equation was given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from operator import index

from linnet import loops
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_update, lookup
from linnet.arrays.nodes import Notation
from linnet.arrays.slices import Part
from linnet.errors import KernelSyntaxError, LinnetError, Location
from linnet.frontend.parse import parse_tree
from linnet.frontend.scope import EQUATION
from linnet.frontend.text import surroundings
from linnet.python.source import Source
from linnet.records import dataclass

_EQUATION = re.compile(r"\s*(\w+\s*(?:\[[^\]]*\])?)\s*([^\s\w=]*|\s\w+)=(?!=)\s*(.+)", re.DOTALL)
_TOO_DEEP = "it is nested too deeply"
_SHORTER = "a long sum is written as several equations, or as loops in a kernel"


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of an operand that an equation reads under a name of its own."""

    name: str
    operand: str
    index: tuple[Part, ...]
    at: Location = field(compare=False)


@dataclass(frozen=True, slots=True)
class Read:
    """An equation, and the parts of operands in it: `A[2:9, :][i, j]`."""

    notation: Notation
    slices: tuple[Slice, ...]


@lru_cache(maxsize=1024)
def read(
    equation: str, tensors: tuple[str, ...], functions: tuple[tuple[str, object], ...]
) -> Read:
    """The equation in a string, of one line or of several."""
    if "#" not in equation:  # a comment would not end
        equation = re.sub(r"\s", " ", equation)
    found = _EQUATION.fullmatch(equation)
    if found is None:
        raise unreadable(equation, "it is not of the form `C[i, j] += …`", 0)
    op = _update(found, dict(functions))
    target, value = (_parsed(found[k], equation, found.start(k)) for k in (1, 3))
    source = Source(EQUATION, tuple(equation.split("\n")), 0)
    namer = _Namer(tensors, equation, source)
    try:
        value = namer.visit(value)
        left = _target(target)
        known = (*tensors, *(s.name for s in namer.found))
        _check_names(value, left.value.id, known, equation, source)  # type: ignore[attr-defined]
        stmt = _assignment(left, value, known, dict(functions), source)
    except RecursionError:
        raise too_deep(equation) from None
    except LinnetError as error:
        raise marked(error, equation) from None
    notation = Notation(stmt.target, op, stmt.value, source.location(value))
    return Read(notation, tuple(namer.found))


def _update(found: re.Match[str], functions: Mapping[str, object]) -> Function | None:
    sign = found[2].strip()
    if not sign:
        return None
    op = by_update.get(f"{sign}=") or lookup(functions.get(sign)) or lookup(sign)
    if op is None:
        at = found.end(2) - len(sign)
        raise unreadable(found.string, f"there is no update `{sign}=`", at)
    return op


def _parsed(text: str, equation: str, at: int) -> ast.expr:
    """The tree of a text that begins at a place of the equation, with places in the equation."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        place = at + _offset(text, line, column - 1)
        why = f"this is not an expression: {getattr(error, 'msg', error)}"
        if _goes_on(text):
            why, place = "it ends where an operand is to follow", at + len(text.rstrip())
        raise unreadable(equation, why, place) from None
    except (RecursionError, MemoryError):
        raise too_deep(equation) from None
    before = equation[:at].split("\n")
    margin = len(before[-1].encode())  # a tree counts bytes
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) == 1:
            node.col_offset += margin  # type: ignore[attr-defined]
        if getattr(node, "end_lineno", 0) == 1:
            node.end_col_offset += margin  # type: ignore[attr-defined]
    ast.increment_lineno(tree, len(before) - 1)
    return tree.body


def _goes_on(text: str) -> bool:
    """Whether a text that is no expression is one with something behind it."""
    try:
        ast.parse(f"{text.strip()} x", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _target(node: ast.expr) -> ast.Subscript:
    """What is assigned to: `y` is `y[()]`."""
    where = node if isinstance(node, ast.Subscript) else _element(node)
    where.ctx = ast.Store()
    return where


def _element(node: ast.expr) -> ast.Subscript:
    """`c[()]`, at the place of `c`."""
    nothing = ast.copy_location(ast.Tuple([], ast.Load()), node)
    return ast.copy_location(ast.Subscript(node, nothing, ast.Load()), node)


def _check_names(
    value: ast.expr, result: str, known: tuple[str, ...], equation: str, source: Source
) -> None:
    """Refuse what is read and was not given, or is what is computed."""
    for node in ast.walk(value):
        match node:
            case ast.Name(name) if name == result:
                why = f"`{name}` is what is computed, and cannot be read"
                raise _refused(why, node, equation, source)
            case ast.Subscript(ast.Name(name)) if name not in (result, *known):
                why, hint = f"`{name}` is not given", f"pass {name}=…"
                raise _refused(why, node, equation, source, hint)


def _assignment(
    target: ast.Subscript,
    value: ast.expr,
    tensors: tuple[str, ...],
    functions: Mapping[str, object],
    source: Source,
) -> loops.Assign:
    """`target = value` in loops over all indices, read as a kernel of these tensors."""
    stmt: ast.stmt = ast.copy_location(ast.Assign([target], value), target)
    indices = sorted(_indices(target, tensors) | _indices(value, tensors))
    for name in indices:
        each = ast.Name(name, ast.Store())
        stmt = ast.copy_location(ast.For(each, ast.Constant(...), [stmt], []), target)
    params = dict.fromkeys((target.value.id, *tensors))  # type: ignore[attr-defined]
    given = [ast.copy_location(ast.arg(name), target) for name in params]
    arguments = ast.arguments([], given, None, [], [], None, [])
    function = ast.FunctionDef("equation", arguments, [stmt], [], None, None)
    program = parse_tree(ast.copy_location(function, target), source, surroundings(functions))
    found = program.body
    while isinstance(found, loops.Loop):
        found = found.body
    assert isinstance(found, loops.Assign)
    return found


def _indices(tree: ast.expr, tensors: tuple[str, ...]) -> set[str]:
    """The names inside brackets that are not operands."""
    inside = [n.slice for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    return {n.id for s in inside for n in ast.walk(s) if isinstance(n, ast.Name)} - set(tensors)


# -- parts of operands -----------------------------------------------------------------------------


class _Namer(ast.NodeTransformer):
    """Gives `A[2:9, :]` in `A[2:9, :][i, j]` a name, and reads a number `c` as `c[()]`."""

    def __init__(self, tensors: tuple[str, ...], equation: str, source: Source) -> None:
        self.tensors, self.equation, self.source = tensors, equation, source
        self.found: list[Slice] = []

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """An operand by itself: the element of one without dimensions."""
        return _element(node) if node.id in self.tensors else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`A.shape` is of the operand, not of an element."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """What is called is no element."""
        node.args = [self.visit(arg) for arg in node.args]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Name the part whose elements are read."""
        match node.value:
            case ast.Subscript(ast.Name(tensor), index) if tensor in self.tensors:
                name = ast.unparse(node.value)  # no name of Python's, and what an error shows
                at = self.source.location(node.value)
                self.found.append(Slice(name, tensor, tuple(self._index(index)), at))
                node.value = ast.copy_location(ast.Name(name, ast.Load()), node.value)
                return node
        if not isinstance(node.value, ast.Name):
            node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        return node

    def _index(self, index: ast.expr) -> Iterator[Part]:
        return map(self._part, index.elts if isinstance(index, ast.Tuple) else [index])

    def _part(self, part: ast.expr) -> Part:
        try:
            if isinstance(part, ast.Slice):
                ends = (part.lower, part.upper, part.step)
                return slice(*(None if e is None else index(ast.literal_eval(e)) for e in ends))
            value = ast.literal_eval(part)
            return value if value is None or value is ... else index(value)
        except (ValueError, TypeError):
            why = f"`{ast.unparse(part)}` selects a part of an operand, and is not a number"
            raise _refused(why, part, self.equation, self.source) from None


# -- errors ----------------------------------------------------------------------------------------


def marked(error: LinnetError, equation: str) -> LinnetError:
    """An error at a place of the equation, as one of the user's line, with the place marked."""
    inner = error.at
    if inner is not None and inner.file == EQUATION:
        at = _offset(equation, inner.line, inner.column)
        error.at = Location.of_caller()
        error.why = f"{error.why or 'it is in the equation'}\n{_pointed(equation, at)}"
    return error


def too_deep(equation: str) -> KernelSyntaxError:
    """The error for an equation that Python or a pass does not follow to its end."""
    return unreadable(equation, _TOO_DEEP, 0, _SHORTER)


def unreadable(text: str, why: str, at: int, hint: str | None = None) -> KernelSyntaxError:
    """The error for an equation that cannot be read at a place of its text."""
    why = f"{why}\n{_pointed(text, at)}"
    return KernelSyntaxError(
        f"cannot read the equation {text!r}", at=Location.of_caller(), why=why, hint=hint
    )


def _refused(
    why: str, node: ast.AST, equation: str, source: Source, hint: str | None = None
) -> KernelSyntaxError:
    place = source.location(node)
    return unreadable(equation, why, _offset(equation, place.line, place.column), hint)


def _offset(text: str, line: int, column: int) -> int:
    """Where a place in a line of a text is in the whole."""
    return sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + column


def _pointed(text: str, at: int) -> str:
    line = re.sub(r"\s", " ", text)
    return f"        {line}\n        {' ' * at}^"
