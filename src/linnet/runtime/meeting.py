"""How many values of operands meet at the outermost index of their loops: counted, not guessed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linnet import loops
from linnet.formats.contents import Contents
from linnet.normalize.choice import Choice
from linnet.runtime.sampling import operands_of


def meeting(choice: Choice, held: Mapping[str, Contents]) -> float | None:
    """The number of updates by a product of matrices that all have pointers at the first index.

    `sum(len(A[:, k]) * len(B[k, :]))`, where their other indices are apart; None for all others.
    """
    found = operands_of(choice.value, dict(choice.fills))
    if not found or choice.outer or not choice.path:
        return None
    inside, updates = list[str](), np.ones(1)
    for access in found:
        contents = held.get(str(access.tensor))
        names = [i.name for i in access.indices if isinstance(i, loops.Index)]
        if contents is None or len(names) != 2 or contents.format.ndim != 2:
            return None
        if len(contents.format.levels) != 3:  # both dimensions have one of their own
            return None
        first, second = (names[m] for m in contents.format.order)
        ptr = contents.levels()[1].get("ptr")
        if first != choice.path[0] or not contents.format.levels[0].full or ptr is None:
            return None
        if len(updates) not in (1, len(ptr) - 1):  # refused when it is called
            return None
        inside.append(second)
        updates = updates * np.diff(ptr)
    apart = sorted(inside) == sorted(choice.path[1:])
    return float(updates.sum()) if apart else None
