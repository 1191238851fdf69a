"""Elements at other places: kernels that walk an array as it is stored, and append to a result.

Every function here takes an array of any format and is one loop program, or a few of one kind; what
an array stores decides the time. A program that promises to write in the order of storage
(`APPEND`) needs no workspace; one that promises to write no element twice (`ONCE`) gets one where
it is needed. Arrays that store little are left to NumPy (`is_large`), so that nobody waits for a
compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from linnet import loops
from linnet.algebra.table import add, floor_divide, less_equal, multiply, remainder, subtract
from linnet.api.operands import shape_of
from linnet.api.storage import Ints, alike, dense
from linnet.arrays.evaluate import sizes
from linnet.formats.coordinates import MANY
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.level import APPEND, ONCE
from linnet.formats.named import COO, recognize
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor
from linnet.runtime.kernel import Kernel

_OPEN = Element()
_SIZE = "size"  # the tensor whose dimensions are numbers
_TOGETHER = 8  # arrays that are joined by one kernel


def is_large(*tensors: Tensor) -> bool:
    """Whether so much is stored that a kernel pays, even one that has to be compiled."""
    return any(_stored(x) >= MANY for x in tensors)


# -- what is read and written ----------------------------------------------------------------------


def _is_listed(format: Format) -> bool:
    """Whether kernels read and write a format entry by entry."""
    return all(type(level) in (Dense, SparseList, SparseCOO) for level in format.levels[:-1])


def _listed(format: Format) -> Format:
    """The format with lists instead of levels of other kinds."""
    if _is_listed(format):
        return format
    levels = [level if type(level) is Dense else SparseList(_OPEN) for level in format.levels[:-1]]
    return recognize(Format((*levels, format.leaf), format.order))


def _readable(x: Tensor) -> Tensor:
    """The array in a format that is read entry by entry."""
    format = x.contents().format
    return x if _is_listed(format) else x.to(_listed(alike(format, x.ndim)))


def _run(kernel: Kernel, x: Tensor, wanted: Format, maps: Sequence[Ints], *numbers: int) -> Tensor:
    """The result of a kernel, in the format that is wanted."""
    target = _listed(wanted)
    result = Tensor(target, None)
    kernel(result, x, *map(dense, maps), sizes(numbers))
    return result if target == wanted else result.to(wanted)


def _stored(x: Tensor) -> int:
    """How many elements the array stores, or somewhat more."""
    return max(b.length for b in x.contents().buffers)


def _kept(x: Tensor) -> Format:
    """The format of a result of as many dimensions."""
    return alike(x.contents().format, x.ndim)


# -- parts of programs -----------------------------------------------------------------------------


def _name(mode: int, part: int = 0) -> str:
    return f"i{mode}" if not part else f"i{mode}_{part}"


def _at(ndim: int) -> list[loops.Expr]:
    return [loops.Index(_name(m)) for m in range(ndim)]


def _number(k: int) -> loops.Dimension:
    """The k-th of the numbers that a kernel is given: how much will be stored, sizes, others."""
    return loops.Dimension(_SIZE, k)


def _plus(a: loops.Expr, b: loops.Expr) -> loops.Expr:
    return loops.Call(add, (a, b))


def _write(to: Sequence[loops.Expr], d: int, promise: str, value: loops.Expr) -> loops.Assign:
    """`C[to] = value`, with a promise about the d-th index."""
    protocols = tuple(promise if m == d else "" for m in range(len(to)))
    return loops.Assign(loops.Access("C", tuple(to), protocols), None, value)


def _nest(names: Sequence[str], body: loops.Stmt) -> loops.Stmt:
    for name in reversed(names):
        body = loops.Loop(name, None, body)
    return body


def _kernel(
    name: str, format: Format, params: Sequence[str], ndim: int, body: loops.Stmt
) -> Kernel:
    """The program that declares C, with as many sizes as dimensions, and fills it."""
    dims = tuple(_number(1 + k) for k in range(ndim))
    assert format.fill_value is not None
    init = loops.Literal(format.fill_value, format.dtype)
    block = loops.Block((loops.Declare("C", init, dims, room=_number(0)), body))
    return Kernel(loops.Program(name, ("C", *params, _SIZE), (), block, ("C",)))


# -- positions along a dimension -------------------------------------------------------------------


def selected(x: Tensor, positions: Ints, d: int) -> Tensor:
    """The parts at these positions of dimension `d`, in this order; a part may come often."""
    x = _readable(x)
    format = x.contents().format
    place, fill, n = format.order.index(d), repr(format.fill_value), shape_of(x)[d]
    shape = tuple(len(positions) if m == d else size for m, size in enumerate(shape_of(x)))
    room = _stored(x) * len(positions) * 9 // (8 * n) if n else 0
    if place == 0 or _is_full(format, d):
        return _run(_gather(format, d, fill), x, _kept(x), [positions], room, *shape)
    count = np.bincount(positions, minlength=n)
    stop = np.cumsum(count)
    maps, in_order = [stop - count, stop], bool((positions[1:] >= positions[:-1]).all())
    if not in_order:
        maps.append(_grouped(positions, n))
    return _run(_spread(format, d, fill, in_order), x, _kept(x), maps, room, *shape)


def _is_full(format: Format, d: int) -> bool:
    """Whether every index of a dimension has a subfiber."""
    return any(level.full and d in format.modes_of(k) for k, level in enumerate(format.levels[:-1]))


def _grouped(positions: Ints, n: int) -> Ints:
    """The places at which positions stand, position by position."""
    from linnet.runtime.arrange import sorting

    order = sorting([positions], [n])
    return np.arange(len(positions)) if order is None else order


@lru_cache(maxsize=256)
def _gather(format: Format, d: int, fill: str) -> Kernel:
    """`C[…, i, …] = A[…, P[i], …]`."""
    at = _at(format.ndim)
    source = list(at)
    source[d] = loops.Access("P", (at[d],))
    body = _write(at, d, "", loops.Access("A", tuple(source)))
    names = [_name(m) for m in format.order]
    return _kernel("gather", format, ("A", "P"), format.ndim, _nest(names, body))


@lru_cache(maxsize=256)
def _spread(format: Format, d: int, fill: str, in_order: bool) -> Kernel:
    """`for q in range(S[j], T[j]): C[…, q, …] = A[…, j, …]`, or at `P[q]` in any order."""
    at = _at(format.ndim)
    q, to = loops.Index("q"), list(at)
    to[d] = q if in_order else loops.Access("P", (q,))
    body: loops.Stmt = _write(to, d, APPEND if in_order else ONCE, loops.Access("A", tuple(at)))
    place = format.order.index(d)
    names = [_name(m) for m in format.order]
    body = _nest(names[place + 1 :], body)
    ends = tuple(loops.Access(name, (at[d],)) for name in ("S", "T"))
    body = _nest(names[: place + 1], loops.Loop("q", loops.Extent(*ends), body))
    maps = ("S", "T") if in_order else ("S", "T", "P")
    return _kernel("spread", format, ("A", *maps), format.ndim, body)


# -- one after the other ---------------------------------------------------------------------------


def joined(parts: Sequence[Tensor], d: int, format: Format) -> Tensor:
    """Arrays one after the other along dimension `d`; all are in this format, whatever it is."""
    wanted = _listed(format)
    parts = [x if x.contents().format == wanted else x.to(wanted) for x in parts]
    place = wanted.order.index(d)
    outer = [_is_full(wanted, m) for m in wanted.order[:place]]
    many = _TOGETHER if all(outer) else 2  # lists are merged, in every combination
    while len(parts) > 1:
        groups = [parts[k : k + many] for k in range(0, len(parts), many)]
        parts = [_join_few(group, d, wanted) if len(group) > 1 else group[0] for group in groups]
    return parts[0] if wanted == format else parts[0].to(format)


def _join_few(parts: Sequence[Tensor], d: int, format: Format) -> Tensor:
    starts = [0]
    for x in parts:
        starts.append(starts[-1] + shape_of(x)[d])
    shape = tuple(starts[-1] if m == d else n for m, n in enumerate(shape_of(parts[0])))
    kernel = _join(format, d, repr(format.fill_value), len(parts))
    result = Tensor(format, None)
    kernel(result, *parts, sizes((sum(map(_stored, parts)), *shape, *starts[:-1])))
    return result


@lru_cache(maxsize=256)
def _join(format: Format, d: int, fill: str, count: int) -> Kernel:
    """`C[…, j + start, …] = A[…, j, …]`, for one array after the other, inside the outer loops."""
    place, parts = format.order.index(d), []
    outer, inner = format.order[:place], format.order[place:]
    for part in range(count):
        at = [loops.Index(_name(m, part if m in inner else 0)) for m in range(format.ndim)]
        to: list[loops.Expr] = list(at)
        to[d] = _plus(at[d], _number(1 + format.ndim + part))
        write = _write(to, d, APPEND, loops.Access(f"A{part}", tuple(at)))
        parts.append(_nest([_name(m, part) for m in inner], write))
    body = _nest([_name(m) for m in outer], loops.Block(tuple(parts)))
    params = [f"A{part}" for part in range(count)]
    return _kernel("join", format, params, format.ndim, body)


def rolled(x: Tensor, by: int, d: int) -> Tensor:
    """What is in the last `by` places of dimension `d` comes first, then the rest."""
    x = _readable(x)
    format, n = x.contents().format, shape_of(x)[d]
    kernel = _roll(format, d, repr(format.fill_value))
    return _run(kernel, x, _kept(x), (), _stored(x), *shape_of(x), by, n - by)


@lru_cache(maxsize=256)
def _roll(format: Format, d: int, fill: str) -> Kernel:
    """`C[…, j - rest, …] = A[…, j, …]` for `rest <= j`, then `C[…, j + by, …]` for those before."""
    place, parts = format.order.index(d), []
    by, rest = _number(1 + format.ndim), _number(2 + format.ndim)
    for part in (0, 1):
        at: list[loops.Expr] = [
            loops.Index(_name(m, part if place <= format.order.index(m) else 0))
            for m in range(format.ndim)
        ]
        to = list(at)
        to[d] = _plus(at[d], by) if part else loops.Call(subtract, (at[d], rest))
        write = _write(to, d, APPEND, loops.Access("A", tuple(at)))
        inside = _nest([_name(m, part) for m in format.order[place + 1 :]], write)
        ends = (loops.Literal(0), rest) if part else (rest, loops.Dimension("A", d))
        parts.append(loops.Loop(_name(d, part), loops.Extent(*ends), inside))
    body = _nest([_name(m) for m in format.order[:place]], loops.Block(tuple(parts)))
    return _kernel("roll", format, ("A",), format.ndim, body)


def tiled(x: Tensor, times: int, d: int) -> Tensor:
    """The array several times along dimension `d`."""
    x = _readable(x)
    format = x.contents().format
    shape = tuple(n * times if m == d else n for m, n in enumerate(shape_of(x)))
    kernel = _tile(format, d, repr(format.fill_value))
    return _run(kernel, x, _kept(x), (), _stored(x) * times, *shape, times)


@lru_cache(maxsize=256)
def _tile(format: Format, d: int, fill: str) -> Kernel:
    """`C[…, t * n + j, …] = A[…, j, …]`, for all `t`."""
    at, place = _at(format.ndim), format.order.index(d)
    to = list(at)
    to[d] = _plus(at[d], loops.Call(multiply, (loops.Index("t"), loops.Dimension("A", d))))
    names = [_name(m) for m in format.order]
    body = _nest(names[place:], _write(to, d, APPEND, loops.Access("A", tuple(at))))
    extent = loops.Extent(loops.Literal(0), _number(1 + format.ndim))
    body = _nest(names[:place], loops.Loop("t", extent, body))
    return _kernel("tile", format, ("A",), format.ndim, body)


def flipped(x: Tensor, d: int) -> Tensor:
    """With the order along dimension `d` reversed."""
    return selected(x, np.arange(shape_of(x)[d] - 1, -1, -1), d)


# -- triangles -------------------------------------------------------------------------------------


def triangle(x: Tensor, k: int, lower: bool) -> Tensor:
    """What lies on and below (or above) the k-th diagonal of the last two dimensions."""
    x = _readable(x)
    format = x.contents().format
    kernel = _triangle(format, lower, repr(format.fill_value))
    return _run(kernel, x, _kept(x), (), _stored(x), *shape_of(x), max(k, 0), max(-k, 0))


@lru_cache(maxsize=256)
def _triangle(format: Format, lower: bool, fill: str) -> Kernel:
    """`if j + down <= i + up: C[…, i, j] = A[…, i, j]`, or the other way round."""
    at = _at(format.ndim)
    up, down = _number(1 + format.ndim), _number(2 + format.ndim)
    row, column = _plus(at[-2], up), _plus(at[-1], down)
    cond = loops.Call(less_equal, (column, row) if lower else (row, column))
    write = _write(at, 0, "", loops.Access("A", tuple(at)))
    body = _nest([_name(m) for m in format.order], loops.If(cond, write, loops.NOTHING))
    return _kernel("triangle", format, ("A",), format.ndim, body)


# -- other shapes ----------------------------------------------------------------------------------

Group = tuple[tuple[int, ...], tuple[int, ...]]
"""Dimensions of the array, and those of the result which hold the same elements."""


def reshaped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The same elements in row-major order."""
    wanted = alike(x.contents().format, len(shape))
    x = _readable(x)
    format = x.contents().format
    if format.order != tuple(range(x.ndim)):
        x = x.to(_coordinates(format))
        format = x.contents().format
    target = wanted if _takes_entries(_listed(wanted)) else _coordinates(wanted)
    kernel = _reshape(format, len(shape), _groups(shape_of(x), shape), repr(format.fill_value))
    result = _run(kernel, x, target, (), _stored(x), *shape)
    return result if target == wanted else result.to(wanted)


