"""Parts of an array at positions along its dimensions, in any order and any number of times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet import api, loops
from linnet.algebra.table import greater_equal
from linnet.api.operands import shape_of
from linnet.api.programs import (
    assignment,
    indices,
    innermost,
    is_full,
    is_large,
    is_vast,
    listed,
    moving_kernel,
    name_of,
    nest,
    number,
    readable,
    run,
    same_kind,
    stored,
)
from linnet.api.storage import Ints, alike, build, dense, entries, is_dense
from linnet.formats.coordinates import sort_stably
from linnet.formats.format import Format
from linnet.formats.level import APPEND, INSIDE, ONCE
from linnet.formats.named import recognize
from linnet.formats.packing import index_dtype
from linnet.formats.tensor import Tensor
from linnet.formats.verify import unfinished, verify
from linnet.runtime.compute import compute
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel

_LONG = 16  # times as many places along a dimension as entries are too many for a map of them


def select(x: Tensor, positions: Ints, d: int) -> Tensor:
    """The parts at these positions of dimension `d`, in this order; a part may come often."""
    contents = x.contents()
    if is_dense(contents.format):
        return dense(np.take(x.to_numpy(), positions, d))
    if is_vast(x) and api.run_vectors.is_long_vector(x):
        return api.run_vectors.picked(x, positions)
    held, n = stored(x), contents.shape[d]
    outermost = contents.format.order[0] == d
    if is_large(x) and (outermost or n <= _LONG * (held + len(positions))):
        return _by_kernel(readable(x), np.ascontiguousarray(positions), d, same_kind(x))
    return _by_coordinates(x, positions, d)


def _by_coordinates(x: Tensor, positions: Ints, d: int) -> Tensor:
    """The same, where nobody waits for a compiler."""
    shape = tuple(len(positions) if m == d else n for m, n in enumerate(shape_of(x)))
    coordinates, values = entries(x)
    order = np.argsort(positions, kind="stable")
    wanted = positions[order]
    begin = np.searchsorted(wanted, coordinates[d], "left")
    times = np.searchsorted(wanted, coordinates[d], "right") - begin
    source = np.repeat(np.arange(len(values)), times)
    within = np.arange(len(source)) - np.repeat(np.cumsum(times) - times, times)
    parts = [idx[source] for idx in coordinates]
    parts[d] = order[begin[source] + within]
    return build(parts, values[source], shape, same_kind(x))


def _by_kernel(x: Tensor, positions: Ints, d: int, wanted: Format) -> Tensor:
    """Look up what is outermost; along other dimensions, say where each position is to go."""
    format, shape = x.contents().format, list(shape_of(x))
    room = _expected(stored(x) * len(positions) // max(shape[d], 1))
    if format.order[0] == d or is_full(format, d):
        shape[d] = len(positions)
        kernel = _gather(format, d, repr(format.fill_value))
        return run(kernel, x, wanted, [positions], room, *shape)
    if (positions[1:] >= positions[:-1]).all():
        return _by_places(x, positions, d, wanted, room, APPEND, in_order=True)
    if not _is_arranged(wanted, d, len(positions)):
        return _by_places(x, positions, d, wanted, room, ONCE)
    with unfinished():
        found = _by_places(x, positions, d, wanted, room, APPEND)
    return _arranged(found)


def _by_places(
    x: Tensor,
    positions: Ints,
    d: int,
    wanted: Format,
    room: int,
    promise: str,
    in_order: bool = False,
) -> Tensor:
    """Each entry goes to the places that have its position."""
    format, shape = x.contents().format, list(shape_of(x))
    fill, n = repr(format.fill_value), shape[d]
    shape[d] = len(positions)
    places = np.full(n, -1, index_dtype(len(positions)))
    places[positions] = np.arange(len(positions), dtype=places.dtype)
    if np.count_nonzero(places >= 0) == len(positions):  # none comes twice
        kernel, room = _rename(format, d, fill, promise), min(room, stored(x))
        return run(kernel, x, wanted, [places], room, *shape)
    maps = _ranges(positions, n)[: 2 if in_order else 3]
    return run(_spread(format, d, fill, promise, in_order), x, wanted, maps, room, *shape)


def _expected(count: int) -> int:
    """Room for what is picked at random, and a little more: a result that grows is moved."""
    return count + count // 16 + 64


def _is_arranged(format: Format, d: int, size: int) -> bool:
    """Whether a result can be written as its entries come, fiber by fiber, and sorted then."""
    level = format.levels[-2]
    lists = listed(format) == format and format.order[-1] == d and level.width == 1
    return lists and not level.full and bool(_fibers().fits_words(size, size))


def _arranged(x: Tensor) -> Tensor:
    """The same tensor; the entries of each innermost fiber are put in order, where they are."""
    arrays, held = x.shared().arrays(), bool(x.contents().format.leaf.arrays)
    ptr, idx = arrays[-3:-1] if held else arrays[-2:]
    _fibers().arrange_fibers(ptr, idx, arrays[-1] if held else None)
    verify(x.contents())
    return x


def _fibers() -> Any:
    """What sorts by machine code, for arrays that store much."""
    return imported("linnet.runtime.fibers")


def _ranges(positions: Ints, n: int) -> list[Ints]:
    """For each of n positions, from where to where its places are listed; and that list."""
    dtype = index_dtype(len(positions))
    count = np.bincount(positions, minlength=n)
    stop = np.cumsum(count)
    _, order = sort_stably([positions], [n], np.arange(len(positions), dtype=dtype))
    return [(stop - count).astype(dtype), stop.astype(dtype), order]


@lru_cache(maxsize=256)
def _gather(format: Format, d: int, fill: str) -> Kernel:
    """`C[…, i, …] = A[…, P[i], …]`."""
    at = indices(format.ndim)
    source = list(at)
    source[d] = loops.Access("P", (at[d],))
    inside = tuple(INSIDE if m == d else "" for m in range(format.ndim))
    body = assignment(at, d, "", loops.Access("A", tuple(source), inside))
    names = [name_of(m) for m in format.order]
    return moving_kernel("gather", format, ("A", "P"), format.ndim, nest(names, body))


def at_points(x: Tensor, positions: Sequence[Ints], axes: tuple[int, ...]) -> Tensor | None:
    """`C[q, …] = A[P[q], Q[q], …]`; None where the array is not stored by these axes first."""
    x = readable(x)
    contents, count = x.contents(), len(positions[0])
    format, shape = contents.format, contents.shape
    wanted = _of_points(format, axes)
    if wanted is None:
        return None
    rest = [n for m, n in enumerate(shape) if m not in axes]
    room = count  # what single elements need in any case: the kernel writes before it knows
    if rest:
        places = max(1, math.prod([shape[m] for m in axes]))
        room = min(count, _expected(stored(x) * count // places))
    return run(wanted[0], x, wanted[1], positions, room, count, *rest)


@lru_cache(maxsize=256)
def _of_points(format: Format, axes: tuple[int, ...]) -> tuple[Kernel, Format] | None:
    """How elements, or parts, at points of these axes are found, and how they are stored."""
    if {*format.order[: len(axes)]} != {*axes}:
        return None
    ndim = 1 + format.ndim - len(axes)
    wanted = alike(format, ndim)
    if wanted.order != tuple(range(ndim)):  # the new dimension is the outermost one
        wanted = recognize(Format(wanted.levels, tuple(range(ndim))))
    return _pick(format, axes, repr(format.fill_value)), wanted


@lru_cache(maxsize=256)
def _pick(format: Format, axes: tuple[int, ...], fill: str) -> Kernel:
    """`C[q, k, …] = A[P[q], Q[q], k, …]`."""
    source, q = indices(format.ndim), loops.Index("q")
    for m in axes:
        source[m] = loops.Access(f"P{m}", (q,))
    rest = [m for m in range(format.ndim) if m not in axes]
    inside = tuple(INSIDE if m in axes else "" for m in range(format.ndim))
    value = loops.Access("A", tuple(source), inside)
    body: loops.Stmt = assignment([q, *(loops.Index(name_of(m)) for m in rest)], 0, "", value)
    body = loops.Loop("q", None, nest([name_of(m) for m in format.order if m in rest], body))
    return moving_kernel("pick", format, ("A", *(f"P{m}" for m in axes)), 1 + len(rest), body)


def along(x: Tensor, positions: Ints, d: int, shape: tuple[int, ...]) -> Tensor:
    """`C[…, q, …] = A[…, P[…, q, …], …]`; dimensions of size 1 stand for any size."""
    wanted, x = same_kind(x), readable(x)
    x = x if x.contents().format.order[-1] == d else innermost(x, d)
    format = x.contents().format
    spread = tuple(n != m for n, m in zip(shape_of(x), shape, strict=True))
    single = tuple(n != m for n, m in zip(positions.shape, shape, strict=True))
    kernel = _along(format, d, spread, single, repr(format.fill_value))
    room = min(math.prod(shape), stored(x) * math.prod(shape) // max(x.size, 1))
    positions = np.ascontiguousarray(positions)
    result = compute(kernel, listed(same_kind(x)), (x,), (positions,), (room, *shape))
    return result if result.format == wanted else result.to(wanted)


@lru_cache(maxsize=256)
def _along(
    format: Format, d: int, spread: tuple[bool, ...], single: tuple[bool, ...], fill: str
) -> Kernel:
    """The kernel for arrays of which these dimensions are `spread`, and positions that are."""
    at, zero = indices(format.ndim), loops.Literal(0)
    place = loops.Access("P", tuple(zero if one else i for i, one in zip(at, single, strict=True)))
    source = [zero if one else i for i, one in zip(at, spread, strict=True)]
    source[d] = place
    inside = tuple(INSIDE if m == d else "" for m in range(format.ndim))
    body: loops.Stmt = assignment(at, d, "", loops.Access("A", tuple(source), inside))
    for m in reversed(format.order):
        open_end = m != d and spread[m] and single[m]
        extent = loops.Extent(zero, number(1 + m)) if open_end else None
        body = loops.Loop(name_of(m), extent, body)
    return moving_kernel("along", format, ("A", "P"), format.ndim, body)


@lru_cache(maxsize=256)
def _rename(format: Format, d: int, fill: str, promise: str) -> Kernel:
    """`t = P[j]; if t >= 0: C[…, t, …] = A[…, j, …]`."""
    at, place = indices(format.ndim), format.order.index(d)
    to, t = list(at), loops.Name("t")
    to[d] = t
    write = assignment(to, d, promise, loops.Access("A", tuple(at)))
    names = [name_of(m) for m in format.order]
    kept = loops.Call(greater_equal, (t, loops.Literal(0)))
    body: loops.Stmt = loops.If(kept, nest(names[place + 1 :], write), loops.NOTHING)
    body = loops.Let("t", loops.Access("P", (at[d],)), body)
    return moving_kernel("rename", format, ("A", "P"), format.ndim, nest(names[: place + 1], body))


@lru_cache(maxsize=256)
def _spread(format: Format, d: int, fill: str, promise: str, in_order: bool) -> Kernel:
    """`for q in range(S[j], T[j]): C[…, q, …] = A[…, j, …]`, or at `P[q]` in any order."""
    at = indices(format.ndim)
    q, to = loops.Index("q"), list(at)
    to[d] = q if in_order else loops.Access("P", (q,))
    body: loops.Stmt = assignment(to, d, promise, loops.Access("A", tuple(at)))
    place = format.order.index(d)
    names = [name_of(m) for m in format.order]
    body = nest(names[place + 1 :], body)
    ends = tuple(loops.Access(name, (at[d],)) for name in ("S", "T"))
    body = nest(names[: place + 1], loops.Loop("q", loops.Extent(*ends), body))
    maps = ("S", "T") if in_order else ("S", "T", "P")
    return moving_kernel("spread", format, ("A", *maps), format.ndim, body)
