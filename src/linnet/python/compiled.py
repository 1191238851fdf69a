"""Whether a text compiles to the code of a function: to what it runs."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType

Form = tuple[object, ...]

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def is_text_of(text: str, function: FunctionType) -> bool:
    """Whether a definition compiles to what a function runs, as if it stood by itself.

    One that does not may do so in its file, which knows what is around it: in a class, in a
    function, and after imports, since the methods of what is imported are called otherwise.
    """
    code, held = function.__code__, function.__globals__
    modules = [n for n in code.co_names if isinstance(held.get(n), ModuleType)]
    before = f"import {', '.join(modules)}\n" if modules else ""
    whole = _whole(before + text, code.co_filename, code.co_flags & _FUTURE)
    return whole is not None and form_of(code) in map(form_of, _named(whole, code.co_name))


def alike(text: str, code: CodeType) -> list[CodeType]:
    """The code of all functions in a file that begin where a function does, and run the same.

    What was compiled before, and had its text removed, may have been optimized more or less than
    this process does (`-OO`).
    """
    form = form_of(code)
    for level in (-1, 0, 1, 2):
        whole = _kept(text, code.co_filename, code.co_flags & _FUTURE, level)
        there = [] if whole is None else _named(whole, code.co_name)
        found = [c for c in there if c.co_firstlineno == code.co_firstlineno]
        if same := [c for c in found if form_of(c) == form]:
            return same
    return []


def runs(node: ast.Lambda, code: CodeType) -> bool:
    """Whether a lambda, as if it stood by itself, compiles to what this code does."""
    whole = compile(ast.Expression(node), code.co_filename, "eval", dont_inherit=True)
    return form_of(code) in map(form_of, _named(whole, code.co_name))


def form_of(code: CodeType) -> Form:
    """What code does: all of it but where it stands, and how it is called."""
    return (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        tuple([_constant(c) for c in code.co_consts]),
    )


def _constant(value: object) -> object:
    """A constant so that those are equal that are the same: 1, 1.0 and True differ, NaN is NaN."""
    match value:
        case CodeType():
            return (value.co_name, form_of(value))
        case tuple():
            return tuple([_constant(v) for v in value])
        case frozenset():
            return frozenset([_constant(v) for v in value])
        case _:
            return (type(value), repr(value))


def _whole(text: str, file: str, flags: int, level: int = -1) -> CodeType | None:
    """The code of a text, which may be a cell of a notebook; None if it is no Python."""
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        found: CodeType = compile(text, file, "exec", flags, dont_inherit=True, optimize=level)
    except (SyntaxError, ValueError):
        return None
    return found


_kept = lru_cache(maxsize=16)(_whole)  # a file has many functions


def _named(code: CodeType, name: str) -> Iterator[CodeType]:
    """The pieces of code that have a name, at any depth."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_name == name:
                yield const
            yield from _named(const, name)
