"""The same elements in another shape, by kernels: places are computed, and appended in order.

Runs and blocks stay what they are: those of all rows become those of one, which is cut into new
rows. What that takes is told by their number, and not by that of the elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import prod
from operator import mul
from typing import TYPE_CHECKING

import numpy as np

from linnet import loops
from linnet.algebra.table import floor_divide, multiply, remainder
from linnet.api.operands import shape_of
from linnet.api.programs import (
    assignment,
    coordinates,
    indices,
    listed,
    moving_kernel,
    name_of,
    number,
    plus,
    readable,
    run,
    stored,
)
from linnet.api.storage import nothing, reshaped_alike
from linnet.errors import ShapeError
from linnet.formats.assemble import wrap
from linnet.formats.format import Format
from linnet.formats.level import APPEND
from linnet.formats.named import recognize
from linnet.formats.packing import index_dtype
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST
from linnet.runtime.compute import compute

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel

Group = tuple[tuple[int, ...], tuple[int, ...]]
"""Dimensions of the array, and those of the result which hold the same elements."""


def reshaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The same elements in row-major order."""
    wanted = reshaped_alike(x, shape)
    if not x.size:  # and yet there may be many empty rows
        return nothing(shape, wanted)
    if is_stretched(x) and x.size <= LARGEST:
        return _folded(_flat(x), shape, wanted)
    groups = _groups(shape_of(x), shape)
    if any(_is_beyond(group, shape) for group in groups):
        return reshaped(reshaped(x, _between(shape_of(x), shape)), shape)
    x = readable(x)
    format = x.contents().format
    if format.order != tuple(range(x.ndim)):
        x = x.to(coordinates(format))
        format = x.contents().format
    target = wanted if _takes_entries(listed(wanted)) else coordinates(wanted)
    kernel = _reshape(format, len(shape), groups, repr(format.fill_value))
    result = run(kernel, x, target, (), stored(x), *shape)
    return result if target == wanted else result.to(wanted)


def _takes_entries(format: Format) -> bool:
    """Whether elements can be appended one by one: the last level lists them, below full ones."""
    above = format.levels[:-2]
    return format.order == tuple(range(format.ndim)) and all(level.full for level in above)


def _groups(old: Sequence[int], new: Sequence[int]) -> tuple[Group, ...]:
    """Which dimensions become which, in the shortest stretches; those of size 1 belong nowhere."""
    olds = [m for m, n in enumerate(old) if n != 1]
    news = [m for m, n in enumerate(new) if n != 1]
    groups: list[Group] = []
    while olds:
        group: tuple[list[int], list[int]] = [olds.pop(0)], [news.pop(0)]
        a, b = old[group[0][0]], new[group[1][0]]
        while a != b:
            if a < b:
                group[0].append(olds.pop(0))
                a *= old[group[0][-1]]
            else:
                group[1].append(news.pop(0))
                b *= new[group[1][-1]]
        groups.append((tuple(group[0]), tuple(group[1])))
    return tuple(groups)


def _is_beyond(group: Group, new: Sequence[int]) -> bool:
    """Whether the places of a group that are computed, and taken apart, exceed 63 bits."""
    olds, news = group
    return len(olds) > 1 and len(news) > 1 and prod(new[m] for m in news) > LARGEST


