"""Arrays of runs joined, rolled and counted: what is read run by run is written run by run.

A fiber of runs is written from its start to its end in one loop. So what comes there is said for
every index at once: of some arrays side by side, the one that is not out of bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

from linnet import loops
from linnet.algebra.table import add, coalesce, subtract
from linnet.api.operands import shape_of
from linnet.api.programs import assignment, indices, moving_kernel, name_of, nest, number
from linnet.api.storage import Ints, typed
from linnet.formats.assemble import wrap
from linnet.formats.dense import Dense
from linnet.formats.format import Format
from linnet.formats.level import PERMISSIVE
from linnet.formats.named import DENSE
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST
from linnet.options import limit
from linnet.runtime.compute import compute

if TYPE_CHECKING:
    from linnet.runtime.kernel import Kernel

_LONG = 1 << 16  # elements: a few runs of so many are not taken apart


@lru_cache(maxsize=1024)
def has_runs(format: Format) -> bool:
    """Whether a format stores runs, as many as there are, under and over lists at most."""
    levels = format.levels[:-1]
    runs = [level for level in levels if level.runs and not level.limit]
    others = [level for level in levels if type(level) in (Dense, SparseList)]
    return bool(runs) and len(runs) + len(others) == len(levels) and bool(format.leaf.arrays)


def is_long(*tensors: Tensor) -> bool:
    """Whether runs are of so many elements that these are not to be listed."""
    return any(x.size > limit(_LONG) and has_runs(x.contents().format) for x in tensors)


def joined(parts: Sequence[Tensor], d: int, format: Format) -> Tensor:
    """Arrays one after the other along dimension `d`, in a format of runs."""
    given = [x if x.contents().format == format else x.to(format) for x in parts]
    while len(given) > 1:
        pairs = [given[k : k + 2] for k in range(0, len(given), 2)]
        given = [_join(p[0], p[1], d, format) if len(p) > 1 else p[0] for p in pairs]
    return given[0].copy() if len(parts) == 1 else given[0]


def _join(a: Tensor, b: Tensor, d: int, format: Format) -> Tensor:
    shape, first = [*shape_of(a)], shape_of(a)[d]
    shape[d] += shape_of(b)[d]
    kernel = _beside(format, d, ("A", "B"), repr(format.fill_value))
    return compute(kernel, format, (a, b), (), (_runs(a) + _runs(b), *shape, 0, first))


def tiled(x: Tensor, times: int, d: int) -> Tensor:
    """The array several times, but not zero times, along dimension `d`."""
    if times == 1:
        return x
    half, format = tiled(x, times // 2, d), x.contents().format
    whole = _join(half, half, d, format)
    return _join(whole, x, d, format) if times % 2 else whole


def rolled(x: Tensor, by: int, d: int) -> Tensor:
    """What is in the last `by` places of dimension `d` comes first, then the rest."""
    format, n = x.contents().format, shape_of(x)[d]
    return written(_beside(format, d, ("A", "A"), repr(format.fill_value)), x, n - by, by)


def written(kernel: Kernel, x: Tensor, *numbers: int) -> Tensor:
    """What a kernel makes of an array, in its shape and its format."""
    return compute(kernel, x.contents().format, (x,), (), (_runs(x), *shape_of(x), *numbers))


def _runs(x: Tensor) -> int:
    """How many runs are stored, or somewhat more."""
    return max([b.length for b in x.contents().buffers], default=0)


@lru_cache(maxsize=256)
def _beside(format: Format, d: int, tensors: tuple[str, str], fill: str) -> Kernel:
    """`C[…, i, …] = coalesce(A[…, ~(i - p), …], B[…, ~(i - q), …], fill)`.

    Of an array that is rolled, the first part is what `i + p` reaches.
    """
    ndim, first, same = format.ndim, tensors[0], tensors[0] == tensors[1]
    at, lenient = indices(ndim), tuple(PERMISSIVE if m == d else "" for m in range(ndim))
    values: list[loops.Expr] = []
    for k, (name, way) in enumerate(
        zip(tensors, (add if same else subtract, subtract), strict=True)
    ):
        source = list(at)
        source[d] = loops.Call(way, (at[d], number(1 + ndim + k)))
        values.append(loops.Access(name, tuple(source), lenient))
    assert format.fill_value is not None
    values.append(loops.Literal(format.fill_value, format.dtype))
    value = reduce(lambda a, b: loops.Call(coalesce, (a, b)), values)
    body: loops.Stmt = assignment(at, d, "", value)
    for m in reversed(format.order):
        size = number(1 + d) if m == d else loops.Dimension(first, m)
        body = loops.Loop(name_of(m), loops.Extent(loops.Literal(0), size), body)
    params = tensors[:1] if same else tensors
    return moving_kernel("beside", format, params, ndim, body)


def tallied(x: Tensor, numbers: Ints) -> Ints:
    """How many elements have each number; every value that is stored has one, from 1 on.

    The first are those that are not stored. A run counts as many times as it is long, at once. Of
    more than 64 bits can count, it is about how many: what does not wrap around is 0 for none.
    """
    contents, kind = x.shared(), "int64" if x.size <= LARGEST else "float64"
    format, most = typed(contents.format, "int64", 0), int(numbers.max(initial=0)) + 1
    placed = wrap(format, contents.shape, [*contents.arrays()[:-1], numbers])
    found = compute(_tally(format, kind), typed(DENSE(1), kind, 0), (placed,), (), (most,))
    return found.to_numpy(copy=True)


@lru_cache(maxsize=256)
def _tally(format: Format, kind: str) -> Kernel:
    """`for i, … in ...: N[A[i, …]] += 1`, in numbers of some kind."""
    from linnet.runtime.kernel import Kernel

    number_of = loops.Access("A", tuple(indices(format.ndim)))
    count = loops.Assign(loops.Access("N", (number_of,)), add, loops.Literal(1))
    zeros = loops.Declare("N", loops.Literal(0, kind), (number(0),))
    body = loops.Block((zeros, nest([name_of(m) for m in format.order], count)))
    return Kernel(loops.Program("tally", ("N", "A", "size"), (), body, ("N",)))
