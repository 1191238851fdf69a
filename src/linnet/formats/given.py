"""What a user gives for an array: anything that NumPy takes, unless it does not hold numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import ArgumentError, DTypeError, FormatError, LinnetError, ShapeError
from linnet.formats.validate import LARGEST


def as_numpy(
    obj: object, dtype: str | None = None, copy: bool | None = None, name: str = ""
) -> NDArray[Any]:
    """A NumPy array of what was given; nested lists are read as the dtype asked for."""
    part = bool(name)  # of something whose parts are told by name, and refused by who asks for them
    name = name or f"this {type(obj).__name__}"
    refuse_masked(obj, name)
    if isinstance(obj, np.ndarray):
        return np.asarray(obj)
    try:
        if copy is False:
            return np.array(obj, copy=False)
        found = np.asarray(obj, dtype) if isinstance(obj, (list, tuple)) else np.asarray(obj)
        return found if part else _numbers(found, obj, name)
    except LinnetError:
        raise
    except (ValueError, TypeError, OverflowError) as refused:
        if copy is False:
            raise FormatError(f"{name} cannot be used without a copy") from None
        if "inhomogeneous" in str(refused):
            raise ShapeError(f"the rows of {name} differ in length") from None
        raise DTypeError(f"{name} does not hold numbers that fit", why=str(refused)) from None


def _numbers(array: NDArray[Any], obj: object, name: str) -> NDArray[Any]:
    """The array that NumPy made of an object, unless it only wraps what is no number."""
    if array.dtype.kind not in "OSUMmV":
        return array
    large = isinstance(obj, int)
    raise DTypeError(
        f"{name} does not fit 64 bits" if large else f"{name} does not hold numbers",
        why=f"NumPy makes an array of dtype {array.dtype} of it",
        hint="write it as a float, such as 1e30"
        if large
        else "pass a NumPy or SciPy array of numbers, nested lists, a number, or a tensor",
    )


def as_indices(array: object, name: str) -> NDArray[Any]:
    """Integers, as contiguous int32 or int64; copied only if they must be."""
    found = as_numpy(array, name=name)
    if found.ndim != 1:
        raise ShapeError(f"{name} has {found.ndim} dimensions, and must have one")
    if found.size == 0 and found.dtype.kind in "iuf":
        return np.empty(0, found.dtype if found.dtype in (np.int32, np.int64) else np.int64)
    if found.dtype.kind not in "iu":
        raise DTypeError(f"{name} has dtype {found.dtype}, and coordinates are integers")
    if found.dtype == np.uint64 and found.max() > LARGEST:
        q = int((found > LARGEST).argmax())
        raise ShapeError(f"{name}[{q}] is {found[q]}, more than 63 bits hold")
    wide = found.dtype.itemsize > 4 or found.dtype == np.uint32
    plain = np.ascontiguousarray(found, np.int64 if wide else np.int32)
    return plain if plain.flags.aligned else plain.copy()


def refuse_masked(array: object, name: str) -> None:
    """A masked array has elements without a value, which nothing here stands for."""
    if isinstance(array, np.ndarray) and hasattr(array, "mask") and hasattr(array, "filled"):
        raise ArgumentError(
            f"{name} is a masked array", hint="give the masked elements a value: .filled(value)"
        )
