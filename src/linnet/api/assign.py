"""`x[key] = value`: what the array holds afterwards. The memory it had is left as it is."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.api.dtypes import astype
from linnet.api.indexing import normalized
from linnet.api.operands import as_tensor, dtype_of, kind_of, shape_of
from linnet.api.placing import masked, placed, pointed
from linnet.api.programs import is_large
from linnet.api.shapes import broadcast_shapes, broadcast_to
from linnet.api.storage import (
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


def assigned(x: Tensor, key: object, value: object) -> Tensor:
    """The array with other values at the places that an index selects."""
    new = value if isinstance(value, bool | int | float | complex) else as_tensor(value)
    _check_type(x, new)
    if is_dense(x.contents().format):
        return _densely(x, normalized(key, shape_of(x)), new)
    if not isinstance(new, Tensor):
        new = as_tensor(np.asarray(new, dtype_of(x)))
    new = astype(new, dtype_of(x), copy=False)
    found = masked(x, key, new) if is_large(x) else None
    if found is not None:
        return found
    parts = normalized(key, shape_of(x))
    if is_large(x):
        found = placed(x, parts, new)
        found = pointed(x, parts, new) if found is None else found
    return _replaced(x, new, *_region(parts, shape_of(x))) if found is None else found


def _densely(x: Tensor, parts: tuple[Any, ...], new: Any) -> Tensor:
    """The same for an array of which every element is stored."""
    array = x.to_numpy().copy()
    try:
        array[parts] = new.to_numpy() if isinstance(new, Tensor) else new
    except (ValueError, IndexError) as error:
        raise ShapeError(f"these values do not fit there: {error}") from None
    return from_numpy(array, None, x.contents().format, None, None)


def _check_type(x: Tensor, new: Any) -> None:
    """Values of another kind, which the array's dtype cannot hold, are refused."""
    kind, order = kind_of(x), "biufc"
    other = np.asarray(new).dtype.kind if not isinstance(new, Tensor) else kind_of(new)
    if order.index(other) > order.index(kind) and not {kind, other} <= {"i", "u"}:
        raise DTypeError(f"values of {np.dtype(other)} kind do not fit an array of {x.dtype}")


def _region(parts: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[tuple[int, ...], list[Ints]]:
    """The shape of what an index selects, and the coordinates of its elements."""
    ndim = len(shape)
    found: list[Ints] = []
    result: tuple[int, ...] = ()
    for m in range(ndim):
        line = np.arange(shape[m]).reshape([-1 if k == m else 1 for k in range(ndim)])
        chosen = np.broadcast_to(line, shape)[parts]
        result = chosen.shape
        refuse_large(math.prod(result), "the part that is assigned to")
        found.append(np.ascontiguousarray(chosen).reshape(-1).astype(np.int64, copy=False))
    return result, found


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
