"""Between coordinates and levels, in NumPy: `pack` builds a tensor's arrays, `unpack` lists them.

Each level takes one step. Packing, a level is given the fiber of every entry and its coordinate,
and says in which fiber of the next level the entry lies. Unpacking is the inverse. A new level
registers its steps from its own file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FormatError, InternalError, OutOfMemoryError
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.formats.sparse_bytemap import SparseByteMap
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_hash import SparseHash
from linnet.formats.sparse_list import SparseList
from linnet.formats.validate import (
    check_permutation,
    check_pointers,
    check_product,
    check_sorted,
    positions,
)
from linnet.records import dataclass

Ints: TypeAlias = NDArray[Any]
Arrays: TypeAlias = dict[str, NDArray[Any]]
_FITS = 2**31 - 1


def index_dtype(largest: int) -> str:
    """The narrowest type of index arrays that holds numbers up to `largest`."""
    return "int32" if largest <= _FITS else "int64"


def zeros(count: int, dtype: object) -> NDArray[Any]:
    """An array of zeros, or an error that says how much was asked for."""
    try:
        return np.zeros(count, dtype)  # type: ignore[call-overload, no-any-return]
    except (MemoryError, ValueError):  # NumPy has a largest size of its own
        nbytes = count * np.dtype(dtype).itemsize  # type: ignore[call-overload]
        raise OutOfMemoryError(
            f"could not allocate {nbytes} bytes for a tensor",
            why="a dense level has a place for every index, stored or not",
            hint="store long dimensions in sparse levels: DCSR for CSR, COO, CSF",
        ) from None


@dataclass(frozen=True, slots=True)
class Fibers:
    """The fibers of a level: how many, how many of them hold something, and each entry's own.

    `content` is what entries are below the level: the coordinates of further levels, and values. A
    level that stores equal fibers once goes on with a part of the entries: those at `kept`.
    """

    count: int
    live: int
    at: Ints
    content: tuple[Ints, ...] = ()
    kept: Ints | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """What fibers store, entry by entry: whose it is, its coordinates, its fiber one level down."""

    owner: Ints
    coordinates: list[Ints]
    at: Ints


# -- packing -----------------------------------------------------------------------------------


def pack_levels(
    coordinates: Sequence[Ints], values: NDArray[Any], shape: tuple[int, ...], format: Format
) -> list[Arrays]:
    """The arrays of every level, from coordinates (by mode) sorted in storage order, unique.

    The values must have the format's dtype, and the format a dtype and a fill value.
    """
    fibers = Fibers(1, 1, np.zeros(len(values), np.int64))
    entries, result = [*(coordinates[mode] for mode in format.order), values], []
    for k, level in enumerate(format.levels[:-1]):
        here, entries = entries[: level.width], entries[level.width :]
        fibers = Fibers(fibers.count, fibers.live, fibers.at, tuple(entries))
        dims = [shape[mode] for mode in format.modes_of(k)]
        arrays, fibers = pack_level(level, fibers, here, dims)
        result.append(arrays)
        if fibers.kept is not None:
            entries = [array[fibers.kept] for array in entries]
    return [*result, pack_leaf(format.leaf, fibers, entries[0])]


@singledispatch
def pack_level(
    level: Level, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    """The arrays of a level, and the fibers of the next."""
    raise InternalError(f"{type(level).__name__} does not say how to pack it")


@pack_level.register(Dense)
def _(
    level: Dense, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    count = check_product(fibers.count, dims[0], "a dense level")
    return {}, Fibers(count, fibers.live * dims[0], fibers.at * dims[0] + coordinates[0])


@pack_level.register(SparseList)
def _(
    level: Level, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    first, below = distinct(fibers, coordinates)
    idx = coordinates[0][first].astype(index_dtype(dims[0]))
    return {"ptr": pointers(fibers, first), "idx": idx}, below


@pack_level.register(SparseCOO)
def _(
    level: SparseCOO, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    first, below = distinct(fibers, coordinates)
    arrays = {"ptr": pointers(fibers, first)}
    for k, (idx, dim) in enumerate(zip(coordinates, dims, strict=True)):
        arrays[f"idx{k}"] = idx[first].astype(index_dtype(dim))
    return arrays, below


@pack_level.register(SparseByteMap)
def _(
    level: SparseByteMap, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    first, below = distinct(fibers, coordinates)
    idx = coordinates[0][first].astype(index_dtype(dims[0]))
    at = fibers.at * dims[0] + coordinates[0]
    count = check_product(fibers.count, dims[0], "a byte map")
    arrays = {"ptr": pointers(fibers, first), "idx": idx, "tbl": _flags(count, at[first])}
    return arrays | {"key": at[first]}, Fibers(count, below.live, at)


@pack_level.register(SparseHash)
def _(
    level: SparseHash, fibers: Fibers, coordinates: list[Ints], dims: list[int]
) -> tuple[Arrays, Fibers]:
    first, below = distinct(fibers, coordinates)
    ptr, idx = pointers(fibers, first), coordinates[0][first].astype(index_dtype(dims[0]))
    sub = np.arange(len(idx), dtype=ptr.dtype)
    return _hashed(ptr, idx, sub), below


def pack_leaf(leaf: Level, fibers: Fibers, values: NDArray[Any]) -> Arrays:
    """The arrays of a leaf, whose fibers are single values."""
    if isinstance(leaf, Pattern):
        if len(values) != fibers.live:
            raise FormatError(
                "this format stores more than is true",
                why="a Pattern is true wherever something is stored, and the level above it "
                "stores every index",
                hint="put a sparse level directly above Pattern(), or use Element(False)",
            )
        return {}
    assert isinstance(leaf, Element)
    if len(values) == fibers.count == fibers.live:
        return {"val": np.ascontiguousarray(values)}
    val = zeros(fibers.count, leaf.dtype)
    val.fill(leaf.fill)
    val[fibers.at] = values
    return {"val": val}


def distinct(fibers: Fibers, coordinates: list[Ints]) -> tuple[Ints, Fibers]:
    """Where a subfiber begins, and the subfibers, numbered in order."""
    new = np.ones(len(fibers.at), bool)
    if len(new):
        new[1:] = fibers.at[1:] != fibers.at[:-1]
    for idx in coordinates:
        new[1:] |= idx[1:] != idx[:-1]
    first = np.flatnonzero(new)
    return first, Fibers(len(first), len(first), np.cumsum(new) - 1)


def pointers(fibers: Fibers, first: Ints) -> Ints:
    """Where the subfibers of each fiber begin."""
    ptr = zeros(fibers.count + 1, index_dtype(len(first)))
    np.cumsum(np.bincount(fibers.at[first], minlength=fibers.count), out=ptr[1:])
    return ptr


def _flags(count: int, at: Ints) -> Ints:
    tbl = zeros(count, bool)
    tbl[at] = True
    return tbl


def _hashed(ptr: Ints, idx: Ints, sub: Ints) -> Arrays:
    """The arrays of a hash level: its table is built when it is next written to."""
    parent = np.empty(len(idx), index_dtype(len(ptr)))
    coord = np.empty(len(idx), idx.dtype)
    parent[sub] = np.repeat(np.arange(len(ptr) - 1, dtype=parent.dtype), np.diff(ptr))
    coord[sub] = idx
    table = np.empty(0, np.int64)
    return {"ptr": ptr, "idx": idx, "sub": sub, "table": table, "parent": parent, "coord": coord}


# -- unpacking ---------------------------------------------------------------------------------


def unpack_levels(
    levels: Sequence[Arrays], shape: tuple[int, ...], format: Format
) -> tuple[list[Ints], NDArray[Any]]:
    """Coordinates (by mode) and values of everything stored, in storage order."""
    at, coordinates = np.zeros(0 if format.leaf.unstored else 1, np.int64), dict[int, Ints]()
    for k, level in enumerate(format.levels[:-1]):
        modes = format.modes_of(k)
        entries = unpack_level(level, levels[k], at, [shape[mode] for mode in modes])
        coordinates = {mode: idx[entries.owner] for mode, idx in coordinates.items()}
        coordinates |= dict(zip(modes, entries.coordinates, strict=True))
        at = entries.at
    stored = [coordinates[mode].astype(np.int64, copy=False) for mode in range(format.ndim)]
    return stored, unpack_leaf(format.leaf, levels[-1], at)


@singledispatch
def unpack_level(level: Level, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    """What a level stores in the fibers `at`, in order."""
    raise InternalError(f"{type(level).__name__} does not say how to unpack it")


@unpack_level.register(Dense)
def _(level: Dense, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner = np.repeat(np.arange(len(at)), dims[0])
    index = np.tile(np.arange(dims[0]), len(at))
    return Entries(owner, [index], at[owner] * dims[0] + index)


@unpack_level.register(SparseList)
def _(level: Level, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, q = ranges(arrays["ptr"], at)
    return Entries(owner, [arrays["idx"][q]], q)


@unpack_level.register(SparseCOO)
def _(level: SparseCOO, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, q = ranges(arrays["ptr"], at)
    return Entries(owner, [arrays[f"idx{k}"][q] for k in range(level.n)], q)


@unpack_level.register(SparseByteMap)
def _(level: SparseByteMap, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, q = ranges(arrays["ptr"], at)
    index = arrays["idx"][q]
    return Entries(owner, [index], at[owner] * dims[0] + index)


@unpack_level.register(SparseHash)
def _(level: SparseHash, arrays: Arrays, at: Ints, dims: list[int]) -> Entries:
    owner, q = ranges(arrays["ptr"], at)
    return Entries(owner, [arrays["idx"][q]], arrays["sub"][q].astype(np.int64))


def unpack_leaf(leaf: Level, arrays: Arrays, at: Ints) -> NDArray[Any]:
    """The values at positions."""
    return np.ones(len(at), bool) if isinstance(leaf, Pattern) else arrays["val"][at]


def ranges(ptr: Ints, at: Ints) -> tuple[Ints, Ints]:
    """For the fibers `at`: every stored position, and whose it is."""
    begin = ptr[at].astype(np.int64)
    length = ptr[at + 1] - begin
    owner = np.repeat(np.arange(len(at)), length)
    offset = np.cumsum(length) - length
    return owner, np.arange(len(owner)) + (begin - offset)[owner]


# -- arrays that follow from others ------------------------------------------------------------


@singledispatch
def complete_level(level: Level, arrays: Arrays, count: int, dims: list[int], label: str) -> Arrays:
    """The arrays of a level, with those that follow from the others filled in."""
    return arrays


@complete_level.register(SparseByteMap)
def _(level: SparseByteMap, arrays: Arrays, count: int, dims: list[int], label: str) -> Arrays:
    if not {"ptr", "idx"} <= arrays.keys():
        return arrays
    _check_list(arrays, count, dims, label)
    size = check_product(count, dims[0], label)
    at = positions(arrays["ptr"], arrays["idx"], dims[0])
    tbl = arrays["tbl"] if "tbl" in arrays else _flags(size, at)
    return {"key": at} | arrays | {"tbl": tbl}


@complete_level.register(SparseHash)
def _(level: SparseHash, arrays: Arrays, count: int, dims: list[int], label: str) -> Arrays:
    if not {"ptr", "idx"} <= arrays.keys():
        return arrays
    _check_list(arrays, count, dims, label)
    ptr, idx = arrays["ptr"], arrays["idx"]
    sub = arrays["sub"] if "sub" in arrays else np.arange(len(idx), dtype=ptr.dtype)
    check_permutation(sub, len(idx), f"{label}.sub")
    return _hashed(ptr, idx, sub)


def _check_list(arrays: Arrays, count: int, dims: list[int], label: str) -> None:
    """What others follow from must be right first."""
    check_pointers(arrays["ptr"], count, len(arrays["idx"]), f"{label}.ptr")
    check_sorted(arrays["ptr"], arrays["idx"], dims[0], f"{label}.idx")
