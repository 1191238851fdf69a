"""Which kind of workspace the operands of a call want: by their sizes, and by a look at them."""

from __future__ import annotations

from collections.abc import Mapping

from linnet.formats.contents import Contents
from linnet.normalize.choice import Choice, Chosen, Unpacking, choose
from linnet.runtime.sampling import sample

WORTH = 200_000  # stored values from which on a look at them takes little of the time


def decide(choice: Choice | Unpacking, held: Mapping[str, Contents]) -> Chosen:
    """The kind for these operands, by name."""
    shapes = {name: contents.shape for name, contents in held.items()}
    counts = {name: contents.nnz for name, contents in held.items()}
    if isinstance(choice, Unpacking) or sum(counts.values()) < WORTH:
        return choose(choice, shapes, counts)
    return choose(choice, shapes, counts, sample(choice, held))
