"""SciPy sparse arrays and matrices as tensors, without a copy where the layout is ours.

The SciPy object is only looked at: its methods that sort or sum in place are not called.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.errors import FormatError, ShapeError
from linnet.formats.assemble import pack, wrap
from linnet.formats.coordinates import sort_unique
from linnet.formats.format import Format
from linnet.formats.from_numpy import cast, contiguous
from linnet.formats.given import as_indices
from linnet.formats.named import BSR, COO, CSC, CSF, CSR, override, settle
from linnet.formats.packing import complete_level
from linnet.formats.tensor import Tensor
from linnet.formats.validate import (
    check_length,
    check_pointers,
    check_range,
    check_shape,
    first_unsorted,
)


def is_scipy_sparse(obj: object) -> bool:
    """Whether this is a sparse array or matrix; SciPy is not imported to find out."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(obj))


def from_scipy(obj: Any, dtype: str | None, fill: object, copy: bool | None) -> Tensor:
    """A tensor in the format nearest to SciPy's; what is not stored reads as `fill` (default 0)."""
    match obj.format:
        case "csr" | "csc":
            return _from_compressed(obj, dtype, fill, copy)
        case "coo":
            return _from_coo(obj, COO(obj.ndim), dtype, fill, copy)
        case "bsr":
            return _from_blocks(obj, dtype, fill, copy)
    if copy is False:
        raise FormatError(f"a {obj.format} matrix cannot be used without a copy")
    # A coordinate format takes what SciPy finds, and its layout is chosen for walking.
    wanted = COO(obj.ndim) if obj.format == "dok" or obj.ndim != 2 else CSR
    return _from_coo(obj.tocoo(), wanted, dtype, fill, copy)


def _from_compressed(obj: Any, dtype: str | None, fill: object, copy: bool | None) -> Tensor:
    """CSR and CSC, and CSR of one dimension."""
    by_row = obj.format == "csr"
    shape = _checked_shape(obj, (1, 2) if by_row else (2,))
    format = CSF(1) if len(shape) == 1 else CSR if by_row else CSC
    outer, inner = (1, *shape)[-2:] if by_row else shape[::-1]
    ptr, idx = as_indices(obj.indptr, "indptr"), as_indices(obj.indices, "indices")
    stored = int(ptr[-1]) if len(ptr) else 0
    fiber = "row" if by_row else "column"
    check_pointers(ptr, outer, stored, "indptr", fiber=fiber)
    # SciPy allows room at the end of its arrays.
    idx, values = _head(idx, stored, "indices"), _head(_values(obj, 1), stored, "data")
    check_range(idx, inner, "indices")
    values, format = _typed(values, format, dtype, fill)
    if first_unsorted(ptr, (idx,)) is None:
        return wrap(format, shape, _owned((ptr, idx, values), copy))
    outer_idx = np.repeat(np.arange(outer), np.diff(ptr))
    coordinates = [outer_idx, idx][-len(shape) :]
    return _sorted_copy(format, shape, coordinates, values, copy)


def _from_coo(
    obj: Any, format: Format, dtype: str | None, fill: object, copy: bool | None
) -> Tensor:
    """COO of any number of dimensions; duplicates are summed, as SciPy means them."""
    given = obj.coords if hasattr(obj, "coords") else (obj.row, obj.col)
    shape, data = _checked_shape(obj, (len(given),)), _values(obj, 1)
    coordinates = [as_indices(idx, f"coords[{mode}]") for mode, idx in enumerate(given)]
    for mode, idx in enumerate(coordinates):
        check_length(idx, len(data), f"coords[{mode}]")
        check_range(idx, shape[mode], f"coords[{mode}]")
    values, format = _typed(data, format, dtype, fill)
    ptr = np.array([0, len(values)], np.int64 if len(values) > 2**31 - 1 else np.int32)
    if format.levels[:-1] == COO(len(shape)).levels[:-1] and not first_unsorted(ptr, coordinates):
        return wrap(format, shape, _owned((ptr, *coordinates, values), copy))
    return _sorted_copy(format, shape, coordinates, values, copy)


