"""Tensors made of bytes: which elements are stored, and their values, shrink towards nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import linnet as ln
from linnet.algebra.dtypes import Number, highest, kind, lowest
from linnet.formats.format import Format

SMALL, WILD, SIGNED, INDEX, BEYOND = "small", "wild", "signed", "index", "beyond"
"""Domains of values: few small ones; also infinities or the limits of integers; coordinates; also
those just outside their dimension."""

MANY = 128  # elements: more are not drawn one by one

Bytes = NDArray[np.uint8]
T = TypeVar("T")


def domain(dtype: str, how: str) -> tuple[Number, ...]:
    """The values that a tensor may hold."""
    match kind(dtype):
        case "b":
            return (True, False)
        case "f":
            wild: tuple[Number, ...] = (math.inf, -math.inf, math.nan) if how == WILD else ()
            zeros: tuple[Number, ...] = (-0.0,) if how == SIGNED else ()
            return (1.0, 2.0, 3.0, -1.0, -2.0, 0.0, *zeros, *wild)
        case "c":
            zeros = (complex(0.0, -0.0), complex(-0.0, 0.0)) if how == SIGNED else ()
            return (1 + 0j, 1j, 2 - 1j, -1 + 1j, 0j, *zeros)
        case _:
            wild = (highest(dtype), lowest(dtype)) if how == WILD else ()
            signed = (-1, -2) if kind(dtype) == "i" else ()
            return (1, 2, 3, *signed, 0, *wild)


def magnitude(format: Format, how: str) -> float:
    """The largest magnitude of a finite value that a tensor may hold."""
    assert format.dtype is not None
    assert format.fill_value is not None
    sizes = [abs(v) for v in (*domain(format.dtype, how), format.fill_value)]
    return float(max(s for s in sizes if math.isfinite(s)))


@dataclass(frozen=True)
class Recipe:
    """How an argument is filled: its format, the widths of its index arrays, its domain."""

    format: Format
    wide: tuple[bool, ...]  # for every index array: is it int64?
    how: str
    limit: str = ""  # of coordinates: the dimension that they index


@st.composite
def recipes(draw: st.DrawFn, format: Format, how: str, limit: str = "") -> Recipe:
    """Index arrays of either width."""
    count = sum(a.role in ("position", "coordinate") for l in format.levels for a in l.arrays)
    wide = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return Recipe(format, tuple(wide), how, limit)


@st.composite
def tensors(draw: st.DrawFn, recipe: Recipe, shape: tuple[int, ...], limit: int = 1) -> ln.Tensor:
    """A tensor of this shape. Byte 0 stores nothing, others one of the domain or the fill value."""
    size, format = math.prod(shape), recipe.format
    data = fitted(draw(_bytes(size)).reshape(shape), format)
    where = np.nonzero(data) if shape else ()
    values = pick(data[where] if shape else data.reshape(1), recipe, limit)
    return widened(ln.tensor([c.astype(np.int32) for c in where], values, shape, format), recipe)


@st.composite
def _bytes(draw: st.DrawFn, size: int) -> Bytes:
    """As many bytes as this; of many, how many are 0 is drawn, and which is left to chance."""
    if size <= MANY:
        return np.frombuffer(draw(st.binary(min_size=size, max_size=size)), np.uint8)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    stored = rng.random(size) < draw(st.sampled_from((0.1, 0.02, 0.5, 0.95, 1.0)))
    return np.where(stored, rng.integers(1, 256, size), 0).astype(np.uint8)


def fitted(data: Bytes, format: Format) -> Bytes:
    """The bytes, changed so that all levels can hold them, and so that runs are common."""
    moved, axis = data.transpose(format.order).copy(), 0
    for level in format.levels[:-1]:
        if level.limit:
            _leave_one(moved, axis, run=level.limit == "run")
        elif level.mirrored:
            moved = _mirrored(moved, axis)
        elif isinstance(level, ln.RunList | ln.SparseRunList):
            moved = moved.take(np.arange(moved.shape[axis]) // 2 * 2, axis)
        axis += level.width
    return moved.transpose(np.argsort(format.order))


def square(dims: tuple[T, ...], format: Format) -> tuple[T, ...]:
    """Dimensions of which those are alike that a symmetric level stores."""
    for k, level in enumerate(format.levels):
        if level.mirrored:
            rows, columns = format.modes_of(k)
            dims = tuple(dims[rows] if m == columns else d for m, d in enumerate(dims))
    return dims


def _mirrored(moved: Bytes, axis: int) -> Bytes:
    """The lower triangle of two axes, on both sides of the diagonal."""
    across = moved.swapaxes(axis, axis + 1)
    i, j = np.indices(moved.shape[axis : axis + 2], sparse=True)
    lower = (i >= j).reshape(*moved.shape[axis : axis + 2], *(1,) * (moved.ndim - axis - 2))
    return np.where(lower, moved, across)


def _leave_one(moved: Bytes, axis: int, run: bool) -> None:
    """In every fiber along an axis, leave the first element that holds something, or two equal."""
    shape = moved.shape
    fibers = moved.reshape(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    for fiber in fibers:
        held = np.flatnonzero(fiber.any(axis=1))
        if len(held):
            first = int(held[0])
            kept = fiber[first].copy()
            fiber[:] = 0
            fiber[first : first + 1 + run] = kept


def pick(data: Bytes, recipe: Recipe, limit: int) -> NDArray[Any]:
    """The value that each byte stands for."""
    dtype, fill = recipe.format.dtype, recipe.format.fill_value
    assert dtype is not None
    if recipe.how == INDEX:
        return (data % max(limit, 1)).astype(dtype)
    if recipe.how == BEYOND:
        return (data.astype(int) % (limit + 2) - (kind(dtype) == "i")).astype(dtype)
    choices = np.array([*domain(dtype, recipe.how), fill], dtype)
    return choices[(data.astype(int) - 1) % len(choices)]


def widened(tensor: ln.Tensor, recipe: Recipe) -> ln.Tensor:
    """The same tensor, with index arrays of the recipe's widths."""
    arrays, wide = {}, iter(recipe.wide)
    named = iter(tensor.buffers.items())
    for level in tensor.format.levels:
        for array in level.arrays:
            name, held = next(named)
            if array.role in ("position", "coordinate"):
                held = held.astype(np.int64 if next(wide) else np.int32)
            if array.role != "table":
                arrays[name] = held
    return ln.from_buffers(tensor.format, tensor.shape, arrays)
