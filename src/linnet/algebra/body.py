"""The text of a user's function, with the Python names that it uses as they were at first sight."""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType
from weakref import WeakValueDictionary

import numpy as np

from linnet.python.source import adopt, source_of
from linnet.shortage import imported

_bodies: WeakValueDictionary[str, Body] = WeakValueDictionary()


class Body:
    """A Python function that is compiled from its text.

    `name` is how errors and code call it, `dtype` the type its result is converted to (None: as it
    comes), `claims` what is said about it, which prints as text for the cache.
    """

    __slots__ = ("__weakref__", "_digest", "_functions", "claims", "dtype", "name")

    def __init__(self, python: FunctionType, name: str, dtype: str | None, claims: object) -> None:
        self.name = name
        self.dtype = dtype
        self.claims = claims
        self._functions = [python]  # and then the pinned one
        self._digest: str | None = None

    @property
    def python(self) -> FunctionType:
        """The function as the user wrote it."""
        return self._functions[0]

    def pinned(self) -> FunctionType:
        """The function with the names of its surroundings fixed: what it means does not change."""
        if len(self._functions) == 1:
            python = self._functions[0]
            plain = self.name.encode("ascii", "ignore").decode() or "function"
            self._functions.append(with_names(python, names_of(python), plain))
        return self._functions[1]  # whichever thread was first

    @property
    def digest(self) -> str:
        """A hash of all that the code depends on."""
        pinned = self.pinned()
        if self._digest is None:
            text = "\n".join((repr(self.claims), str(self.dtype), *_contents(pinned, ())))
            self._digest = hashlib.sha256(text.encode()).hexdigest()
        return self._digest

    @property
    def token(self) -> str:
        """The name under which code calls it, before it is translated for its arguments.

        It has a colon, which no other name in code has, and stands for the text.
        """
        token = f"{self.name}:{self.digest[:16]}"
        _bodies[token] = self
        return token


def body_of(token: str) -> Body | None:
    """The text that a name in code stands for, or None."""
    if ":" not in token:
        return None
    return _bodies.get(token)


class Frozen:
    """A module or another object, of which only the attributes that a text names are kept."""

    def __init__(self, kept: dict[str, object] | None = None) -> None:
        self.kept = {} if kept is None else kept

    def __reduce__(self) -> tuple[object, ...]:
        return Frozen, (imported("linnet.python.sending").sendable(self.kept),)

    def __getattr__(self, name: str) -> object:
        if name == "kept" or name not in self.kept:
            raise AttributeError(name)
        return self.kept[name]


def names_of(function: FunctionType) -> dict[str, object]:
    """The Python names that a function reads from around it, and what they mean now."""
    around = {**vars(builtins), **function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            around[name] = cell.cell_contents
        except ValueError:  # it has no value yet
            around.pop(name, None)
    definition = source_of(function).definition
    found: dict[str, object] = {}
    for stmt in definition.body:
        for node in ast.walk(stmt):
            if isinstance(node, ast.Attribute):
                _keep(node, around, found)
        for name in _bare(stmt):
            if name in around:
                found[name] = around[name]
    return found


def _bare(tree: ast.AST) -> Iterator[str]:
    """The names that are used by themselves, not for an attribute."""
    nodes = list(ast.walk(tree))  # which is no recursion: long sums are nested deeply
    roots = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    yield from [n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in roots]


def _keep(node: ast.Attribute, around: Mapping[str, object], found: dict[str, object]) -> None:
    """Keep what `a.b.c` stands for, if it is something."""
    path: list[str] = []
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        path.insert(0, root.attr)
        root = root.value
    if not isinstance(root, ast.Name) or root.id not in around:
        return
    value, kept = around[root.id], found.setdefault(root.id, Frozen())
    for depth, name in enumerate(path):
        if not hasattr(value, name) or not isinstance(kept, Frozen):
            return
        value = getattr(value, name)
        last = depth == len(path) - 1
        kept = kept.kept.setdefault(name, value if last else Frozen())


def with_names(function: FunctionType, names: Mapping[str, object], name: str) -> FunctionType:
    """The same code, with other meanings of the names around it."""
    cells = tuple(CellType(names[n]) if n in names else CellType() for n in _free(function))
    scope = {"__builtins__": {}, "__name__": function.__globals__.get("__name__"), **names}
    made = FunctionType(function.__code__, scope, name, None, cells or None)
    made.__module__ = function.__module__
    adopt(made, source_of(function))
    return made


def _free(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_freevars


def _contents(function: FunctionType, above: tuple[CodeType, ...]) -> Iterator[str]:
    """The text of a function, and of all that it names."""
    if function.__code__ in above:
        return
    definition = source_of(function).definition
    yield ast.dump(definition.args)
    for stmt in definition.body:
        yield ast.dump(stmt)
    for name, value in sorted(names_of(function).items(), key=lambda item: item[0]):
        yield f"{name}:"
        yield from _content(value, (*above, function.__code__))


def _content(value: object, above: tuple[CodeType, ...]) -> Iterator[str]:
    body = getattr(value, "body", None)
    match value:
        case Frozen():
            for name, kept in sorted(value.kept.items(), key=lambda item: item[0]):
                yield f".{name}:"
                yield from _content(kept, above)
        case bool() | int() | float() | complex() | np.generic():
            yield f"{type(value).__name__} {value!r}"
        case FunctionType():
            yield from _contents(value, above)
        case _ if isinstance(body, Body):
            yield from (repr(body.claims), str(body.dtype), *_contents(body.pinned(), above))
        case _:
            yield f"{type(value).__name__} {getattr(value, '__name__', '')}"
