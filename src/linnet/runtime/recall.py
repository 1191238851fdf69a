"""Operations that have been done before, by this process or another, as one call of a kernel.

The first call of an operation on tensors of certain formats goes the general way, and is watched:
if it comes to one kernel, that is `Ready` for the next call, and its recipe is kept in the disk
cache for the next process, which then imports nothing of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from linnet.formats.contents import Contents, Signature
from linnet.formats.tensor import Tensor
from linnet.options import current
from linnet.runtime import kept
from linnet.runtime.memory import Memory
from linnet.runtime.ready import Ready, Recipe, Slots
from linnet.runtime.watch import Seen, watch


class _Never:
    """What is no single call of a kernel, and takes the general way every time."""

    def run(self, given: Sequence[Slots], held: Sequence[Contents]) -> Tensor | None:
        return None


KNOWN: Memory[tuple[object, ...], Ready | _Never] = Memory()
"""By operation, options, and what else the way of doing it depends on."""
_NEVER = _Never()


def recalled(key: tuple[object, ...]) -> Ready | None:
    """What another process has found for an operation, which is known from now on."""
    found = kept.load(_text(key), current(), Recipe)
    return None if found is None else KNOWN.put(key, Ready(*found))  # type: ignore[return-value]


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
    return known_as(key, recipe, seen, found)


def known_as(key: tuple[object, ...], recipe: Recipe | None, seen: Seen, found: Any) -> Any:
    """Remember how an operation came to what was found, by the kernel that was seen."""
    if recipe is None:
        KNOWN.put(key, _NEVER)
        return found
    entry = seen[0][0]
    KNOWN.put(key, Ready(recipe, entry.call))
    kept.store(_text(key), current(), recipe, entry.key)
    return found


def _text(key: tuple[object, ...]) -> str:
    """The key as another process would write it; options are told elsewhere."""
    name, _, *parts = key
    told = [kept.told(part) if isinstance(part, Signature) else repr(part) for part in parts]
    return f"operation {name} {' | '.join(told)}"
