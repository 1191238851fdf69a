"""`x[key] = value`: what the array holds afterwards. The memory it had is left as it is."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import concrete, fits, highest, lowest, weak_dtype
from linnet.api.dtypes import astype
from linnet.api.indexing import as_positions, normalized
from linnet.api.operands import as_tensor, dtype_of, kind_of, shape_of
from linnet.api.placing import masked, placed, pointed
from linnet.api.programs import is_large, is_vast
from linnet.api.shapes import broadcast_shapes, broadcast_to
from linnet.api.storage import (
    DENSE_LIMIT,
    alike,
    build,
    entries,
    flatten,
    is_dense,
    refuse_large,
    unflatten,
)
from linnet.errors import DTypeError, ShapeError
from linnet.formats.from_numpy import from_numpy
from linnet.formats.tensor import Tensor

Ints: TypeAlias = NDArray[Any]
_ASSIGNED = "the part that is assigned to"


def assigned(x: Tensor, key: object, value: object) -> Tensor:
    """The array with other values at the places that an index selects."""
    new = value if isinstance(value, bool | int | float | complex) else as_tensor(value)
    _check_type(x, new)
    if is_dense(x.contents().format):
        return _densely(x, normalized(key, shape_of(x)), new)
    if not isinstance(new, Tensor):
        new = as_tensor(np.asarray(new, dtype_of(x)))
    new = astype(new, dtype_of(x), copy=False)
    vast = is_vast(x)
    found = masked(x, key, new) if vast or is_large(x) else None
    if found is not None:
        return found
    parts = normalized(key, shape_of(x))
    told = tuple(p for p in parts if p is not Ellipsis)
    by_kernels = is_large(x) or _is_long(told, shape_of(x))
    # of what is vast, a single element is not put between all the others
    for way in (pointed, placed) if vast else (placed, pointed) if by_kernels else ():
        found = way(x, told, new)
        if found is not None:
            return found
    return _replaced(x, new, *_region(parts, shape_of(x)))


def _is_long(parts: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether a slice selects more than is listed: all of a row of billions, to make it empty."""
    if max(shape, default=0) <= DENSE_LIMIT or len(parts) != len(shape):
        return False
    slices = [(p, n) for p, n in zip(parts, shape, strict=True) if type(p) is slice]
    return any(len(range(*p.indices(n))) > DENSE_LIMIT for p, n in slices)


def _densely(x: Tensor, parts: tuple[Any, ...], new: Any) -> Tensor:
    """The same for an array of which every element is stored."""
    array = x.to_numpy().copy()
    try:
        array[parts] = new.to_numpy() if isinstance(new, Tensor) else new
    except (ValueError, IndexError) as error:
        raise ShapeError(f"these values do not fit there: {error}") from None
    return from_numpy(array, None, x.contents().format, None, None)


def _check_type(x: Tensor, new: Any) -> None:
    """Values of another kind, or a number that the array's dtype cannot hold, are refused."""
    held, kind, order = dtype_of(x), kind_of(x), "biufc"
    if type(new) is int and kind in "iu" and not fits(new, held):
        raise DTypeError(
            f"{new} does not fit an array of {held}",
            why=f"it holds integers from {lowest(held)} to {highest(held)}",
        )
    other = dtype_of(new) if isinstance(new, Tensor) else concrete(weak_dtype(new))
    if order.index(np.dtype(other).kind) > order.index(kind) and not (
        {np.dtype(other).kind, kind} <= {"i", "u"}
    ):
        raise DTypeError(f"values of dtype {other} do not fit an array of {held}")


def _region(parts: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[tuple[int, ...], list[Ints]]:
    """The shape of what an index selects, and the coordinates of its elements."""
    lines, picks = _cut(parts, shape)
    sizes = tuple(map(len, lines))
    found: list[Ints] = []
    result: tuple[int, ...] = ()
    for m, line in enumerate(lines):
        along = line.reshape([-1 if k == m else 1 for k in range(len(lines))])
        chosen = np.broadcast_to(along, sizes)[picks]
        result = chosen.shape
        refuse_large(math.prod(result), _ASSIGNED)
        found.append(np.ascontiguousarray(chosen).reshape(-1).astype(np.int64, copy=False))
    return result, found


def _cut(parts: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[list[Ints], tuple[Any, ...]]:
    """What is selected along each dimension, however long it is, and the index of just that."""
    lines: list[Ints] = []
    picks: list[Any] = []
    for part in parts:
        if isinstance(part, slice):
            chosen = range(*part.indices(shape[len(lines)]))
            refuse_large(len(chosen), _ASSIGNED)
            lines.append(np.arange(chosen.start, chosen.stop, chosen.step))
            picks.append(slice(None))
            continue
        positions = [] if part is None or part is Ellipsis else as_positions(part)
        lines += [idx.reshape(-1) for idx in positions]
        found = [np.arange(idx.size).reshape(idx.shape) if idx.ndim else 0 for idx in positions]
        picks += found or [part]  # None, a truth value and an ellipsis stand for no dimension
    return lines, tuple(picks)


def _replaced(x: Tensor, new: Tensor, shape: tuple[int, ...], places: list[Ints]) -> Tensor:
    """Without what was stored at these places, and with the new values there."""
    if broadcast_shapes(shape_of(new), shape) != shape:
        raise ShapeError(f"values of shape {new.shape} do not fit a part of shape {shape}")
    old, values = entries(x)
    dims = shape_of(x)
    target = flatten(places, dims) if dims else np.zeros(math.prod(shape), np.int64)
    kept = np.flatnonzero(~np.isin(flatten(old, dims), target))
    fill = x.contents().format.fill_value
    given = broadcast_to(new, shape)
    if is_dense(new.contents().format) or repr(new.contents().format.fill_value) != repr(fill):
        added, at = given.to_numpy().reshape(-1), np.arange(math.prod(shape))
    else:
        coordinates, added = entries(given)
        at = flatten(coordinates, shape)
    # of places that are named twice, the last one counts
    _, last = np.unique(target[at][::-1], return_index=True)
    last = len(at) - 1 - last
    fresh = unflatten(target[at][last], dims)
    found = [np.concatenate([idx[kept], f]) for idx, f in zip(old, fresh, strict=True)]
    format = alike(x.contents().format, x.ndim)
    return build(found, np.concatenate([values[kept], added[last]]), dims, format)
