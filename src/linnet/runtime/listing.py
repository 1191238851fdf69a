"""Between fibers and coordinates of every entry, in one order: CSR and COO, both ways.

The innermost coordinates and the values are the same arrays in both, and stay where they are. Only
which fiber an entry belongs to is told otherwise: by pointers, or by a number for each entry.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from typing import Any

import numpy as np

from linnet.formats.buffers import Buffer, allocate
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.formats.packing import index_dtype
from linnet.formats.spare import SPARE
from linnet.formats.tensor import Tensor
from linnet.formats.verify import verify
from linnet.runtime.routine import Routine


def relisting(held: Format, format: Format) -> Callable[[Tensor, Format], Tensor] | None:
    """What lists the entries otherwise; None if these are no two such formats."""
    if held.order != format.order or held.ndim < 2 or repr(held.leaf) != repr(format.leaf):
        return None
    if _is_list(format.levels[0], format.ndim) and _is_stack(held):
        return _expanded
    if _is_list(held.levels[0], held.ndim) and format.ndim == 2 and _is_stack(format):
        return _compressed if format.levels[0].full else None
    return None


def _is_list(level: Level, width: int) -> bool:
    """Whether a level lists the coordinates of every entry, in as many dimensions."""
    roles = tuple([array.role for array in level.arrays])
    one_by_one = level.strided or width > 1
    return level.width == width and roles == ("position", *["coordinate"] * width) and one_by_one


def _is_stack(format: Format) -> bool:
    """Whether a format is of lists of lists; the outermost level may be one for each index."""
    first, *rest = format.levels[:-1]
    outermost = first.full and not first.arrays
    return (outermost or _is_list(first, 1)) and all(_is_list(level, 1) for level in rest)


def _expanded(tensor: Tensor, format: Format) -> Tensor:
    """From fibers to the coordinates of every entry."""
    contents = tensor.shared()
    buffers, count = list(contents.buffers), contents.shape[format.order[0]]
    values = [buffers.pop()] if format.leaf.arrays else []
    found: list[Buffer] = []
    for ptr, idx in zip(buffers[::2], buffers[1::2], strict=True):
        stored = _listed(ptr, idx)
        if not found and contents.format.levels[0].full:
            found = [_numbered(ptr, count, stored)]
        else:
            found = [_spread(ptr, above, stored) for above in found]
        dim = contents.shape[format.order[len(found)]]
        found.append(_narrowed(_first(idx, stored), dim))
    ends = Buffer.borrow(np.array([0, stored], index_dtype(stored)))
    values = [_first(v, stored) for v in values]
    return _verified(Tensor(format, contents.shape, (ends, *found, *values)))


def _compressed(tensor: Tensor, format: Format) -> Tensor:
    """From the coordinates of every entry to fibers, one for each index."""
    contents = tensor.shared()
    _, outer, inner, *values = contents.buffers
    count, dim = [contents.shape[mode] for mode in format.order]
    ptr = _room(index_dtype(outer.length), count + 1)
    _begin(outer.array, outer.length, ptr.array, count)
    return _verified(Tensor(format, contents.shape, (ptr, _narrowed(inner, dim), *values)))


def _verified(made: Tensor) -> Tensor:
    verify(made.contents())
    return made


def _listed(ptr: Buffer, idx: Buffer) -> int:
    """How many entries fibers have: SciPy shortens lists where they are, which we may share."""
    return min(max(int(ptr.array[-1]), 0), idx.length)


def _first(buffer: Buffer, count: int) -> Buffer:
    """So many elements of an array, where they are."""
    return buffer if buffer.length == count else Buffer.borrow(buffer.array[:count])


def _narrowed(idx: Buffer, dim: int) -> Buffer:
    """Indices of a dimension; those that are wider than they need to be become narrow."""
    narrow = np.dtype(index_dtype(dim))
    return idx if idx.dtype.itemsize <= narrow.itemsize else Buffer.borrow(idx.array.astype(narrow))


def _numbered(ptr: Buffer, count: int, stored: int) -> Buffer:
    """For each entry, the number of its fiber."""
    found = _room(index_dtype(count), stored)
    _number(ptr.array, count, found.array)
    return found


def _spread(ptr: Buffer, above: Buffer, stored: int) -> Buffer:
    """For each entry, what is known of its fiber."""
    found = _room(above.dtype, stored)
    _repeat(ptr.array, above.length, above.array, found.array)
    return found


def _room(dtype: str | np.dtype[Any], length: int) -> Buffer:
    """Memory that another result has left, or new memory."""
    kind = np.dtype(dtype)
    address, nbytes = SPARE.take(length * kind.itemsize)
    if not address:
        return allocate(kind, length)
    return Buffer.native(address, nbytes // kind.itemsize, length, kind)


# -- codelets --------------------------------------------------------------------------------------


def number_entries(ptr: Sequence[int], count: int, fibers: MutableSequence[int]) -> None:
    """The number of its fiber, for each entry."""
    for p in range(count):
        for q in range(ptr[p], ptr[p + 1]):
            fibers[q] = p


def repeat_entries(
    ptr: Sequence[int], count: int, above: Sequence[int], found: MutableSequence[int]
) -> None:
    """What is known of its fiber, for each entry."""
    for p in range(count):
        for q in range(ptr[p], ptr[p + 1]):
            found[q] = above[p]


def begin_fibers(fibers: Sequence[int], stored: int, ptr: MutableSequence[int], count: int) -> None:
    """Where each fiber begins, of entries whose fibers are numbered in order."""
    for p in range(count + 1):
        ptr[p] = 0
    lowest, highest = 0, -1
    for q in range(stored):
        lowest = min(lowest, fibers[q])
        highest = max(highest, fibers[q])
    if lowest >= 0 and highest < count:  # else the array was changed, and all fibers are empty
        for q in range(stored):  # the last entry of a fiber tells its end: nothing to mispredict
            ptr[fibers[q] + 1] = q + 1
    end = 0
    for p in range(count + 1):  # a fiber without entries ends where the one before it does
        end = max(end, ptr[p])
        ptr[p] = end


_number, _repeat, _begin = map(Routine, (number_entries, repeat_entries, begin_fibers))
