"""Finds the syntax tree of a Python function, and the place of each piece of it."""

from __future__ import annotations

import ast
import linecache
import textwrap
from functools import lru_cache
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

from linnet.errors import KernelSyntaxError, Location
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A function's definition, the file it stands in, and how far it is indented there."""

    file: str
    definition: ast.FunctionDef
    indent: int

    def location(self, node: ast.AST) -> Location:
        """Where `node` stands; the carets end with its first line."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + self.indent
        text = linecache.getline(self.file, line).rstrip()
        one_line = getattr(node, "end_lineno", line) == line
        end = getattr(node, "end_col_offset", 0) + self.indent if one_line else len(text)
        return Location(self.file, line, column, end, text)


_sources: WeakKeyDictionary[FunctionType, Source] = WeakKeyDictionary()


def source_of(function: FunctionType) -> Source:
    """The definition of a function; parsed once. A lambda is read as a `def` that returns."""
    found = _sources.get(function)
    if found is None:
        find = _find_lambda if function.__code__.co_name == "<lambda>" else _find
        found = _sources[function] = find(function)
    return found


def _find(function: FunctionType) -> Source:
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno
    lines = lines[first - 1 : _last_line(code)]
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:
        tree = ast.Module([], [])
    match tree.body:
        case [ast.FunctionDef(name=code.co_name) as definition]:
            ast.increment_lineno(definition, first - 1)
            return Source(code.co_filename, definition, indent)
    raise _unreadable(function)


def _find_lambda(function: FunctionType) -> Source:
    """The whole file is parsed: a lambda may stand anywhere in a statement."""
    code = function.__code__
    tree = _parsed("".join(linecache.getlines(code.co_filename, function.__globals__)))
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and _is_of(n, code)]
    if not found:
        raise _unreadable(function)
    node = min(found, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))  # the innermost
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef(_given_name(tree, node), node.args, [body], [], None, None)
    return Source(code.co_filename, ast.copy_location(made, node), 0)


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _given_name(tree: ast.Module, node: ast.Lambda) -> str:
    """The name to which a function made of a lambda is assigned: `f = make(lambda x: …)`."""
    for stmt in ast.walk(tree):
        match stmt:
            case ast.Assign([ast.Name(name)], ast.Call(args=[first, *_])) if first is node:
                return name
    return "function"


def _is_of(node: ast.Lambda, code: CodeType) -> bool:
    """Whether the code could be this lambda's: same line, same parameters, all of it inside."""
    if node.lineno != code.co_firstlineno:
        return False
    if tuple(a.arg for a in node.args.args) != code.co_varnames[: code.co_argcount]:
        return False
    lo, hi = (node.body.lineno, node.body.col_offset), (node.end_lineno, node.end_col_offset)
    places = [p for p in code.co_positions() if p[2] != p[3]]
    inside = [
        lo <= (line, column) and (end_line, end) <= hi
        for line, end_line, column, end in places
        if line is not None and column is not None and end_line is not None and end is not None
    ]
    return all(inside)


def _unreadable(function: FunctionType) -> KernelSyntaxError:
    code = function.__code__
    return KernelSyntaxError(
        f"the source of `{function.__name__}` cannot be read",
        at=Location(code.co_filename, code.co_firstlineno),
        why="Linnet compiles a function from its source text",
        hint="define it with `def` or `lambda`, in a file or a notebook cell",
    )


def _last_line(code: CodeType) -> int:
    """The last line of a function; only it is parsed, since its file may be long."""
    return max(end or 0 for _, end, _, _ in code.co_positions())
