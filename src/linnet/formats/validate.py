"""Do these arrays form a tensor? Fast checks that name the first position that is wrong.

Each check is a few passes of NumPy over the arrays; the place of an error is searched for only when
there is one. Nothing that passes lets a kernel read or write outside its memory.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FormatError, ShapeError

Ints: TypeAlias = NDArray[Any]
LARGEST = 2**63 - 1  # of a dimension, and of a number of fibers
MOST_MODES = 1 << 10  # of a format, and of a shape: an array may have more than memory holds


def check_shape(shape: object) -> tuple[int, ...]:
    """A shape as a tuple of Python integers; a single integer is a shape of one dimension."""
    count = getattr(shape, "size", 0)
    if isinstance(count, int) and count > MOST_MODES:
        raise ShapeError(f"a shape is a tuple of integers, not an array of {count}")
    dims = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    try:
        found = tuple(operator.index(n) for n in dims)
    except TypeError:
        found = ()
    if len(found) != len(dims) or any(isinstance(n, (bool, np.bool_)) for n in dims):
        raise ShapeError(f"a shape is a tuple of integers, not {shape!r}")
    for mode, n in enumerate(found):
        if n < 0:
            raise ShapeError(f"dimension {mode} of the shape {found} is negative")
        if n > LARGEST:
            raise ShapeError(
                f"dimension {mode} of the shape {found} is too large",
                why="coordinates are 64-bit integers",
            )
    return found


def check_product(count: int, dim: int, label: str) -> int:
    """The number of subfibers of `count` fibers that store every index of a dimension."""
    if count * dim > LARGEST:
        raise ShapeError(
            f"{label} would have {count} x {dim} subfibers, more than 64 bits can count",
            why="a dense level has a place for every index",
            hint="store this dimension in a sparse level, such as SparseList or SparseCOO",
        )
    return count * dim


def check_length(array: Ints, count: int, label: str) -> None:
    """As many elements as the levels above call for."""
    if len(array) != count:
        raise FormatError(f"{label} has {len(array)} elements, and {count} are called for")


def check_pointers(ptr: Ints, count: int, stored: int, label: str, *, fiber: str = "fiber") -> int:
    """`ptr` splits `stored` entries among `count` fibers; returns `stored`."""
    if len(ptr) != count + 1:
        raise FormatError(
            f"{label} has {len(ptr)} elements, and {count + 1} are called for",
            why=f"there are {count} {fiber}s, and one pointer more",
        )
    if ptr[0] != 0:
        raise FormatError(f"{label}[0] is {ptr[0]}, and must be 0")
    falls = ptr[1:] < ptr[:-1]
    if falls.any():
        p = int(falls.argmax())
        raise FormatError(
            f"{label} falls from {ptr[p]} to {ptr[p + 1]} at position {p + 1}",
            why=f"{fiber} {p} is stored from {label}[{p}] to {label}[{p + 1}]",
        )
    if ptr[-1] != stored:
        raise FormatError(
            f"{label} ends with {ptr[-1]}, and {stored} coordinates are stored",
            why="the last pointer is the number of stored coordinates",
        )
    return stored


def check_range(idx: Ints, dim: int, label: str) -> None:
    """Every coordinate lies in its dimension."""
    if len(idx) == 0 or (idx.min() >= 0 and idx.max() < dim):
        return
    q = int(((idx < 0) | (idx >= dim)).argmax())
    raise FormatError(
        f"{label}[{q}] is {idx[q]}, outside its dimension of size {dim}",
        why=f"coordinates run from 0 to {dim - 1}" if dim else "a dimension of size 0 is empty",
    )


def check_booleans(array: NDArray[Any], label: str) -> None:
    """Every boolean is a byte that is 0 or 1: machine code may look at any of its bits."""
    if array.dtype != bool or array.size == 0:
        return
    held = array.view(np.uint8).reshape(-1)
    if held.max() > 1:
        q = int((held > 1).argmax())
        raise FormatError(f"{label} has the boolean {held[q]} at position {q}, and not 0 or 1")


def check_sorted(ptr: Ints, idx: Ints, dim: int, label: str, *, fiber: str = "fiber") -> None:
    """The coordinates of each fiber lie in range, and rise."""
    check_range(idx, dim, label)
    q = first_unsorted(ptr, (idx,))
    if q is not None:
        p = fiber_of(ptr, q)
        twice = idx[q] == idx[q - 1]
        raise FormatError(
            f"{fiber} {p} of {label} has {idx[q]} at position {q}, after {idx[q - 1]}",
            why="a coordinate is stored twice" if twice else "coordinates of a fiber must rise",
            hint="use ln.tensor, which sorts coordinates and combines duplicates",
        )


def check_sorted_coordinates(
    ptr: Ints,
    coordinates: Sequence[Ints],
    dims: Sequence[int],
    label: str,
    *,
    fiber: str = "fiber",
) -> None:
    """The tuples of coordinates of each fiber lie in range, and rise in lexicographic order."""
    for k, (idx, dim) in enumerate(zip(coordinates, dims, strict=True)):
        check_length(idx, len(coordinates[0]), f"{label}.idx{k}")
        check_range(idx, dim, f"{label}.idx{k}")
    q = first_unsorted(ptr, coordinates)
    if q is not None:
        here, before = (tuple(int(idx[at]) for idx in coordinates) for at in (q, q - 1))
        raise FormatError(
            f"{fiber} {fiber_of(ptr, q)} of {label} has {here} at position {q}, after {before}",
            why="a coordinate is stored twice" if here == before else "coordinates must rise",
            hint="use ln.tensor, which sorts coordinates and combines duplicates",
        )


def check_flags(arrays: Mapping[str, Ints], count: int, dim: int, label: str) -> None:
    """A flag is set exactly where a coordinate is stored; `key`, if given, lists these places."""
    ptr, idx, tbl, key = (arrays[name] for name in ("ptr", "idx", "tbl", "key"))
    check_length(tbl, check_product(count, dim, label), f"{label}.tbl")
    stored = positions(ptr, idx, dim)
    unset = ~tbl[stored]
    if unset.any():
        q = int(unset.argmax())
        raise FormatError(
            f"{label}.tbl[{stored[q]}] is not set",
            why=f"{label}.idx[{q}] stores coordinate {idx[q]} of fiber {fiber_of(ptr, q)}",
        )
    if np.count_nonzero(tbl) != len(stored):
        extra = tbl.copy()
        extra[stored] = False
        raise FormatError(
            f"{label}.tbl[{int(extra.argmax())}] is set", why="no such coordinate is stored"
        )
    if len(key) and not (len(key) == len(stored) and np.array_equal(np.sort(key), stored)):
        raise FormatError(f"{label}.key does not list the positions that are set")


def check_runs(ptr: Ints, right: Ints, dim: int, label: str, *, fiber: str = "fiber") -> None:
    """The runs of each fiber, each of which ends before `right[q]`, cover the dimension."""
    _check_ends(ptr, np.zeros(len(right), np.int64), right, dim, label)
    last = ptr[1:].astype(np.int64) - 1
    ends = np.zeros(len(last), np.int64)  # of a fiber without runs
    some = np.diff(ptr) > 0
    ends[some] = right[last[some]]
    short = ends != dim
    if short.any():
        p = int(short.argmax())
        where = f" at position {last[p]}" if some[p] else ""
        raise FormatError(
            f"the runs of {fiber} {p} of {label} end before {ends[p]}{where}",
            why=f"they cover their dimension, which ends at {dim}",
            hint="a SparseRunList has places without a run",
        )


def check_intervals(ptr: Ints, left: Ints, right: Ints, dim: int, label: str) -> None:
    """The runs of each fiber, from `left[q]` up to `right[q]`, follow in order."""
    check_length(left, len(right), f"{label}.left")
    check_range(left, dim, f"{label}.left")
    _check_ends(ptr, left, right, dim, f"{label}.right")
    _check_apart(ptr, left, right, "run", label)


def check_bounds(left: Ints, right: Ints, count: int, dim: int, label: str) -> None:
    """One run for each fiber, which may be empty, lies in its dimension."""
    check_length(left, count, f"{label}.left")
    check_length(right, count, f"{label}.right")
    check_range(left, dim + 1, f"{label}.left")
    check_range(right, dim + 1, f"{label}.right")
    turned = right < left
    if turned.any():
        p = int(turned.argmax())
        raise FormatError(
            f"the run of fiber {p} of {label} ends at {right[p]}, before it begins at {left[p]}",
            why="a run is stored as where it begins, and where what follows it begins",
        )


def check_bands(idx: Ints, ofs: Ints, dim: int, label: str) -> None:
    """The block of each fiber, which ends before `idx[p]`, lies in its dimension."""
    check_length(idx, len(ofs) - 1, f"{label}.idx")
    check_range(idx, dim + 1, f"{label}.idx")
    _check_starts(idx, ofs, "band", label)


def check_blocks(ptr: Ints, idx: Ints, ofs: Ints, dim: int, label: str) -> None:
    """The blocks of each fiber are not empty, lie in their dimension, and follow in order."""
    check_range(idx, dim + 1, f"{label}.idx")
    _check_starts(idx, ofs, "block", label)
    start = idx - np.diff(ofs)
    _check_ends(ptr, start, idx, dim, f"{label}.idx", kind="block")
    _check_apart(ptr, start, idx, "block", label)


def _check_starts(idx: Ints, ofs: Ints, kind: str, label: str) -> None:
    """No block is longer than the indices before its end."""
    length = np.diff(ofs)
    outside = length > idx
    if outside.any():
        q = int(outside.argmax())
        start = int(idx[q]) - int(length[q])
        raise FormatError(
            f"{kind} {q} of {label} begins at {start}, outside its dimension",
            why=f"it has {length[q]} elements, and ends at {label}.idx[{q}], which is {idx[q]}",
        )


def _check_ends(
    ptr: Ints, left: Ints, right: Ints, dim: int, label: str, *, kind: str = "run"
) -> None:
    """Each run ends behind its beginning and behind the run before it, and within the dimension."""
    check_range(right, dim + 1, label)
    before = left.astype(np.int64)
    before[1:] = np.maximum(before[1:], right[:-1])
    starts = ptr[:-1][(np.diff(ptr) > 0)]
    before[starts] = left[starts]
    empty = right <= before
    if empty.any():
        q = int(empty.argmax())
        raise FormatError(
            f"{label}[{q}] is {right[q]}, where a {kind} of fiber {fiber_of(ptr, q)} ends "
            f"that begins at {before[q]}",
            why=f"a {kind} has at least one element, and comes after the one before it",
        )


def _check_apart(ptr: Ints, left: Ints, right: Ints, kind: str, label: str) -> None:
    """Runs of one fiber do not overlap."""
    over = left[1:] < right[:-1]
    starts = ptr[(ptr > 0) & (ptr < len(left))]
    over[starts - 1] = False
    if over.any():
        q = int(over.argmax()) + 1
        raise FormatError(
            f"{kind} {q} of {label} begins at {left[q]}, and {kind} {q - 1} ends at {right[q - 1]}",
            why=f"the {kind}s of a fiber do not overlap, and are stored in order",
        )


def check_permutation(sub: Ints, stored: int, label: str) -> None:
    """Every one of `stored` children is named once."""
    check_length(sub, stored, label)
    check_range(sub, stored, label)
    seen = np.zeros(stored, bool)
    seen[sub] = True
    if not seen.all():
        _, first = np.unique(sub, return_index=True)
        q = int(np.isin(np.arange(stored), first, invert=True).argmax())
        raise FormatError(f"{label}[{q}] is {sub[q]}, which another entry has already")


def first_unsorted(ptr: Ints, coordinates: Sequence[Ints]) -> int | None:
    """The first entry that does not come after its predecessor in the same fiber."""
    *outer, last = coordinates
    rises = last[1:] > last[:-1]
    for idx in reversed(outer):
        rises &= idx[1:] == idx[:-1]
        rises |= idx[1:] > idx[:-1]
    starts = ptr[(ptr > 0) & (ptr < len(last))]
    rises[starts - 1] = True  # the first entry of a fiber has no predecessor
    return None if rises.all() else int(rises.argmin()) + 1


def fiber_of(ptr: Ints, q: int) -> int:
    """The fiber that entry `q` belongs to."""
    return int(np.searchsorted(ptr, q, side="right")) - 1


def positions(ptr: Ints, idx: Ints, dim: int) -> NDArray[np.int64]:
    """`p * dim + i` for every entry `i` of every fiber `p`."""
    fibers = np.repeat(np.arange(len(ptr) - 1, dtype=np.int64), np.diff(ptr))
    return fibers * dim + idx
