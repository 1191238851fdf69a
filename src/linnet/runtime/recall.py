"""Operations that have been done before, by this process or another, as one call of a kernel.

The first call of an operation on tensors of certain formats goes the general way, and is watched:
if it comes to one kernel, that is `Ready` for the next call, and its recipe is kept in the disk
cache for the next process, which then imports nothing of the compiler.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from linnet import backend
from linnet.errors import CacheError
from linnet.formats.contents import Contents, Signature
from linnet.formats.tensor import Tensor
from linnet.options import Options, current
from linnet.runtime.memory import Memory
from linnet.runtime.ready import Ready, Recipe, Slots
from linnet.runtime.watch import watch


class _Never:
    """What is no single call of a kernel, and takes the general way every time."""

    def run(self, given: Sequence[Slots], held: Sequence[Contents]) -> Tensor | None:
        return None


KNOWN: Memory[tuple[object, ...], Ready | _Never] = Memory()
"""By operation, options, and what else the way of doing it depends on."""
_NEVER = _Never()


def recalled(key: tuple[object, ...]) -> Ready | None:
    """What another process has found for an operation, which is known from now on."""
    ready = _load(key, current())
    return None if ready is None else KNOWN.put(key, ready)  # type: ignore[return-value]


def learned(
    key: tuple[object, ...],
    args: Sequence[Tensor],
    general: Callable[..., Any],
    given: Sequence[object],
) -> Any:
    """What the general way gives; how it got there is remembered."""
    with watch() as seen:
        found = general(*given)
    recipe = None
    if len(seen) == 1 and type(found) is Tensor:
        recipe = import_module("linnet.runtime.learning").recipe_of(*seen[0], args, found)
    if recipe is None:
        KNOWN.put(key, _NEVER)
        return found
    entry = seen[0][0]
    KNOWN.put(key, Ready(recipe, entry.call))
    _store(key, current(), recipe, entry.key)
    return found


# -- the disk cache --------------------------------------------------------------------------------


def _text(key: tuple[object, ...]) -> str:
    """The key as another process would write it; options are told elsewhere."""
    name, _, *parts = key
    return f"operation {name} {' | '.join(map(_told, parts))}"


def _told(part: object) -> str:
    if not isinstance(part, Signature):
        return repr(part)
    stamps = [level.stamp for level in part.format.levels if level.stamp]
    return f"{part.format.name} {part!r} {part.wide} {stamps}"


def _load(key: tuple[object, ...], options: Options) -> Ready | None:
    try:
        data = backend.stored(_text(key), options)
    except CacheError:  # which the general way tells
        return None
    if data is None:
        return None
    try:  # nobody else can write there: machine code is loaded from it, too
        recipe, symbol, code = pickle.loads(data)
        if not isinstance(recipe, Recipe):
            return None
        return Ready(recipe, backend.link(code, symbol, options))
    except Exception:  # an entry that is not as we write it: the general way replaces it
        return None


def _store(key: tuple[object, ...], options: Options, recipe: Recipe, machine_key: str) -> None:
    """Keep a recipe with its machine code, if that is kept at all."""
    with suppress(CacheError):  # it was there a moment ago
        found = backend.machine_code(machine_key, options)
        data = None if found is None else _pickled((recipe, *found))
        if data is not None:
            backend.store(_text(key), options, data)


def _pickled(entry: tuple[Recipe, str, bytes]) -> bytes | None:
    """An entry as bytes; None if it has levels of a user that no other process can import."""
    try:
        return pickle.dumps(entry)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
