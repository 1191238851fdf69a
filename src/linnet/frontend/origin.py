"""What the program of a kernel follows from: its text, its place, and the Python around it.

A process that finds the program which another has read under this key need not read it again: what
can be refused of it has not been. Where the code sees what has no text of its own, there is no key.
"""

from __future__ import annotations

import linecache
import sys
from types import BuiltinFunctionType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType

import numpy as np

from linnet.algebra.function import Function
from linnet.algebra.lookup import by_name
from linnet.formats.contents import Signature
from linnet.formats.format import Format
from linnet.python.source import block
from linnet.runtime import kept

_NUMBERS = (bool, int, float, complex, str, NoneType, EllipsisType)
_OURS = frozenset(("linnet", "numpy", "math", "builtins"))  # whose versions are in the key


def origin_of(function: FunctionType) -> str | None:
    """All that tells programs of kernels apart, as another process would write it."""
    code, text = function.__code__, _text_of(function)
    if text is None or any(isinstance(const, CodeType) for const in code.co_consts):
        return None
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a cell that has no value yet
        return None
    around = dict(zip(code.co_freevars, cells, strict=True))
    for name in code.co_names:
        if name in function.__globals__:
            around.setdefault(name, function.__globals__[name])
    told = [(name, _told(value, code.co_names)) for name, value in sorted(around.items())]
    if any(what is None for _, what in told):
        return None
    parts = (code.co_name, code.co_varnames, code.co_names, code.co_consts)
    place = (code.co_filename, code.co_firstlineno, function.__kwdefaults__, function.__defaults__)
    lines = (code.co_code.hex(), code.co_linetable.hex())
    return f"program {sys.version} {place!r} {parts!r} {lines!r} {told!r}\n{text}"


def _text_of(function: FunctionType) -> str | None:
    """The lines of a function, if they can be told by how far they are indented."""
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno - 1
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    return block(lines[first:]) if lines[first:] else None


def _told(value: object, names: tuple[str, ...]) -> str | None:
    """A value around a kernel as text; None if another may have the same."""
    match value:
        case ModuleType():
            return _module(value, names)
        case Format():  # in which a level of a user would be kept by its name alone
            told = f"{kept.told(Signature.of(value))} {value.fill_value!r}"
            return None if kept.stamps(value) else told
        case Function():
            return f"function {value.name}" if by_name.get(value.name) is value else None
        case np.generic():
            return None if value.dtype.hasobject else f"{value.dtype.str} {value.tobytes().hex()}"
        case type() | FunctionType() | BuiltinFunctionType() | np.ufunc():
            return _named(value)
        case _:
            return f"{type(value).__name__} {value!r}" if type(value) in _NUMBERS else None


def _module(module: ModuleType, names: tuple[str, ...]) -> str | None:
    """A module that is known by its version, and what somebody may have put into it."""
    name = module.__name__
    if name.partition(".")[0] not in _OURS or sys.modules.get(name) is not module:
        return None
    held = vars(module)
    told = [(n, _told(held[n], ())) for n in names if n in held]
    if any(what is None for _, what in told):
        return None
    return f"module {name} {held.get('__version__', '')} {told!r}"


def _named(value: object) -> str | None:
    """A class or a function of a library that is known by its version."""
    module = getattr(value, "__module__", None) or "numpy"
    name: str = getattr(value, "__qualname__", "") or getattr(value, "__name__", "")
    found = getattr(sys.modules.get(module), name, None)
    return f"{module}.{name}" if found is value and module.partition(".")[0] in _OURS else None
