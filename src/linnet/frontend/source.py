"""Where the user's text is: from a function to its syntax tree, from a tree node to its place."""

from __future__ import annotations

import ast
import inspect
import linecache
import types

from linnet.errors import KernelSyntaxError, Location
from linnet.frontend.origin import block
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a file; `shift` is what to add to a tree's line numbers to count within the file."""

    file: str
    lines: tuple[str, ...]
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


def read(function: types.FunctionType) -> tuple[ast.FunctionDef, Source]:
    """The syntax tree of a function, and its source."""
    code = function.__code__
    if function.__name__ == "<lambda>":
        raise KernelSyntaxError(
            "a kernel is a function, not a lambda",
            at=Location(code.co_filename, code.co_firstlineno),
            hint="write it with def",
        )
    lines = _lines(function)
    first = code.co_firstlineno - 1
    indented = "".join(lines[first : first + 1])[:1].isspace()
    try:
        tree = _parsed(block(lines[first:]), indented)
    except (SyntaxError, ValueError):  # what is in brackets or quotes may begin anywhere
        try:
            tree = _parsed("".join(inspect.getblock(lines[first:])), indented)
        except (SyntaxError, IndentationError, ValueError):
            raise _stale(function) from None
    source = Source(code.co_filename, tuple(lines), first - 1 if indented else first)
    found = tree.body[0] if tree.body else None
    if isinstance(found, ast.If) and indented:
        found = found.body[0]
    return _the_def(found, function, source), source


def _parsed(text: str, indented: bool) -> ast.Module:
    """The tree; an indented function is below an `if`, so that its columns stay as they are."""
    return ast.parse(f"if 1:\n{text}" if indented else text)


def _the_def(
    node: ast.stmt | None, function: types.FunctionType, source: Source
) -> ast.FunctionDef:
    """The definition that was found, if it is the function that was asked for."""
    if isinstance(node, ast.AsyncFunctionDef):
        raise KernelSyntaxError(
            "a kernel cannot be async", at=source.location(node), hint="write it with plain def"
        )
    if not isinstance(node, ast.FunctionDef) or node.name != function.__code__.co_name:
        raise _stale(function)
    if not _is_text_of(node, function.__code__):
        raise _stale(function)
    return node


def _is_text_of(node: ast.FunctionDef, code: types.CodeType) -> bool:
    """Whether a definition compiles to this code, as far as names and numbers can tell.

    A file may have changed after it was imported; what is in it now is not what is run.
    """
    plain = ast.FunctionDef(**{**dict(ast.iter_fields(node)), "decorator_list": []})
    module = ast.Module([ast.copy_location(plain, node)], [])
    try:
        compiled = compile(module, code.co_filename, "exec")
    except (SyntaxError, RecursionError):  # such as `nonlocal`, which is refused later
        return True
    made = next(c for c in compiled.co_consts if isinstance(c, types.CodeType))
    return _contents(made) == _contents(code)


def _contents(code: types.CodeType) -> tuple[tuple[str, ...], set[str], list[str]]:
    """Parameters, names and numbers; in a class, names with two underscores are other names."""
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    known = {name for name in names if "__" not in name}
    numbers = sorted(repr(c) for c in code.co_consts if isinstance(c, bool | int | float | complex))
    return code.co_varnames[: code.co_argcount], known, numbers


def _lines(function: types.FunctionType) -> list[str]:
    """The lines of the file, notebook cell or example that defines a function."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if lines:
        return lines
    try:
        return inspect.findsource(function)[0]
    except (OSError, TypeError, IndexError):
        raise KernelSyntaxError(
            f"the source of `{function.__name__}` is not available",
            at=Location(file, function.__code__.co_firstlineno),
            why="a kernel is compiled from its text, and code made by exec or eval has none",
            hint="define the kernel in a file or a notebook cell",
        ) from None


def _stale(function: types.FunctionType) -> KernelSyntaxError:
    code = function.__code__
    return KernelSyntaxError(
        f"the source of `{function.__name__}` cannot be found in its file",
        at=Location(code.co_filename, code.co_firstlineno),
        why="the file has changed since it was imported, or the function was not defined by def",
        hint="run the program again, or reload the module",
    )


def _characters(text: str, offset: int) -> int:
    """A tree's offsets count bytes of UTF-8; places count characters."""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
