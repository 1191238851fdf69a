"""NumPy arrays as tensors, without a copy where the layout allows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import DTYPES, canonical
from linnet.errors import DTypeError, FormatError
from linnet.formats.assemble import enough_memory, pack, wrap
from linnet.formats.buffers import Buffer
from linnet.formats.contents import NARROW, Signature
from linnet.formats.format import Format
from linnet.formats.named import DENSE, FormatLike, as_format, override, recognize, settle
from linnet.formats.tensor import Tensor


def share(array: NDArray[Any]) -> Tensor:
    """As `asarray(array)`, of which this is the part that is asked for most often."""
    flags, known = array.flags, as_it_lies(array.dtype, array.ndim)
    if known is None or not flags.c_contiguous or not flags.aligned:
        return from_numpy(array, None, None, None, None)
    format, signature = known
    made = Tensor(format, array.shape, (Buffer.borrow(array.reshape(-1)),))
    if max(array.shape, default=0) < NARROW:
        made.contents()._signature = signature  # which takes longer to find than all the rest
    return made


@lru_cache(maxsize=256)
def as_it_lies(dtype: np.dtype[Any], ndim: int) -> tuple[Format, Signature] | None:
    """The format of an array in C order whose values are ours, and its signature."""
    if not dtype.isnative or str(dtype) not in DTYPES:
        return None
    empty = from_numpy(np.empty((0,) * ndim, dtype), None, None, None, None)
    return empty.format, empty.signature


def from_numpy(
    array: NDArray[Any],
    dtype: str | None,
    format: FormatLike | None,
    fill: object,
    copy: bool | None,
) -> Tensor:
    """Dense formats share the array's memory if they can; others store what is not fill."""
    held = canonical(array.dtype)
    wanted = _layout_of(array) if format is None else as_format(format, array.ndim)
    found = settle(override(wanted, dtype, fill), held)
    assert found.dtype is not None
    stored = cast(array, found.dtype).transpose(found.order)
    if all(level.full for level in found.levels[:-1]) and found.leaf.arrays:
        flat = contiguous(stored, copy)
        if copy is False and not np.may_share_memory(flat, array) and array.size:
            raise FormatError("this array lies in memory in an order that asks for a copy")
        return wrap(found, array.shape, [flat])
    if copy is False:
        raise FormatError(f"an array becomes {found!r} only with a copy")
    with enough_memory():
        coordinates = np.nonzero(np.atleast_1d(differs(stored, found.fill_value)))
    by_mode = [coordinates[found.order.index(mode)] for mode in range(array.ndim)]
    return pack(by_mode, np.atleast_1d(stored)[coordinates], array.shape, found)


def cast(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    """The array with another dtype (to integers: truncated); refuses values that do not fit."""
    if array.dtype == dtype and array.dtype.isnative:
        return array
    if array.dtype.kind == "c" and dtype[0] not in "cb":
        raise DTypeError(f"complex values do not fit the dtype {dtype}", hint="take .real first")
    if array.dtype.kind in "iuf" and dtype[0] in "iu" and not np.can_cast(array.dtype, dtype):
        _check_limits(array, dtype)
    with enough_memory():
        return array.astype(dtype, copy=False)


def _check_limits(array: NDArray[Any], dtype: str) -> None:
    """Every value lies between the least and the greatest integer of a dtype."""
    limits = np.iinfo(dtype)
    if array.dtype.kind == "f":
        whole = np.trunc(array)
        fits = (whole >= float(limits.min)) & (whole < float(limits.max + 1))
    else:
        fits = (array >= limits.min) & (array <= limits.max)
    if not fits.all():
        place = np.unravel_index(int(np.argmin(fits)), array.shape)
        at = list(map(int, place))
        raise DTypeError(f"the value {array[place]} at {at} does not fit the dtype {dtype}")


def contiguous(array: NDArray[Any], copy: bool | None) -> NDArray[Any]:
    """The elements in C order, as one aligned row."""
    with enough_memory():
        if copy or not array.flags.aligned:
            array = np.array(array, order="C")
        return np.ascontiguousarray(array).reshape(-1)


def differs(array: NDArray[Any], fill: Any) -> NDArray[np.bool_]:
    """Where an array is not the fill value: NaN is NaN, and 0.0 is not -0.0."""
    if array.dtype.kind == "c":
        return differs(array.real, fill.real) | differs(array.imag, fill.imag)
    if array.dtype.kind == "f" and np.isnan(fill):
        return np.asarray(~np.isnan(array))
    if array.dtype.kind == "f" and fill == 0:
        return np.asarray((array != 0) | (np.signbit(array) != np.signbit(fill)))
    return np.asarray(array != fill)


def _layout_of(array: NDArray[Any]) -> Format:
    """The dense format in which the array's memory lies already; C order if there is none."""
    dense = DENSE(array.ndim)
    if array.flags.c_contiguous:
        return dense
    order = tuple(map(int, np.argsort([-stride for stride in array.strides], kind="stable")))
    if not array.transpose(order).flags.c_contiguous:
        return dense
    return recognize(Format(dense.levels, order))
