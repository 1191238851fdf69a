"""A tensor from the entries of a file, in any order: sorted and combined by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.algebra.table import add, logical_or
from linnet.errors import ShapeError
from linnet.files.understood import understood
from linnet.formats.assemble import enough_memory, wrap
from linnet.formats.coordinates import KEY, key_bits, sort_unique
from linnet.formats.element import Pattern
from linnet.formats.format import Format
from linnet.formats.from_numpy import cast
from linnet.formats.given import as_indices
from linnet.formats.named import COO, CSR, FormatLike, as_format, override, recognize, settle
from linnet.formats.packing import index_dtype
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_length, check_range, check_shape
from linnet.runtime.arrange import DISTINCT, UNSORTED, how_sorted
from linnet.runtime.in_place import LARGE, sort_in_place

Ints = NDArray[Any]
_EMPTY = 64  # rows for each entry: where there are more, CSR would store little but empty rows


def layout_for(shape: tuple[int, ...], count: int) -> FormatLike:
    """The format of what a file holds if none is asked for."""
    if len(shape) == 2 and shape[0] <= _EMPTY * count + 1024:
        return CSR
    return COO


def from_entries(
    path: Path,
    coords: list[Ints],
    values: NDArray[Any] | None,
    shape: tuple[int, ...],
    format: FormatLike | None,
    dtype: str | None,
) -> Tensor:
    """The tensor with these entries of a file, which are checked; equal ones are summed.

    Without values it is a pattern. The list of coordinates is emptied: those of a large file are
    freed as soon as may be.
    """
    with understood(path, "a list of entries"):
        _check(coords, values, shape)
    wanted = layout_for(shape, len(coords[0])) if format is None else format
    found = override(as_format(wanted, len(shape)), dtype)
    if values is None and format is None and dtype is None:
        found = recognize(Format((*found.levels[:-1], Pattern()), found.order))
    held = np.ones(len(coords[0]), bool) if values is None else values
    found = settle(found, canonical(held.dtype))
    assert found.dtype is not None
    with enough_memory():
        order = _order(coords, found)
        in_order = [coords[mode] for mode in order]
        coords.clear()
        in_order, combined = _combined(in_order, cast(held, found.dtype), shape, order)
        return _listed(in_order, combined, shape, found, order).to(found)


def _check(coords: list[Ints], values: NDArray[Any] | None, shape: tuple[int, ...]) -> None:
    """One coordinate in each dimension for each value, and all within the shape.

    What follows sorts by keys of as many bits as the shape calls for, and trusts them.
    """
    check_length(np.asarray(check_shape(shape)), len(coords), "shape")
    count = len(coords[0]) if values is None else len(values)
    for mode, dim in enumerate(shape):
        coords[mode] = as_indices(coords[mode], f"coords[{mode}]")
        check_length(coords[mode], count, f"coords[{mode}]")
        check_range(coords[mode], dim, f"coords[{mode}]")
    if values is not None:
        canonical(values.dtype)
        if values.ndim != 1:
            raise ShapeError(f"values has {values.ndim} dimensions, and must have one")


def _order(coords: Sequence[Ints], format: Format) -> tuple[int, ...]:
    """An order of the dimensions in which the entries are sorted; else that of the format.

    Many files are by columns, and a conversion from there takes less than sorting.
    """
    modes = tuple(range(len(coords)))
    for order in dict.fromkeys((format.order, modes, modes[::-1])):
        if how_sorted([coords[mode] for mode in order]) != UNSORTED:
            return order
    return format.order


def _combined(
    in_order: list[Ints], values: NDArray[Any], shape: tuple[int, ...], order: tuple[int, ...]
) -> tuple[list[Ints], NDArray[Any]]:
    """The entries, sorted in this order of dimensions, each once."""
    if how_sorted(in_order) == DISTINCT:
        return in_order, values
    op = logical_or if values.dtype == bool else add
    dims = [shape[mode] for mode in order]
    if len(values) >= LARGE and sum(key_bits(dims)) <= KEY:
        return sort_in_place(in_order, dims, values, op)
    return sort_unique(in_order, dims, values, op)


def _listed(
    in_order: Sequence[Ints],
    values: NDArray[Any],
    shape: tuple[int, ...],
    format: Format,
    order: tuple[int, ...],
) -> Tensor:
    """The entries as they are, coordinates outermost first."""
    assert format.dtype is not None
    listed = COO(len(shape)).with_dtype(format.dtype).with_order(*order)
    fill = format.fill_value
    listed = listed if fill is None else listed.with_fill(fill)
    ptr = np.array([0, len(values)], index_dtype(len(values)))
    arrays = [ptr, *map(np.ascontiguousarray, in_order), np.ascontiguousarray(values)]
    return wrap(recognize(listed), shape, arrays)
