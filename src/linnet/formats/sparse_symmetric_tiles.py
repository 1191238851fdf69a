"""`SparseSymmetricTiles`: a symmetric matrix, whose lower triangle is stored in tiles, as lists."""

from __future__ import annotations

from collections.abc import Sequence as Numbers
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.errors import FormatError
from linnet.formats.fiber import Fiber, Storage
from linnet.formats.level import POINTERS, STORED, WORD, Array, Inner, Level
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

COLUMNS = 1 << 16  # of a tile: with as many rows as there may be, its places have 31 bits
_MOST_ROWS = 1 << 15
_MOST_TILES = 1 << 26  # of a matrix: there is a pointer for each, be it empty


@dataclass(frozen=True, repr=False)
class SparseSymmetricTiles(Inner):
    """`fiber(p)[i, j] -> child(q)`, where `idx[q]` is the word of i and j, in the list of a tile.

    Tiles have `rows` rows and 65536 columns. With `m` of them beside each other, that of an entry
    below the diagonal is `t = i // rows * m + j // 65536`, and its word the place in the tile,
    column by column, `j % 65536 * rows + i % rows`. A last list has the diagonal, where the word is
    i. With `k` lists for a matrix, `ptr[p * k + t] <= q < ptr[p * k + t + 1]`. Elements beyond the
    diagonal are those of their mirror image.

    To read an element is to search. Where a program allows it, `normalize.words` walks the lists
    instead: as rows of a tile are few, and columns come in order, all that an entry meets is near.
    """

    rows: int = 2048
    arrays: ClassVar[tuple[Array, ...]] = (POINTERS, Array("idx", "coordinate"))
    width: ClassVar[int] = 2
    mirrored: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        known = isinstance(self.rows, int) and not isinstance(self.rows, bool)
        if not known or not 0 < self.rows <= _MOST_ROWS or self.rows & (self.rows - 1):
            raise FormatError(
                f"a tile has 1, 2, 4 … or {_MOST_ROWS} rows, not {self.rows!r}",
                why="where an entry lies in a tile is one number, of which some bits are the row",
            )

    def label(self, child: str) -> str:
        rows = "" if self.rows == type(self).rows else f", rows={self.rows}"
        return f"{type(self).__name__}({child}{rows})"

    @property
    def grid(self) -> tuple[int, int]:
        return self.rows, COLUMNS

    def written(self, below: tuple[Level, ...]) -> tuple[Level, ...]:
        return SparseList(self.child), SparseList(self.child)

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        if fiber.sub == 0:
            return Lookup(Fiber(fiber.storage, fiber.level, fiber.pos, 1, (index,)))
        ptr, idx, (i,) = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.state
        if protocol == WORD:  # i is the number of a list; who reads so has a single matrix
            begin, end = imp.widen(ptr[i]), imp.widen(ptr[i + 1])
            q, target = b.var(f"{fiber.prefix}_q"), b.var("target")
            seek = Seek(target, b.call("search", idx, q, end, target))
            return Stepper(q, begin, end, imp.widen(idx[q]), Spike(fiber.child(q)), seek)
        bits = self.rows.bit_length() - 1
        at = b.call(place, ptr, idx, fiber.pos, fiber.dim, bits, i, index)
        element = Lookup(Switch(at >= 0, fiber.child(at), FILL))
        if protocol == STORED:
            return Sequence((Phase(i + 1, element), Phase(None, Run(FILL))), inside=True)
        return element

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        ptr, n = storage.buffers[level]["ptr"], storage.dim(level)
        bits, across = self.rows.bit_length() - 1, imp.binary(">>", n + (COLUMNS - 1), 16)
        lists = imp.binary(">>", n + (self.rows - 1), bits) * across + 1
        return imp.widen(ptr[lo * lists]), imp.widen(ptr[hi * lists])

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        ptr, idx, n = arrays["ptr"], arrays["idx"], side(dims)
        lists = _tiles(n, self.rows) + 1
        stored = check_pointers(ptr, count * lists, len(idx), f"{label}.ptr", fiber="tile")
        largest = max(n, self.rows * COLUMNS)
        check_sorted(ptr, idx, largest, f"{label}.idx", fiber="tile")
        t = np.repeat(np.arange(count * lists), np.diff(ptr)) % lists
        i, j = _decoded(self, n, t, idx)
        below = np.where(t == lists - 1, i < n, (j < i) & (i < n))
        if not below.all():
            q = int(below.argmin())
            where = "outside the matrix" if i[q] >= n else "not below the diagonal"
            raise FormatError(
                f"{label}.idx[{q}] is {idx[q]}, the place [{i[q]}, {j[q]}] in tile "
                f"{fiber_of(ptr, q)}, {where}",
                why="a symmetric matrix stores its lower triangle, and the diagonal as a last tile",
            )
        return stored


