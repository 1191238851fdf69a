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
from linnet.errors import ArgumentError, FormatError, ShapeError
from linnet.formats.assemble import enough_memory, unpack, wrap
from linnet.formats.buffers import Buffer
from linnet.formats.coordinates import as_coordinates, sort_stably
from linnet.formats.format import Format
from linnet.formats.from_numpy import cast, contiguous
from linnet.formats.given import as_numpy
from linnet.formats.located import located
from linnet.formats.named import COO, CSR, FormatLike, as_format, override, settle
from linnet.formats.packing import index_dtype
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_shape
from linnet.imp import radix
from linnet.runtime.arrange import first_of_each
from linnet.runtime.combine import Combining, as_operator

Ints = NDArray[Any]
_combine = Combining(radix.combine_groups)


@located
def assembly(
    *coords_and_shape: object,
    format: FormatLike | None = None,
    fill_value: object = None,
    op: object = add,
) -> Assembly:
    """A plan to make tensors from these coordinates: one array for each dimension, then the shape.

    `plan(values)` is the tensor with `values[q]` at the q-th place; values at equal places are
    combined by `op` in the order given. Matrices are CSR, others COO, unless a format is given.

    >>> plan = ln.assembly([0, 1, 1], [0, 2, 2], (2, 3))
    >>> plan([1.0, 2.0, 3.0])
    Tensor(shape=(2, 3), dtype=float64, format=CSR, stored=2, fill=0.0, 36 bytes)
    """
    if len(coords_and_shape) < 2:
        raise ArgumentError(
            "an assembly plan takes one array of coordinates for each dimension, and the shape",
            hint="ln.assembly(i, j, (rows, columns))",
        )
    *coords, shape = coords_and_shape
    dims = check_shape(shape)
    if len(coords) != len(dims):
        raise ShapeError(
            f"{len(coords)} arrays of coordinates are given, and the shape {dims} has "
            f"{len(dims)} dimensions"
        )
    wanted = format if format is not None else CSR if len(dims) == 2 else COO
    found = override(as_format(wanted, len(dims)), None, fill_value)
    if not found.leaf.arrays:
        raise FormatError(f"{found!r} holds no values to fill in", hint="use a format over Element")
    with enough_memory():
        return Assembly(as_coordinates(coords, dims), dims, found, op)


class Assembly:
    """What is known of a tensor before its values are; `nnz` is how many places it stores."""

    def __init__(
        self, coords: Sequence[Ints], shape: tuple[int, ...], format: Format, op: object
    ) -> None:
        self.shape, self.format, self.op = shape, format, op
        self._count = len(coords[0])
        in_order = [coords[mode] for mode in format.order]
        dims = [shape[mode] for mode in format.order]
        order = np.arange(self._count, dtype=index_dtype(self._count))
        in_order, order = sort_stably(in_order, dims, order)
        first = first_of_each(in_order)
        if len(first) < self._count:
            in_order = [idx[first] for idx in in_order]
        self.nnz = len(first)
        order[first] = ~order[first]
        self._order = np.append(order, order.dtype.type(-1))
        self._arrays, self._to, self._length = _places(in_order, shape, format)

    @located
    def __call__(self, values: object) -> Tensor:
        """The tensor with these values, one for each of the coordinates; or one for all."""
        given = as_numpy(values, name="values")
        if given.shape not in ((self._count,), ()):
            raise ShapeError(
                f"values has shape {given.shape}, and the plan has {self._count} coordinates"
            )
        format = settle(self.format, canonical(given.dtype))
        assert format.dtype is not None
        op = as_operator(self.op, format.dtype)
        with enough_memory():
            held = np.broadcast_to(cast(given, format.dtype), (self._count,))
            result = np.empty(self._length, format.dtype)
            if self._length != self.nnz:
                result.fill(format.fill_value)
            placed = self._to is not None
            to = self._to if self._to is not None else np.zeros(0, np.int32)
            given = contiguous(held, None)
            _combine(op, format.dtype, self.nnz, given, self._order, to, int(placed), result)
        return Tensor(format, self.shape, (*self._arrays, Buffer.borrow(result)))

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


def _places(
    coords: Sequence[Ints], shape: tuple[int, ...], format: Format
) -> tuple[tuple[Buffer, ...], Ints | None, int]:
    """The index arrays of sorted coordinates, where the value of each is kept, and how many are.

    None says that each is kept where it comes. A tensor of the numbers 1, 2, 3 … tells.
    """
    count = len(coords[0])
    listed = settle(COO(len(shape)).with_order(*format.order), "int64")
    ptr = np.array([0, count], index_dtype(count))
    narrow = [np.ascontiguousarray(idx) for idx in coords]
    numbered = wrap(listed, shape, [ptr, *narrow, np.arange(1, count + 1)]).to(_numbered(format))
    *arrays, numbers = numbered.contents().arrays()
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
