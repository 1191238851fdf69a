"""`ln.fft`: the Fourier transform extension of the Array API, by NumPy.

A Fourier transform is dense whatever it is taken of; a sparse operand of more elements than
`storage.DENSE_LIMIT` is refused. Shifts only move elements, and keep the format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linnet.algebra.dtypes import canonical
from linnet.api.dtypes import DType
from linnet.api.operands import Array, Axes, as_tensor, axis_numbers, check_device, shape_of
from linnet.api.shapes import roll
from linnet.api.storage import dense, densely
from linnet.errors import ArgumentError, AxisError, ShapeError
from linnet.formats.located import located
from linnet.formats.tensor import Tensor

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip


def _done(name: str, given: Any, **options: Any) -> Any:
    """What NumPy makes of it, or its refusal as one of ours."""
    try:
        return getattr(np.fft, name)(given, **options)
    except IndexError as error:
        raise AxisError(f"{name}: {error}") from None
    except ValueError as error:
        raise ShapeError(f"{name}: {error}") from None
    except TypeError as error:
        raise ArgumentError(f"{name}: {error}") from None


def _line(name: str) -> Callable[..., Tensor]:
    """A transform along one dimension."""

    @located
    def transform(
        x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Tensor:
        given = densely(as_tensor(x), "a Fourier transform")
        return dense(_done(name, given, n=n, axis=axis, norm=norm))

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"As `numpy.fft.{name}`: a transform along one dimension."
    return transform


def _block(name: str) -> Callable[..., Tensor]:
    """A transform along several dimensions."""

    @located
    def transform(
        x: Array,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Tensor:
        given = densely(as_tensor(x), "a Fourier transform")
        if s is not None and axes is None:
            axes = tuple(range(given.ndim - len(s), given.ndim))
        return dense(_done(name, given, s=s, axes=axes, norm=norm))

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"As `numpy.fft.{name}`: a transform along several dimensions."
    return transform


fft, ifft, rfft, irfft = _line("fft"), _line("ifft"), _line("rfft"), _line("irfft")
hfft, ihfft = _line("hfft"), _line("ihfft")
fftn, ifftn, rfftn, irfftn = _block("fftn"), _block("ifftn"), _block("rfftn"), _block("irfftn")


@located
def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType = None, device: object = None) -> Tensor:
    """The frequencies of the elements of a transform of length n."""
    return _frequencies(np.fft.fftfreq(n, d), dtype, device)


@located
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType = None, device: object = None) -> Tensor:
    """The frequencies of the elements of a transform of n real numbers."""
    return _frequencies(np.fft.rfftfreq(n, d), dtype, device)


def _frequencies(found: Any, dtype: DType, device: object) -> Tensor:
    check_device(device)
    return dense(found.astype(canonical("float64" if dtype is None else dtype), copy=False))


@located
def fftshift(x: Array, /, *, axes: Axes = None) -> Tensor:
    """With the frequency 0 in the middle."""
    x = as_tensor(x)
    numbers = axis_numbers(axes, x.ndim)
    return roll(x, tuple(shape_of(x)[d] // 2 for d in numbers), axis=numbers)


@located
def ifftshift(x: Array, /, *, axes: Axes = None) -> Tensor:
    """The inverse of `fftshift`."""
    x = as_tensor(x)
    numbers = axis_numbers(axes, x.ndim)
    return roll(x, tuple(-(shape_of(x)[d] // 2) for d in numbers), axis=numbers)
