"""How many values of operands meet at an index of their loops: counted, not guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linnet import loops
from linnet.formats.contents import Contents
from linnet.normalize.choice import Choice
from linnet.runtime.sampling import operands_of

_MANY = 20_000  # values whose rows are not looked at one by one: a sample tells more of them


def meeting(choice: Choice, held: Mapping[str, Contents]) -> float | None:
    """The number of updates by a product of matrices that have pointers where they meet.

    `sum(len(A[:, k]) * len(B[k, :]))`, where their other indices are apart, and by rows
    `sum(len(B[k, :]) for k in A)`, for a row; None for all others.
    """
    found = operands_of(choice.value, dict(choice.fills))
    if not found or not choice.path:
        return None
    return _by_rows(choice, found, held) if choice.outer else _by_columns(choice, found, held)


def _by_rows(
    choice: Choice, found: Sequence[loops.Access], held: Mapping[str, Contents]
) -> float | None:
    """The updates of a row: each of its values meets a row of the other operand."""
    paths = [_stored_by(access, held) for access in found]
    if len(choice.path) != 3 or paths != [choice.path[:2], choice.path[1:]]:
        return None
    first, second = (held[str(access.tensor)].levels() for access in found)
    idx, ptr, own = first[1].get("idx"), second[1].get("ptr"), first[1].get("ptr")
    if idx is None or ptr is None or own is None or len(idx) > _MANY:
        return None
    lengths = np.diff(ptr)
    if len(idx) and int(idx.max()) >= len(lengths):  # refused when it is called
        return None
    return float(lengths[idx].sum()) / max(len(own) - 1, 1)


def _stored_by(access: loops.Access, held: Mapping[str, Contents]) -> tuple[str, ...] | None:
    """The indices of a matrix that has pointers for all of its rows, as they are stored."""
    contents = held.get(str(access.tensor))
    names = [i.name for i in access.indices if isinstance(i, loops.Index)]
    if contents is None or len(names) != 2 or contents.format.ndim != 2:
        return None
    levels = contents.format.levels
    if len(levels) != 3 or not levels[0].full:  # both dimensions have one of their own
        return None
    return tuple(names[m] for m in contents.format.order)


def _by_columns(
    choice: Choice, found: Sequence[loops.Access], held: Mapping[str, Contents]
) -> float | None:
    """All updates: what the operands store at each of the outermost indices meets."""
    inside, updates = list[str](), np.ones(1)
    for access in found:
        stored = _stored_by(access, held)
        ptr = held[str(access.tensor)].levels()[1].get("ptr") if stored else None
        if stored is None or stored[0] != choice.path[0] or ptr is None:
            return None
        if len(updates) not in (1, len(ptr) - 1):  # refused when it is called
            return None
        inside.append(stored[1])
        updates = updates * np.diff(ptr)
    apart = sorted(inside) == sorted(choice.path[1:])
    return float(updates.sum()) if apart else None
