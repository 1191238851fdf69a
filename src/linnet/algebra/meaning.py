"""What a user's function means: its own text, run by Python on NumPy's scalars.

Functions of `math` and of Python that raise errors where compiled code goes on (`math.sqrt(-1)`,
`int(nan)`), or that treat NaN otherwise (`min`), are replaced by those of the table. Where Python
still gives up (a loop counter divided by zero), and where a variable would have one type here and
another there, which in code it has not, the code is interpreted.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from functools import lru_cache, reduce
from types import FunctionType
from typing import Any

import numpy as np

from linnet import imp, target
from linnet.algebra import exact, table
from linnet.algebra.body import Body, Frozen, names_of, with_names
from linnet.algebra.codelets import resolve
from linnet.algebra.exact import Meaning, converter
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.algebra.user import emit_of, translated
from linnet.imp.interpret import run as interpret
from linnet.options import current
from linnet.python.source import source_of

_ROUNDING: dict[object, Callable[..., object]] = {
    math.floor: exact.floor,
    math.ceil: exact.ceil,
    math.trunc: exact.trunc,
    builtins.round: exact.rounded,
    builtins.int: exact.trunc,
}


def meaning(body: Body) -> Meaning:
    """The function as Python runs it; on arrays, element by element."""
    known: list[FunctionType] = []

    def call(*args: object) -> object:
        if not known:
            known.append(_runnable(body.pinned()))
        arrays = [np.asarray(a) for a in args]
        with np.errstate(all="ignore"):
            if not any(a.ndim for a in arrays):
                return _run(body, known[0], [a[()] for a in arrays])
            columns = np.broadcast_arrays(*arrays)
            rows = zip(*(c.ravel() for c in columns), strict=True)
            values = [_run(body, known[0], list(row)) for row in rows]
        return np.array(values).reshape(columns[0].shape)

    return call


def _run(body: Body, function: FunctionType, args: list[Any]) -> object:
    if len({a.dtype for a in args}) > 1 and _changes_names(body.pinned()):
        return interpreted(body, args)
    try:
        value = function(*args)
    except (ArithmeticError, ValueError):
        return interpreted(body, args)
    # Python's integers have no end, those of code have 64 bits
    return _wrapped(value) if type(value) is int else value


@lru_cache(maxsize=256)
def _changes_names(function: FunctionType) -> bool:
    """Whether a name stands for one value after another, whose types may differ."""
    definition = source_of(function).definition
    stored = [
        node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    names = [*(arg.arg for arg in definition.args.args), *stored]
    return len(set(names)) < len(names)


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def interpreted(body: Body, args: list[Any]) -> object:
    """What the code gives, by the interpreter of imperative code."""
    dtypes = tuple([str(a.dtype) for a in args])
    result = translated(body, dtypes).module[-1].dtype
    assert result is not None
    buffers = [imp.Buffer(f"x{k}", d) for k, d in enumerate(dtypes)]
    registry: dict[str, imp.Function] = {}
    written = emit_of(body)(tuple(b[0] for b in buffers), result)
    code = resolve(written, registry, target.of(current()))
    out = imp.Buffer("r", result)
    store = imp.Block((imp.Store(out, imp.ZERO, code),))
    argument = imp.Argument("call", (), (*buffers, out))
    kernel = imp.Kernel("call", (argument,), store, tuple(registry.values()))
    arrays = {b.name: np.array([a], b.dtype) for b, a in zip(buffers, args, strict=True)}
    _, found = interpret(kernel, {"call": ((), {**arrays, "r": np.zeros(1, result)})})
    value: object = found["r"][0]
    return value


def _runnable(function: FunctionType) -> FunctionType:
    names = {name: _replaced(value) for name, value in names_of(function).items()}
    return with_names(function, names, function.__name__)


def _replaced(value: object) -> object:
    """What stands for something of the Python around a function while it is run."""
    match value:
        case Frozen():
            other = Frozen()
            other.kept = {name: _replaced(kept) for name, kept in value.kept.items()}
            return other
        case FunctionType() if lookup(value) is None:
            return _runnable(value)
        case Function():
            return value
    try:
        if value in _ROUNDING:
            return _rounded(_ROUNDING[value])
    except TypeError:  # not hashable
        return value
    found = None if isinstance(value, type | str) else lookup(value)
    if found in (table.minimum, table.maximum):
        return lambda *args: reduce(found, args)
    return value if found is None else found


def _rounded(rounding: Callable[..., object]) -> Callable[[object], int]:
    """A Python integer from a number; one that is too large is the greatest, and NaN is 0."""

    def to_integer(x: object) -> int:
        value: int = converter("int64")(rounding(x)).item()  # type: ignore[attr-defined]
        return value

    return to_integer