def _between(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    """A shape into which dimensions of one are split, and of which those of another are joined."""
    ends = sorted({n for shape in (old, new) for n in accumulate(reversed(shape), mul, initial=1)})
    if any(b % a for a, b in pairwise(ends)):
        raise ShapeError(
            f"an array of shape {tuple(old)} cannot be reshaped to {tuple(new)}",
            why="the places of its elements do not fit 64 bits, and no dimension is split evenly",
        )
    return tuple(b // a for a, b in pairwise(ends))[::-1]


@lru_cache(maxsize=256)
def _reshape(format: Format, ndim: int, groups: tuple[Group, ...], fill: str) -> Kernel:
    """`t = i * n + j; C[t // m, t % m] = A[i, j]`, for every group of dimensions."""
    at = indices(format.ndim)
    to: list[loops.Expr] = [loops.Literal(0)] * ndim
    for olds, news in groups:
        place = _linear(at, olds) if len(news) == 1 else loops.Name(f"t{olds[0]}")
        for m, digit in zip(news, _digits(place, news), strict=True):
            to[m] = digit
    access = loops.Access("C", tuple(to), (APPEND,) * ndim)
    body: loops.Stmt = loops.Assign(access, None, loops.Access("A", tuple(at)))
    split = {olds[-1]: olds for olds, news in groups if len(news) > 1}
    for m in reversed(range(format.ndim)):
        if m in split:
            body = loops.Let(f"t{split[m][0]}", _linear(at, split[m]), body)
        body = loops.Loop(name_of(m), None, body)
    return moving_kernel("reshape", format, ("A",), ndim, body)


def _linear(at: Sequence[loops.Expr], modes: Sequence[int]) -> loops.Expr:
    """The place of an element among all of some dimensions."""
    found = at[modes[0]]
    for m in modes[1:]:
        found = plus(loops.Call(multiply, (found, loops.Dimension("A", m))), at[m])
    return found


def _digits(place: loops.Expr, modes: Sequence[int]) -> list[loops.Expr]:
    """The coordinates of a place along dimensions of the result."""
    found: list[loops.Expr] = []
    for m in reversed(modes[1:]):
        found.append(loops.Call(remainder, (place, number(1 + m))))
        place = loops.Call(floor_divide, (place, number(1 + m)))
    return [place, *reversed(found)]


# -- runs and blocks -------------------------------------------------------------------------------


def is_stretched(x: Tensor) -> bool:
    """Whether an array is of rows that store stretches of several elements at once."""
    format = x.contents().format
    *outer, inner = format.levels[:-1]
    if format.order != tuple(range(x.ndim)) or not all(n.full and not n.arrays for n in outer):
        return False
    roles = [array.role for array in inner.arrays]
    behind = roles[:1] == ["position"] and {*roles} == {"position", "coordinate"}
    return behind and listed(format) != format and not (inner.mirrored or inner.strided)


def _flat(x: Tensor) -> Tensor:
    """All rows one after the other, as one: their coordinates are counted from its beginning."""
    if x.ndim == 1:
        return x
    contents = x.shared()
    format, shape, arrays = contents.format, contents.shape, contents.arrays()
    *_, level, leaf = format.levels
    ptr, *rest = arrays
    stored, wide = int(ptr[-1]), index_dtype(x.size)
    starts = np.arange(len(ptr) - 1, dtype=np.int64) * shape[-1]
    shift = np.repeat(starts, np.diff(ptr))
    found = [np.array([0, stored], index_dtype(stored))]
    for array, held in zip(level.arrays[1:], rest, strict=False):
        moved = (held + shift).astype(wide) if array.role == "coordinate" else held
        found.append(moved)
    found += rest[len(level.arrays) - 1 :]
    return wrap(recognize(Format((level, leaf), (0,))), (x.size,), found)


def _folded(x: Tensor, shape: tuple[int, ...], wanted: Format) -> Tensor:
    """An array of one dimension, cut into rows; equal runs that meet in a row become one."""
    format = x.contents().format
    kernel = _fold(format, len(shape), repr(format.fill_value))
    rows = x.size // shape[-1] if shape else 1
    return compute(kernel, wanted, (x,), (), (stored(x) + rows, *shape))


@lru_cache(maxsize=256)
def _fold(format: Format, ndim: int, fill: str) -> Kernel:
    """`C[i, j] = A[i * n + j]`."""
    at = indices(ndim)
    place: loops.Expr = at[0] if at else loops.Literal(0)
    for m in range(1, ndim):
        place = plus(loops.Call(multiply, (place, number(1 + m))), at[m])
    body: loops.Stmt = assignment(at, 0, "", loops.Access("A", (place,)))
    for m in reversed(range(ndim)):
        body = loops.Loop(name_of(m), loops.Extent(loops.Literal(0), number(1 + m)), body)
    return moving_kernel("fold", format, ("A",), ndim, body)
