"""Value types by name, what they hold, how they combine, and conversion between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linnet import arrays
from linnet.algebra import table
from linnet.algebra.dtypes import as_python, canonical
from linnet.api.operands import Array, as_array, check_device, dtype_of
from linnet.api.storage import is_dense, typed, unpatterned
from linnet.errors import ArgumentError, DTypeError
from linnet.formats.assemble import wrap
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.records import dataclass

int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float32, float64, complex64, complex128 = np.float32, np.float64, np.complex64, np.complex128
bool_ = np.bool_
e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None

DType = Any
"""A dtype as NumPy takes it: `ln.float32`, `np.dtype("float32")`, `"float32"`."""

_NUMBERS = (bool, int, float, complex)
_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """The limits of a float type, or of the parts of a complex type, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class IntInfo:
    """The limits of an integer type, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


@located
def finfo(type: DType, /) -> FloatInfo:
    """The limits of a float or complex dtype, or of an array's."""
    name = _dtype(type)
    if np.dtype(name).kind not in "fc":
        raise DTypeError(f"finfo describes floats, not {name}")
    limits = np.finfo(name)
    numbers = (float(limits.eps), float(limits.max), float(limits.min))
    return FloatInfo(limits.bits, *numbers, float(limits.smallest_normal), limits.dtype)


@located
def iinfo(type: DType, /) -> IntInfo:
    """The limits of an integer dtype, or of an array's."""
    name = _dtype(type)
    if np.dtype(name).kind not in "iu":
        raise DTypeError(f"iinfo describes integers, not {name}")
    limits = np.iinfo(name)
    return IntInfo(limits.bits, int(limits.max), int(limits.min), limits.dtype)


@located
def can_cast(from_: DType, to: DType, /) -> bool:
    """Whether values of one type may become the other where types are promoted."""
    return np.can_cast(_dtype(from_), _dtype(to))


@located
def result_type(*arrays_and_dtypes: DType) -> np.dtype[Any]:
    """The type in which arrays, dtypes and Python numbers meet."""
    if not arrays_and_dtypes:
        raise ArgumentError("result_type wants at least one array or dtype")
    given = [x if type(x) in _NUMBERS else np.dtype(_dtype(x)) for x in arrays_and_dtypes]
    return np.result_type(*given)


@located
def isdtype(dtype: DType, kind: DType) -> bool:
    """Whether a dtype is of a kind (`"integral"`), is another dtype, or any of a tuple of these."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    name = canonical(dtype)
    if isinstance(kind, str) and kind in _KINDS:
        return np.dtype(name).kind in _KINDS[kind]
    if isinstance(kind, str) and " " in kind:
        raise ArgumentError(f"there is no kind {kind!r}", hint=f"one of {', '.join(_KINDS)}")
    return name == canonical(kind)


@located
def astype(x: Array, dtype: DType, /, *, copy: bool = True, device: object = None) -> Tensor:
    """The same values in another type; what is stored where does not change."""
    check_device(device)
    x, wanted = as_array(x), canonical(dtype)
    held = dtype_of(x)
    if held == wanted:
        return x.copy() if copy and isinstance(x, Tensor) else x
    if np.dtype(held).kind == "c" and np.dtype(wanted).kind not in "cb":
        raise DTypeError(
            f"complex values do not become {wanted}", hint="take ln.real or ln.abs first"
        )
    if not isinstance(x, Tensor):
        return arrays.apply(table.astype[wanted], x)  # type: ignore[return-value]
    contents = x.shared()
    if not contents.format.leaf.arrays:  # a pattern holds no values
        return astype(x.to(unpatterned(contents.format)), wanted)
    *indices, values = contents.arrays()
    with np.errstate(all="ignore"):
        values = values.astype(wanted)
        fill = np.asarray(contents.format.fill_value, held).astype(wanted).item()
    if is_dense(contents.format) and fill != fill and not contents.format.leaf.unstored:
        fill = 0
    format = typed(contents.format, wanted, as_python(fill, wanted))
    return wrap(format, contents.shape, [*indices, values])


def _dtype(x: DType) -> str:
    """The dtype of an array, or one that was given."""
    if isinstance(x, Tensor):
        return dtype_of(x)
    held = getattr(x, "dtype", None)
    if held is not None and not isinstance(x, type):
        return canonical(held)
    return canonical(x)
