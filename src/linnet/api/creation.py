"""Arrays from nothing: of one value, of a range, with a diagonal; and triangles of others.

They are dense unless a format is given, but for `eye` and `diag`, which are CSR. In a sparse format
an array of one value has it as its fill value and stores nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linnet.algebra.dtypes import Number, as_python, canonical
from linnet.algebra.overflow import overflown, overflows
from linnet.api.dtypes import DType
from linnet.api.moves import triangle
from linnet.api.operands import Array, as_tensor, check_device, dtype_of, shape_of, whole
from linnet.api.programs import is_large
from linnet.api.shapes import broadcast_to, reshape
from linnet.api.storage import (
    alike,
    build,
    dense,
    entries,
    is_dense,
    nothing,
    refuse_large,
    typed,
)
from linnet.errors import ArgumentError, DTypeError, FormatError, RangeError, ShapeError
from linnet.formats import construct
from linnet.formats.assemble import enough_memory
from linnet.formats.located import located
from linnet.formats.named import CSR, DENSE, FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_shape
from linnet.runtime.operation import by_kernels


@located
def full(
    shape: Any,
    fill_value: Number,
    *,
    dtype: DType = None,
    device: object = None,
    format: FormatLike | None = None,
) -> Tensor:
    """An array of one value; in a sparse format it is the fill value, and nothing is stored.

    >>> ln.full((1000, 1000), float("inf"), format="csr").nnz
    0
    """
    check_device(device)
    dims = check_shape(shape)
    value, own = _number(fill_value)
    if not isinstance(value, bool | int | float | complex):
        raise DTypeError(f"{fill_value!r} is not a number")
    held = canonical(own if dtype is None else dtype)
    value = overflown(value, held) if overflows(value, held) else value
    wanted = typed(as_format(DENSE if format is None else format, len(dims)), held, value)
    return nothing(dims, wanted)


def _number(value: Any) -> tuple[object, Any]:
    """A number as Python has it, and its dtype: that of an array or scalar is its own."""
    if isinstance(value, np.generic | np.ndarray | Tensor) and value.size == 1:
        return value.item(), value.dtype
    return value, np.result_type(type(value)) if isinstance(value, int | float | complex) else None


def zeros(
    shape: Any, *, dtype: DType = None, device: object = None, format: FormatLike | None = None
) -> Tensor:
    """An array of zeros."""
    return full(shape, 0, dtype=_float(dtype), device=device, format=format)


def ones(
    shape: Any, *, dtype: DType = None, device: object = None, format: FormatLike | None = None
) -> Tensor:
    """An array of ones; in a sparse format 1 is the fill value."""
    return full(shape, 1, dtype=_float(dtype), device=device, format=format)


def empty(
    shape: Any, *, dtype: DType = None, device: object = None, format: FormatLike | None = None
) -> Tensor:
    """An array of this shape; it holds zeros."""
    return full(shape, 0, dtype=_float(dtype), device=device, format=format)


def _float(dtype: DType) -> DType:
    return "float64" if dtype is None else dtype


@located
def full_like(
    x: Array,
    /,
    fill_value: Number,
    *,
    dtype: DType = None,
    device: object = None,
    shape: Any = None,
    format: FormatLike | None = None,
) -> Tensor:
    """An array of one value, with the shape and the kind of format of another, unless given."""
    check_device(device)
    x = as_tensor(x)
    held = dtype_of(x) if dtype is None else canonical(dtype)
    dims = shape_of(x) if shape is None else check_shape(shape)
    count = len(dims)
    wanted = alike(x.contents().format, count) if format is None else as_format(format, count)
    value = overflown(fill_value, held) if overflows(fill_value, held) else fill_value
    return nothing(dims, typed(wanted, held, as_python(value, held)))


def zeros_like(
    x: Array, /, *, dtype: DType = None, device: object = None, shape: Any = None
) -> Tensor:
    """Zeros, with the shape and the kind of format of another array."""
    return full_like(x, 0, dtype=dtype, device=device, shape=shape)


def ones_like(
    x: Array, /, *, dtype: DType = None, device: object = None, shape: Any = None
) -> Tensor:
    """Ones, with the shape and the kind of format of another array."""
    return full_like(x, 1, dtype=dtype, device=device, shape=shape)


def empty_like(
    x: Array, /, *, dtype: DType = None, device: object = None, shape: Any = None
) -> Tensor:
    """An array with the shape and the kind of format of another; it holds zeros."""
    return full_like(x, 0, dtype=dtype, device=device, shape=shape)


@located
def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: DType = None,
    device: object = None,
    format: FormatLike | None = None,
) -> Tensor:
    """Numbers from `start` up to, and without, `stop`."""
    check_device(device)
    if stop is None:
        start, stop = 0, start
    for value in (start, stop, step):
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise ArgumentError(f"a range has numbers for its ends and its step, not {value!r}")
    if step == 0:
        raise RangeError("the step of a range is not 0")
    span = (stop - start) / step
    if not math.isfinite(span):
        raise ShapeError("a range between these numbers has no length")
    refuse_large(int(max(span, 0)), "this range")
    held: Any = None if dtype is None else canonical(dtype)
    return _in_format(np.arange(start, stop, step, dtype=held), format)


@located
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: DType = None,
    device: object = None,
    endpoint: bool = True,
    format: FormatLike | None = None,
) -> Tensor:
    """`num` numbers at equal distances between two others."""
    check_device(device)
    count = whole(num, "the number of elements")
    if count < 0:
        raise ShapeError(f"an array cannot have {count} elements")
    held = None if dtype is None else canonical(dtype)
    first, last = (end.to_numpy() if isinstance(end, Tensor) else end for end in (start, stop))
    for end in (first, last):
        if not isinstance(end, int | float | complex | np.generic | np.ndarray):
            raise ArgumentError(f"the ends are numbers, not {end!r}")
    with np.errstate(all="ignore"), enough_memory():
        found = np.linspace(first, last, count, endpoint=endpoint, dtype=held)
    return _in_format(found, format)


@located
def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Every coordinate of a grid, as arrays of the shape of the grid."""
    if indexing not in ("xy", "ij"):
        raise FormatError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    given = [as_tensor(x) for x in arrays]
    sizes = [x.size for x in given]
    places = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        places[:2] = [1, 0]
    shape = tuple(sizes[places.index(d)] for d in range(len(given)))
    found = []
    for x, place in zip(given, places, strict=True):
        row = tuple(x.size if d == place else 1 for d in range(len(given)))
        found.append(broadcast_to(reshape(x, row), shape))
    return tuple(found)