def _takes_entries(format: Format) -> bool:
    """Whether elements can be appended one by one: the last level lists them, below full ones."""
    above = format.levels[:-2]
    return format.order == tuple(range(format.ndim)) and all(level.full for level in above)


def _coordinates(format: Format) -> Format:
    levels = COO(format.ndim).levels[:-1]
    return recognize(Format((*levels, format.leaf), tuple(range(format.ndim))))


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


@lru_cache(maxsize=256)
def _reshape(format: Format, ndim: int, groups: tuple[Group, ...], fill: str) -> Kernel:
    """`t = i * n + j; C[t // m, t % m] = A[i, j]`, for every group of dimensions."""
    at = _at(format.ndim)
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
        body = loops.Loop(_name(m), None, body)
    return _kernel("reshape", format, ("A",), ndim, body)


def _linear(at: Sequence[loops.Expr], modes: Sequence[int]) -> loops.Expr:
    """The place of an element among all of some dimensions."""
    found = at[modes[0]]
    for m in modes[1:]:
        found = _plus(loops.Call(multiply, (found, loops.Dimension("A", m))), at[m])
    return found


def _digits(place: loops.Expr, modes: Sequence[int]) -> list[loops.Expr]:
    """The coordinates of a place along dimensions of the result."""
    found: list[loops.Expr] = []
    for m in reversed(modes[1:]):
        found.append(loops.Call(remainder, (place, _number(1 + m))))
        place = loops.Call(floor_divide, (place, _number(1 + m)))
    return [place, *reversed(found)]
