"""Several arrays as one, one array as several, and one array over and over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet import api
from linnet.algebra.dtypes import Number, promote
from linnet.api.dtypes import astype
from linnet.api.operands import Array, as_tensor, axis_number, dtype_of, shape_of, whole
from linnet.api.programs import is_large
from linnet.api.runs import has_runs, is_long
from linnet.api.storage import (
    DENSE_LIMIT,
    alike,
    build,
    countable,
    dense,
    entries,
    is_dense,
    refuse_large,
    typed,
)
from linnet.errors import ArgumentError, FormatError, ShapeError
from linnet.formats.assemble import enough_memory
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.named import CSR, FormatLike
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_shape

Ints: TypeAlias = NDArray[Any]


@located
def concat(arrays: Sequence[Array] | Tensor, /, *, axis: int | None = 0) -> Tensor:
    """Arrays one after the other along a dimension; with None, of all elements in a row.

    The result has the format of the first sparse array, and its fill value.
    """
    if isinstance(arrays, Tensor) and arrays.ndim and shape_of(arrays)[0]:
        return _rows_joined(arrays, axis)
    given = [as_tensor(x) for x in arrays]
    if not given:
        raise FormatError("there is nothing to join")
    if axis is None:
        given, axis = [api.shapes.reshape(x, (x.size,)) for x in given], 0
    d = axis_number(axis, given[0].ndim)
    _check_shapes(given, d)
    dtypes = {dtype_of(x) for x in given}
    if len(dtypes) > 1:
        given = [astype(x, promote(*dtypes), copy=False) for x in given]
    if all(is_dense(x.contents().format) for x in given):
        return dense(np.concatenate([x.to_numpy() for x in given], d))
    format = _common_format(given)
    given = [_filled(x, format) for x in given]
    if is_large(*given) or is_long(*given):
        return api.moves.joined(given, d, format)
    starts = np.cumsum([0, *(shape_of(x)[d] for x in given)])
    shape = tuple(int(starts[-1]) if m == d else n for m, n in enumerate(shape_of(given[0])))
    parts = [entries(x) for x in given]
    for (idx, _), start in zip(parts, starts[:-1], strict=True):
        idx[d] = idx[d] + start
    coordinates = [np.concatenate([idx[m] for idx, _ in parts]) for m in range(len(shape))]
    return build(coordinates, np.concatenate([v for _, v in parts]), shape, format)


def _rows_joined(x: Tensor, axis: int | None) -> Tensor:
    """The rows of an array one after the other along one of their dimensions.

    They may be more than can be made: the dimension in which they lie is put before that one.
    """
    if axis is None:
        return api.shapes.reshape(x, (x.size,))
    d = axis_number(axis, x.ndim - 1)
    moved = x.permute((*range(1, d + 1), 0, *range(d + 1, x.ndim)))
    shape = shape_of(moved)
    return api.shapes.reshape(moved, (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]))


def _check_shapes(given: list[Tensor], d: int) -> None:
    first = shape_of(given[0])
    before, after = first[:d], first[d + 1 :]
    for x in given[1:]:
        shape = shape_of(x)
        if len(shape) != len(first) or shape[:d] != before or shape[d + 1 :] != after:
            raise ShapeError(f"arrays of the shapes {first} and {shape} do not join along {d}")


def _common_format(given: list[Tensor]) -> Format:
    """The format of the first array that is not dense."""
    first = next(x for x in given if not is_dense(x.contents().format))
    return alike(first.contents().format, first.ndim)


def _filled(x: Tensor, format: Format) -> Tensor:
    """The array with the fill value of a format; sparse parts with another one become stored."""
    fill = x.contents().format.fill_value
    if _same(fill, format.fill_value):
        return x
    if not is_dense(x.contents().format) and not has_runs(format):
        refuse_large(x.size, f"an array with the fill value {fill!r}, joined to others,")
    return x.to(format)


def _same(a: Number | None, b: Number | None) -> bool:
    return repr(a) == repr(b)


@located
def stack(arrays: Sequence[Array] | Tensor, /, *, axis: int = 0) -> Tensor:
    """Arrays of one shape along a new dimension."""
    if isinstance(arrays, Tensor) and arrays.ndim and shape_of(arrays)[0]:
        found = api.shapes.moveaxis(arrays, 0, axis)
        return found.to(alike(arrays.contents().format, arrays.ndim))
    given = [as_tensor(x) for x in arrays]
    if not given:
        raise FormatError("there is nothing to join")
    for x in given[1:]:
        if x.shape != given[0].shape:
            raise ShapeError(f"arrays of the shapes {given[0].shape} and {x.shape} do not stack")
    d = axis_number(axis, given[0].ndim + 1)
    return concat([api.shapes.expand_dims(x, d) for x in given], axis=d)


@located
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of an array along a dimension, without it."""
    x = as_tensor(x)
    d = axis_number(axis, x.ndim)
    front = (slice(None),) * d
    return tuple(api.indexing.basic(x, (*front, i)) for i in range(shape_of(x)[d]))


