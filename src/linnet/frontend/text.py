"""Printed programs, read back: the inverse of `loops.printer`."""

from __future__ import annotations

import ast
import builtins
import importlib
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
from linnet.formats import named
from linnet.formats.level import Level
from linnet.frontend import words
from linnet.frontend.parse import parse_tree
from linnet.frontend.source import Source


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
    given = {"ln": _Linnet(), "np": np, "inf": float("inf"), "nan": float("nan")}
    outer = ChainMap(dict(names or {}), given, vars(builtins), by_name)
    match tree.body:
        case [ast.FunctionDef() as function]:
            return parse_tree(function, source, outer)
        case stmts:
            return parse_tree(_as_function(stmts), source, outer)


class _Linnet:
    """What `ln` stands for in a text: words of the language, functions, levels and formats."""

    choose = staticmethod(table.choose)

    def __getattr__(self, name: str) -> object:
        found = getattr(words, name, None) or lookup(name)
        found = found or getattr(named, name, None) or _levels().get(name)
        if found is None:
            raise AttributeError(name)
        return found


@cache
def _levels() -> dict[str, type[Level]]:
    """All level classes by name. Each is a file beside the others, and no list names them."""
    for module in pkgutil.iter_modules(formats.__path__):
        importlib.import_module(f"{formats.__name__}.{module.name}")
    classes = list(Level.__subclasses__())
    for cls in classes:
        classes.extend(cls.__subclasses__())
    return {cls.__name__: cls for cls in classes}


def _as_function(stmts: list[ast.stmt]) -> ast.FunctionDef:
    """`def kernel(…)` around statements, returning what they assign to."""
    temporaries = {
        target.id
        for stmt in stmts
        for node in ast.walk(stmt)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    tensors, written = [], []
    for node in (n for stmt in stmts for n in ast.walk(stmt)):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            name = node.value.id
            if name not in temporaries:
                tensors.append((node.lineno, node.col_offset, name))
                if isinstance(node.ctx, ast.Store):
                    written.append(ast.Name(name, ast.Load(), lineno=node.lineno, col_offset=0))
    params = dict.fromkeys(name for _, _, name in sorted(tensors))
    unique: list[ast.expr] = list({name.id: name for name in written}.values())
    result = [ast.Return(ast.Tuple(unique, ast.Load()))] if unique else []
    args = [ast.arg(name, lineno=1, col_offset=0) for name in params]
    arguments = ast.arguments([], args, None, [], [], None, [])
    return ast.FunctionDef(
        "kernel", arguments, [*stmts, *result], [], None, None, lineno=1, col_offset=0
    )
