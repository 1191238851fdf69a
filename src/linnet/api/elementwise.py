"""Functions of values that are more than a row of the algebra's table."""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np

from linnet.algebra import table
from linnet.algebra.function import Function
from linnet.api.dtypes import astype
from linnet.api.operands import Array, as_array, as_tensor, axis_number, dtype_of, shape_of
from linnet.api.shapes import broadcast_shapes, broadcast_to, reshape
from linnet.api.storage import alike, is_dense, typed
from linnet.arrays import Lazy, apply, apply_each, compute, lazy, reduce
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST


@located
def clip(x: Array, /, min: Any = None, max: Any = None) -> Any:
    """Every element, or the bound that it exceeds; None is no bound. The dtype stays."""
    found: Any = as_array(x)
    held = str(found.dtype)
    lower, upper = (_bound(b, held) for b in (min, max))
    if lower is not None:
        found = apply(table.maximum, found, lower)
    if upper is not None:
        found = apply(table.minimum, found, upper)
    if min is None and max is None:
        return found.copy() if isinstance(found, Tensor) else found
    return found if str(found.dtype) == held else apply(table.astype[held], found)


def _bound(b: Any, dtype: str) -> Any:
    """A bound in the dtype of the array, where it fits; integers beyond it bound nothing."""
    if b is None:
        return None
    held = np.dtype(dtype).kind
    if isinstance(b, int | float) and not isinstance(b, bool):
        if held in "iu" and isinstance(b, int):
            limits = np.iinfo(dtype)
            return int(np.clip(b, int(limits.min), int(limits.max)))
        return b
    bound = as_tensor(b)
    if held in "iu" and np.dtype(dtype_of(bound)).kind in "iu" and dtype_of(bound) != dtype:
        bound = clip(bound, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        return astype(bound, dtype)
    if np.dtype(dtype_of(bound)).kind == held:
        return astype(bound, dtype, copy=False)
    return bound


@located
def nan_to_num(
    x: Array, /, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """With numbers in place of NaN and infinities: 0 and the largest ones, or those given."""
    given: Any = as_array(x)
    if dtype_of(given)[0] not in "fc":
        return copy(given) if isinstance(given, Tensor) else given
    found = _finite(lazy(given), nan, posinf, neginf)
    return compute(found) if isinstance(given, Tensor) else found


def _finite(x: Any, nan: float, above: float | None, below: float | None) -> Any:
    if dtype_of(x)[0] == "c":
        parts = (apply(part, x) for part in (table.real, table.imag))
        real, imag = (_finite(part, nan, above, below) for part in parts)
        return apply(table.add, real, apply(table.multiply, imag, 1j))
    limits = np.finfo(dtype_of(x))
    high, low = (
        float(b) if a is None else a for a, b in ((above, limits.max), (below, limits.min))
    )
    found = apply(table.where, apply(table.isnan, x), nan, x)
    found = apply(table.where, apply(table.equal, x, np.inf), high, found)
    return apply(table.where, apply(table.equal, x, -np.inf), low, found)


@located
def softmax(x: Array, /, *, axis: int = -1) -> Any:
    """Exponentials that add up to 1 along a dimension. Where an element is -inf there is nothing.

    So is what is not stored, where -inf is the fill value: the result is as sparse as the array.

    >>> scores = ln.asarray([[1.0, -np.inf, 1.0]], format="csr", fill_value=-np.inf)
    >>> ln.softmax(scores).to_numpy().tolist()
    [[0.5, 0.0, 0.5]]
    """
    given: Any = as_array(x)
    place = axis_number(axis, given.ndim)
    y = lazy(given if dtype_of(given)[0] == "f" else astype(given, "float64"))
    highest = reduce(table.maximum, y, axis=place, keepdims=True)
    powers = apply(table.exp, apply(table.subtract, y, highest))
    nothing = apply(table.equal, y, -np.inf)
    some = apply(table.where, nothing, 0.0, powers)
    total = reduce(table.add, some, axis=place, keepdims=True)
    found = apply(table.where, nothing, 0.0, apply(table.divide, powers, total))
    return compute(found) if isinstance(given, Tensor) else found


@located
def where(condition: Array, x1: Any, x2: Any, /) -> Any:
    """Elements of `x1` where a condition holds, and of `x2` elsewhere."""
    second = _constant(x2, condition, x1)
    first = _constant(x1, condition, x2) if second is x2 else x1  # one of them keeps the dtype
    args = (condition, first, second)
    return _in_a_row(table.where, args) if _meets_often(args) else apply(table.where, *args)


def _meets_often(args: tuple[Any, ...]) -> bool:
    """Whether three sparse arrays of many dimensions meet, each with or without the others.

    In every dimension a kernel has a loop for each set of them, with as many in each inside.
    """
    arrays = [a for a in args if isinstance(a, Tensor) and not is_dense(a.contents().format)]
    if len(arrays) < 3 or any(isinstance(a, Lazy) for a in args):
        return False
    shape = broadcast_shapes(*[shape_of(a) for a in arrays])
    return len(shape) > 2 and math.prod(shape) < LARGEST


def _in_a_row(function: Function, args: tuple[Any, ...]) -> Any:
    """A function of elements of arrays that are first repeated and laid out in one dimension."""
    arrays = [a if isinstance(a, bool | int | float | np.generic) else as_tensor(a) for a in args]
    tensors = [a for a in arrays if isinstance(a, Tensor)]
    shape = broadcast_shapes(*[shape_of(a) for a in tensors])
    rows = [
        reshape(broadcast_to(a, shape), (-1,)) if isinstance(a, Tensor) and a.ndim else a
        for a in arrays
    ]
    found: Any = apply(function, *rows)
    kept = next(a for a in tensors if not is_dense(a.contents().format))
    format = alike(kept.contents().format, len(shape))
    return reshape(found, shape).to(typed(format, dtype_of(found), found.fill_value))


def _numbers(*values: Any) -> bool:
    return all(isinstance(v, bool | int | float | np.generic) for v in values)


def _pair(name: str, *args: Any) -> tuple[Any, Any]:
    """Both results of a function of NumPy that has two; of numbers, numbers."""
    both = table.PAIRS[name]
    if _numbers(*args):
        return both[0](*args), both[1](*args)
    first, second = apply_each(both, *args)
    return first, second


@located
def divmod(x1: Array, x2: Array, /) -> tuple[Any, Any]:
    """`x1 // x2` and `x1 % x2`, in one pass over them."""
    return _pair("divmod", x1, x2)


@located
def modf(x: Array, /) -> tuple[Any, Any]:
    """What is behind the point and what is before it, both with the sign of x.

    >>> ln.modf(-2.75)
    (-0.75, -2.0)
    """
    return _pair("modf", x)


@located
def frexp(x: Array, /) -> tuple[Any, Any]:
    """Numbers m and e with `x = m * 2 ** e`; m is at least a half and below 1, but for its sign.

    >>> m, e = ln.frexp(12.0)
    >>> print(m, e)
    0.75 4
    """
    return _pair("frexp", x)


def _constant(x: Any, condition: Any, other: Any) -> Any:
    """The number that an array which stores nothing stands for, if it says nothing else.

    A loop over three sparse arrays has many cases, and here one of them has no entries.
    """
    if not (isinstance(x, Tensor) and isinstance(other, Tensor) and isinstance(condition, Tensor)):
        return x
    format = x.contents().format
    if x.nnz or not x.ndim or x.dtype != other.dtype:
        return x
    shape = broadcast_shapes(shape_of(condition), shape_of(other))
    fits = broadcast_shapes(shape, shape_of(x)) == shape
    return format.fill_value if fits else x


clip.function = table.clip  # type: ignore[attr-defined]  # what they are inside kernels
where.function = table.where  # type: ignore[attr-defined]