def _checked_shape(obj: Any, ndims: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, of as many dimensions as the arrays tell of."""
    shape = check_shape(obj.shape)
    if len(shape) not in ndims:
        raise ShapeError(f"the arrays of a {obj.format} matrix do not have {len(shape)} dimensions")
    return shape


def _values(obj: Any, ndim: int) -> NDArray[Any]:
    """The values: one behind the other, or in blocks."""
    values = np.asarray(obj.data)
    if values.ndim != ndim:
        raise ShapeError(f"data has {values.ndim} dimensions, and must have {ndim}")
    return values


def _typed(
    values: NDArray[Any], format: Format, dtype: str | None, fill: object
) -> tuple[NDArray[Any], Format]:
    """The values in the dtype asked for, and the format with dtype and fill value."""
    held = canonical(values.dtype)
    format = settle(override(format, dtype, fill), held)
    assert format.dtype is not None
    return contiguous(cast(values, format.dtype), None), format


def _owned(arrays: tuple[NDArray[Any], ...], copy: bool | None) -> list[NDArray[Any]]:
    return [array.copy() if copy else array for array in arrays]


def _sorted_copy(
    format: Format,
    shape: tuple[int, ...],
    coordinates: list[NDArray[Any]],
    values: NDArray[Any],
    copy: bool | None,
) -> Tensor:
    """A tensor of coordinates (outermost first) in any order, duplicates summed."""
    if copy is False:
        raise FormatError(
            "the indices of this SciPy array are not sorted, and it cannot be used without a copy",
            hint="call its sort_indices() or sum_duplicates() first",
        )
    dims = [shape[mode] for mode in format.order]
    coordinates, values = sort_unique(coordinates, dims, values, np.add)
    by_mode = [coordinates[format.order.index(mode)] for mode in range(len(shape))]
    return pack(by_mode, values, shape, format)


def _head(array: NDArray[Any], count: int, name: str) -> NDArray[Any]:
    """The first `count` elements."""
    if len(array) < count:
        raise FormatError(f"{name} has {len(array)} elements, and indptr calls for {count}")
    return array[:count]


def _from_blocks(obj: Any, dtype: str | None, fill: object, copy: bool | None) -> Tensor:
    """BSR: dense blocks, one behind the other."""
    shape, ptr, idx, blocks = _checked_blocks(obj)
    values, format = _typed(blocks.reshape(-1), BSR(*blocks.shape[1:]), dtype, fill)
    if first_unsorted(ptr, (idx,)) is None:
        ptr, idx, values = _owned((ptr, idx, values), copy)
        tiles = complete_level(format.levels[1], {"ptr": ptr, "idx": idx}, shape[0], [shape[1]], "")
        return wrap(format, shape, [*tiles.values(), values])
    coordinates, _ = _entries_of(ptr, idx, blocks)
    return _sorted_copy(format, shape, coordinates, values, copy)


def block_entries(obj: Any) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """The coordinates and values of the elements of blocks, which are checked."""
    _, ptr, idx, blocks = _checked_blocks(obj)
    return _entries_of(ptr, idx, blocks)


def _checked_blocks(
    obj: Any,
) -> tuple[tuple[int, ...], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The shape, pointers and coordinates of blocks, and the blocks."""
    shape, blocks = _checked_shape(obj, (2,)), _values(obj, 3)
    rows, columns = blocks.shape[1:]
    if min(rows, columns) < 1 or shape[0] % rows or shape[1] % columns:
        raise ShapeError(f"blocks of {rows} x {columns} do not make a matrix of the shape {shape}")
    ptr, idx = as_indices(obj.indptr, "indptr"), as_indices(obj.indices, "indices")
    stored = int(ptr[-1]) if len(ptr) else 0
    check_pointers(ptr, shape[0] // rows, stored, "indptr", fiber="block row")
    idx, blocks = _head(idx, stored, "indices"), _head(blocks, stored, "data")
    check_range(idx, shape[1] // columns, "indices")
    return shape, ptr, idx, blocks


def _entries_of(
    ptr: NDArray[Any], idx: NDArray[Any], blocks: NDArray[Any]
) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """All elements of blocks, block by block."""
    _, rows, columns = blocks.shape
    block_row = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    q, a, b = np.indices(blocks.shape).reshape(3, -1)
    places = [block_row[q] * rows + a, idx[q].astype(np.int64) * columns + b]
    return places, blocks.reshape(-1)
