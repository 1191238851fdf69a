"""What a function of Python depends on beside its arguments, where its code tells that.

A function is `Captured` if it does nothing but compute: no import, no name or attribute outside is
changed, and what it takes from around it are numbers, functions, modules of functions and the like,
none of which can change but by being replaced. `holds` sees that.
"""

from __future__ import annotations

import dis
import math
import operator
from collections.abc import Mapping
from types import CellType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType

import numpy as np

from linnet.algebra.function import Function
from linnet.formats.format import Format
from linnet.formats.named import Family
from linnet.handed import Above
from linnet.records import dataclass

_CHANGES = frozenset((
    "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "DELETE_DEREF", "IMPORT_NAME",
    "LOAD_BUILD_CLASS", "YIELD_VALUE",
))  # fmt: skip
_LOADS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_BUILT_IN = frozenset((
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "int",
    "isinstance", "len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "slice",
    "sorted", "str", "sum", "tuple", "zip",
))  # fmt: skip
_FIXED = (
    int, float, complex, str, bytes, NoneType, EllipsisType, range, np.dtype, np.ufunc,
    Function, Format, Family,
)  # fmt: skip
_above = Above("arrays")
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Captured:
    """Names and cells around a function, and functions that it calls, with what they were.

    Functions have no attributes, which anybody could change.
    """

    names: tuple[tuple[Mapping[str, object], str, object], ...]
    cells: tuple[tuple[CellType, object], ...]
    functions: tuple[tuple[FunctionType, CodeType, object, object], ...]  # with their defaults

    def holds(self) -> bool:
        """Whether all of it is as it was."""
        for where, name, value in self.names:
            if where.get(name, _ABSENT) is not value:
                return False
        for function, code, defaults, by_name in self.functions:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
            if function.__kwdefaults__ is not by_name or function.__dict__:
                return False
        try:
            for cell, value in self.cells:
                if cell.cell_contents is not value:
                    return False
        except ValueError:  # an empty cell
            return False
        return True


def captured(function: object) -> Captured | None:
    """What a function depends on beside its arguments; None if that may be anything."""
    reader = _Reader()
    if not isinstance(function, FunctionType) or not reader.reads(function):
        return None
    return Captured(tuple(reader.names), tuple(reader.cells), tuple(reader.functions.values()))


class _Reader:
    """Functions that are read, each once, and what is around them."""

    def __init__(self) -> None:
        self.names: list[tuple[Mapping[str, object], str, object]] = []
        self.cells: list[tuple[CellType, object]] = []
        self.functions: dict[int, tuple[FunctionType, CodeType, object, object]] = {}

    def reads(self, function: FunctionType) -> bool:
        """Whether the function, and those that it calls, do nothing but compute."""
        if id(function) in self.functions:
            return True
        if function.__dict__:
            return False
        code, defaults = function.__code__, function.__defaults__
        self.functions[id(function)] = (function, code, defaults, function.__kwdefaults__)
        around: dict[str, object] = {}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                around[name] = cell.cell_contents
            except ValueError:  # which is filled later
                return False
            self.cells.append((cell, around[name]))
        by_name = function.__kwdefaults__ or {}
        self.names += [(by_name, name, value) for name, value in by_name.items()]
        # modules around it are looked at where they are used
        known = [value for value in around.values() if not isinstance(value, ModuleType)]
        known += [*(defaults or ()), *by_name.values()]
        return all(map(self._is_known, known)) and self._code(code, function.__globals__, around)

    def _code(
        self, code: CodeType, outside: Mapping[str, object], around: Mapping[str, object]
    ) -> bool:
        """Whether code, and that of functions within, does nothing but compute."""
        steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
        for step, after in zip(steps, [*steps[1:], steps[-1]], strict=True):
            name = step.argval
            if step.opname in _CHANGES:
                return False
            if step.opname == "STORE_DEREF" and name in code.co_freevars:
                return False
            if step.opname in _ATTRIBUTES and str(name).startswith("__"):
                return False
            if step.opname in _LOADS and not self._load(step.opname, name, after, outside, around):
                return False
        within = [const for const in code.co_consts if isinstance(const, CodeType)]
        return all(self._code(const, outside, around) for const in within)

    def _load(
        self,
        how: str,
        name: str,
        after: dis.Instruction,
        outside: Mapping[str, object],
        around: Mapping[str, object],
    ) -> bool:
        """Whether what a name stands for is known, as it is used."""
        if how == "LOAD_DEREF":
            value = around.get(name)  # None: a local name of the function around
        else:
            value = outside.get(name, _ABSENT)
            self.names.append((outside, name, value))
        if value is _ABSENT:
            return name in _BUILT_IN
        if isinstance(value, ModuleType):
            return after.opname in _ATTRIBUTES and self._part(value, after.argval)
        if isinstance(value, FunctionType) and after.opname in _ATTRIBUTES:
            return False
        return self._is_known(value)

    def _part(self, module: ModuleType, name: str) -> bool:
        """Whether an attribute of a module is known, which somebody may replace."""
        known = is_function_of(module, name)  # a module may find it only now
        self.names.append((vars(module), name, vars(module).get(name, _ABSENT)))
        return known

    def _is_known(self, value: object) -> bool:
        """Whether a value cannot change, or is a function that does nothing but compute."""
        if isinstance(value, FunctionType) and not _above.is_own(value):
            return self.reads(value)
        return _above.is_own(value) or is_fixed(value)


def is_fixed(value: object) -> bool:
    """Whether a value is what it is for ever."""
    if isinstance(value, tuple) and type(value) is tuple:
        return all(map(is_fixed, value))
    if isinstance(value, slice):
        return all(map(is_fixed, (value.start, value.stop, value.step)))
    if isinstance(value, type):
        return value in (int, float, complex, bool) or _is_scalar(value)
    return type(value) in _FIXED or isinstance(value, bool | np.dtype) or _is_scalar(type(value))


def _is_scalar(kind: type) -> bool:
    """Whether a type is one of NumPy's whose values cannot be changed: records can."""
    return issubclass(kind, np.generic) and kind.__module__ == "numpy" and kind is not np.void


def is_function_of(module: ModuleType, name: str) -> bool:
    """Whether an attribute of a module is a number, or a function whose arguments tell all."""
    value = getattr(module, name, _ABSENT)
    if module is math or module is operator:
        return value is not _ABSENT
    if module.__name__.partition(".")[0] == "linnet":
        return _above.is_own(value) or is_fixed(value)
    if module is np:  # whose functions of arrays are ours, if an operand is
        ours = callable(value) and _above.is_function(name)
        return ours or is_fixed(value) or value is np.s_
    return False
