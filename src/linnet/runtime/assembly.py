"""Assembly plans: a tensor from coordinates, again and again with other values.

Sorting the coordinates and finding the equal ones is done once; filling in values is one compiled
pass. All tensors of a plan share their index arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.algebra.table import add
from linnet.codelets import radix
from linnet.errors import ArgumentError, FormatError, ShapeError
from linnet.formats.assemble import enough_memory, unpack, wrap
from linnet.formats.buffers import Buffer
from linnet.formats.construct import tensor
from linnet.formats.coordinates import as_coordinates, sort_stably
from linnet.formats.format import Format
from linnet.formats.from_numpy import cast, contiguous
from linnet.formats.given import as_numpy
from linnet.formats.located import located
from linnet.formats.named import COO, CSR, FormatLike, as_format, override, settle
from linnet.formats.packing import index_dtype
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_shape
from linnet.formats.verify import verify
from linnet.runtime.arrange import first_of_each
from linnet.runtime.combine import Combining, as_operator

Ints = NDArray[Any]
_combine = Combining(radix.combine_groups)


@located
def assembly(
    *coords_and_shape: object,
    shape: object = None,
    format: FormatLike | None = None,
    fill_value: object = None,
    op: object = add,
) -> Assembly:
    """A plan to make tensors from these coordinates: one array for each dimension, then the shape.

    `plan(values)` is the tensor with `values[q]` at the q-th place; values at equal places are
    combined by `op` in the order given. Matrices are CSR, others COO, unless a format is given.
    A symmetric format takes the values on and below the diagonal.

    Coordinates of several dimensions are broadcast together, and the values have their shape: those
    of finite elements with nodes `e` are `ln.assembly(e[:, :, None], e[:, None, :], shape)`.

    >>> plan = ln.assembly([0, 1, 1], [0, 2, 2], (2, 3))
    >>> plan([1.0, 2.0, 3.0])
    Tensor(shape=(2, 3), dtype=float64, format=CSR, stored=2, fill=0.0, 36 bytes)
    """
    if shape is not None:
        coords_and_shape = (*coords_and_shape, shape)
    if len(coords_and_shape) < 2:
        raise ArgumentError(
            "an assembly plan takes one array of coordinates for each dimension, and the shape",
            hint="ln.assembly(i, j, (rows, columns))",
        )
    *rows, shape = coords_and_shape
    coords, places = _broadcast(rows)
    dims = check_shape(shape)
    if len(coords) != len(dims):
        raise ShapeError(
            f"{len(coords)} arrays of coordinates are given, and the shape {dims} has "
            f"{len(dims)} dimensions"
        )
    wanted = _filled(format, len(dims), fill_value)
    with enough_memory():
        return Assembly(as_coordinates(coords, dims), dims, wanted, op, places)


def _filled(format: FormatLike | None, ndim: int, fill_value: object) -> Format:
    """The format that tensors will have, in which there is something to fill in."""
    wanted = format if format is not None else CSR if ndim == 2 else COO
    found = override(as_format(wanted, ndim), None, fill_value)
    if not found.leaf.arrays:
        raise FormatError(f"{found!r} holds no values to fill in", hint="use a format over Element")
    return found


def _broadcast(coords: Sequence[Any]) -> tuple[list[Any], tuple[int, ...]]:
    """Coordinates in one line each, and the shape that they had together."""
    if all(np.ndim(row) < 2 for row in coords):
        return list(coords), ()
    try:
        arrays = np.broadcast_arrays(*coords)
    except ValueError:
        shapes = " and ".join(str(np.shape(row)) for row in coords)
        raise ShapeError(f"coordinates of the shapes {shapes} do not fit together") from None
    return [row.reshape(-1) for row in arrays], arrays[0].shape


class Assembly:
    """What is known of a tensor before its values are; `nnz` is how many places it stores."""

    def __init__(
        self,
        coords: Sequence[Ints],
        shape: tuple[int, ...],
        format: Format,
        op: object,
        places: tuple[int, ...],
    ) -> None:
        self.shape, self.format, self.op = shape, format, op
        self._count = len(coords[0])
        self._given = places or (self._count,)
        in_order = [coords[mode] for mode in format.order]
        dims = [shape[mode] for mode in format.order]
        order = np.arange(self._count, dtype=index_dtype(self._count))
        if _is_mirrored(format):  # what lies below the diagonal is stored, and read above it, too
            order = np.flatnonzero(in_order[0] >= in_order[1]).astype(order.dtype)
            in_order = [idx[order] for idx in in_order]
        in_order, order = sort_stably(in_order, dims, order)
        first = first_of_each(in_order)
        if len(first) < len(order):
            in_order = [idx[first] for idx in in_order]
        self.nnz = len(first)
        order[first] = ~order[first]
        self._order = np.append(order, order.dtype.type(-1))
        self._arrays, self._to, self._length = _places(in_order, shape, format)

    @located
    def __call__(self, values: object) -> Tensor:
        """The tensor with these values, one for each of the coordinates; or one for all."""
        given = as_numpy(values, name="values")
        if given.shape not in ((self._count,), self._given, ()):
            places = self._count if len(self._given) == 1 else f"{self._given}"
            raise ShapeError(
                f"values has shape {given.shape}, and the plan has {places} coordinates"
            )
        format = settle(self.format, canonical(given.dtype))
        assert format.dtype is not None
        op = as_operator(self.op, format.dtype)
        with enough_memory():
            flat = cast(given, format.dtype).reshape(-1 if given.ndim else ())
            held = np.broadcast_to(flat, (self._count,))
            result = np.empty(self._length, format.dtype)
            if self._length != self.nnz:
                result.fill(format.fill_value)
            placed = self._to is not None
            to = self._to if self._to is not None else np.zeros(0, np.int32)
            given = contiguous(held, None)
            _combine(op, format.dtype, self.nnz, given, self._order, to, int(placed), result)
        made = Tensor(format, self.shape, (*self._arrays, Buffer.borrow(result)))
        verify(made.contents())
        return made

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return (
            f"Assembly(shape={self.shape}, format={self.format!r}, {self._count} coordinates, "
            f"{self.nnz} places)"
        )


def _numbered(format: Format) -> Format:
    """The format with integers for values, 0 where there is none."""
    return format.with_fill(0).with_dtype("int64")


def _is_mirrored(format: Format) -> bool:
    return format.ndim == 2 and any(level.mirrored for level in format.levels)


def _of_numbers(coords: Sequence[Ints], shape: tuple[int, ...], format: Format) -> Tensor:
    """The tensor of the numbers 1, 2, 3 … at sorted coordinates."""
    count = len(coords[0])
    numbers = np.arange(1, count + 1)
    if _is_mirrored(format):
        (i, j), other = coords, np.flatnonzero(coords[0] != coords[1])
        both = [np.append(i, j[other]), np.append(j, i[other])]
        return tensor(both, np.append(numbers, numbers[other]), shape, format=_numbered(format))
    listed = settle(COO(len(shape)).with_order(*format.order), "int64")
    ptr = np.array([0, count], index_dtype(count))
    narrow = [np.ascontiguousarray(idx) for idx in coords]
    return wrap(listed, shape, [ptr, *narrow, numbers]).to(_numbered(format))


def _places(
    coords: Sequence[Ints], shape: tuple[int, ...], format: Format
) -> tuple[tuple[Buffer, ...], Ints | None, int]:
    """The index arrays of sorted coordinates, where the value of each is kept, and how many are.

    None says that each is kept where it comes. A tensor of the numbers 1, 2, 3 … tells.
    """
    count = len(coords[0])
    numbered = _of_numbers(coords, shape, format)
    *arrays, numbers = numbered.shared().arrays()
    kept = tuple(Buffer.borrow(array) for array in arrays)
    if len(numbers) == count and bool((numbers[1:] > numbers[:-1]).all()):
        return kept, None, count
    to = np.empty(count, index_dtype(len(numbers)))
    if len(numbers) == count:
        to[numbers - 1] = np.arange(count, dtype=to.dtype)
    else:  # a place is kept for others, too
        places = np.arange(len(numbers))
        at = unpack(Tensor(numbered.format, shape, (*kept, Buffer.borrow(places))))[1]
        named = unpack(numbered)[1] > 0
        if np.count_nonzero(named) != count:
            raise FormatError(
                f"{format!r} does not keep a place for every value",
                hint="make a plan for CSR or COO, and convert its tensors",
            )
        to[:] = at[named]
    return kept, to, len(numbers)
