"""Python numbers beyond the greatest value of a float: infinite, as in NumPy, with its warning."""

from __future__ import annotations

import warnings

import numpy as np

from linnet.algebra.dtypes import Number
from linnet.errors import Location

# what is rounded to infinity: half a unit above the greatest value
_BEYOND = {"float32": 2.0**128 - 2.0**103, "complex64": 2.0**128 - 2.0**103}
_WIDEST = 2**1024 - 2**970  # beyond which an integer is no float at all


def overflows(value: object, dtype: str) -> bool:
    """Whether a finite number becomes infinite in a type of floats."""
    beyond = _BEYOND.get(dtype)
    if beyond is None or not isinstance(value, int | float | complex):
        return False
    greatest = max(abs(value.real), abs(value.imag))
    return beyond <= greatest < _WIDEST


def overflown(value: Number, dtype: str) -> Number:
    """The number as the type holds it; the user is told what `np.errstate(over=…)` wants told."""
    how = np.geterr()["over"]
    if how == "raise":
        raise FloatingPointError("overflow encountered in cast")
    if how != "ignore":
        at = Location.of_caller()
        message = f"overflow encountered in cast: {value!r} is infinite as {dtype}"
        if at is None:
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        else:
            warnings.warn_explicit(message, RuntimeWarning, at.file, at.line)
    with np.errstate(over="ignore"):
        held: Number = np.dtype(dtype).type(value).item()
    return held
