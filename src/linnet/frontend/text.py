"""Printed programs, read back: the inverse of `loops.printer`."""

from __future__ import annotations

import ast
import builtins
import pkgutil
import textwrap
from collections import ChainMap
from collections.abc import Mapping
from functools import cache

import numpy as np

from linnet import formats, loops
from linnet.algebra import table
from linnet.algebra.lookup import by_name, lookup
from linnet.errors import KernelSyntaxError
from linnet.formats import named, policies
from linnet.formats.level import Level
from linnet.frontend import words
from linnet.frontend.parse import parse_tree
from linnet.python.source import Source
from linnet.shortage import imported


def parse_text(text: str, names: Mapping[str, object] | None = None) -> loops.Program:
    """The program that a text describes: a `def`, or the statements of a kernel.

    `names` are Python names that the text uses, besides `ln`, `np` and the names of functions. The
    parameters of plain statements are the tensors in them, in order of appearance.
    """
    text = textwrap.dedent(text).strip("\n")
    source = Source("<text>", tuple(text.splitlines()), 0)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise KernelSyntaxError(f"this is not Python: {error.msg}") from None
    outer = surroundings(names or {})
    match tree.body:
        case [ast.FunctionDef() as function]:
            return parse_tree(function, source, outer)
        case stmts:
            return parse_tree(_as_function(stmts), source, outer)


def surroundings(names: Mapping[str, object]) -> Mapping[str, object]:
    """What names mean in a text: these, `ln`, `np`, the names of Python and of functions."""
    given = {"ln": _Linnet(), "np": np, "inf": float("inf"), "nan": float("nan")}
    return ChainMap(dict(names), given, vars(builtins), by_name)


class _Linnet:
    """What `ln` stands for in a text: words of the language, functions, levels and formats."""

    choose = staticmethod(table.choose)

    def __getattr__(self, name: str) -> object:
        found = getattr(words, name, None) or lookup(name)
        found = found or getattr(named, name, None) or _levels().get(name)
        found = found or getattr(policies, name, None)
        if found is None:
            raise AttributeError(name)
        return found


@cache
def _levels() -> dict[str, type[Level]]:
    """All level classes by name. Each is a file beside the others, and no list names them."""
    for module in pkgutil.iter_modules(formats.__path__):
        imported(f"{formats.__name__}.{module.name}")
    classes = list(Level.__subclasses__())
    for cls in classes:
        classes.extend(cls.__subclasses__())
    return {cls.__name__: cls for cls in classes}


def _as_function(stmts: list[ast.stmt]) -> ast.FunctionDef:
    """`def kernel(…)` around statements, returning what they assign to."""
    nodes = [node for stmt in stmts for node in ast.walk(stmt)]
    own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    uses = [use for node in nodes for use in _use(node) if use[0].id not in own]
    uses.sort(key=lambda use: (use[0].lineno, use[0].col_offset))
    params = dict.fromkeys(name.id for name, _ in uses)
    results: list[ast.expr] = list({name.id: name for name, written in uses if written}.values())
    returned = [ast.Return(ast.Tuple(results, ast.Load()))] if results else []
    args = [ast.arg(name, lineno=1, col_offset=0) for name in params]
    arguments = ast.arguments([], args, None, [], [], None, [])
    body = [*stmts, *returned]
    return ast.FunctionDef("kernel", arguments, body, [], None, None, lineno=1, col_offset=0)


def _use(node: ast.AST) -> list[tuple[ast.Name, bool]]:
    """The tensor that a node uses, and whether it is written."""
    match node:
        case ast.Subscript(ast.Name() as tensor, _, context):
            return [(tensor, isinstance(context, ast.Store))]
        case ast.Call(ast.Attribute(ast.Name("ln"), "declare"), [ast.Name() as tensor, *_]):
            return [(tensor, True)]
        case _:
            return []
