"""Formats that cannot hold everything: does what a program computes fit into its result?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.oracle.meaning import Expected

from linnet.algebra.dtypes import Number
from linnet.formats.format import Format

Mask = NDArray[np.bool_]
Values = NDArray[Any]


def fits(format: Format, fill: Number | None, expected: Expected) -> bool | None:
    """Whether a result has room; None where it is up to what is stored of the fill values."""
    nothing = np.asarray(fill, expected.values.dtype)
    if not is_symmetric(format, expected.values):
        return False
    if not _has_room(format, ~same(expected.values, nothing), expected.values):
        return False
    if not any(level.limit for level in format.levels):
        return True
    known = expected.reached is not None and _has_room(format, expected.reached, expected.values)
    return True if known else None


def is_symmetric(format: Format, values: Values) -> bool:
    """Whether what is on one side of a diagonal is also on the other, where one half is stored."""
    for k, level in enumerate(format.levels):
        if level.mirrored:
            across = values.swapaxes(*format.modes_of(k))
            if values.shape != across.shape or not same(values, across).all():
                return False
    return True


def _has_room(format: Format, stored: Mask, values: Values) -> bool:
    """Whether fibers with one element, or one run, have no more than that."""
    shape = tuple(values.shape[m] for m in format.order)
    axis = 0
    for level in format.levels[:-1]:
        if level.limit:
            parts = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
            lines = (x.transpose(format.order).reshape(parts) for x in (stored, values))
            if not all(_is_one(level.limit, s, v) for s, v in zip(*lines, strict=True)):
                return False
        axis += level.width
    return True


def _is_one(limit: str, stored: Mask, values: Values) -> bool:
    """Whether a fiber is one element, or a run of elements that are all alike."""
    held = np.flatnonzero(stored.any(axis=1))
    if len(held) <= 1:
        return True
    first, last = held[0], held[-1]
    if limit != "run" or last - first + 1 != len(held):
        return False
    alike = (stored[held] == stored[first]).all()
    return bool(alike) and bool(same(values[held], values[first])[stored[held]].all())


def same(a: Values, b: Values) -> Mask:
    """Equal, or both NaN; both parts of complex numbers, since runs hold what is the same."""
    if np.iscomplexobj(a):
        return same(a.real, b.real) & same(a.imag, b.imag)
    found: Mask = (a == b) | ((a != a) & (b != b))
    return found
