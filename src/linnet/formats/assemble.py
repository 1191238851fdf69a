"""Tensors from arrays, or from coordinates, that are known to be right; and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import Number
from linnet.errors import LinnetError, OutOfMemoryError
from linnet.formats.buffers import Buffer
from linnet.formats.contents import Contents, Signature
from linnet.formats.coordinates import MANY
from linnet.formats.element import Unstored
from linnet.formats.format import Format
from linnet.formats.named import COO
from linnet.formats.packing import index_dtype, pack_levels, unpack_levels
from linnet.formats.tensor import Tensor
from linnet.formats.verify import verify
from linnet.options import limit


def wrap(format: Format, shape: tuple[int, ...], arrays: Iterable[NDArray[Any]]) -> Tensor:
    """A tensor of arrays in the order of its levels, whose memory it shares."""
    made = Tensor(format, shape, tuple(Buffer.borrow(array) for array in arrays))
    verify(made.contents())
    return made


def pack(
    coordinates: Sequence[NDArray[Any]],
    values: NDArray[Any],
    shape: tuple[int, ...],
    format: Format,
) -> Tensor:
    """A tensor from coordinates (by mode) that are unique and sorted in the format's order.

    Nothing is checked. The format has a dtype, which is that of the values, and a fill value.
    """
    if not format.leaf.arrays:  # a pattern: only what is true is stored
        coordinates, values = [idx[values] for idx in coordinates], values[values]
    elif not coordinates and len(values) == 0:
        values = np.full(1, format.fill_value, format.dtype)
    if shape and len(values) >= limit(MANY) and format.written is format:
        return _pack_many(coordinates, values, shape, format)
    return _wrap_levels(coordinates, values, shape, format)


def _pack_many(
    coordinates: Sequence[NDArray[Any]],
    values: NDArray[Any],
    shape: tuple[int, ...],
    format: Format,
) -> Tensor:
    """By way of a format that takes coordinates as they are: the rest is a compiled conversion.

    A tensor in that format shares their memory.
    """
    entries = Format((*COO(format.ndim).levels[:-1], format.leaf), format.order)
    in_order = [
        np.ascontiguousarray(coordinates[mode], index_dtype(shape[mode])) for mode in format.order
    ]
    ptr = np.array([0, len(values)], index_dtype(len(values)))
    arrays = [ptr, *in_order, *([np.ascontiguousarray(values)] if format.leaf.arrays else [])]
    if entries == format:
        return wrap(format, shape, arrays)
    return wrap(entries, shape, arrays).to(format)


def _wrap_levels(
    coordinates: Sequence[NDArray[Any]],
    values: NDArray[Any],
    shape: tuple[int, ...],
    format: Format,
) -> Tensor:
    """Level by level, in NumPy, without code that must be compiled."""
    with enough_memory():
        levels = pack_levels(coordinates, values, shape, format)
    named = zip(format.levels, levels, strict=True)
    return wrap(format, shape, [arrays[a.name] for level, arrays in named for a in level.arrays])


def unstored(fill: Number, dtype: str) -> Tensor:
    """An element of an array that does not store it; a kernel that writes to the tensor does."""
    asked, held, buffers, signature = _unstored(fill, repr(fill), dtype)
    made = Tensor(asked, None)
    made._contents = Contents(held, (), buffers)
    made._contents._signature = signature
    return made


@lru_cache(maxsize=1024)
def _unstored(
    fill: Number, text: str, dtype: str
) -> tuple[Format, Format, tuple[Buffer, ...], Signature]:
    format = Format((Unstored(fill, dtype),), ())  # the text tells 0.0 from -0.0, and False
    buffers = (Buffer.borrow(np.array((fill,), dtype)),)
    return format.written, format, buffers, Contents(format, (), buffers).signature


def unpack(tensor: Tensor) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Coordinates (by mode) and values of everything that is stored, in the format's order."""
    contents = tensor.shared()
    with enough_memory():
        return unpack_levels(contents.levels(), contents.shape, contents.format)


class enough_memory:
    """A block in which NumPy's complaint about memory becomes ours."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, MemoryError) and not isinstance(error, LinnetError):
            raise OutOfMemoryError(str(error) or "out of memory") from None
