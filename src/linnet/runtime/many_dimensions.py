"""Is a kernel one that compiles for seconds, since its tensors have dozens of dimensions?

Every level becomes a loop inside those of the others, and optimizing takes longer with each: of 31
levels some two seconds, of 48 more than forty. Lists of coordinates are one level, whatever their
dimensions: to walk one is no matter, to merge three of 31 dimensions takes four seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

from linnet import loops
from linnet.errors import FormatError
from linnet.formats.format import Format

MOST_LEVELS = 32  # of one tensor
MOST_DIMENSIONS = 96  # of all together


def check_dimensions(program: loops.Program, formats: Mapping[str, Format]) -> None:
    """Refuse a kernel at once that would be compiled for more than some three seconds."""
    levels = max((len(f.levels) - 1 for f in formats.values()), default=0)
    total = sum(f.ndim for f in formats.values())
    if levels <= MOST_LEVELS and total <= MOST_DIMENSIONS:
        return
    wide = max(formats, key=lambda name: formats[name].ndim)
    raise FormatError(
        f"`{program.name}` is of too many dimensions: `{wide}` has {formats[wide].ndim}",
        at=program.at,
        why=f"a kernel of tensors with more than {MOST_LEVELS} levels, or {MOST_DIMENSIONS} "
        "dimensions together, is compiled for very long",
        hint="reshape the arrays: dimensions that stay side by side may be one",
    )
