"""Reductions whose result has gaps: `ln.max(T, axis=1)` of a tensor that stores very little.

A fiber that stores nothing has its fill value as its maximum, though that is not where a maximum
begins. So what is stored is reduced as if the fill value were neutral, how much of each fiber is
not stored is counted, and what that amounts to is put beside it: nothing is visited but what is
stored, and the result is as sparse as that of a sum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linnet import arrays
from linnet.algebra import table
from linnet.algebra.dtypes import Number
from linnet.algebra.exact import apply, same
from linnet.algebra.function import Function
from linnet.api.dtypes import astype
from linnet.arrays import compute, lazy
from linnet.formats.element import Element, Pattern
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.runtime.measure import well_filled


def reduced(
    function: Function, x: Any, axes: tuple[int, ...], keepdims: bool, dtype: str | None = None
) -> Any:
    """The elements along the axes combined by a function, in any format and with any fill value."""
    if type(x) is Tensor and not _is_neutral(function, x):
        if _has_gaps(x, axes):
            return _with_gaps(function, x, axes, keepdims, dtype)
        inside = dtype or str(x.dtype)
        if len(axes) == x.ndim and not keepdims and _goes_by(function, x, inside):
            from linnet.api.totals import total

            return total(function, x, inside)
    return arrays.reduce(function, x, axis=axes, keepdims=keepdims, dtype=dtype)


def _has_gaps(x: Tensor, axes: tuple[int, ...]) -> bool:
    """Whether a result is stored sparsely: along what is left, the array is."""
    contents = x.contents()
    left = x.ndim - len(axes)
    if not left or (left == 1 and well_filled(contents)) or 0 in contents.shape:
        return False
    format = contents.format
    return any(
        not level.full and any(mode not in axes for mode in format.modes_of(number))
        for number, level in enumerate(format.levels[:-1])
    )


def _goes_by(function: Function, x: Tensor, dtype: str) -> bool:
    """Whether all that is stored can go by at once, and much is.

    What is not stored then takes part once, as if once were as often as it is.
    """
    # these bring more along than other reductions need
    from linnet.api.programs import is_large, is_listed
    from linnet.api.storage import is_dense

    contents = x.contents()
    format = contents.format
    if is_dense(format) or not is_listed(format) or not format.leaf.arrays:
        return False
    if 0 in contents.shape or not is_large(x) or not np.can_cast(str(x.dtype), dtype):
        return False
    fill = np.dtype(dtype).type(x.fill_value).item()
    both = apply(function, (fill, fill), (dtype, dtype))
    return function.repeat == "once" or repr(both) == repr(fill)


def _is_neutral(function: Function, x: Tensor) -> bool:
    """Whether what is not stored changes nothing, or nothing better is known than to visit it."""
    neutral, fill = function.identity(str(x.dtype)), x.fill_value
    return neutral is None or fill is None or not function.repeat or same(fill, neutral)


def _with_gaps(
    function: Function, x: Tensor, axes: tuple[int, ...], keepdims: bool, dtype: str | None
) -> Any:
    neutral, fill = function.identity(str(x.dtype)), x.fill_value
    assert neutral is not None
    assert fill is not None
    found = arrays.reduce(
        function, _refilled(x, neutral), axis=axes, keepdims=keepdims, dtype=dtype
    )
    stored = arrays.reduce(table.add, pattern(x), axis=axes, keepdims=keepdims, dtype="int64")
    size = math.prod(x.contents().shape[axis] for axis in axes)
    rest, some = lazy(arrays.apply(table.subtract, size, stored)), lazy(found)
    both = arrays.apply(function, some, _repeated(function, fill, rest))
    complete = arrays.apply(table.where, arrays.apply(table.equal, rest, 0), some, both)
    return compute(astype(complete, found.dtype, copy=False))


def _repeated(function: Function, fill: Number, times: Any) -> Any:
    """What the function makes of so many fill values."""
    match function.repeat:
        case "times":
            return arrays.apply(table.multiply, times, fill)
        case "power":
            return arrays.apply(table.power, fill, times)
        case _:
            return fill


def _refilled(x: Tensor, fill: Number) -> Tensor:
    """What the tensor stores, with another value for what it does not, in the same memory."""
    contents = x.shared()
    format = contents.format
    if not isinstance(format.leaf, Element):  # true wherever something is stored
        return _refilled(x.to(Format((*format.levels[:-1], Element()), format.order)), fill)
    return Tensor(format.with_fill(fill), contents.shape, contents.buffers)


def pattern(x: Tensor) -> Tensor:
    """True where the tensor stores something, in the same memory."""
    contents = x.shared()
    format = contents.format
    kept = len(contents.buffers) - len(format.leaf.arrays)
    found = Format((*format.levels[:-1], Pattern()), format.order)
    return Tensor(found, contents.shape, contents.buffers[:kept])
