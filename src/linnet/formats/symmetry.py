"""Is what is to be stored as one half of a matrix symmetric? Fast checks that name a place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linnet.errors import FormatError, ShapeError
from linnet.formats.packing import Fibers, Ints
from linnet.formats.stretches import bits


def side(dims: Sequence[int]) -> int:
    """The number of rows, and of columns."""
    if dims[0] != dims[1]:
        raise ShapeError(
            f"a symmetric matrix is square, and this one has {dims[0]} rows and {dims[1]} columns"
        )
    return int(dims[0])


def check_symmetric(fibers: Fibers, i: Ints, j: Ints) -> None:
    """What lies above the diagonal is the same as what lies below."""
    below, above = np.flatnonzero(j < i), np.flatnonzero(j > i)
    below = below[np.lexsort((*_keys(fibers, below), j[below], i[below], fibers.at[below]))]
    above = above[np.lexsort((*_keys(fibers, above), i[above], j[above], fibers.at[above]))]
    count = min(len(below), len(above))
    a, b = below[:count], above[:count]
    same = (fibers.at[a] == fibers.at[b]) & (i[a] == j[b]) & (j[a] == i[b])
    for array in map(bits, fibers.content):
        alike = array[a] == array[b]
        same &= alike.all(axis=1) if alike.ndim > 1 else alike
    wrong = np.flatnonzero(~same)
    if len(wrong) or len(below) != len(above):
        k = int(wrong[0]) if len(wrong) else count
        q = min((x[k] for x in (below, above) if k < len(x)), key=lambda x: (max(i[x], j[x]), x))
        raise FormatError(
            f"the matrix is not symmetric: the elements at [{i[q]}, {j[q]}] and [{j[q]}, {i[q]}] "
            "differ",
            hint="use CSR, or store one triangle as TRIANGULAR",
        )


def _keys(fibers: Fibers, entries: Ints) -> tuple[Ints, ...]:
    """Coordinates of the levels below, to sort by: the last of the contents are values."""
    return tuple(c[entries] for c in reversed(fibers.content[:-1]))
