"""Reductions of some of the elements: NumPy's `where=` and `initial=`, and what is not NaN.

What a condition leaves out is replaced by what changes nothing, so that one pass goes over what is
stored, whatever the formats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.algebra import table
from linnet.algebra.dtypes import as_python
from linnet.api import statistics
from linnet.api.dtypes import DType, astype
from linnet.api.operands import Axes, as_array, axis_numbers, dtype_of, real, shape_of
from linnet.api.shapes import broadcast_to
from linnet.arrays import apply, compute, lazy, reduce
from linnet.errors import ArgumentError, ShapeError
from linnet.formats.tensor import Tensor

NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}
_COMBINED = {
    "sum": table.add,
    "prod": table.multiply,
    "max": table.maximum,
    "min": table.minimum,
    "any": table.logical_or,
    "all": table.logical_and,
}
REDUCTIONS = {*_COMBINED, "mean", "var", "std"}


def restricted(name: str, x: Any, where: Any = True, initial: Any = None, **options: Any) -> Any:
    """A reduction of NumPy's of the elements for which a condition holds, from an initial value."""
    x = as_array(x)
    if name.startswith("nan"):  # what is NaN is left out, too
        name, known = name.removeprefix("nan"), apply(table.equal, lazy(x), lazy(x))
        where = known if where is True else apply(table.logical_and, condition(where), known)
    if name in ("mean", "var", "std"):
        return _moment(name, x, where, **options)
    if name in ("max", "min") and initial is not None:
        initial = as_python(initial, dtype_of(x))  # one of the elements, as it were
    if where is not True:
        instead = NEUTRAL.get(name, initial)
        if instead is None:
            raise ShapeError(
                f"`np.{name}` of some elements needs an `initial` value", why="there may be none"
            )
        x = _like(x, apply(table.where, condition(where), lazy(x), instead))
    if initial is None:
        return getattr(statistics, name)(x, **options)
    if name in ("max", "min") and 0 in shape_of(x):  # of nothing, the initial value
        options["initial"] = initial
        axes = axis_numbers(options.pop("axis", None), x.ndim)
        return reduce(_COMBINED[name], x, axis=axes, **options)
    found = getattr(statistics, name)(x, **options)
    return apply(_COMBINED[name], found, as_python(initial, dtype_of(found)))


def condition(where: Any) -> Any:
    """A condition given by the user, as a lazy array of truth values."""
    return lazy(astype(as_array(where), "bool", copy=False))


def _moment(
    name: str,
    x: Any,
    where: Any,
    axis: Axes = None,
    keepdims: bool = False,
    dtype: DType = None,
    ddof: float = 0,
    correction: float | None = None,
) -> Any:
    """The mean, variance or standard deviation of the elements for which a condition holds."""
    chosen = condition(broadcast_to(as_array(where), shape_of(x)))
    if name == "mean":
        found = mean_where(x, chosen, axis, keepdims)
    else:
        found = variance_where(
            x, chosen, axis, ddof if correction is None else correction, keepdims
        )
        found = apply(table.sqrt, found) if name == "std" else found
    held = dtype_of(x)
    return _like(x, astype(found, dtype or (held if held[0] in "fc" else "float64"), copy=False))


def _like(x: object, found: Any) -> Any:
    """What is lazy, unless all that was given is not."""
    return compute(found) if isinstance(x, Tensor) else found


def mean_where(x: Any, chosen: Any, axis: Axes, keepdims: bool) -> Any:
    """The mean, in double precision; NaN if there is none. 0 / 0 of what is not stored is not."""
    inside = "complex128" if dtype_of(x)[0] == "c" else "float64"
    some = apply(table.where, chosen, lazy(x), 0)
    total = statistics.sum(some, axis=axis, keepdims=keepdims, dtype=inside)
    count = _count(chosen, axis, keepdims)
    return _where_more(count, 0, apply(table.divide, total, count))


def variance_where(x: Any, chosen: Any, axis: Axes, lost: float, keepdims: bool) -> Any:
    """The variance, in double precision; NaN if there are too few elements."""
    lost = real(lost, "a correction")
    if dtype_of(x)[0] == "c":
        raise ArgumentError("the variance of complex numbers is not defined here")
    y = lazy(astype(x, "float64", copy=False))
    distance = apply(table.subtract, y, mean_where(x, chosen, axis, True))
    squares = apply(table.where, chosen, apply(table.square, distance), 0.0)
    total = reduce(table.add, squares, axis=axis_numbers(axis, x.ndim), keepdims=keepdims)
    count = _count(chosen, axis, keepdims)
    found = apply(table.divide, total, apply(table.subtract, count, lost))
    if not np.isfinite(y.fill_value):  # what is infinitely far from the mean is so from itself
        known = apply(table.isfinite, mean_where(x, chosen, axis, keepdims))
        found = apply(table.where, known, found, np.nan)
    return _where_more(count, lost, found)


def _count(chosen: Any, axis: Axes, keepdims: bool) -> Any:
    return statistics.sum(chosen, axis=axis, keepdims=keepdims, dtype="int64")


def _where_more(count: Any, than: float, found: Any) -> Any:
    return apply(table.where, apply(table.greater, count, than), found, np.nan)
