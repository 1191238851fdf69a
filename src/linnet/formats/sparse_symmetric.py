"""`SparseSymmetric`: a symmetric matrix, of which the lower triangle is stored."""

from __future__ import annotations

from collections.abc import Sequence as Numbers
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.errors import FormatError
from linnet.formats.fiber import Fiber, Storage
from linnet.formats.level import COORDINATES, POINTERS, STORED, Array, Inner, Level
from linnet.formats.looplets import (
    FILL,
    Lookup,
    Looplet,
    Phase,
    Run,
    Seek,
    Sequence,
    Spike,
    Stepper,
    Switch,
)
from linnet.formats.packing import (
    Arrays,
    Entries,
    Fibers,
    Ints,
    index_dtype,
    pack_level,
    ranges,
    unpack_level,
    zeros,
)
from linnet.formats.sparse_list import SparseList
from linnet.formats.symmetry import check_symmetric, side
from linnet.formats.validate import check_pointers, check_sorted, fiber_of
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder


@dataclass(frozen=True, repr=False)
class SparseSymmetric(Inner):
    """`fiber(p)[i, j] -> child(q)`: of row `p * n + i`, `idx[q] == j`, if `j <= i`; else `[j, i]`.

    Rows are lists, `ptr[row] <= q < ptr[row + 1]`. To read beyond the diagonal is to search; where
    a program allows it, `normalize.symmetry` reads every entry once instead, for both its places.
    """

    arrays: ClassVar[tuple[Array, ...]] = (
        POINTERS,
        COORDINATES,
    )
    width: ClassVar[int] = 2
    mirrored: ClassVar[bool] = True

    def written(self, below: tuple[Level, ...]) -> tuple[Level, ...]:
        return SparseList(self.child), SparseList(self.child)

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        if fiber.sub == 0:
            return Lookup(Fiber(fiber.storage, fiber.level, fiber.pos, 1, (index,)))
        if protocol == STORED:
            return _stored_half(b, fiber)
        ptr, idx, (i,) = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.state
        first = fiber.pos * fiber.dim
        begin, end = imp.widen(ptr[first + i]), imp.widen(ptr[first + i + 1])
        there = (imp.widen(ptr[first + index]), imp.widen(ptr[first + index + 1]))
        at = b.call(find, idx, *there, i)
        upper = Lookup(Switch(at >= 0, fiber.child(at), FILL))
        lower = _row(b, fiber, begin, end, i + 1)
        return Sequence((Phase(i + 1, lower), Phase(None, upper)), inside=True)

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        ptr, n = storage.buffers[level]["ptr"], storage.dim(level)
        return imp.widen(ptr[lo * n]), imp.widen(ptr[hi * n])

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        ptr, idx, n = arrays["ptr"], arrays["idx"], side(dims)
        stored = check_pointers(ptr, count * n, len(idx), f"{label}.ptr", fiber="row")
        check_sorted(ptr, idx, n, f"{label}.idx", fiber="row")
        row = np.repeat(np.arange(count * n), np.diff(ptr)) % max(n, 1)
        beyond = np.flatnonzero(idx > row)
        if len(beyond):
            q = int(beyond[0])
            raise FormatError(
                f"{label}.idx[{q}] is {idx[q]}, to the right of the diagonal in row "
                f"{fiber_of(ptr, q)}",
                why="a symmetric matrix stores its lower triangle",
            )
        return stored


def _row(b: Builder, fiber: Fiber, begin: imp.Expr, end: imp.Expr, stop: imp.Expr) -> Stepper:
    """The entries of a row at these positions, all of them before `stop`."""
    idx, q, target = fiber.buffer("idx"), b.var(f"{fiber.prefix}_q"), b.var("target")
    seek = Seek(target, b.call("search", idx, q, end, target))
    return Stepper(q, begin, end, imp.widen(idx[q]), Spike(fiber.child(q)), seek, stop=stop)


def _stored_half(b: Builder, fiber: Fiber) -> Looplet:
    """What a row stores: entries below the diagonal, and perhaps a last one on it."""
    ptr, idx, (i,) = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.state
    row = fiber.pos * fiber.dim + i
    begin, end = imp.widen(ptr[row]), imp.widen(ptr[row + 1])
    diagonal = (begin < end) & imp.eq(idx[end - 1], imp.cast(i, idx.dtype))
    # A branch, which can be foreseen, and not a bound that waits for the coordinate.
    return Switch(
        diagonal,
        _half(_row(b, fiber, begin, end - 1, i), i, Run(fiber.child(end - 1))),
        _half(_row(b, fiber, begin, end, i), i, Run(FILL)),
    )


def _half(lower: Stepper, i: imp.Expr, diagonal: Run) -> Sequence:
    phases = Phase(i, lower), Phase(i + 1, diagonal), Phase(None, Run(FILL))
    return Sequence(phases, inside=True)


def find(idx: Numbers[int], q: int, end: int, target: int) -> int:
    """A codelet: the position of a coordinate in a sorted list, or -1."""
    stop = end
    while q < stop:
        middle = (q + stop) // 2
        if idx[middle] < target:
            q = middle + 1
        else:
            stop = middle
    if q < end and idx[q] == target:
        return q
    return -1


@pack_level.register(SparseSymmetric)
def _(
    level: SparseSymmetric, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    n, (i, j) = side(dims), (c.astype(np.int64) for c in coordinates)
    check_symmetric(fibers, i, j)
    kept = np.flatnonzero(j <= i)
    row = (fibers.at * n + i)[kept]
    new = np.ones(len(kept), bool)
    new[1:] = (row[1:] != row[:-1]) | (j[kept][1:] != j[kept][:-1])
    first = np.flatnonzero(new)
    ptr = zeros(fibers.count * n + 1, index_dtype(len(first)))
    np.cumsum(np.bincount(row[first], minlength=fibers.count * n), out=ptr[1:])
    arrays = {"ptr": ptr, "idx": j[kept][first].astype(index_dtype(n))}
    return arrays, Fibers(len(first), len(first), np.cumsum(new) - 1, kept=kept)


@unpack_level.register(SparseSymmetric)
def _(level: SparseSymmetric, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    n = dims[0]
    rows = (at[:, None] * n + np.arange(n)).reshape(-1)
    where, q = ranges(arrays["ptr"], rows)
    owner, i, j = where // max(n, 1), where % max(n, 1), arrays["idx"][q].astype(np.int64)
    off = np.flatnonzero(i != j)
    owner, q = np.append(owner, owner[off]), np.append(q, q[off])
    i, j = np.append(i, j[off]), np.append(j, i[off])
    order = np.lexsort((j, i, owner))
    return Entries(owner[order], [i[order], j[order]], q[order])
