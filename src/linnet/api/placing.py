"""Other values in a part of an array, by kernels: what lies around the part is joined to it.

A part is told by ranges and positions, one dimension at a time, by a mask, or by points. No element
is looked at on its own: `x[a:b] = y` is `x[:a]`, `y` and `x[b:]`, one after the other, and of what
points or a mask select, it is `where(mask, y, x)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any, TypeAlias

import numpy as np

from linnet.algebra.table import where
from linnet.api.indexing import as_positions, basic
from linnet.api.moves import joined
from linnet.api.operands import as_tensor, dtype_of, shape_of
from linnet.api.picking import select
from linnet.api.programs import same_kind
from linnet.api.shapes import broadcast_shapes, broadcast_to, reshape
from linnet.api.storage import (
    DENSE_LIMIT,
    Ints,
    build,
    is_dense,
    nothing,
    refuse_large,
    typed,
    unpatterned,
)
from linnet.arrays import apply
from linnet.errors import ShapeError
from linnet.formats.format import Format
from linnet.formats.from_numpy import from_numpy
from linnet.formats.from_scipy import is_scipy_sparse
from linnet.formats.tensor import Tensor

Place: TypeAlias = range | Ints
"""Where along a dimension: from one place to another, or at positions, in any order."""


def placed(x: Tensor, parts: Sequence[Any], new: Tensor) -> Tensor | None:
    """The array with new values where `parts` select them; None if these are no such parts.

    Needs: values of the array's dtype, parts that are in range.
    """
    places = _places(parts, shape_of(x))
    if places is None:
        return None
    shape = tuple(len(p) for p, part in zip(places, parts, strict=True) if type(part) is not int)
    if broadcast_shapes(shape_of(new), shape) != shape:
        raise ShapeError(f"values of shape {new.shape} do not fit a part of shape {shape}")
    if not math.prod(shape):
        return copy(x)
    part = _part(new, shape, tuple(map(len, places)), same_kind(x))
    return _write(x, places, part, 0)


def _places(parts: Sequence[Any], shape: tuple[int, ...]) -> list[Place] | None:
    """Where the parts are along every dimension; None if they are not told so."""
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    mixed = arrays and any(isinstance(p, int) for p in parts)  # they are taken together
    if len(arrays) > 1 or mixed or any(p.ndim != 1 for p in arrays):
        return None
    if any(p is None for p in parts):
        return None
    places: list[Place] = []
    for part, n in zip(parts, shape, strict=True):
        if isinstance(part, int):
            places.append(range(part, part + 1))
        elif isinstance(part, slice):
            chosen = range(*part.indices(n))
            places.append(chosen if chosen.step == 1 else _one_by_one(chosen))
        else:
            places.append(np.flatnonzero(part) if part.dtype.kind == "b" else part)
        if not isinstance(places[-1], range) and n > DENSE_LIMIT:
            return None  # what stays is listed beside these positions (`_put`)
    return places


def _one_by_one(places: range) -> Ints:
    refuse_large(len(places), "the part that is assigned to")
    return np.arange(places.start, places.stop, places.step)


def _part(new: Tensor, shape: tuple[int, ...], full: tuple[int, ...], wanted: Format) -> Tensor:
    """The new values in the shape of the part, with all dimensions, and in the array's format."""
    fill = wanted.fill_value
    assert fill is not None
    if new.size == 1 and repr(new.to_numpy().reshape(-1)[0].item()) == repr(fill):
        return nothing(full, wanted)
    kept = new.contents().format
    if is_dense(kept) or repr(kept.fill_value) != repr(fill):
        refuse_large(math.prod(shape), "the part that is assigned to")
        array = np.broadcast_to(new.to_numpy(), shape).reshape(full)
        return from_numpy(np.ascontiguousarray(array), None, wanted, None, None)
    found = reshape(broadcast_to(new, shape), full)
    return found if found.contents().format == wanted else found.to(wanted)


def _write(x: Tensor, places: Sequence[Place], part: Tensor, d: int) -> Tensor:
    """The array with the part in its place along dimension `d` and those that follow."""
    sizes = enumerate(shape_of(x))
    inner = [m for m, n in sizes if m >= d and not _is_whole(places[m], n)]
    if not inner:
        return part
    first, place = inner[0], places[inner[0]]
    if len(inner) > 1:
        part = _write(_taken(x, place, first), places, part, first + 1)
    return _put(x, part, place, first)


def _is_whole(place: Place, n: int) -> bool:
    return isinstance(place, range) and place == range(n)


def _taken(x: Tensor, place: Place, d: int) -> Tensor:
    """What the array has in this place along a dimension."""
    if isinstance(place, range):
        return basic(x, (*[slice(None)] * d, slice(place.start, place.stop)))
    return select(x, place, d)


def _put(x: Tensor, part: Tensor, place: Place, d: int) -> Tensor:
    """The array with a part of it, along one dimension, replaced."""
    wanted, n = same_kind(x), shape_of(x)[d]
    if isinstance(place, range):
        around = [range(place.start), range(place.stop, n)]
        before, behind = (_taken(x, r, d) if len(r) else None for r in around)
        return joined([t for t in (before, part, behind) if t is not None], d, wanted)
    at = _one_by_one(range(n))
    at[place] = np.arange(n, n + len(place))  # of places that are named twice, the last one counts
    return select(joined([x, part], d, wanted), at, d)


def masked(x: Tensor, key: object, new: Tensor) -> Tensor | None:
    """The array with one new value wherever a mask is true; None if the key is no mask of all."""
    if not (isinstance(key, Tensor | np.ndarray) or is_scipy_sparse(key)) or new.size != 1:
        return None
    mask = as_tensor(key)
    if mask.shape != x.shape or dtype_of(mask) != "bool":
        return None
    wanted, kept = same_kind(x), mask.contents().format
    if is_dense(kept) or kept.fill_value:
        if not is_dense(kept):
            refuse_large(mask.size, "a mask that is true where it stores nothing")
        mask = mask.to(typed(unpatterned(wanted), "bool", False))
    found = apply(where, mask, new.to_numpy().reshape(-1)[0].item(), x)
    assert isinstance(found, Tensor)
    return found if found.contents().format == wanted else found.to(wanted)


def pointed(x: Tensor, parts: Sequence[Any], new: Tensor) -> Tensor | None:
    """The array with new values at single elements; None if a dimension is not told by positions.

    Needs: values of the array's dtype, parts that are in range.
    """
    if not all(isinstance(p, int | np.ndarray) for p in parts):
        return None
    arrays = [idx for part in parts for idx in as_positions(part)]
    if len(arrays) != x.ndim:
        return None
    shape = broadcast_shapes(*[idx.shape for idx in arrays])
    if broadcast_shapes(shape_of(new), shape) != shape:
        raise ShapeError(f"values of shape {new.shape} do not fit a part of shape {shape}")
    refuse_large(math.prod(shape), "the part that is assigned to")
    at = [np.broadcast_to(idx, shape).reshape(-1) for idx in arrays]
    values = np.broadcast_to(new.to_numpy(), shape).reshape(-1)
    wanted = same_kind(x)
    valued, marked = unpatterned(wanted), typed(unpatterned(wanted), "bool", False)
    # of points that are named twice, the last one counts
    points = build(at, values, shape_of(x), valued)
    mask = build(at, np.ones(len(values), bool), shape_of(x), marked)
    found = apply(where, mask, points, x)
    assert isinstance(found, Tensor)
    return found if found.contents().format == wanted else found.to(wanted)
