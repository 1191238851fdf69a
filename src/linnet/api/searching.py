"""Where something is in an array: the largest, what is not zero, where a value would go."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet import api
from linnet.algebra.dtypes import Number
from linnet.algebra.table import last
from linnet.api.operands import (
    Array,
    Axes,
    as_tensor,
    axis_number,
    check_kind,
    dtype_of,
    shape_of,
)
from linnet.api.programs import innermost, is_large, is_vast
from linnet.api.shapes import reshape
from linnet.api.storage import (
    alike,
    build,
    dense,
    densely,
    entries,
    flatten,
    is_dense,
    sorted_entries,
    typed,
    unflatten,
    with_values,
)
from linnet.errors import FormatError, ShapeError
from linnet.formats.assemble import wrap
from linnet.formats.coordinates import sort_unique
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.tensor import Tensor

Ints: TypeAlias = NDArray[Any]


@located
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first of the largest elements; NaN is larger than any."""
    return _extreme(as_tensor(x), axis, keepdims, largest=True)


@located
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first of the smallest elements; NaN is smaller than any."""
    return _extreme(as_tensor(x), axis, keepdims, largest=False)


def _extreme(x: Tensor, axis: int | None, keepdims: bool, largest: bool) -> Tensor:
    check_kind(x, "biuf", "argmax" if largest else "argmin")
    shape = shape_of(x)
    if axis is None:
        flat: tuple[int, ...] = (1,) * x.ndim if keepdims else ()
        return reshape(_extreme(reshape(x, (x.size,)), 0, False, largest), flat)
    d = axis_number(axis, x.ndim)
    if shape[d] == 0:
        raise ShapeError(f"dimension {d} of the shape {shape} has no elements to choose from")
    if is_dense(x.contents().format):
        choose = np.argmax if largest else np.argmin
        return dense(np.asarray(choose(x.to_numpy(), d, keepdims=keepdims), np.int64))
    others = tuple(n for m, n in enumerate(shape) if m != d)
    format = typed(alike(x.contents().format, len(others)), "int64", 0)
    if is_vast(x) and api.run_vectors.is_long_vector(x):
        result = build([], np.array([api.run_vectors.first_extreme(x, largest)]), (), format)
    elif is_large(x):
        result = _by_fibers(x, d, others, largest, format)
    else:
        key, found = _extreme_stored(x, d, others, largest)
        result = build(unflatten(key, others), found, others, format)
    kept = tuple(1 if m == d else n for m, n in enumerate(shape))
    return reshape(result, kept) if keepdims else result


def _by_fibers(x: Tensor, d: int, others: tuple[int, ...], largest: bool, wanted: Format) -> Tensor:
    """Stored with the dimension innermost, every fiber is looked through on its own: compiled."""
    from linnet.runtime.extremes import extremes

    x = innermost(x, d)
    format, n = x.contents().format, shape_of(x)[d]
    *outer, ptr, idx, values = x.shared().arrays()
    places = extremes(ptr, idx, values, n, format.fill_value, largest)
    if not others:
        return build([], places, (), wanted)
    order = tuple(m - (m > d) for m in format.order[:-1])
    rows = Format((*format.levels[:-2], Element(0, "int64")), order)
    found = wrap(rows, others, [*outer, places])
    return found if rows == wanted else found.to(wanted)


def _extreme_stored(x: Tensor, d: int, others: tuple[int, ...], largest: bool) -> tuple[Ints, Ints]:
    """For every row along `d` that stores something: which row, and where its extreme is."""
    coordinates, values = entries(x)
    rows = flatten([idx for m, idx in enumerate(coordinates) if m != d], others)
    rows = np.zeros(len(values), np.int64) if not others else rows
    n, fill = shape_of(x)[d], x.contents().format.fill_value
    assert fill is not None
    sizes = [max(1, math.prod(others)), n]
    (rows, along), values = sort_unique([rows, coordinates[d]], sizes, values, last)
    begin = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]]) if len(rows) else np.zeros(0, int)
    count = np.diff(np.append(begin, len(rows)))
    rank, fill_rank = _ranks(values, fill, largest)
    # the first stored element of the best rank, row by row
    order = np.lexsort((along, rank, rows))
    best = order[begin]
    # the first position that is not stored: where positions stop being 0, 1, 2 …
    step = np.arange(len(rows)) - np.repeat(begin, count)
    free = np.where(along != step, step, np.repeat(count, count))
    free = np.minimum.reduceat(free, begin) if len(begin) else count
    at = along[best]
    better = (count < n) & ((fill_rank < rank[best]) | ((fill_rank == rank[best]) & (free < at)))
    return rows[begin], np.where(better, free, at)


def _ranks(values: NDArray[Any], fill: Number, largest: bool) -> tuple[Ints, int]:
    """Numbers that order values, the wanted one first; and that of the fill value."""
    both = np.append(values, np.asarray(fill, values.dtype))
    unique, inverse = np.unique(both, return_inverse=True)
    ranks = len(unique) - inverse if largest else inverse + 1
    if both.dtype.kind == "f":
        ranks = np.where(np.isnan(both), 0, ranks)
    return ranks[:-1], int(ranks[-1])


@located
def nonzero(x: Array, /) -> tuple[Tensor, ...]:
    """The coordinates of what is not zero, one array for every dimension, in row-major order."""
    x = as_tensor(x)
    if x.ndim == 0:
        raise ShapeError("nonzero wants an array with dimensions", hint="use x != 0")
    if is_vast(x) and api.run_vectors.is_long_vector(x):
        return (dense(api.run_vectors.not_zero(x)),)
    if x.contents().format.fill_value or is_dense(x.contents().format):
        return tuple(dense(idx) for idx in np.nonzero(densely(x, "what nonzero looks through")))
    coordinates, values = sorted_entries(x)
    kept = np.flatnonzero(values)
    return tuple(dense(idx[kept]) for idx in coordinates)


@located
def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero, in all or along dimensions."""
    from linnet.algebra.table import not_equal
    from linnet.api.statistics import sum as total
    from linnet.arrays import apply

    zero = False if dtype_of(as_tensor(x)) == "bool" else 0
    return total(apply(not_equal, x, zero), axis=axis, keepdims=keepdims, dtype="int64")