@located
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType = None,
    device: object = None,
    format: FormatLike | None = None,
) -> Tensor:
    """Ones on the k-th diagonal, as a CSR matrix unless another format is given.

    >>> ln.eye(1000)
    Tensor(shape=(1000, 1000), dtype=float64, format=CSR, stored=1000, fill=0.0, 15.6 KiB)
    """
    check_device(device)
    rows, cols = check_shape((n_rows, n_rows if n_cols is None else n_cols))
    k, held = max(-rows, min(whole(k, "a diagonal"), cols)), canonical(_float(dtype))
    with enough_memory():
        i = np.arange(max(0, -k), max(min(rows, cols - k), max(0, -k)), dtype=np.int64)
    wanted = typed(as_format(CSR if format is None else format, 2), held, 0)
    if is_dense(wanted):
        return construct.asarray(np.eye(rows, cols, k, held), format=wanted)
    return build([i, i + k], np.ones(len(i), held), (rows, cols), wanted)


@by_kernels
@located
def diag(x: Array, /, k: int = 0, *, format: FormatLike | None = None) -> Tensor:
    """A CSR matrix with a vector on its k-th diagonal, or that diagonal of a matrix.

    >>> ln.diag([1.0, 2.0]).to_numpy().tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    x, k = as_tensor(x), whole(k, "a diagonal")
    if x.ndim == 2:
        from linnet.api.linalg import diagonal_of

        found = diagonal_of(x, k)
        return found if format is None else found.to(as_format(format, 1))
    if x.ndim != 1:
        raise ShapeError(f"diag takes a vector or a matrix, and this has shape {x.shape}")
    (i,), values = entries(_zero_filled(x))
    n = x.size + abs(k)
    wanted = typed(as_format(CSR if format is None else format, 2), dtype_of(x), 0)
    return build([i + max(0, -k), i + max(0, k)], values, (n, n), wanted)


@located
def tril(x: Array, /, *, k: int = 0) -> Tensor:
    """What lies on and below the k-th diagonal; zeros elsewhere."""
    return _triangle(as_tensor(x), whole(k, "a diagonal"), lower=True)


@located
def triu(x: Array, /, *, k: int = 0) -> Tensor:
    """What lies on and above the k-th diagonal; zeros elsewhere."""
    return _triangle(as_tensor(x), whole(k, "a diagonal"), lower=False)


def _triangle(x: Tensor, k: int, lower: bool) -> Tensor:
    if x.ndim < 2:
        raise ShapeError(f"a triangle is part of a matrix, and this has shape {x.shape}")
    if is_dense(x.contents().format):
        return dense(np.tril(x.to_numpy(), k) if lower else np.triu(x.to_numpy(), k))
    x = _zero_filled(x)
    if is_large(x):
        furthest = max(shape_of(x))
        return triangle(x, max(-furthest, min(k, furthest)), lower)
    coordinates, values = entries(x)
    offset = coordinates[-1] - coordinates[-2]
    kept = offset <= k if lower else offset >= k
    wanted = alike(x.contents().format, x.ndim)
    return build([idx[kept] for idx in coordinates], values[kept], shape_of(x), wanted)


def _zero_filled(x: Tensor) -> Tensor:
    """The same values, with zero where nothing is stored."""
    format = x.contents().format
    if format.fill_value == 0:
        return x
    refuse_large(x.size, f"an array with the fill value {format.fill_value!r}, stored over zeros,")
    return x.to(typed(alike(format, x.ndim), format.dtype, 0))


@located
def from_dlpack(x: Any, /, *, device: object = None, copy: bool | None = None) -> Tensor:
    """A dense tensor of another library's array, without a copy where that is possible."""
    check_device(device)
    if isinstance(x, Tensor):
        return x.copy() if copy else x
    if not hasattr(x, "__dlpack__"):
        raise ArgumentError(f"{type(x).__name__} does not speak DLPack")
    return construct.asarray(np.from_dlpack(x), copy=copy)


def _in_format(array: np.ndarray[Any, Any], format: FormatLike | None) -> Tensor:
    return construct.asarray(array, format=DENSE if format is None else format)
