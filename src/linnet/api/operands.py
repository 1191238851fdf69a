"""What a function of arrays is given: anything that can be a tensor, axes, devices."""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from linnet.arrays import Lazy
from linnet.errors import ArgumentError, AxisError, DTypeError, FormatError
from linnet.formats.construct import asarray
from linnet.formats.from_numpy import share
from linnet.formats.tensor import Tensor

Array: TypeAlias = Any
"""A Tensor, a lazy array, a NumPy or SciPy array, nested lists, a number."""

Axes: TypeAlias = int | tuple[int, ...] | None


def as_tensor(x: object) -> Tensor:
    """A tensor of what was given; what is lazy is computed."""
    if type(x) is Tensor:
        return x
    return x.compute() if isinstance(x, Lazy) else asarray(x)


def as_array(x: object) -> Any:
    """A tensor of what was given, or a lazy array as it is."""
    if type(x) is np.ndarray:
        return share(x)
    return x if isinstance(x, Tensor | Lazy) else asarray(x)


def shape_of(x: Tensor | Lazy) -> tuple[int, ...]:
    """The shape of a lazy array, or of a tensor that has contents."""
    return x.contents().shape if isinstance(x, Tensor) else x.shape


def dtype_of(x: Tensor | Lazy) -> str:
    """The name of the dtype of a lazy array, or of a tensor that has contents."""
    dtype = x.contents().format.dtype if isinstance(x, Tensor) else str(x.dtype)
    assert dtype is not None
    return dtype


def kind_of(x: Tensor | Lazy) -> str:
    """b, i, u, f or c."""
    return np.dtype(dtype_of(x)).kind


def axis_number(axis: object, ndim: int) -> int:
    """An axis, counted from the front."""
    number = whole(axis, "an axis")
    if not -ndim <= number < ndim:
        raise AxisError(f"axis {number} is out of bounds for an array of {ndim} dimensions")
    return number % ndim


def axis_numbers(axis: object, ndim: int) -> tuple[int, ...]:
    """Several axes, counted from the front, each once; None is all of them."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and 0 <= axis < ndim:
        return (axis,)
    given = axis if isinstance(axis, tuple | list) else (axis,)
    axes = tuple(axis_number(a, ndim) for a in given)
    if len(set(axes)) < len(axes):
        raise AxisError(f"the axes {tuple(given)} name one dimension twice")
    return axes


def whole(value: object, what: str) -> int:
    """An integer given by the user."""
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(f"{what} is an integer, not {value!r}") from None


def real(value: object, what: str) -> float:
    """A real number given by the user."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentError(f"{what} is a number, not {value!r}")
    return float(value)


def check_device(device: object) -> None:
    """There is one device."""
    if device not in (None, "cpu"):
        raise FormatError(f"there is no device {device!r}", hint="tensors live on 'cpu'")


def check_kind(x: Tensor | Lazy, kinds: str, name: str) -> None:
    """Refuse dtypes for which a function has no meaning."""
    if kind_of(x) not in kinds:
        words = {"b": "booleans", "i": "integers", "f": "floats", "c": "complex numbers"}
        allowed = ", ".join(word for k, word in words.items() if k in kinds)
        raise DTypeError(f"{name} is not defined for {x.dtype}", why=f"it takes {allowed}")