@located
def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Every element several times in a row: as often as `repeats` says, for all or for each."""
    x = as_tensor(x)
    if axis is None:
        x, axis = api.shapes.reshape(x, (x.size,)), 0
    d = axis_number(axis, x.ndim)
    n = shape_of(x)[d]
    times = as_tensor(repeats).to_numpy() if not isinstance(repeats, int) else np.array(repeats)
    if times.dtype.kind not in "iu":
        raise ArgumentError(f"repeats are integers, not {times.dtype}")
    if (times < 0).any() or times.ndim > 1 or (times.ndim == 1 and len(times) not in (1, n)):
        raise ShapeError(f"{times.shape} repeats do not go with {n} elements, or are negative")
    if times.size == 1:
        each = int(times.reshape(()))
        if api.run_vectors.is_of_runs(x):
            return api.run_vectors.repeated(x, each)
        if n * each > DENSE_LIMIT and not is_dense(x.contents().format):
            return _repeated(x, each, d)
    total = times.sum(dtype=float) * (n if times.size == 1 else 1)  # which does not overflow
    countable((int(total),))
    with enough_memory():
        return api.picking.select(x, np.repeat(np.arange(n), times.astype(np.int64)), d)


def _repeated(x: Tensor, times: int, d: int) -> Tensor:
    """Every element along a dimension equally often; only those that are stored are listed."""
    shape = check_shape(tuple(n * times if m == d else n for m, n in enumerate(shape_of(x))))
    coordinates, values = entries(x)
    refuse_large(len(values) * times, "an array that stores every repetition")
    within = np.tile(np.arange(times), len(values))
    found = [np.repeat(idx, times) for idx in coordinates]
    found[d] = found[d] * times + within
    return build(found, np.repeat(values, times), shape, alike(x.contents().format, x.ndim))


@located
def tile(x: Array, repetitions: int | tuple[int, ...], /) -> Tensor:
    """The whole array several times along every dimension."""
    x = as_tensor(x)
    given = repetitions if isinstance(repetitions, tuple | list) else (repetitions,)
    times = [whole(r, "a repetition") for r in given]
    if any(r < 0 for r in times):
        raise ShapeError(f"an array cannot be repeated {min(times)} times")
    ndim = max(x.ndim, len(times))
    times = [1] * (ndim - len(times)) + times
    x = api.shapes.reshape(x, (1,) * (ndim - x.ndim) + shape_of(x))
    shape = check_shape(tuple(n * r for n, r in zip(shape_of(x), times, strict=True)))
    if is_dense(x.contents().format):
        countable(shape)
        return dense(np.tile(x.to_numpy(), times))
    if is_large(x) or is_long(x):
        refuse_large(x.nnz * math.prod(times), "an array that stores every repetition")
        repeated = [d for d, r in enumerate(times) if r != 1]
        return reduce(lambda y, d: api.moves.tiled(y, times[d], d), reversed(repeated), copy(x))
    coordinates, values = entries(x)
    for d, (n, r) in enumerate(zip(shape_of(x), times, strict=True)):
        refuse_large(len(values) * r, "an array that stores every repetition")
        count = len(values)
        coordinates = [np.tile(idx, r) for idx in coordinates]
        coordinates[d] = coordinates[d] + np.repeat(np.arange(r), count) * n
        values = np.tile(values, r)
    return build(coordinates, values, shape, alike(x.contents().format, ndim))


# -- as in SciPy -----------------------------------------------------------------------------------


@located
def vstack(arrays: Sequence[Array] | Tensor, /) -> Tensor:
    """Rows below rows; vectors are rows."""
    if isinstance(arrays, Tensor) and arrays.ndim:  # rows that may be more than can be made
        rows = api.shapes.reshape(arrays, (*shape_of(arrays), 1)) if arrays.ndim == 1 else arrays
        return copy(rows) if rows.ndim == 2 else concat(rows)
    return concat([_as_rows(as_tensor(x)) for x in arrays], axis=0)


@located
def hstack(arrays: Sequence[Array] | Tensor, /) -> Tensor:
    """Columns beside columns; vectors one after the other."""
    if isinstance(arrays, Tensor) and arrays.ndim:
        return copy(arrays) if arrays.ndim == 1 else concat(arrays, axis=min(arrays.ndim - 2, 1))
    given = [as_tensor(x) for x in arrays]
    given = [api.shapes.reshape(x, (1,)) if x.ndim == 0 else x for x in given]
    return concat(given, axis=0 if given and given[0].ndim == 1 else 1)


def _as_rows(x: Tensor) -> Tensor:
    return api.shapes.reshape(x, (1, x.size)) if x.ndim < 2 else x


@located
def block(
    blocks: Sequence[Sequence[Array | None]], /, *, format: FormatLike | None = None
) -> Tensor:
    """A matrix of matrices; None is a block of zeros.

    >>> ln.block([[ln.eye(2), None], [None, ln.eye(3)]]).shape
    (5, 5)
    """
    rows = [[None if b is None else _as_rows(as_tensor(b)) for b in row] for row in blocks]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ShapeError("the rows of a block matrix have equally many blocks")
    heights = [_size(row, 0) for row in rows]
    widths = [_size([row[j] for row in rows], 1) for j in range(len(rows[0]))]
    from linnet.api.creation import zeros

    whole_rows = []
    for row, height in zip(rows, heights, strict=True):
        filled = [
            zeros((height, width), format=CSR, dtype="bool") if b is None else b
            for b, width in zip(row, widths, strict=True)
        ]
        whole_rows.append(concat(filled, axis=1))
    found = concat(whole_rows, axis=0)
    return found if format is None else found.to(format)


def _size(blocks: list[Tensor | None], d: int) -> int:
    """The size that blocks in a row or column agree on."""
    sizes = {shape_of(b)[d] for b in blocks if b is not None}
    if len(sizes) != 1:
        raise ShapeError(f"blocks beside one another have the sizes {sorted(sizes) or 'unknown'}")
    return sizes.pop()


@located
def kron(a: Array, b: Array, /) -> Tensor:
    """The Kronecker product: every element of `a`, times all of `b`.

    >>> ln.kron(ln.eye(2), ln.asarray([[1.0, 2.0]], format="csr")).to_numpy().tolist()
    [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]]
    """
    from linnet.api.products import tensordot

    a, b = as_tensor(a), as_tensor(b)
    ndim = max(a.ndim, b.ndim)
    a = api.shapes.reshape(a, (1,) * (ndim - a.ndim) + shape_of(a))
    b = api.shapes.reshape(b, (1,) * (ndim - b.ndim) + shape_of(b))
    pairs = tuple(m for d in range(ndim) for m in (d, d + ndim))
    product = tensordot(a, b, axes=0).permute(pairs)
    shape = tuple(m * n for m, n in zip(shape_of(a), shape_of(b), strict=True))
    found = api.shapes.reshape(product, shape)
    return found if is_dense(found.format) else found.to(_kept(a, b, found))


def _kept(a: Tensor, b: Tensor, found: Tensor) -> Format:
    """The format of the first sparse operand, with the dtype and fill value of the result."""
    source = next((x for x in (a, b) if not is_dense(x.contents().format)), found)
    kept = alike(source.contents().format, found.ndim)
    return typed(kept, dtype_of(found), found.contents().format.fill_value)
