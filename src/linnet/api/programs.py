"""What the kernels that move elements have in common: formats, numbers, loops.

Every such kernel walks an array as it is stored, so that what it stores decides the time. One that
promises to write in the order of storage (`APPEND`) needs no workspace; one that promises to write
no element twice (`ONCE`) gets one where it is needed. Arrays that store little are left to NumPy
(`is_large`), so that nobody waits for a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from linnet import loops
from linnet.algebra.table import add
from linnet.api.operands import shape_of
from linnet.api.storage import Ints, alike, is_plain, unpatterned
from linnet.formats.coordinates import MANY
from linnet.formats.dense import Dense
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.named import COO, recognize
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST
from linnet.options import limit
from linnet.runtime.compute import compute
from linnet.shortage import imported

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel

_OPEN = Element()
_LONG = 1 << 16  # elements: a few runs of so many are not taken apart
_SIZE = "size"  # the tensor whose dimensions are numbers


def is_large(*tensors: Tensor) -> bool:
    """Whether so much is stored that a kernel pays, even one that has to be compiled."""
    return max(map(stored, tensors)) >= limit(MANY)


def is_vast(x: Tensor) -> bool:
    """Whether its elements are too many to be listed or counted, however little is stored."""
    levels = x.contents().format.levels[:-1]
    return x.size > (limit(_LONG) if any(level.runs for level in levels) else LARGEST)


def is_many(count: int) -> bool:
    """Whether so many values are sorted by what has to be compiled."""
    return count >= limit(MANY)


# -- what is read and written ----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def is_listed(format: Format) -> bool:
    """Whether kernels read and write a format entry by entry."""
    return all(type(level) in (Dense, SparseList, SparseCOO) for level in format.levels[:-1])


def listed(format: Format) -> Format:
    """The format with lists instead of levels of other kinds."""
    if is_listed(format):
        return format
    levels = [
        level if type(level) is Dense else SparseList(_OPEN)
        for level in format.levels[:-1]
        for _ in range(level.width)
    ]
    return recognize(Format((*levels, format.leaf), format.order))


def readable(x: Tensor) -> Tensor:
    """The array in a format that is read entry by entry."""
    format = x.contents().format
    return x if is_listed(format) else x.to(listed(alike(format, x.ndim)))


def run(kernel: Kernel, x: Tensor, wanted: Format, maps: Sequence[Ints], *numbers: int) -> Tensor:
    """The result of a kernel, in the format that is wanted."""
    target = listed(wanted)
    result = compute(kernel, target, (x,), maps, numbers)
    return result if target == wanted else result.to(wanted)


def stored(x: Tensor) -> int:
    """How many elements the array stores, or somewhat more."""
    most = 0
    for buffer in x.contents().buffers:  # `max` takes three times as long, and all calls ask
        if buffer.length > most:
            most = buffer.length
    return most


def same_kind(x: Tensor) -> Format:
    """The format of a result of as many dimensions."""
    return alike(x.contents().format, x.ndim)


def is_full(format: Format, d: int) -> bool:
    """Whether every index of a dimension has a subfiber."""
    return any(level.full and d in format.modes_of(k) for k, level in enumerate(format.levels[:-1]))


def coordinates(format: Format) -> Format:
    """The format that lists entries in row-major order."""
    levels = COO(format.ndim).levels[:-1]
    return recognize(Format((*levels, format.leaf), tuple(range(format.ndim))))


def innermost(x: Tensor, d: int) -> Tensor:
    """The array in lists, with dimension `d` innermost; the outermost is full if it is short."""
    format = x.contents().format
    if format.order[-1] == d and is_plain(format) and not format.levels[-2].full:
        return x
    order = (*(m for m in format.order if m != d), d)
    short = x.ndim > 1 and shape_of(x)[order[0]] <= stored(x)
    levels = [Dense(_OPEN) if short and k == 0 else SparseList(_OPEN) for k in range(x.ndim)]
    return x.to(Format((*levels, unpatterned(format).leaf), order))


def fiberwise(x: Tensor, d: int) -> Format:
    """The format of a list for each row along dimension `d`, in row-major order."""
    order = (*(m for m in range(x.ndim) if m != d), d)
    levels = [*[Dense(_OPEN)] * (x.ndim - 1), SparseList(_OPEN)]
    return Format((*levels, unpatterned(x.contents().format).leaf), order)


# -- parts of programs -----------------------------------------------------------------------------


def name_of(mode: int, part: int = 0) -> str:
    """The loop index of a dimension; loops of several parts have names of their own."""
    return f"i{mode}" if not part else f"i{mode}_{part}"


def indices(ndim: int) -> list[loops.Expr]:
    """One index for each dimension."""
    return [loops.Index(name_of(m)) for m in range(ndim)]


def number(k: int) -> loops.Dimension:
    """The k-th of the numbers that a kernel is given: how much will be stored, sizes, others."""
    return loops.Dimension(_SIZE, k)


def plus(a: loops.Expr, b: loops.Expr) -> loops.Expr:
    """`a + b`."""
    return loops.Call(add, (a, b))


def assignment(to: Sequence[loops.Expr], d: int, promise: str, value: loops.Expr) -> loops.Assign:
    """`C[to] = value`, with a promise about the d-th index."""
    protocols = tuple(promise if m == d else "" for m in range(len(to)))
    return loops.Assign(loops.Access("C", tuple(to), protocols), None, value)


def nest(names: Sequence[str], body: loops.Stmt) -> loops.Stmt:
    """Loops around a statement, the first one outermost."""
    for name in reversed(names):
        body = loops.Loop(name, None, body)
    return body


def moving_kernel(
    name: str, format: Format, params: Sequence[str], ndim: int, body: loops.Stmt
) -> Kernel:
    """The program that declares C, with as many sizes as dimensions, and fills it."""
    dims = tuple(number(1 + k) for k in range(ndim))
    assert format.fill_value is not None
    init = loops.Literal(format.fill_value, format.dtype)
    block = loops.Block((loops.Declare("C", init, dims, room=number(0)), body))
    program = loops.Program(name, ("C", *params, _SIZE), (), block, ("C",))
    made: Kernel = imported("linnet.runtime.kernel").Kernel(program)
    return made
