"""Arrays joined, rolled, tiled, turned round and cut along diagonals, by kernels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from linnet import api, loops
from linnet.algebra.table import less_equal, multiply, subtract
from linnet.api import runs
from linnet.api.operands import shape_of
from linnet.api.picking import select
from linnet.api.programs import (
    assignment,
    indices,
    is_full,
    listed,
    moving_kernel,
    name_of,
    nest,
    number,
    plus,
    readable,
    run,
    same_kind,
    stored,
)
from linnet.api.storage import alike
from linnet.formats.format import Format
from linnet.formats.level import APPEND, INSIDE
from linnet.formats.tensor import Tensor
from linnet.runtime.compute import compute

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel

_TOGETHER = 8  # arrays that are joined by one kernel
_LONG = 16  # times as many places along a dimension as entries are too many for a list of them


# -- one after the other ---------------------------------------------------------------------------


def joined(parts: Sequence[Tensor], d: int, format: Format) -> Tensor:
    """Arrays one after the other along dimension `d`; all are in this format, whatever it is."""
    if runs.has_runs(format):
        return runs.joined(parts, d, format)
    wanted = listed(format)
    parts = [x if x.contents().format == wanted else x.to(wanted) for x in parts]
    outer = wanted.order[: wanted.order.index(d)]
    # lists are merged, in every combination
    many = _TOGETHER if all(is_full(wanted, m) for m in outer) else 2
    if len(parts) == 1:
        return copy(parts[0]) if wanted == format else parts[0].to(format)
    while len(parts) > 1:
        groups = [parts[k : k + many] for k in range(0, len(parts), many)]
        parts = [_join_few(group, d, wanted) if len(group) > 1 else group[0] for group in groups]
    return parts[0] if wanted == format else parts[0].to(format)


def _join_few(parts: Sequence[Tensor], d: int, format: Format) -> Tensor:
    starts, shape = [0], [*shape_of(parts[0])]
    for x in parts:
        starts.append(starts[-1] + shape_of(x)[d])
    shape[d] = starts[-1]
    kernel = _concat(format, d, repr(format.fill_value), len(parts))
    return compute(kernel, format, parts, (), (sum(map(stored, parts)), *shape, *starts[:-1]))


@lru_cache(maxsize=256)
def _concat(format: Format, d: int, fill: str, count: int) -> Kernel:
    """`C[…, j + start, …] = A[…, j, …]`, for one array after the other, inside the outer loops."""
    place, parts = format.order.index(d), []
    outer, inner = format.order[:place], format.order[place:]
    for part in range(count):
        at = [loops.Index(name_of(m, part if m in inner else 0)) for m in range(format.ndim)]
        to: list[loops.Expr] = list(at)
        to[d] = plus(at[d], number(1 + format.ndim + part))
        write = assignment(to, d, APPEND, loops.Access(f"A{part}", tuple(at)))
        parts.append(nest([name_of(m, part) for m in inner], write))
    body = nest([name_of(m) for m in outer], loops.Block(tuple(parts)))
    params = [f"A{part}" for part in range(count)]
    return moving_kernel("concat", format, params, format.ndim, body)


def rolled(x: Tensor, by: int, d: int) -> Tensor:
    """What is in the last `by` places of dimension `d` comes first, then the rest."""
    if runs.has_runs(x.contents().format):
        return runs.rolled(x, by, d)
    x = readable(x)
    format, n = x.contents().format, shape_of(x)[d]
    kernel = _roll(format, d, repr(format.fill_value))
    return run(kernel, x, same_kind(x), (), stored(x), *shape_of(x), by, n - by)


@lru_cache(maxsize=256)
def _roll(format: Format, d: int, fill: str) -> Kernel:
    """`C[…, j - rest, …] = A[…, j, …]` for `rest <= j`, then `C[…, j + by, …]` for those before."""
    place, parts = format.order.index(d), []
    by, rest = number(1 + format.ndim), number(2 + format.ndim)
    for part in (0, 1):
        at: list[loops.Expr] = [
            loops.Index(name_of(m, part if place <= format.order.index(m) else 0))
            for m in range(format.ndim)
        ]
        to = list(at)
        to[d] = plus(at[d], by) if part else loops.Call(subtract, (at[d], rest))
        write = assignment(to, d, APPEND, loops.Access("A", tuple(at)))
        inside = nest([name_of(m, part) for m in format.order[place + 1 :]], write)
        ends = (loops.Literal(0), rest) if part else (rest, loops.Dimension("A", d))
        parts.append(loops.Loop(name_of(d, part), loops.Extent(*ends), inside))
    body = nest([name_of(m) for m in format.order[:place]], loops.Block(tuple(parts)))
    return moving_kernel("roll", format, ("A",), format.ndim, body)


def tiled(x: Tensor, times: int, d: int) -> Tensor:
    """The array several times along dimension `d`."""
    if runs.has_runs(x.contents().format) and times:
        return runs.tiled(x, times, d)
    x = readable(x)
    format = x.contents().format
    shape = tuple(n * times if m == d else n for m, n in enumerate(shape_of(x)))
    kernel = _tile(format, d, repr(format.fill_value))
    return run(kernel, x, same_kind(x), (), stored(x) * times, *shape, times)


@lru_cache(maxsize=256)
def _tile(format: Format, d: int, fill: str) -> Kernel:
    """`C[…, t * n + j, …] = A[…, j, …]`, for all `t`."""
    at, place = indices(format.ndim), format.order.index(d)
    to = list(at)
    to[d] = plus(at[d], loops.Call(multiply, (loops.Index("t"), loops.Dimension("A", d))))
    names = [name_of(m) for m in format.order]
    body = nest(names[place:], assignment(to, d, APPEND, loops.Access("A", tuple(at))))
    extent = loops.Extent(loops.Literal(0), number(1 + format.ndim))
    body = nest(names[:place], loops.Loop("t", extent, body))
    return moving_kernel("tile", format, ("A",), format.ndim, body)


def flipped(x: Tensor, d: int) -> Tensor:
    """With the order along dimension `d` reversed."""
    format, last = x.contents().format, max(shape_of(x)[d] - 1, 0)
    if runs.has_runs(format):
        return runs.written(_flip(format, d, repr(format.fill_value)), x, last)
    y = readable(x)
    format = y.contents().format
    if last > _LONG * stored(y) and not is_full(format, d):  # places are more than entries
        return api.shapes.move(x, {d: lambda idx: last - idx})
    if format.order[0] != d or not is_full(format, d):
        return select(x, np.arange(last, -1, -1)[: shape_of(x)[d]], d)
    kernel = _flip(format, d, repr(format.fill_value))
    return run(kernel, y, same_kind(x), (), stored(y), *shape_of(y), last)


@lru_cache(maxsize=256)
def _flip(format: Format, d: int, fill: str) -> Kernel:
    """`C[…, i, …] = A[…, last - i, …]`, along the outermost dimension."""
    at = indices(format.ndim)
    source = list(at)
    source[d] = loops.Call(subtract, (number(1 + format.ndim), at[d]))
    inside = tuple(INSIDE if m == d else "" for m in range(format.ndim))
    body: loops.Stmt = assignment(at, d, "", loops.Access("A", tuple(source), inside))
    for m in reversed(format.order):
        whole = loops.Extent(loops.Literal(0), number(1 + m)) if m == d else None
        body = loops.Loop(name_of(m), whole, body)
    return moving_kernel("flip", format, ("A",), format.ndim, body)


# -- triangles -------------------------------------------------------------------------------------


def triangle(x: Tensor, k: int, lower: bool) -> Tensor:
    """What lies on and below (or above) the k-th diagonal of the last two dimensions."""
    x = readable(x)
    format = x.contents().format
    kernel = _triangle(format, lower, repr(format.fill_value))
    return run(kernel, x, same_kind(x), (), stored(x), *shape_of(x), max(k, 0), max(-k, 0))


@lru_cache(maxsize=256)
def _triangle(format: Format, lower: bool, fill: str) -> Kernel:
    """`if j + down <= i + up: C[…, i, j] = A[…, i, j]`, or the other way round."""
    at = indices(format.ndim)
    up, down = number(1 + format.ndim), number(2 + format.ndim)
    row, column = plus(at[-2], up), plus(at[-1], down)
    cond = loops.Call(less_equal, (column, row) if lower else (row, column))
    write = assignment(at, 0, "", loops.Access("A", tuple(at)))
    body = nest([name_of(m) for m in format.order], loops.If(cond, write, loops.NOTHING))
    return moving_kernel("triangle", format, ("A",), format.ndim, body)


def diagonal(x: Tensor, k: int, size: int) -> Tensor:
    """The k-th diagonal, of this length, of the last two dimensions."""
    x = readable(x)
    contents = x.contents()
    format, shape = contents.format, (*contents.shape[:-2], size)
    kernel = _diagonal(format, repr(format.fill_value))
    wanted = alike(format, len(shape))
    return run(kernel, x, wanted, (), min(size, stored(x)), *shape, max(-k, 0), max(k, 0))


@lru_cache(maxsize=256)
def _diagonal(format: Format, fill: str) -> Kernel:
    """`C[…, i] = A[…, i + down, i + up]`."""
    ndim = format.ndim - 1
    at = indices(ndim)
    down, up = number(1 + ndim), number(2 + ndim)
    source = (*at[:-1], plus(at[-1], down), plus(at[-1], up))
    protocols = ("",) * (ndim - 1) + (INSIDE, INSIDE)
    body: loops.Stmt = assignment(at, 0, "", loops.Access("A", source, protocols))
    for m in reversed(list(dict.fromkeys(min(m, ndim - 1) for m in format.order))):
        last = loops.Extent(loops.Literal(0), number(ndim)) if m == ndim - 1 else None
        body = loops.Loop(name_of(m), last, body)
    return moving_kernel("diagonal", format, ("A",), ndim, body)
