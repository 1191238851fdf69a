"""Python functions as plain data, for processes that cannot import them.

What another process finds by importing a module goes by its name. Of any other function go its
code, its text as far as Linnet has read it, and what the names in it stand for: functions in the
same way, modules by their names, all else as `pickle` has it.
"""

from __future__ import annotations

import builtins
import dis
import marshal
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.util import MAGIC_NUMBER
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias, TypeVar

from linnet.errors import ArgumentError, Location
from linnet.python.source import Defined, Source, adopt, if_known

T = TypeVar("T")
State: TypeAlias = tuple[Any, ...]
Known: TypeAlias = dict[int, "_Sent"]  # by identity, so that a function that calls itself ends

_SCRIPTS = ("__main__", "__mp_main__")  # which are other modules in other processes
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
_MOST = 1024  # things that are looked for when they come once more


def is_imported(thing: object, module: str | None, name: str) -> bool:
    """Whether another process finds this very thing by importing a module."""
    found: object = sys.modules.get(module or "")
    if module in _SCRIPTS or getattr(found, "__spec__", None) is None:
        return False
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is thing


def named(module: str, name: str) -> Any:
    """What another process has found by importing a module."""
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


# -- what has come before --------------------------------------------------------------------------

_here: dict[str, object] = {}


def here(key: str, kind: type[T]) -> T | None:
    """What has this key here already: its machine code is made once."""
    found = _here.get(key)
    return found if isinstance(found, kind) else None


def keep(key: str, thing: T) -> T:
    """Remember a thing by its key."""
    if len(_here) >= _MOST:
        _here.clear()
    _here[key] = thing
    return thing


# -- out -------------------------------------------------------------------------------------------


def sendable(value: object, known: Known | None = None) -> object:
    """The same value, in which what `pickle` writes by name only is replaced."""
    known = {} if known is None else known
    match value:
        case FunctionType():
            if is_imported(value, value.__module__, value.__qualname__):
                return value
            return known.setdefault(id(value), _Sent(value, known))
        case ModuleType():
            return _SentModule(value.__name__, ())
        case tuple() | list() if type(value) in (tuple, list):
            return type(value)([sendable(v, known) for v in value])
        case dict() if type(value) is dict:
            return {key: sendable(v, known) for key, v in value.items()}
        case _:
            return value


class _Sent:
    """A function, until it is pickled; what is loaded is a function again."""

    def __init__(self, function: FunctionType, known: Known) -> None:
        self.function = function
        self.known = known

    def __reduce__(self) -> tuple[object, ...]:
        f = self.function
        cells = len(f.__closure__ or ())
        parts = (MAGIC_NUMBER, f.__name__, marshal.dumps(f.__code__), cells)
        return _begun, parts, self._state(), None, None, _complete

    def _state(self) -> State:
        f, convert = self.function, partial(sendable, known=self.known)
        around = {n: self._named(n, f.__globals__[n]) for n in _names(f) if n in f.__globals__}
        own = f.__globals__.get("__builtins__") == {}  # its names are fixed: it has no others
        pairs = zip(f.__closure__ or (), f.__code__.co_freevars, strict=True)
        cells = tuple([self._cell(cell, name) for cell, name in pairs])
        rest = (f.__defaults__, f.__kwdefaults__, f.__dict__)
        about = (f.__module__, f.__qualname__, f.__doc__, f.__globals__.get("__name__"))
        return around, own, cells, tuple(map(convert, rest)), about, _text(if_known(f))

    def _cell(self, cell: CellType, name: str) -> tuple[object, ...]:
        try:
            return (self._named(name, cell.cell_contents),)
        except ValueError:  # it has no value yet
            return ()

    def _named(self, name: str, value: object) -> object:
        """What a name stands for; with a module come those parts of it that the code names."""
        if not isinstance(value, ModuleType):
            return sendable(value, self.known)
        parts = set(_attributes(self.function.__code__))
        inside = f"{value.__name__}."
        found = [m for m in sys.modules if m.startswith(inside)]
        also = [m for m in found if parts.issuperset(m.removeprefix(inside).split("."))]
        return _SentModule(value.__name__, tuple(sorted(also)))


class _SentModule:
    """A module, and those within it that are to be imported, too."""

    def __init__(self, name: str, also: tuple[str, ...]) -> None:
        self.name = name
        self.also = also

    def __reduce__(self) -> tuple[object, ...]:
        return _module, (self.name, self.also)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A piece of code, and those of the functions within."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _names(function: FunctionType) -> list[str]:
    """The names that a function looks up outside of all functions, each once."""
    steps = [s for code in _codes(function.__code__) for s in dis.get_instructions(code)]
    return list(dict.fromkeys([s.argval for s in steps if s.opname in _GLOBALS]))


def _attributes(code: CodeType) -> list[str]:
    return [name for each in _codes(code) for name in each.co_names]


def _text(found: Defined | None) -> Defined | None:
    """The text of one function alone, in lines that have the numbers that they have in the file."""
    if found is None:
        return None
    node, source = found.definition, found.source
    starts = [node.lineno, *[d.lineno for d in node.decorator_list]]
    first, last = min(starts) + source.shift - 1, (node.end_lineno or node.lineno) + source.shift
    lines = ("",) * first + tuple(source.lines[first:last])
    return Defined(node, Source(source.file, lines, source.shift))


# -- in --------------------------------------------------------------------------------------------


def _begun(magic: bytes, name: str, data: bytes, cells: int) -> FunctionType:
    """A function of this code that knows nothing of its surroundings yet."""
    if magic != MAGIC_NUMBER:
        raise ArgumentError(
            f"`{name}` was sent by another version of Python",
            at=Location.of_caller(),
            why="a function that no module has is sent as code, which each version has its own of",
            hint="run one version in all processes, or define it in a module that both import",
        )
    code: CodeType = marshal.loads(data)
    return FunctionType(code, {}, name, None, tuple([CellType() for _ in range(cells)]) or None)


def _complete(function: FunctionType, state: State) -> None:
    """Give a function its surroundings: they may name the function itself."""
    around, own, cells, (defaults, by_name, attributes), about, text = state
    module, function.__qualname__, function.__doc__, scope = about
    named: Mapping[str, object] = around
    function.__globals__.update(named)
    function.__globals__["__builtins__"] = {} if own else builtins
    function.__globals__["__name__"] = scope
    function.__module__ = module
    for cell, held in zip(function.__closure__ or (), cells, strict=True):
        if held:
            (cell.cell_contents,) = held
    function.__defaults__, function.__kwdefaults__ = defaults, by_name
    function.__dict__.update(attributes)
    if text is not None:
        adopt(function, text)


def _module(name: str, also: tuple[str, ...]) -> ModuleType:
    for part in also:
        import_module(part)
    return import_module(name)
