"""Are two tensors the same? For tests; NumPy only, so that it shares nothing with the compiler."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.formats.assemble import unpack
from linnet.formats.tensor import Tensor

Operand: TypeAlias = Tensor | NDArray[Any]


def dense(operand: Operand) -> NDArray[Any]:
    """A NumPy array of all values of a tensor, without compiling anything."""
    if not isinstance(operand, Tensor):
        return np.asarray(operand)
    contents = operand.contents()
    result = np.full(contents.shape, operand.fill_value, dtype=operand.dtype)
    coordinates, values = unpack(operand)
    if len(values):
        result[tuple(coordinates)] = values if operand.ndim else values[0]
    return result


def assert_equal(actual: Operand, expected: Operand, rtol: float = 0.0, atol: float = 0.0) -> None:
    """The same shape, dtype and values, in whatever format; NaN equals NaN."""
    a, b = dense(actual), dense(expected)
    assert a.shape == b.shape, f"shape {a.shape}, expected {b.shape}"
    assert a.dtype == b.dtype, f"dtype {a.dtype}, expected {b.dtype}"
    exact = rtol == atol == 0 or a.dtype.kind not in "fc"
    if exact:
        same = (a == b) | ((a != a) & (b != b))
    else:
        same = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if not same.all():
        place = np.unravel_index(int(np.argmin(same)), a.shape)
        count, at = int((~same).sum()), list(map(int, place))
        raise AssertionError(f"{count} values differ, first at {at}: {a[place]}, not {b[place]}")


def identical(a: Tensor, b: Tensor) -> bool:
    """The same format, shape, and bits in every array."""
    if (a.format, a.shape) != (b.format, b.shape):
        return False
    pairs = zip(a.buffers.values(), b.buffers.values(), strict=True)
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in pairs)