def place(ptr: Numbers[int], idx: Numbers[int], p: int, n: int, bits: int, i: int, j: int) -> int:
    """A codelet: the position of an element, in tiles of 2**bits rows, or -1."""
    across = (n + 65535) >> 16
    t = ((n + (1 << bits) - 1) >> bits) * across  # the list of the diagonal
    q = p * (t + 1)
    word = i
    if i != j:
        a = max(i, j)
        c = min(i, j)
        t = (a >> bits) * across + (c >> 16)
        word = ((c & 65535) << bits) + (a & ((1 << bits) - 1))
    end = ptr[q + t + 1]
    q = ptr[q + t]
    stop = end
    while q < stop:
        middle = (q + stop) // 2
        if idx[middle] < word:
            q = middle + 1
        else:
            stop = middle
    if q < end and idx[q] == word:
        return q
    return -1


def _tiles(n: int, rows: int) -> int:
    """How many tiles a matrix has, those above the diagonal among them."""
    tiles = -(-n // rows) * -(-n // COLUMNS)
    if tiles > _MOST_TILES:
        raise FormatError(
            f"a matrix of {n} rows has {tiles} tiles of {rows} rows, more than {_MOST_TILES}",
            why="there is a pointer for every tile, be it empty",
            hint="use SYMMETRIC, or tiles of more rows",
        )
    return tiles


def _encoded(level: SparseSymmetricTiles, n: int, i: Ints, j: Ints) -> tuple[Ints, Ints]:
    """The tile of each entry on or below the diagonal, and its word."""
    across, rows = -(-n // COLUMNS), level.rows
    tile = np.where(i == j, _tiles(n, rows), i // rows * across + j // COLUMNS)
    return tile, np.where(i == j, i, j % COLUMNS * rows + i % rows)


def _decoded(level: SparseSymmetricTiles, n: int, tile: Ints, word: Ints) -> tuple[Ints, Ints]:
    """The row and the column of each entry."""
    across, rows, word = max(-(-n // COLUMNS), 1), level.rows, word.astype(np.int64)
    diagonal = tile == _tiles(n, rows)
    i = np.where(diagonal, word, tile // across * rows + word % rows)
    return i, np.where(diagonal, word, tile % across * COLUMNS + word // rows)


@pack_level.register(SparseSymmetricTiles)
def _(
    level: SparseSymmetricTiles, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    n, (i, j) = side(dims), (c.astype(np.int64) for c in coordinates)
    lists = _tiles(n, level.rows) + 1
    check_symmetric(fibers, i, j)
    kept = np.flatnonzero(j <= i)
    tile, word = _encoded(level, n, i[kept], j[kept])
    tile += fibers.at[kept] * lists
    order = np.lexsort((word, tile))  # a stable sort: what lies below stays in order
    kept, tile, word = kept[order], tile[order], word[order]
    new = np.ones(len(kept), bool)
    new[1:] = (tile[1:] != tile[:-1]) | (word[1:] != word[:-1])
    first = np.flatnonzero(new)
    ptr = zeros(fibers.count * lists + 1, index_dtype(len(first)))
    np.cumsum(np.bincount(tile[first], minlength=fibers.count * lists), out=ptr[1:])
    arrays = {"ptr": ptr, "idx": word[first].astype("int32")}
    return arrays, Fibers(len(first), len(first), np.cumsum(new) - 1, kept=kept)


@unpack_level.register(SparseSymmetricTiles)
def _(level: SparseSymmetricTiles, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    n = dims[0]
    lists = _tiles(n, level.rows) + 1
    where, q = ranges(arrays["ptr"], (at[:, None] * lists + np.arange(lists)).reshape(-1))
    owner = where // lists
    i, j = _decoded(level, n, where % lists, arrays["idx"][q])
    off = np.flatnonzero(i != j)
    owner, q = np.append(owner, owner[off]), np.append(q, q[off])
    i, j = np.append(i, j[off]), np.append(j, i[off])
    order = np.lexsort((j, i, owner))
    return Entries(owner[order], [i[order], j[order]], q[order])
