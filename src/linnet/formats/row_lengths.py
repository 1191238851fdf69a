"""How long the rows of a tensor are: alike, or so uneven that nobody foresees where one ends.

Kernels that add up rows have other code for those (`optimize.uneven_rows`). What is told of a
tensor depends on what it stores alone, and is remembered with that.
"""

from __future__ import annotations

from functools import lru_cache
from sys import _getframe
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.formats.contents import Contents, hold, let_go
from linnet.formats.format import Format
from linnet.records import NamedTuple

EVEN, UNEVEN = "even", "uneven"
MANY = 28 << 10  # rows: the ends of fewer are learned by heart, if they are come by again and again
_SHORT = 12  # entries of a row in the mean: of longer ones, the end matters less
_LOOKS, _ROWS = 16, 32  # how often so many rows are looked at, all over the tensor
_LATER = 1, 2, 4  # rows after which a length may come again, so that it is foreseen
_OTHER = 0.43  # of all rows must have another length than that
_ONLY = 0.33  # of all rows must have only another length, and no other number of vectors
_BITS = 3  # of the number of entries in a vector


class Rows(NamedTuple):
    """An operand whose rows are added up, one after the other."""

    name: str


def kind_of_rows(contents: Contents) -> str:
    """Whether rows, which are fibers of the innermost list, are even or uneven."""
    found = contents._rows
    if found is None:
        found = _looked_at(contents)
        if found is None:  # another thread writes to them
            return EVEN
        contents._rows = found
    return found


def _looked_at(contents: Contents) -> str | None:
    """The kind, by some rows here and there; None if they cannot be read now."""
    number = pointers_of(contents.format)
    if number is None:
        return EVEN
    at = len(contents.shape) + 3 * number
    address, _, length = contents.slots[at : at + 3]
    if length <= MANY:
        return EVEN
    dtypes = [dtype for level in contents.signature.dtypes for dtype in level]
    held: list[Contents | None] = []
    try:
        if not hold([contents], held, _getframe()):
            return None
        ptr = np.asarray(_Peek(address, length, np.dtype(dtypes[number])))
        return UNEVEN if _is_uneven(ptr) else EVEN
    finally:
        let_go(held, _getframe())


def _is_uneven(ptr: NDArray[Any]) -> bool:
    """Whether rows are short, and most have another length than those soon after them.

    Where that takes another number of vectors, too, nothing is won: nobody foresees that, either.
    """
    if int(ptr[-1]) - int(ptr[0]) > _SHORT * (len(ptr) - 1):
        return False
    count = _ROWS + max(_LATER)
    steps = np.arange(_LOOKS) * (len(ptr) - 1 - count) // (_LOOKS - 1)
    lengths = np.diff(ptr[steps[:, None] + np.arange(count + 1)])
    vectors = np.maximum(lengths - 1, 0) >> _BITS  # but for the last, which is there anyway
    for later in _LATER:
        other = lengths[:, later : later + _ROWS] != lengths[:, :_ROWS]
        if np.count_nonzero(other) < _OTHER * other.size:
            return False
        only = other & (vectors[:, later : later + _ROWS] == vectors[:, :_ROWS])
        if np.count_nonzero(only) < _ONLY * only.size:
            return False
    return True


class _Peek:
    """Memory as NumPy reads it, while somebody sees to it that it stays."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, length: int, dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "data": (address, True),
            "shape": (length,),
            "typestr": dtype.str,
            "version": 3,
        }


@lru_cache(maxsize=1024)
def pointers_of(format: Format) -> int | None:
    """The number of the array that says where rows begin; None if there are no rows in lists."""
    if format.ndim < 2 or not is_listed(format):
        return None
    return sum(len(level.arrays) for level in format.levels[:-2])


def is_listed(format: Format) -> bool:
    """Whether what lies along the last dimension is a list of entries."""
    roles = [array.role for array in format.levels[-2].arrays] if len(format.levels) > 1 else []
    return roles == ["position", "coordinate"]