@located
def searchsorted(
    x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None
) -> Tensor:
    """Where the values `x2` would go in the sorted vector `x1`."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if side not in ("left", "right"):
        raise FormatError(f"side is 'left' or 'right', not {side!r}")
    if x1.ndim != 1:
        raise ShapeError(f"x1 is a vector, and this has shape {x1.shape}")
    if sorter is None and is_vast(x1) and api.run_vectors.is_long_vector(x1):
        return valuewise(x2, lambda v: api.run_vectors.searched(x1, v, side == "right"))
    line = densely(x1, "the vector that is searched")
    if sorter is not None:
        line = line[as_tensor(sorter).to_numpy()]
    return valuewise(x2, lambda v: np.searchsorted(line, v, side).astype(np.int64))  # type: ignore[call-overload]


def valuewise(x: Tensor, function: Any) -> Tensor:
    """A function of values that is a search in a table: applied to what is stored, and the fill."""
    if is_dense(x.contents().format):
        return dense(np.asarray(function(x.to_numpy())))
    fill = np.asarray(function(np.asarray([x.contents().format.fill_value], dtype_of(x))))[0]
    if not x.contents().format.leaf.arrays:
        coordinates, values = entries(x)
        found = np.asarray(function(values))
        format = typed(x.contents().format, str(found.dtype), fill.item())
        return build(coordinates, found, shape_of(x), format)
    return with_values(x, np.asarray(function(x.shared().arrays()[-1])), fill.item())
