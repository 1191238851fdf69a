"""Functions of tensors that do nothing but call kernels, by the shortest way: `operation`.

For them, the key has all that may tell which kernels are called, and with what numbers: formats,
sizes, roughly how much is stored (`measure`), and arguments that are no arrays, as text. Whoever
gives a function to `operation` says that nothing else does: no value that an operand holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from linnet.formats.contents import Contents, Signature
from linnet.formats.format import Format
from linnet.formats.from_numpy import as_it_lies, share
from linnet.formats.located import bordered
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.runtime.measure import measure
from linnet.runtime.memory import Memory
from linnet.runtime.recall import KNOWN, learned, recalled

P = ParamSpec("P")
R = TypeVar("R")
Key = tuple[object, ...]

_PLAIN = frozenset((bool, int, float, str, type(None)))
_SIZES = 8  # for so many different sizes and arguments a process remembers how it is done
_TRIED: Memory[Key, list[Key]] = Memory()


def by_kernels(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, of which `operation` remembers how it is done."""
    name = function.__qualname__

    @bordered
    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> R:
        return operation(function, name, args, named)  # type: ignore[no-any-return]

    return call


def operation(
    general: Callable[..., Any], name: str, args: Sequence[object], named: Mapping[str, object]
) -> Any:
    """What a function gives for these arguments."""
    told: list[object] = []
    arrays: list[Tensor] = []
    held: list[Contents] = []
    words = sorted(named) if named else ()
    values = (*args, *[named[word] for word in words]) if words else args
    given = [_described(x, told, arrays, held) for x in values]
    if not arrays or _UNKNOWN in told:
        return general(*args, **named)
    key = (name, id(current().code), len(args), *words, *told)
    if len(held) > 1:
        key = (*key, *[held.index(p) for p in held])
    ready = KNOWN.get(key)
    if ready is None and _is_rare(key, held):
        ready = recalled(key)
        if ready is None:
            run = partial(general, *given[: len(args)])
            run.keywords.update(zip(words, given[len(args) :], strict=True))
            return learned(key, arrays, run, (), sized=True)
    if ready is not None:
        found = ready.run([p._slots or p.slots for p in held], [p for p in held if not p._shared])
        if found is not None:
            return found
    return general(*args, **named)


class _Unknown:
    """In a key, an argument of which nothing is known."""


_UNKNOWN = _Unknown()


def _described(
    value: object, told: list[object], arrays: list[Tensor], held: list[Contents]
) -> object:
    """An argument as a function is given it; what a key says of it is added to `told`."""
    if type(value) is np.ndarray and as_it_lies(value.dtype, value.ndim) is not None:
        value = share(value)
    if type(value) is Tensor and (p := value._contents) is not None:
        told += (p._signature or p.signature, p._measure or measure(p), p.shape)
        arrays.append(value)
        held.append(p)
    elif type(value) is Format:
        told += (Signature.of(value), value.name)
    elif type(value) in _PLAIN or (type(value) is tuple and {*map(type, value)} <= _PLAIN):
        told.append(repr(value))
    else:
        told.append(_UNKNOWN)
    return value


def _is_rare(key: Key, held: Sequence[Contents]) -> bool:
    """Whether few keys differ from this one in sizes alone: the disk is not filled with them."""
    kind = (key[0], key[1], *[p.signature for p in held])
    tried = _TRIED.get(kind) or _TRIED.put(kind, [])
    if len(tried) < _SIZES:
        tried.append(key)
        return True
    return False
