"""Finds the syntax tree of a Python function, and the place of each piece of it."""

from __future__ import annotations

import ast
import linecache
import textwrap
from dataclasses import dataclass
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

from linnet.errors import KernelSyntaxError, Location


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
    """The definition of a function; parsed once."""
    found = _sources.get(function)
    if found is None:
        found = _sources[function] = _find(function)
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
        case [ast.FunctionDef(name=function.__name__) as definition]:
            ast.increment_lineno(definition, first - 1)
            return Source(code.co_filename, definition, indent)
    raise KernelSyntaxError(
        f"the source of `{function.__name__}` cannot be read",
        at=Location(code.co_filename, first),
        why="Linnet compiles a function from its source text",
        hint="define it with `def`, in a file or a notebook cell",
    )


def _last_line(code: CodeType) -> int:
    """The last line of a function; only it is parsed, since its file may be long."""
    return max(end or 0 for _, end, _, _ in code.co_positions())
