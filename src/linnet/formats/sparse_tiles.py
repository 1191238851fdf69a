"""`SparseTiles`: dense tiles of one size, a few rows by a few columns (BSR)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnet import imp
from linnet.errors import FormatError
from linnet.formats.level import Inner, Level
from linnet.formats.looplets import (
    FILL,
    Lookup,
    Looplet,
    Phase,
    Run,
    Seek,
    Sequence,
    Stepper,
    Thunk,
)
from linnet.formats.packing import (
    Arrays,
    Entries,
    Fibers,
    Ints,
    complete_level,
    index_dtype,
    pack_level,
    ranges,
    unpack_level,
    zeros,
)
from linnet.formats.sparse_hash import Hashed
from linnet.formats.validate import check_permutation, check_pointers, check_sorted
from linnet.records import dataclass

if TYPE_CHECKING:
    from linnet.codelets.build import Builder
    from linnet.formats.fiber import Fiber, Storage

_MOST_PLACES = 1 << 24  # of a tile: as one of 4096 x 4096, which takes 128 MiB


@dataclass(frozen=True, init=False, repr=False)
class SparseTiles(Hashed):
    """Tiles of `rows` fibers by `columns` indices, each with a child for every place in it.

    `fiber(p)[j] -> child((t * rows + p % rows) * columns + j % columns)`, where t is `sub[q]` of
    the tile q, `ptr[p // rows] <= q < ptr[p // rows + 1]`, with `idx[q] == j // columns`. Tiles at
    the edge may stand out. They are inserted in any order, as the entries of a hash are.
    """

    rows: int
    columns: int
    sliced: ClassVar[bool] = True
    pads: ClassVar[bool] = True

    def __init__(self, rows: int, columns: int, child: Level) -> None:
        for size in (rows, columns):
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise FormatError(f"a tile has at least one row and one column, not {size!r}")
        if rows * columns > _MOST_PLACES:
            raise FormatError(
                f"a tile has {_MOST_PLACES} places at most, not {rows} x {columns}",
                why="each of them is stored, in every tile that stores something",
            )
        below = child
        while isinstance(below, Inner):
            if below.sequential:
                raise FormatError(
                    f"{type(below).__name__} cannot be stored in tiles",
                    why="it is written in order, and tiles are not visited in the order of rows",
                    hint="use levels that are written anywhere: Dense, SparseHash, SparseByteMap",
                )
            below = below.child
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "child", child)
        self.__post_init__()

    def label(self, child: str) -> str:
        return f"SparseTiles({self.rows}, {self.columns}, {child})"

    @property
    def tile(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def share(self) -> int:
        return self.rows * self.columns

    def lists(self, count: imp.Expr) -> imp.Expr:
        return _over(count + (self.rows - 1), self.rows)

    def entry(self, fiber: Fiber, index: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
        return _over(fiber.pos, self.rows), _over(index, self.columns)

    def place(self, fiber: Fiber, index: imp.Expr, e: imp.Expr) -> imp.Expr:
        row = (e * self.rows + _rest(fiber.pos, self.rows)) * self.columns
        return row + _rest(index, self.columns)

    def unfurl(self, b: Builder, fiber: Fiber, index: imp.Expr, protocol: str) -> Looplet:
        ptr, idx, sub = fiber.buffer("ptr"), fiber.buffer("idx"), fiber.buffer("sub")
        q, target, c = b.var(f"{fiber.prefix}_q"), b.var("target"), self.columns
        p, row = _over(fiber.pos, self.rows), _rest(fiber.pos, self.rows)
        begin, end = imp.widen(ptr[p]), imp.widen(ptr[p + 1])
        # The element at index j is stored at position j + shift.
        shift, left = b.var(f"{fiber.prefix}_shift"), imp.widen(idx[q]) * c
        here = ((imp.widen(sub[q]) * self.rows + row) * c) - left
        tile = Phase(None, Lookup(fiber.child(index + shift)))
        # the last tile may reach beyond the dimension, where nothing is to be found any more
        first = imp.Select(target < fiber.dim, _over(target, c), _over(fiber.dim + (c - 1), c))
        return Stepper(
            pos=q,
            begin=begin,
            end=end,
            last=imp.minimum(left + c, fiber.dim) - 1,
            chunk=Thunk(
                (imp.Let(shift, here),), Sequence((Phase(left, Run(FILL)), tile), inside=True)
            ),
            seek=Seek(target, b.call("search", idx, q, end, first)),
        )

    def entries(
        self, storage: Storage, level: int, lo: imp.Expr, hi: imp.Expr
    ) -> tuple[imp.Expr, imp.Expr]:
        ptr = storage.buffers[level]["ptr"]
        return imp.widen(ptr[_over(lo, self.rows)]), imp.widen(ptr[self.lists(hi)])

    def validate(
        self, arrays: dict[str, np.ndarray], count: int, dims: tuple[int, ...], label: str
    ) -> int:
        stored = _check_tiles(self, arrays, count, dims[0], label)
        check_permutation(arrays["sub"], stored, f"{label}.sub")
        return stored * self.share


def _over(x: imp.Expr, size: int) -> imp.Expr:
    return x if size == 1 else imp.binary("div", x, size)


def _rest(x: imp.Expr, size: int) -> imp.Expr:
    return imp.ZERO if size == 1 else imp.binary("rem", x, size)


def _check_tiles(level: SparseTiles, arrays: Arrays, count: int, dim: int, label: str) -> int:
    lists, across = -(-count // level.rows), -(-dim // level.columns)
    stored = check_pointers(
        arrays["ptr"], lists, len(arrays["idx"]), f"{label}.ptr", fiber="row of tiles"
    )
    check_sorted(arrays["ptr"], arrays["idx"], across, f"{label}.idx", fiber="row of tiles")
    return stored


def _complete(ptr: Ints, idx: Ints, sub: Ints) -> Arrays:
    """All arrays; the table is made when tiles are next inserted."""
    parent = np.empty(len(idx), index_dtype(len(ptr)))
    coord = np.empty(len(idx), idx.dtype)
    parent[sub] = np.repeat(np.arange(len(ptr) - 1, dtype=parent.dtype), np.diff(ptr))
    coord[sub] = idx
    table = np.empty(0, np.int64)
    return {"ptr": ptr, "idx": idx, "sub": sub, "table": table, "parent": parent, "coord": coord}


@complete_level.register(SparseTiles)
def _(level: SparseTiles, arrays: Arrays, count: int, dims: list[int], label: str) -> Arrays:
    if not {"ptr", "idx"} <= arrays.keys():
        return arrays
    ptr, idx = arrays["ptr"], arrays["idx"]
    stored = _check_tiles(level, arrays, count, dims[0], label)
    sub = arrays["sub"] if "sub" in arrays else np.arange(stored, dtype=ptr.dtype)
    check_permutation(sub, stored, f"{label}.sub")
    return _complete(ptr, idx, sub)


@pack_level.register(SparseTiles)
def _(
    level: SparseTiles, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    r, c, j = level.rows, level.columns, coordinates[0].astype(np.int64)
    across = max(-(-dims[0] // c), 1)
    tiles, which = np.unique((fibers.at // r) * across + j // c, return_inverse=True)
    idx = (tiles % across).astype(index_dtype(dims[0]))
    ptr = zeros(-(-fibers.count // r) + 1, index_dtype(len(tiles)))
    np.cumsum(np.bincount(tiles // across, minlength=len(ptr) - 1), out=ptr[1:])
    at = (which.reshape(-1) * r + fibers.at % r) * c + j % c
    kept, count = np.argsort(at, kind="stable"), len(tiles) * r * c
    arrays = _complete(ptr, idx, np.arange(len(tiles), dtype=ptr.dtype))
    return arrays, Fibers(count, count, at[kept], kept=kept)


@unpack_level.register(SparseTiles)
def _(level: SparseTiles, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    r, c = level.rows, level.columns
    owner, q = ranges(arrays["ptr"], at // r)
    owner, q, inside = np.repeat(owner, c), np.repeat(q, c), np.tile(np.arange(c), len(q))
    index = arrays["idx"][q].astype(np.int64) * c + inside
    here = index < dims[0]
    place = (arrays["sub"][q].astype(np.int64) * r + at[owner] % r) * c + inside
    return Entries(owner[here], [index[here]], place[here])
