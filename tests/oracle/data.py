"""Tensors made of bytes: which elements are stored, and their values, shrink towards nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import linnet as ln
from linnet.algebra.dtypes import Number, highest, kind, lowest
from linnet.formats.format import Format

SMALL, WILD, INDEX = "small", "wild", "index"
"""Domains of values: few small ones; also infinities or the limits of integers; coordinates."""


def domain(dtype: str, how: str) -> tuple[Number, ...]:
    """The values that a tensor may hold."""
    match kind(dtype):
        case "b":
            return (True, False)
        case "f":
            wild = (math.inf, -math.inf, math.nan) if how == WILD else ()
            return (1.0, 2.0, 3.0, -1.0, -2.0, 0.0, *wild)
        case "c":
            return (1 + 0j, 1j, 2 - 1j, -1 + 1j, 0j)
        case _:
            wild = (int(highest(dtype)), int(lowest(dtype))) if how == WILD else ()
            signed = (-1, -2) if kind(dtype) == "i" else ()
            return (1, 2, 3, *signed, 0, *wild)


def bound(dtype: str, how: str) -> float:
    """The largest magnitude of a finite value in the domain."""
    return max(abs(v) for v in domain(dtype, how) if math.isfinite(abs(v)))


@dataclass(frozen=True)
class Recipe:
    """How an argument is filled: its format, the widths of its index arrays, its domain."""

    format: Format
    wide: tuple[bool, ...]  # for every index array: is it int64?
    how: str
    limit: str = ""  # of coordinates: the dimension that they index


@st.composite
def widths(draw: st.DrawFn, format: Format) -> tuple[bool, ...]:
    """Which index arrays are 64 bits wide."""
    count = sum(a.role in ("position", "coordinate") for l in format.levels for a in l.arrays)
    return tuple(draw(st.lists(st.booleans(), min_size=count, max_size=count)))


@st.composite
def tensors(draw: st.DrawFn, recipe: Recipe, shape: tuple[int, ...], limit: int) -> ln.Tensor:
    """A tensor of this shape. Byte 0 stores nothing, others one of the domain or the fill value."""
    size, format = math.prod(shape), recipe.format
    data = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.uint8)
    kept = np.flatnonzero(data) if format.ndim else np.arange(1)
    values = pick(data[kept], recipe, limit)
    coords = [c.astype(np.int32) for c in np.unravel_index(kept, shape)] if format.ndim else []
    return widened(ln.tensor(coords, values, shape, format), recipe.wide)


def pick(data: NDArray[np.uint8], recipe: Recipe, limit: int) -> NDArray[Any]:
    """The value that each byte stands for."""
    dtype, fill = recipe.format.dtype, recipe.format.fill_value
    assert dtype is not None
    if recipe.how == INDEX:
        return (data % max(limit, 1)).astype(dtype)
    choices = np.array([*domain(dtype, recipe.how), fill], dtype)
    return choices[(data.astype(int) - 1) % len(choices)]


def widened(tensor: ln.Tensor, wide: tuple[bool, ...]) -> ln.Tensor:
    """The same tensor, with index arrays of these widths."""
    arrays, flags = {}, iter(wide)
    names = iter(tensor.buffers.items())
    for level in tensor.format.levels:
        for array in level.arrays:
            name, held = next(names)
            if array.role in ("position", "coordinate"):
                held = held.astype(np.int64 if next(flags) else np.int32)
            if array.role != "table":
                arrays[name] = held
    return ln.from_buffers(tensor.format, tensor.shape, arrays)
