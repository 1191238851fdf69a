"""Reductions over dimensions: sums, products, extremes, means, variances, truth.

Sums and products of floats are accumulated in double precision whatever the dtype, unless
`acc_dtype` says otherwise.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from linnet import arrays
from linnet.algebra import table
from linnet.algebra.dtypes import canonical
from linnet.algebra.function import Function
from linnet.api.dtypes import DType, astype
from linnet.api.gaps import reduced
from linnet.api.operands import (
    Array,
    Axes,
    as_array,
    axis_numbers,
    check_kind,
    dtype_of,
    real,
    shape_of,
)
from linnet.arrays import compute, lazy
from linnet.errors import DTypeError, ShapeError
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.runtime.operation import by_kernels

_WIDE = {"b": "int64", "i": "int64", "u": "uint64"}
_ACCUMULATE = {"float32": "float64", "complex64": "complex128"}


@by_kernels
@located
def sum(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType = None,
    keepdims: bool = False,
    acc_dtype: DType = None,
) -> Array:
    """The sum of the elements, of all or along dimensions. Integers are summed in 64 bits.

    >>> ln.sum(ln.eye(3), axis=0).to_numpy().tolist()
    [1.0, 1.0, 1.0]
    """
    return _accumulated(table.add, as_array(x), axis, dtype, keepdims, acc_dtype)


@by_kernels
@located
def prod(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType = None,
    keepdims: bool = False,
    acc_dtype: DType = None,
) -> Array:
    """The product of the elements, of all or along dimensions."""
    return _accumulated(table.multiply, as_array(x), axis, dtype, keepdims, acc_dtype)


def _accumulated(
    function: Function, x: Any, axis: Axes, dtype: DType, keepdims: bool, acc_dtype: DType
) -> Array:
    held = dtype_of(x)
    if dtype is None and acc_dtype is None:
        wanted, inside = _usual(held)
    else:
        wanted = summed_dtype(held, dtype)
        inside = accumulated_in(wanted, acc_dtype)
    axes = axis_numbers(axis, x.ndim)
    if not axes and held == inside:
        return astype(x, wanted, copy=False)
    if wanted == "bool":  # a sum of truth values is `or`, a product `and`
        inside = wanted
        function = table.logical_or if function is table.add else table.logical_and
        x = astype(x, "bool", copy=False)
    found = reduced(function, x, axes, keepdims, inside)
    return found if inside == wanted else astype(found, wanted, copy=False)


@lru_cache(maxsize=64)
def _usual(held: str) -> tuple[str, str]:
    """The dtypes of a sum and of what it is accumulated in, where nothing else is said."""
    wanted = summed_dtype(held, None)
    return wanted, accumulated_in(wanted, None)


def summed_dtype(held: str, dtype: DType) -> str:
    """The dtype of a sum: integers have 64 bits, unless one is given."""
    wanted = _WIDE.get(np.dtype(held).kind, held) if dtype is None else canonical(dtype)
    if np.dtype(held).kind == "c" and np.dtype(wanted).kind != "c":
        raise DTypeError(f"complex values are not accumulated in {wanted}")
    return wanted


def accumulated_in(dtype: str, given: DType) -> str:
    """The dtype in which a sum of this dtype is accumulated: double precision, unless given."""
    return _ACCUMULATE.get(dtype, dtype) if given is None else canonical(given)


@by_kernels
@located
def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The largest element, of all or along dimensions; NaN if there is one."""
    return _extreme(table.maximum, as_array(x), axis, keepdims)


@by_kernels
@located
def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The smallest element, of all or along dimensions; NaN if there is one."""
    return _extreme(table.minimum, as_array(x), axis, keepdims)


def _extreme(function: Function, x: Any, axis: Axes, keepdims: bool) -> Array:
    check_kind(x, "biuf", function.name)
    axes = axis_numbers(axis, x.ndim)
    if not math.prod(shape_of(x)[d] for d in axes):
        raise ShapeError(f"an array of shape {x.shape} has no {function.name} along {axes}")
    return reduced(function, x, axes, keepdims) if axes else x


@by_kernels
@located
def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether an element is not zero, among all or along dimensions."""
    return _truth(table.logical_or, as_array(x), axis, keepdims)


