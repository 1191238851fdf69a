"""What results are stored in, and how coordinates become a tensor of such a format.

`alike` is the rule: a result keeps the kind of format that it came in, whatever its dimensions.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number, as_python
from linnet.algebra.table import last
from linnet.errors import FormatError, OutOfMemoryError, ShapeError
from linnet.formats.assemble import enough_memory, pack, unpack, wrap
from linnet.formats.coordinates import sort_unique
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.format import Format
from linnet.formats.from_numpy import from_numpy
from linnet.formats.level import Level
from linnet.formats.named import recognize
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST, check_shape

Ints: TypeAlias = NDArray[Any]

_PLACES = 2**59  # so many elements of 16 bytes have addresses
DENSE_LIMIT = 1 << 27
"""Elements up to which a sparse operand may become dense where a function has no other result."""

_OPEN = Element()


@lru_cache(maxsize=1024)
def is_dense(format: Format) -> bool:
    """Whether every element is stored."""
    return format.dense


@lru_cache(maxsize=1024)
def is_plain(format: Format) -> bool:
    """Whether a format is made of `Dense` and `SparseList` levels over a leaf of values."""
    levels = format.levels[:-1]
    return bool(format.leaf.arrays) and all(type(level) in (Dense, SparseList) for level in levels)


# -- formats ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def alike(format: Format, ndim: int) -> Format:
    """The format of the same kind for `ndim` dimensions, in which any pattern can be stored."""
    format = format.written if format.leaf.unstored else format
    inner, order = format.levels[:-1], tuple(range(ndim))
    if ndim == 0:
        return typed(Format((_OPEN,), ()), format.dtype, format.fill_value)
    if not inner or is_dense(format):
        return recognize(Format((*[Dense(_OPEN)] * ndim, format.leaf), order))
    if any(level.width > 1 or isinstance(level, SparseCOO) for level in inner):
        levels: list[Level] = [SparseCOO(ndim, _OPEN)]
    else:
        levels = _resized([SparseList(_OPEN) if level.limit else level for level in inner], ndim)
    return recognize(Format((*levels, format.leaf), format.order if ndim == format.ndim else order))


def reshaped_alike(x: Tensor, shape: tuple[int, ...]) -> Format:
    """The same for its elements in another shape: lists, if rows stored as a whole would change."""
    contents = x.contents()
    found, whole = alike(contents.format, len(shape)), _whole(contents.format, len(shape))
    if not whole or shape[-whole:] == contents.shape[-whole:]:
        return found
    return recognize(Format((*[SparseList(_OPEN)] * len(shape), found.leaf), found.order))


@lru_cache(maxsize=1024)
def _whole(format: Format, ndim: int) -> int:
    """How many dimensions are stored as a whole below lists, if there are any in that format."""
    kept = alike(format, ndim).levels[:-1]
    if is_dense(format) or not is_plain(format):
        return 0
    return next((k for k, level in enumerate(reversed(kept)) if not level.full), len(kept))


def _resized(levels: list[Level], ndim: int) -> list[Level]:
    """As many levels: inner ones are kept; new outer ones are lists unless all is stored."""
    if ndim <= len(levels):
        return levels[len(levels) - ndim :]
    if not all(level.full or level.covers for level in levels):
        levels = [SparseList(_OPEN) if level.full else level for level in levels]
        return [SparseList(_OPEN)] * (ndim - len(levels)) + levels
    return [Dense(_OPEN)] * (ndim - len(levels)) + levels


def typed(format: Format, dtype: str | None, fill: Number | None) -> Format:
    """The format with another dtype and fill value."""
    leaf = format.leaf
    if dtype is not None and fill is not None:
        fill = as_python(fill, dtype)
    if isinstance(leaf, Pattern) and dtype == "bool" and not fill:
        return format
    cls = Element if isinstance(leaf, Pattern) else type(leaf)
    changed = cls(fill, dtype)  # type: ignore[call-arg]
    return Format((*format.levels[:-1], changed), format.order, format.name)


def unpatterned(format: Format) -> Format:
    """The format with a boolean value at every place where a pattern keeps none."""
    if format.leaf.arrays:
        return format
    return Format((*format.levels[:-1], Element(False, "bool")), format.order)


# -- what is stored --------------------------------------------------------------------------------


def entries(x: Tensor) -> tuple[list[Ints], NDArray[Any]]:
    """Coordinates by dimension, as 64-bit integers, and values, in storage order."""
    with enough_memory():
        coordinates, values = unpack(x)
        return [idx.astype(np.int64, copy=False) for idx in coordinates], values


def values_of(x: Tensor) -> NDArray[Any]:
    """What is stored, in storage order."""
    contents = x.shared()
    levels = contents.format.levels[:-1]
    plain = contents.format.leaf.arrays and all(
        type(level) in (Dense, SparseList, SparseCOO) for level in levels
    )
    return contents.arrays()[-1].reshape(-1) if plain else unpack(x)[1]


def sorted_entries(x: Tensor) -> tuple[list[Ints], NDArray[Any]]:
    """The same, sorted as an array of NumPy is: the last dimension varies fastest."""
    coordinates, values = entries(x)
    if x.contents().format.order == tuple(range(x.ndim)):
        return coordinates, values
    return sort_unique(coordinates, x.contents().shape, values, last)


def build(
    coordinates: Sequence[Ints], values: NDArray[Any], shape: tuple[int, ...], format: Format
) -> Tensor:
    """A tensor from coordinates that are in range and unique, in any order."""
    assert format.dtype is not None
    with enough_memory():
        values = np.ascontiguousarray(values, format.dtype)
        in_order = [coordinates[mode] for mode in format.order]
        dims = [shape[mode] for mode in format.order]
        in_order, values = sort_unique(in_order, dims, values, last)
        by_mode = [in_order[format.order.index(mode)] for mode in range(len(shape))]
    return pack(by_mode, values, shape, format)


def nothing(shape: tuple[int, ...], format: Format) -> Tensor:
    """A tensor that stores nothing, if its format allows: all of it is the fill value."""
    if is_dense(format):
        refuse_large(math.prod(shape), "an array of this shape")
        return from_numpy(np.full(shape, format.fill_value, format.dtype), None, format, None, None)
    none: Ints = np.zeros(0, np.int64)
    return build([none] * len(shape), np.zeros(0, format.dtype), shape, format)


def with_values(x: Tensor, values: NDArray[Any], fill: Number) -> Tensor:
    """The same positions with other values: index arrays are shared."""
    contents = x.shared()
    format = typed(contents.format, str(values.dtype), fill)
    return wrap(format, contents.shape, (*contents.arrays()[:-1], values))


def dense(array: NDArray[Any]) -> Tensor:
    """A dense tensor of an array of NumPy."""
    return from_numpy(np.asarray(array), None, None, None, None)


def stored_as(array: NDArray[Any], format: Format, fill: Number) -> Tensor:
    """A result that was computed densely, in the format of its operand."""
    kept = typed(alike(format, array.ndim), str(array.dtype), fill)
    return from_numpy(np.asarray(array), None, kept, None, None)


def refuse_large(size: int, what: str) -> None:
    """Stop before something large becomes dense."""
    if size > DENSE_LIMIT:
        raise FormatError(
            f"{what} would be dense, with {size} elements",
            why=f"nothing sparse becomes dense on its own beyond {DENSE_LIMIT} elements",
            hint="say so with .to(ln.DENSE) first, or reduce the array first",
        )


def countable(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape of which every element can have a place.

    Beyond it, sizes overflow inside NumPy, or the system lends memory that it does not have, and
    ends the process that uses it.
    """
    if math.prod(check_shape(shape)) > min(_PLACES, _most_bytes()):
        raise OutOfMemoryError(
            f"an array of shape {shape} does not fit any memory",
            why=f"it has {math.prod(shape)} elements",
        )
    return shape


@lru_cache(maxsize=1)
def _most_bytes() -> int:
    """Four times the memory of the machine: the disk may hold what does not fit."""
    try:
        return 4 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows, which lends what it has
        return _PLACES


def densely(x: Tensor, what: str) -> NDArray[Any]:
    """The elements as an array of NumPy, for a function whose result is dense anyway."""
    if not is_dense(x.contents().format):
        refuse_large(x.size, what)
    return x.to_numpy()


# -- coordinates as one number ---------------------------------------------------------------------


def flatten(coordinates: Sequence[Ints], shape: Sequence[int]) -> Ints:
    """The place of every element in row-major order."""
    if math.prod(shape) > LARGEST:
        raise ShapeError(f"an array of shape {tuple(shape)} has more elements than 63 bits count")
    if not coordinates:
        return np.zeros(1, np.int64)
    key = np.zeros(len(coordinates[0]), np.int64)
    for idx, size in zip(coordinates, shape, strict=True):
        key *= size
        key += idx
    return key


def unflatten(key: Ints, shape: Sequence[int]) -> list[Ints]:
    """The coordinates of places in row-major order."""
    found: list[Ints] = []
    for size in reversed(shape):
        found.append(key % size if size else key)
        key = key // size if size else key
    return found[::-1]
