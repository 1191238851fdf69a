"""Elements in order along a dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet import api
from linnet.api.operands import Array, as_tensor, axis_number, check_kind, shape_of, whole
from linnet.api.programs import fiberwise, innermost, is_large, is_vast, same_kind
from linnet.api.shapes import flip
from linnet.api.storage import (
    alike,
    build,
    dense,
    densely,
    entries,
    flatten,
    is_dense,
    refuse_large,
)
from linnet.errors import ShapeError
from linnet.formats.assemble import wrap
from linnet.formats.located import located
from linnet.formats.tensor import Tensor


@located
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along a dimension; the fill values of a row lie side by side."""
    x = as_tensor(x)
    check_kind(x, "biuf", "sort")
    d = axis_number(axis, x.ndim)
    if is_vast(x) and api.run_vectors.is_long_vector(x):
        return api.run_vectors.in_order(x, descending)
    if is_large(x) and not is_dense(x.contents().format):
        return _by_fibers(x, d, descending)
    if is_dense(x.contents().format):
        found = dense(np.sort(x.to_numpy(), d, kind="stable" if stable else None))
    else:
        found = _sorted(x, d)
    return flip(found, axis=d) if descending else found


def _by_fibers(x: Tensor, d: int, descending: bool) -> Tensor:
    """Stored with the dimension innermost, every fiber is sorted on its own: compiled."""
    from linnet.runtime.fibers import sort_fibers

    wanted, x = same_kind(x), innermost(x, d)
    format, fill = x.contents().format, x.contents().format.fill_value
    *outer, ptr, idx, values = x.shared().arrays()
    idx, values = sort_fibers(ptr, idx, values, shape_of(x)[d], fill, descending)
    found = wrap(format, shape_of(x), [*outer, ptr, idx, values])
    return found if format == wanted else found.to(wanted)


def _sorted(x: Tensor, d: int) -> Tensor:
    """What is stored goes before the fill values of its row, or behind them."""
    shape, fill = shape_of(x), x.contents().format.fill_value
    coordinates, values = entries(x)
    others = [m for m in range(x.ndim) if m != d]
    rows = flatten([coordinates[m] for m in others], [shape[m] for m in others])
    rows = rows if others else np.zeros(len(values), np.int64)
    order = np.lexsort((values, rows))
    rows, values = rows[order], values[order]
    begin = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]]) if len(rows) else np.zeros(0, int)
    count = np.diff(np.append(begin, len(rows)))
    place = np.arange(len(rows)) - np.repeat(begin, count)
    behind = np.isnan(values) if fill != fill else ~(values <= fill)
    place = np.where(behind, shape[d] - np.repeat(count, count) + place, place)
    found = [idx[order] for idx in coordinates]
    found[d] = place
    return build(found, values, shape, alike(x.contents().format, x.ndim))


@located
def argsort(
    x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """The positions of the elements in order along a dimension: a dense array."""
    x = as_tensor(x)
    check_kind(x, "biuf", "argsort")
    d = axis_number(axis, x.ndim)
    if not is_dense(x.contents().format):
        refuse_large(x.size, "the result of argsort")
    if not is_large(x):
        return dense(_order(x.to_numpy(), d, descending))
    others = tuple(n for m, n in enumerate(shape_of(x)) if m != d)
    places = _places(x, d, descending).reshape(*others, shape_of(x)[d])
    return dense(np.moveaxis(places, -1, d))


def _places(x: Tensor, d: int, descending: bool) -> NDArray[Any]:
    """The positions of elements in order, row by row along a dimension: compiled."""
    from linnet.runtime.extremes import first_of_fibers, order_of_rows

    n = shape_of(x)[d]
    if is_dense(x.contents().format):
        return order_of_rows(np.moveaxis(x.to_numpy(), d, -1).reshape(-1), n, descending)
    ptr, idx, values = x.to(fiberwise(x, d)).shared().arrays()
    fill = x.contents().format.fill_value
    return first_of_fibers(ptr, idx, values, n, fill, n, descending)[0]


def _order(array: NDArray[Any], d: int, descending: bool) -> NDArray[Any]:
    """A stable order; of equal elements the first stays first in either direction."""
    if not descending:
        return np.argsort(array, d, kind="stable").astype(np.int64, copy=False)
    backward = np.argsort(np.flip(array, d), d, kind="stable")
    return np.asarray(np.flip(array.shape[d] - 1 - backward, d), np.int64)


@located
def topk(x: Array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest (or smallest) elements along a dimension, in order, and their positions.

    >>> values, places = ln.topk(ln.asarray([3.0, 9.0, 4.0]), 2)
    >>> values.to_numpy().tolist(), places.to_numpy().tolist()
    ([9.0, 4.0], [1, 2])
    """
    x, k = as_tensor(x), whole(k, "k")
    check_kind(x, "biuf", "topk")
    d = axis_number(axis, x.ndim)
    n = shape_of(x)[d]
    if not 0 <= k <= n:
        raise ShapeError(f"there are {n} elements along dimension {d}, and {k} are asked for")
    if is_vast(x) and api.run_vectors.is_long_vector(x):
        order = _order(api.run_vectors.values_of_runs(x), 0, largest)
        found, places = api.run_vectors.first_few(x, k, order)
        return dense(found), dense(places)
    if is_large(x) and not is_dense(x.contents().format):
        return _first_by_fibers(x, k, d, largest)
    array = np.moveaxis(densely(x, "the array that topk looks through"), d, -1)
    flat = array.reshape(math.prod(array.shape[:-1]), n)
    places = _first(flat, k, largest)
    found = np.take_along_axis(flat, places, 1)
    shape = (*array.shape[:-1], k)
    return (
        dense(np.moveaxis(found.reshape(shape), -1, d)),
        dense(np.moveaxis(places.reshape(shape), -1, d)),
    )


def _first_by_fibers(x: Tensor, k: int, d: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The same, of what is stored and of the fill values between: compiled."""
    from linnet.runtime.extremes import first_of_fibers

    others = tuple(n for m, n in enumerate(shape_of(x)) if m != d)
    refuse_large(math.prod(others) * max(k, 1), "the result of topk")
    n, fill = shape_of(x)[d], x.contents().format.fill_value
    ptr, idx, values = x.to(fiberwise(x, d)).shared().arrays()
    places, picked = first_of_fibers(ptr, idx, values, n, fill, k, largest)
    found = np.full(len(places), fill, values.dtype)
    found[picked >= 0] = values[picked[picked >= 0]]
    shape = (*others, k)
    return (
        dense(np.moveaxis(found.reshape(shape), -1, d)),
        dense(np.moveaxis(places.reshape(shape), -1, d)),
    )


def _first(rows: NDArray[Any], k: int, largest: bool) -> NDArray[Any]:
    """The positions of the k first elements of every row, in order; of equal ones the first."""
    n = rows.shape[1]
    if 0 < k < n // 4:
        at = n - k if largest else k - 1
        last = np.partition(rows, at, 1)[:, at : at + 1]
        same = (rows == last) | ((rows != rows) & (last != last))
        if largest:  # NaN is larger than all others
            ahead = ~(rows <= last) & (last == last)
        else:
            ahead = (rows < last) | ((rows == rows) & (last != last))
        kept = ahead | (same & (np.cumsum(same, 1) <= k - ahead.sum(1, keepdims=True)))
        part = np.nonzero(kept)[1].reshape(len(rows), k)
    else:
        part = np.broadcast_to(np.arange(n), rows.shape)
    order = _order(np.take_along_axis(rows, part, 1), 1, largest)[:, :k]
    return np.take_along_axis(part, order, 1).astype(np.int64, copy=False)