@by_kernels
@located
def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Whether no element is zero, among all or along dimensions."""
    return _truth(table.logical_and, as_array(x), axis, keepdims)


def _truth(function: Function, x: Any, axis: Axes, keepdims: bool) -> Array:
    axes = axis_numbers(axis, x.ndim)
    x = astype(x, "bool", copy=False)
    return reduced(function, x, axes, keepdims) if axes else x


# -- means and variances ---------------------------------------------------------------------------


@by_kernels
@located
def mean(
    x: Array,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    dtype: DType = None,
    acc_dtype: DType = None,
) -> Array:
    """The mean of the elements, of all or along dimensions, computed in double precision."""
    x = as_array(x)
    axes = axis_numbers(axis, x.ndim)
    wanted = _floating(x, dtype)
    return astype(_mean(x, axes, keepdims, acc_dtype), wanted, copy=False)


def _floating(x: Any, dtype: DType) -> str:
    held = dtype_of(x)
    if dtype is not None:
        return canonical(dtype)
    return held if np.dtype(held).kind in "fc" else "float64"


def _mean(x: Any, axes: tuple[int, ...], keepdims: bool, acc_dtype: DType = None) -> Array:
    inside = _double(x) if acc_dtype is None else summed_dtype(dtype_of(x), acc_dtype)
    count = math.prod(shape_of(x)[d] for d in axes)
    total = reduced(table.add, x, axes, keepdims, inside)
    return _quotient(total, count, float(count))


def _quotient(total: Any, count: int, divisor: float) -> Array:
    """A sum of so many elements, divided: NaN of none, though a 0 that is not stored stays 0."""
    if count:
        return arrays.apply(table.divide, total, divisor)
    return arrays.apply(table.add, total, math.nan)


def _double(x: Any) -> str:
    return "complex128" if np.dtype(dtype_of(x)).kind == "c" else "float64"


@by_kernels
@located
def var(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: DType = None,
    acc_dtype: DType = None,
) -> Array:
    """The variance of the elements, of all or along dimensions; `correction` is NumPy's `ddof`.

    Two passes over what is stored: the mean, and then the squares of the distances from it.
    """
    x = as_array(x)
    check_kind(x, "biuf", "var")
    lost = correction if ddof is None else ddof
    found = _variance(x, axis_numbers(axis, x.ndim), lost, keepdims, acc_dtype)
    return astype(found, _floating(x, dtype), copy=False)


@by_kernels
@located
def std(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: DType = None,
    acc_dtype: DType = None,
) -> Array:
    """The standard deviation of the elements: the root of the variance."""
    x = as_array(x)
    check_kind(x, "biuf", "std")
    lost = correction if ddof is None else ddof
    found = _variance(x, axis_numbers(axis, x.ndim), lost, keepdims, acc_dtype)
    return astype(arrays.apply(table.sqrt, found), _floating(x, dtype), copy=False)


def _variance(
    x: Any, axes: tuple[int, ...], correction: float, keepdims: bool, acc_dtype: DType = None
) -> Array:
    """Where nothing is stored, the distance from the mean is the same, and is counted."""
    count = math.prod(shape_of(x)[d] for d in axes)
    degrees = float(np.maximum(count - real(correction, "a correction"), 0))
    inside = "float64" if acc_dtype is None else canonical(acc_dtype)
    y: Any = lazy(astype(x, inside, copy=False))
    squares = arrays.apply(
        table.square, arrays.apply(table.subtract, y, _mean(y, axes, True, inside))
    )
    total: Any = arrays.reduce(table.add, squares, axis=axes, keepdims=keepdims)
    found: Any = _quotient(total, count, degrees)
    if not np.isfinite(y.fill_value):  # what is infinitely far from the mean is so from itself
        known = arrays.apply(table.isfinite, _mean(y, axes, keepdims, inside))
        found = arrays.apply(table.where, known, found, math.nan)
    return compute(found) if isinstance(x, Tensor) else found
