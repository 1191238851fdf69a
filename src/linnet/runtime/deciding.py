"""Which kind of workspace the operands of a call want: by their sizes, and by a look at them."""

from __future__ import annotations

from collections.abc import Mapping

from linnet.formats.contents import Contents
from linnet.normalize.choice import Choice, Chosen, Unpacking, choose
from linnet.runtime.meeting import meeting
from linnet.runtime.sampling import is_uneven, sample

MANY = 200_000  # stored values from which on a look at them takes little of the time
SOME = 20_000  # the same, if it is likely to tell something


def decide(choice: Choice | Unpacking, held: Mapping[str, Contents]) -> Chosen:
    """The kind for these operands, by name."""
    shapes = {name: contents.shape for name, contents in held.items()}
    counts = {name: contents.nnz for name, contents in held.items()}
    stored = sum(counts.values())
    if isinstance(choice, Unpacking):
        return choose(choice, shapes, counts)
    try:
        look = stored >= MANY or (stored >= SOME and any(is_uneven(c) for c in held.values()))
        seen, counted = sample(choice, held) if look else None, meeting(choice, held)
    except MemoryError:  # sizes tell something, too; perhaps the call itself takes less
        seen, counted = None, None
    return choose(choice, shapes, counts, seen, counted=counted)
