"""Does a loop write a result at every index, also where it reads beyond the bounds of an operand?

Then the result need not be cleared first: parts of the loop beside the bounds are loops of their
own, and together they visit every index once.
"""

from __future__ import annotations

from itertools import product

from linnet import loops
from linnet.formats.fiber import Storage
from linnet.formats.looplets import Lookup, Looplet, Missing, Run, Sequence, Switch
from linnet.lower.context import Context, Cursor, as_value, resolve, surely_writes

_MANY = 4  # operands that may be missing, each alone or with others


def is_everywhere(looplet: Looplet) -> bool:
    """Whether a fiber has something at every index, so that the loop is one loop without cases."""
    return isinstance(looplet, Lookup) and not isinstance(looplet.body, Switch)


def missing_in(looplet: Looplet) -> Missing | None:
    """What is read beside a fiber that has something at every index within its bounds."""
    if not isinstance(looplet, Sequence):
        return None
    beside = [p.body.body for p in looplet.phases
              if isinstance(p.body, Run) and isinstance(p.body.body, Missing)]  # fmt: skip
    inside = [p.body for p in looplet.phases if not isinstance(p.body, Run)]
    return beside[0] if beside and all(map(is_everywhere, inside)) else None


def visits_all_indices(
    ctx: Context,
    body: loops.Stmt,
    index: str,
    looplets: dict[Cursor, Looplet],
    storage: Storage | None,
) -> bool:
    """Whether the loop writes to a tensor at every index, whichever operands are missing there."""
    beside = {c: m for c, x in looplets.items() if (m := missing_in(x)) is not None}
    if not all(c in beside or is_everywhere(x) for c, x in looplets.items()):
        return False
    if not beside:
        return True
    if storage is None or len(beside) > _MANY:
        return False
    for chosen in product((False, True), repeat=len(beside)):
        gone = {c: m for (c, m), is_gone in zip(beside.items(), chosen, strict=True) if is_gone}
        values = {c: as_value(c, m) for c, m in gone.items()}
        if not surely_writes(ctx.simplify(resolve(body, index, values)), storage):
            return False
    return True
