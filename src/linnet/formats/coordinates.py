"""Coordinates in any order, with duplicates: sorted, and combined by a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.errors import ArgumentError, DTypeError, ShapeError
from linnet.formats.given import as_indices, refuse_masked
from linnet.formats.validate import LARGEST, check_range, first_unsorted
from linnet.handed import Above
from linnet.options import limit

Ints: TypeAlias = NDArray[Any]
Combine: TypeAlias = Function | Callable[[Any, Any], Any] | str
_above = Above("formats")
KEY = 63  # bits of a key
MANY = 1 << 12  # entries: for so many it pays to compile a sort, or to load one that was


def as_coordinates(coords: object, shape: tuple[int, ...]) -> list[Ints]:
    """One array of coordinates for every dimension, each in range and all of one length."""
    refuse_masked(coords, "coords")
    ndim = len(shape)
    if ndim == 1 and isinstance(coords, (np.ndarray, Sequence)) and _is_flat(coords):
        coords = (coords,)
    if not isinstance(coords, (np.ndarray, Sequence)) or isinstance(coords, str):
        raise ArgumentError(f"coords is one array per dimension, not {type(coords).__name__}")
    if len(coords) != ndim:
        raise ShapeError(
            f"coords has {len(coords)} rows, and the shape {shape} has {ndim} dimensions",
            hint="coords[m] is the array of coordinates along dimension m",
        )
    arrays = [as_indices(row, f"coords[{mode}]") for mode, row in enumerate(coords)]
    for mode, row in enumerate(arrays):
        if len(row) != len(arrays[0]):
            raise ShapeError(f"coords[{mode}] has {len(row)} elements, coords[0] {len(arrays[0])}")
        check_range(row, shape[mode], f"coords[{mode}]")
    return arrays


def _is_flat(coords: np.ndarray[Any, Any] | Sequence[Any]) -> bool:
    """A plain list of numbers."""
    if isinstance(coords, np.ndarray):
        return coords.ndim == 1
    return len(coords) > 0 and np.ndim(coords[0]) == 0


def sort_unique(
    coordinates: list[Ints], dims: Sequence[int], values: NDArray[Any], op: Combine
) -> tuple[list[Ints], NDArray[Any]]:
    """Coordinates (outermost first), sorted; the values of equal ones are folded in given order.

    The list given may be empty afterwards: what nobody else has is freed early.
    """
    if not coordinates:
        coordinates, dims = [np.zeros(len(values), np.int32)], [1]
        return [], sort_unique(coordinates, dims, values, op)[1]
    coordinates, values, distinct = _sort(coordinates, dims, values, op)
    if distinct:
        return coordinates, values
    new = np.zeros(len(values), bool)
    new[0] = True
    for idx in coordinates:
        new[1:] |= idx[1:] != idx[:-1]
    if new.all():
        return coordinates, values
    first = np.flatnonzero(new)
    return [idx[first] for idx in coordinates], _combine(values, first, op)


def sort_stably(
    coordinates: list[Ints], dims: Sequence[int], values: NDArray[Any]
) -> tuple[list[Ints], NDArray[Any]]:
    """The same for entries that all stay: those at equal coordinates in given order."""
    in_order, held, _ = _sort(coordinates, dims, values, None)
    return in_order, held


def _sort(
    coordinates: list[Ints], dims: Sequence[int], values: NDArray[Any], op: Combine | None
) -> tuple[list[Ints], NDArray[Any], bool]:
    """The entries sorted, those at equal coordinates in given order; and whether none are known.

    Few are sorted by NumPy, which needs no code to be compiled.
    """
    if len(values) >= limit(MANY) and sum(key_bits(dims)) <= KEY:
        return _above.sort_entries(coordinates, dims, values, op)  # type: ignore[no-any-return]
    if first_unsorted(np.array([0, len(values)]), coordinates) is None:
        return list(coordinates), values, True
    order = _sorting(coordinates, dims)
    return [idx[order] for idx in coordinates], values[order], False


def key_bits(dims: Sequence[int]) -> list[int]:
    """How many bits each coordinate takes, of those that a key of all has."""
    return [max(0, dim - 1).bit_length() for dim in dims]


def _sorting(coordinates: Sequence[Ints], dims: Sequence[int]) -> Ints:
    """A stable permutation that sorts; by one key where all coordinates fit into 64 bits."""
    size = math.prod(dims)
    if size > LARGEST:
        return np.lexsort(tuple(reversed(coordinates)))
    key = coordinates[0].astype(np.int64)
    for idx, dim in zip(coordinates[1:], dims[1:], strict=True):
        key *= dim
        key += idx
    bits = len(key).bit_length()
    if size.bit_length() + bits > 63:
        return np.argsort(key, kind="stable")
    # With its place in the low bits every key is distinct, and NumPy's fastest sort is stable.
    key <<= bits
    key |= np.arange(len(key))
    key.sort()
    return key & ((1 << bits) - 1)


def as_combine(op: Combine) -> Combine:
    """What combines two values, which may be given by its name; told before it is needed."""
    found = lookup(op) if isinstance(op, str) else op
    if not callable(found) and not isinstance(found, Function):
        raise ArgumentError(
            f"op combines two values, and {op!r} is not a function",
            hint='"add", "min", "max" …, or a function such as np.minimum',
        )
    return found


def _combine(values: NDArray[Any], first: Ints, op: Combine) -> NDArray[Any]:
    """Fold each group of values, which begin at `first`, from the left, in their own dtype."""
    function = op.numpy if isinstance(op, Function) else op
    if isinstance(function, np.ufunc) and _keeps_type(function, values.dtype):
        return function.reduceat(values, first, dtype=values.dtype)
    assert callable(function)
    # Round k folds in the k-th further value of the groups that have one: linear work in all.
    length = np.diff(np.append(first, len(values)))
    result, k = values[first], 1
    groups = np.flatnonzero(length > 1)
    while len(groups):
        folded = np.asarray(function(result[groups], values[first[groups] + k]))
        if not np.can_cast(folded.dtype, values.dtype, "same_kind"):
            raise DTypeError(f"{op!r} of two {values.dtype} values gives {folded.dtype}")
        result[groups] = folded
        k += 1
        groups = groups[length[groups] > k]
    return result


def _keeps_type(function: np.ufunc, dtype: np.dtype[Any]) -> bool:
    """Whether a ufunc has a loop from two values of a type to the same type."""
    return f"{dtype.char}{dtype.char}->{dtype.char}" in function.types
