"""Finds the text of a Python function: its syntax tree, and the place of each piece of it.

A file may have changed since it was imported, and two functions may begin in one line: a text is a
function's only if it compiles to what the function runs.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

from linnet.errors import KernelSyntaxError, Location
from linnet.python.compiled import alike, is_text_of, runs
from linnet.records import dataclass
from linnet.shortage import imported


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a file; `shift` is what to add to a tree's line numbers to count within the file."""

    file: str
    lines: Sequence[str]
    shift: int

    def location(self, node: ast.AST) -> Location:
        """The place of a node; of one that goes over several lines, the first of them."""
        line = getattr(node, "lineno", 1)
        number = line + self.shift
        text = self.lines[number - 1].rstrip("\r\n") if 0 < number <= len(self.lines) else ""
        start = _characters(text, getattr(node, "col_offset", 0))
        if getattr(node, "end_lineno", line) == line:
            stop = _characters(text, getattr(node, "end_col_offset", 0))
        else:
            stop = len(text.rstrip())
        return Location(self.file, number, start, stop, text.rstrip())


@dataclass(frozen=True, slots=True)
class Defined:
    """A function's definition, and the source that it stands in."""

    definition: ast.FunctionDef
    source: Source

    def location(self, node: ast.AST) -> Location:
        """The place of a node of the definition."""
        return self.source.location(node)


_known: WeakKeyDictionary[FunctionType, Defined] = WeakKeyDictionary()


def source_of(function: FunctionType) -> Defined:
    """The definition of a function; found once. A lambda is read as a `def` that returns."""
    found = _known.get(function)
    if found is None:
        find = _find_lambda if function.__code__.co_name == "<lambda>" else _find
        found = _known[function] = find(function)
    return found


def if_known(function: FunctionType) -> Defined | None:
    """The definition of a function, if it has been found."""
    return _known.get(function)


def adopt(function: FunctionType, found: Defined) -> None:
    """Say what the definition of a function is that has been made of code."""
    _known[function] = found


# -- by def ----------------------------------------------------------------------------------------


def _find(function: FunctionType) -> Defined:
    """The lines from that on which the code names are parsed, and not the file, which may be long.

    What is indented is parsed below an `if`, so that its columns stay as they are.
    """
    code = function.__code__
    lines = _lines(function)
    first = code.co_firstlineno - 1
    indented = "".join(lines[first : first + 1])[:1].isspace()
    source = Source(code.co_filename, lines, first - 1 if indented else first)
    text, tree = _statements(lines[first:], "if 1:\n" if indented else "")
    node = tree.body[0] if tree.body else None
    if isinstance(node, ast.If) and indented:
        node = node.body[0]
    if isinstance(node, ast.AsyncFunctionDef) and node.name == code.co_name:
        raise KernelSyntaxError(
            f"`{node.name}` cannot be async: Linnet compiles it",
            at=source.location(node),
            hint="write it with plain def",
        )
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        raise _stale(function)
    try:
        same = is_text_of(text, function) or alike("".join(lines), code)
    except RecursionError:
        raise _too_deep(function, source.location(node)) from None
    if not same:
        raise _stale(function)
    return Defined(node, source)


def _statements(lines: Sequence[str], before: str) -> tuple[str, ast.Module]:
    """The block that these lines begin with, below another line, and its tree."""
    for find in (block, inspect.getblock):  # what is in brackets or quotes may begin anywhere
        try:
            text = before + "".join(find(lines))
            return text, ast.parse(text)
        except (SyntaxError, ValueError):
            continue
    return "", ast.Module([], [])


def block(lines: Sequence[str]) -> str:
    """Decorators, the line that begins with `def`, and all lines that are indented more.

    That is less than the function, and cannot be parsed, if what is in brackets or quotes is not
    indented so; the tokenizer of Python, which knows, takes longer than all the rest.
    """
    margin = _indent(lines[0]) if lines else 0
    defined = False
    for count, line in enumerate(lines):
        text = line.lstrip()
        if not text or text[0] == "#" or _indent(line) > margin:
            continue
        if defined:
            return "".join(lines[:count])
        defined = text.startswith(("def ", "async "))
    return "".join(lines)


def _indent(line: str) -> int:
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


# -- by lambda -------------------------------------------------------------------------------------


def _find_lambda(function: FunctionType) -> Defined:
    """The whole file is parsed: a lambda may stand anywhere in a statement.

    Of several in its line that compile to the same, the places of their code tell which it is, if
    Python keeps them. Those that read the same need not be told apart.
    """
    code, lines = function.__code__, _lines(function)
    text = "".join(lines)
    try:
        found = alike(text, code)
    except RecursionError:
        at = Location(code.co_filename, code.co_firstlineno)
        raise _too_deep(function, at) from None
    places = list(code.co_positions())
    found = [c for c in found if list(c.co_positions()) == places] or found
    tree = _parsed(text)
    nodes = [_node_of(tree, c) for c in found]
    if not nodes or len({node and ast.dump(node) for node in nodes}) > 1 or nodes[0] is None:
        raise _stale(function)
    node = nodes[0]
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef(_given_name(tree, node), node.args, [body], [], None, None)
    return Defined(ast.copy_location(made, node), Source(code.co_filename, lines, 0))


def _node_of(tree: ast.Module, code: CodeType) -> ast.Lambda | None:
    """The lambda that compiles to a piece of code; None where several could.

    Python may keep no columns, and version 3.12 does not where a lambda returns a constant.
    """
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and _may_be(n, code)]
    if any(place[2] != place[3] for place in code.co_positions()):
        return min(nodes, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0), default=None)
    nodes = [n for n in nodes if runs(n, code)] or nodes
    return nodes[0] if len({ast.dump(n) for n in nodes}) == 1 else None


def _may_be(node: ast.Lambda, code: CodeType) -> bool:
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


# -- lines and errors ------------------------------------------------------------------------------


def _lines(function: FunctionType) -> Sequence[str]:
    """The lines of the file, notebook cell or example that defines a function."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    lines = lines or _packed(function.__module__)
    if lines:
        return lines
    try:
        return inspect.findsource(function)[0]
    except (OSError, TypeError, IndexError):
        raise KernelSyntaxError(
            f"the source of `{function.__name__}` is not available",
            at=Location(file, function.__code__.co_firstlineno),
            why="Linnet compiles a function from its text, and code made by exec or eval has none",
            hint="define it in a file or a notebook cell",
        ) from None


def _packed(module: str | None) -> list[str]:
    """The lines of a module of ours, where it is byte code alone: see `tools/texts.py`."""
    if module is None or not module.startswith("linnet."):
        return []
    try:
        texts: dict[str, str] = imported("linnet.texts").texts()
    except ImportError:
        return []
    return texts[module].splitlines(keepends=True)


def _stale(function: FunctionType) -> KernelSyntaxError:
    code = function.__code__
    several = " several like it are in one line," if code.co_name == "<lambda>" else ""
    return KernelSyntaxError(
        f"the source of `{function.__name__}` cannot be found in its file",
        at=Location(code.co_filename, code.co_firstlineno),
        why=f"the file has changed since it was imported,{several} or something has changed the "
        "function",
        hint="run the program again, or reload the module",
    )


def _too_deep(function: FunctionType, at: Location) -> KernelSyntaxError:
    return KernelSyntaxError(
        f"`{function.__name__}` is nested too deeply",
        at=at,
        hint="split long expressions into lines",
    )


def _characters(text: str, offset: int) -> int:
    """A tree's offsets count bytes of UTF-8; places count characters."""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
