"""Where NaN means that something is missing: reductions that leave it out, under NumPy's names.

In an array whose fill value is NaN, what is not stored is missing, and is not visited.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.algebra import table
from linnet.algebra.function import Function
from linnet.api import running, searching, statistics
from linnet.api.dtypes import DType, astype
from linnet.api.operands import Array, Axes, as_array, as_tensor, axis_numbers, dtype_of
from linnet.api.restricted import mean_where, variance_where
from linnet.arrays import apply, compute, lazy, reduce
from linnet.errors import ShapeError
from linnet.formats.located import located
from linnet.formats.tensor import Tensor


@located
def nansum(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType = None,
    keepdims: bool = False,
    acc_dtype: DType = None,
) -> Array:
    """The sum of the elements that are not NaN.

    >>> seen = ln.asarray([[np.nan, 3.0], [1.0, np.nan]], format="csr", fill_value=np.nan)
    >>> ln.nansum(seen, axis=0).to_numpy().tolist()
    [1.0, 3.0]
    """
    options = {"axis": axis, "dtype": dtype, "keepdims": keepdims, "acc_dtype": acc_dtype}
    return _like(x, statistics.sum(_without(x, 0), **options))


@located
def nanprod(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType = None,
    keepdims: bool = False,
    acc_dtype: DType = None,
) -> Array:
    """The product of the elements that are not NaN."""
    options = {"axis": axis, "dtype": dtype, "keepdims": keepdims, "acc_dtype": acc_dtype}
    return _like(x, statistics.prod(_without(x, 1), **options))


@located
def nanmax(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The largest of the elements that are not NaN; NaN if there is none."""
    return _extreme(table.fmax, x, axis, keepdims)


@located
def nanmin(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """The smallest of the elements that are not NaN; NaN if there is none."""
    return _extreme(table.fmin, x, axis, keepdims)


@located
def nanmean(
    x: Array, /, *, axis: Axes = None, keepdims: bool = False, dtype: DType = None
) -> Array:
    """The mean of the elements that are not NaN; NaN if there is none."""
    x = as_array(x)
    if not _has_nan(x):
        return statistics.mean(x, axis=axis, keepdims=keepdims, dtype=dtype)
    found = mean_where(x, _known(x), axis, keepdims)
    return _like(x, astype(found, dtype_of(x) if dtype is None else dtype, copy=False))


@located
def nanvar(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: DType = None,
) -> Array:
    """The variance of the elements that are not NaN; NaN if there are too few."""
    x, lost = as_array(x), correction if ddof is None else ddof
    wanted = dtype or _floating(x)
    if not _has_nan(x):
        found = statistics.var(x, axis=axis, correction=lost, keepdims=keepdims)
        return astype(found, wanted, copy=False)
    found = variance_where(x, _known(x), axis, lost, keepdims)
    return _like(x, astype(found, wanted, copy=False))


@located
def nanstd(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    dtype: DType = None,
) -> Array:
    """The standard deviation of the elements that are not NaN: the root of the variance."""
    options = {"axis": axis, "correction": correction, "keepdims": keepdims, "ddof": ddof}
    found = apply(table.sqrt, nanvar(x, dtype="float64", **options))  # type: ignore[arg-type]
    return _like(x, astype(found, dtype or _floating(as_array(x)), copy=False))


@located
def nanargmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first of the largest elements that are not NaN."""
    _check_some(x, axis)
    return searching.argmax(compute(_without(x, -np.inf)), axis=axis, keepdims=keepdims)


@located
def nanargmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first of the smallest elements that are not NaN."""
    _check_some(x, axis)
    return searching.argmin(compute(_without(x, np.inf)), axis=axis, keepdims=keepdims)


@located
def nancumsum(x: Array, /, *, axis: int | None = None, dtype: DType = None) -> Tensor:
    """At every place, the sum of the elements up to it that are not NaN. The result is dense."""
    return running.cumulative_sum(compute(_without(x, 0)), axis=axis, dtype=dtype)


@located
def nancumprod(x: Array, /, *, axis: int | None = None, dtype: DType = None) -> Tensor:
    """At every place, the product of the elements up to it that are not NaN."""
    return running.cumulative_prod(compute(_without(x, 1)), axis=axis, dtype=dtype)


# -- parts of expressions --------------------------------------------------------------------------


def _has_nan(x: Any) -> bool:
    """Whether the dtype has a NaN."""
    return dtype_of(x)[0] in "fc"


def _floating(x: Any) -> str:
    return dtype_of(x) if _has_nan(x) else "float64"


def _like(x: object, found: Any) -> Any:
    """What is lazy, unless all that was given is not."""
    return found if not isinstance(x, Tensor) and hasattr(x, "node") else compute(found)


def _known(x: Any) -> Any:
    return apply(table.logical_not, apply(table.isnan, lazy(x)))


def _without(x: Array, instead: float) -> Any:
    """The array, as a lazy one, with another value in the place of NaN."""
    given = as_array(x)
    if not _has_nan(given):
        return lazy(given)
    return apply(table.where, apply(table.isnan, lazy(given)), instead, lazy(given))


def _extreme(function: Function, x: Array, axis: Axes, keepdims: bool) -> Any:
    given = as_array(x)
    axes = axis_numbers(axis, given.ndim)
    plain = statistics.max if function is table.fmax else statistics.min
    if not _has_nan(given) or 0 in given.shape:
        return plain(given, axis=axis, keepdims=keepdims)
    found = reduce(function, lazy(given), axis=axes, keepdims=keepdims)
    some = statistics.any(_known(given), axis=axis, keepdims=keepdims)
    return _like(x, apply(table.where, some, found, np.nan))


def _check_some(x: Array, axis: int | None) -> None:
    """A position is asked for, and there is none where all elements are NaN."""
    given = as_tensor(x)
    if _has_nan(given) and given.size:
        some = statistics.any(_known(given), axis=axis)
        if not bool(compute(statistics.all(some))):
            raise ShapeError("all elements are NaN, here or along a dimension: there is no largest")
