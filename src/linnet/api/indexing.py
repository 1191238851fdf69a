"""Parts of an array: `x[…]` with numbers, slices, masks and arrays of positions; `take`."""

from __future__ import annotations

import math
from copy import copy
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet import api, arrays
from linnet.api.operands import Array, as_tensor, axis_number, shape_of
from linnet.api.picking import along, at_points, select
from linnet.api.programs import coordinates, is_large, is_vast
from linnet.api.single import element
from linnet.api.storage import (
    alike,
    build,
    dense,
    flatten,
    is_dense,
    is_plain,
    sorted_entries,
    unflatten,
    unpatterned,
)
from linnet.arrays import Lazy
from linnet.arrays.moving import is_moving
from linnet.errors import ArgumentError, IndexBoundsError, RangeError, ShapeError
from linnet.formats.from_scipy import is_scipy_sparse
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST

Ints: TypeAlias = NDArray[Any]
Basic: TypeAlias = int | slice | None
_ALL, _BACK = slice(None), slice(None, None, -1)
_INTEGERS = {"i", "u"}


# -- x[…] ------------------------------------------------------------------------------------------


def getitem(x: Tensor, key: object) -> Tensor:
    """What `x[key]` means, as in NumPy."""
    if type(key) is Tensor and is_vast(key) and api.run_vectors.masks(x, key):
        return api.run_vectors.masked(x, key)
    parts = normalized(key, shape_of(x))
    if all(isinstance(p, int | slice | None) for p in parts):
        return basic(x, parts)
    if is_dense(x.contents().format):
        try:
            return dense(x.to_numpy()[parts])
        except IndexError as error:
            raise ShapeError(f"these arrays of indices do not fit together: {error}") from None
    return _with_arrays(x, parts)


def at_arrays(x: Tensor, key: object) -> Tensor | None:
    """`x[rows]`, `x[mask]` and `x[i, j]` of a large array, by the shortest way; None for the rest.

    It is what graphs and finite elements ask for, and nothing that `normalized` tells is missing.
    """
    parts = key if type(key) is tuple else (key,)
    for p in parts:
        if type(p) is not np.ndarray or p.ndim != 1:
            return None
    contents = x.contents()
    if not parts or not is_large(x) or is_dense(contents.format):
        return None
    kinds, shape, count = {p.dtype.kind for p in parts}, contents.shape, len(parts)
    if count == 1:
        if kinds == {"b"} and len(parts[0]) == shape[0]:
            return select(x, parts[0].nonzero()[0], 0)
        return select(x, positions(parts[0], shape[0], 0), 0) if kinds <= _INTEGERS else None
    if count != len(shape) or not kinds <= _INTEGERS or len({len(p) for p in parts}) > 1:
        return None
    first, n0 = parts[0], shape[0]
    at = [positions(first, n0, 0)]
    for d in range(1, count):  # x[i, i] is a part of the diagonal
        alike = parts[d] is first and shape[d] == n0
        at.append(at[0] if alike else positions(parts[d], shape[d], d))
    return at_points(x, at, tuple(range(count)))


def normalized(key: object, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A tuple of integers, slices, None and arrays of NumPy, which covers all dimensions."""
    parts = [_part(p) for p in (key if isinstance(key, tuple) else (key,))]
    used = sum(_width(p) for p in parts)
    gaps = [k for k, p in enumerate(parts) if p is Ellipsis]
    if len(gaps) > 1:
        raise IndexBoundsError("an index can have only one ellipsis (...)")
    if used > len(shape):
        wrong = f"the array has {len(shape)} dimensions, and {used} are indexed"
        raise IndexBoundsError(f"too many indices: {wrong}")
    at = gaps[0] if gaps else len(parts)
    rest: list[Any] = [slice(None)] * (len(shape) - used)
    if gaps and not rest and any(isinstance(p, np.ndarray | _Mask) for p in parts):
        rest = [Ellipsis]  # which stands for no dimension, and parts the arrays around it
    parts = [*parts[:at], *rest, *parts[at + 1 :]]
    found: list[Any] = []
    d = 0
    for part in parts:
        checked = _checked(part, shape, d)
        found += checked.positions if isinstance(checked, _Mask) else [checked]
        d += _width(part)
    return tuple(found)


class _Mask(NamedTuple):
    """A mask that stores where it is true: it stands for these positions, one array for each axis.

    Nobody lists all of its elements, which may be more than memory holds.
    """

    shape: tuple[int, ...]
    positions: list[Ints]


def _part(p: object) -> Any:
    """One index as the user gave it, in a form that is easy to tell."""
    if p is None or p is Ellipsis:
        return p
    if isinstance(p, slice):
        if p.step == 0:
            raise RangeError("the step of a slice is not 0")
        return slice(*(_bound(b) for b in (p.start, p.stop, p.step)))
    if isinstance(p, bool | np.bool_):
        return np.asarray(p)
    if isinstance(p, int | np.integer):
        return p if is_moving(p) else int(p)
    if isinstance(p, Tensor) or is_scipy_sparse(p) or isinstance(p, Lazy):
        given = as_tensor(p)
        if _is_sparse_mask(given):
            return _sparse_mask(given)
        array = given.to_numpy()
    elif isinstance(p, np.ndarray | list | range) or hasattr(p, "__array__"):
        array = np.asarray(p)
    else:
        raise _not_an_index(p)
    if array.size == 0 and array.dtype.kind == "f" and isinstance(p, list):
        array = array.astype(np.int64)
    if array.dtype.kind not in "biu":
        raise _not_an_index(p)
    return int(array) if array.ndim == 0 and array.dtype.kind != "b" else array


def _is_sparse_mask(x: Tensor) -> bool:
    """Whether an array is true at some of its places, and stores little else."""
    format = x.contents().format
    return format.dtype == "bool" and not format.fill_value and not is_dense(format) and x.ndim > 0


def _sparse_mask(x: Tensor) -> _Mask:
    if is_large(x):  # a kernel lists its places in hardly any time
        ptr, *held = x.to(coordinates(unpatterned(x.contents().format))).shared().arrays()
        *places, values = [array[: ptr[-1]] for array in held]
    else:
        places, values = sorted_entries(x)
    if not values.all():
        true = np.flatnonzero(values)
        places = [idx[true] for idx in places]
    return _Mask(shape_of(x), [idx.astype(np.int64, copy=False) for idx in places])


def _bound(b: object) -> int | None:
    if b is None or isinstance(b, int):
        return b
    try:
        return b.__index__()  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise ArgumentError(f"the bounds of a slice are integers, not {b!r}") from None


def _not_an_index(p: object) -> IndexBoundsError:
    return IndexBoundsError(
        f"{p!r} is not an index",
        hint="use integers, slices, `...`, None, or arrays of integers or booleans",
    )


def _width(part: Any) -> int:
    """How many dimensions an index stands for."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, _Mask) or (isinstance(part, np.ndarray) and part.dtype.kind == "b"):
        return len(part.shape)
    return 1


def _checked(part: Any, shape: tuple[int, ...], d: int) -> Any:
    """An index that is in range; negative positions are counted from the end."""
    if isinstance(part, int):
        return in_range(part, shape[d], d)
    if not isinstance(part, np.ndarray | _Mask):
        return part
    if isinstance(part, _Mask) or part.dtype.kind == "b":
        for m, (n, wanted) in enumerate(zip(part.shape, shape[d:], strict=False)):
            if n not in (wanted, 0):  # as in NumPy, a mask without elements selects nothing
                raise IndexBoundsError(
                    f"a mask of shape {part.shape} does not fit: it has size {n} along dimension "
                    f"{d + m}, and the array has {wanted}"
                )
        return part
    return positions(part, shape[d], d)


def in_range(i: int, n: int, d: int) -> int:
    """A position along dimension `d`, counted from the front."""
    if not -n <= i < n:
        raise IndexBoundsError(f"index {i} is out of bounds for dimension {d} with size {n}")
    return i + n if i < 0 else i


def positions(given: NDArray[Any], n: int, d: int) -> Ints:
    """Positions along dimension `d`, counted from the front."""
    found = given.astype(np.int64)  # a copy: what a kernel follows, nobody may change meanwhile
    if found.size and np.maximum.reduce(found.view(np.uint64), None) < n:  # below 0 is far beyond
        return found
    least = int(found.min(initial=0))
    if least < -n or found.max(initial=-1) >= n:
        wrong = int(found.flat[np.argmax((found < -n) | (found >= n))])
        raise IndexBoundsError(f"index {wrong} is out of bounds for dimension {d} with size {n}")
    return np.where(found < 0, found + n, found) if least < 0 else found


# -- numbers and slices ----------------------------------------------------------------------------


def basic(x: Tensor, parts: tuple[Any, ...]) -> Tensor:
    """The part that integers, slices and None select."""
    parts = (*parts, *[_ALL] * (x.ndim - len(parts) + parts.count(None)))
    if not parts:
        return copy(x)
    if is_dense(x.contents().format):
        found = x.to_numpy()[parts]
        return dense(np.asarray(found))
    kinds = {*map(type, parts)}
    if kinds == {int}:
        return element(x, parts)
    if int not in kinds and all(p is None or p == _ALL for p in parts):
        sizes = iter(shape_of(x))
        return api.shapes.reshape(x, tuple(1 if p is None else next(sizes) for p in parts))
    if kinds == {slice} and is_large(x) and all(p in (_ALL, _BACK) for p in parts):
        return reduce(api.moves.flipped, [d for d, p in enumerate(parts) if p == _BACK], x)
    wanted = alike(x.contents().format, sum([type(p) is not int for p in parts]))
    found = arrays.view(x, parts, format=None if _is_plain(x, parts) else wanted)
    assert isinstance(found, Tensor)
    return found if found.format == wanted else found.to(wanted)


def _is_plain(x: Tensor, parts: tuple[Any, ...]) -> bool:
    """Whether a part is stored as we want it without being told: lists whose rows are kept."""
    format = x.contents().format
    return None not in parts and type(parts[format.order[-1]]) is slice and is_plain(format)


# -- arrays as indices -----------------------------------------------------------------------------


def _with_arrays(x: Tensor, parts: tuple[Any, ...]) -> Tensor:
    """Arrays pick elements; the dimensions they stand for become those of their common shape.

    As in NumPy, integers beside arrays are arrays of one element, and the new dimensions come first
    unless all arrays stand side by side.
    """
    plain: list[Any] = []
    picked: list[tuple[int, Ints]] = []  # (dimension after the basic part, positions)
    places: list[int] = []  # where they stand in the index
    d = 0
    for place, part in enumerate(parts):
        if isinstance(part, int | np.ndarray):
            for idx in as_positions(part):
                plain.append(slice(None))
                picked.append((d, idx))
                d += 1
            if isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind == "b":
                plain.append(None)
                picked.append((d, np.zeros(int(part), np.int64)))
                d += 1
            places.append(place)
        elif part is not Ellipsis:
            plain.append(part)
            d += 1
    if not all(isinstance(p, slice) and p == _ALL for p in plain):
        x = basic(x, tuple(plain))
    together = places == list(range(places[0], places[-1] + 1))
    return _pick(x, picked, picked[0][0] if together else 0)


def as_positions(part: int | NDArray[Any]) -> list[Ints]:
    """The positions that an index stands for, along each of its dimensions."""
    if isinstance(part, int):
        return [np.asarray(part, np.int64)]
    if part.dtype.kind == "b":
        found = np.nonzero(part) if part.ndim else ()  # columns of one table
        return [np.ascontiguousarray(idx, np.int64) for idx in found]
    return [part]


def _pick(x: Tensor, picked: list[tuple[int, Ints]], place: int) -> Tensor:
    """The elements at arrays of positions, whose dimensions are put at `place`."""
    axes = tuple(d for d, _ in picked)
    if len(axes) == 1 and picked[0][1].ndim == 1:
        return select(x, picked[0][1], axes[0])
    if _is_grid([idx for _, idx in picked]):
        for d, idx in picked:
            x = select(x, idx.reshape(-1), d)
        return api.shapes.moveaxis(x, axes, tuple(range(place, place + len(axes))))
    shapes = [idx.shape for _, idx in picked]
    shape = shapes[0] if len({*shapes}) == 1 else api.shapes.broadcast_shapes(*shapes)
    points = [
        (idx if idx.shape == shape else np.broadcast_to(idx, shape)).reshape(-1)
        for _, idx in picked
    ]
    beyond = math.prod([shape_of(x)[d] for d in axes]) > LARGEST  # more points than have a number
    found = at_points(x, points, axes) if is_large(x) or beyond else None
    if found is None:
        found = _points(x, points, axes)
    if len(shape) != 1:
        found = api.shapes.reshape(found, (*shape, *shape_of(found)[1:]))
    new = tuple(range(len(shape)))
    return api.shapes.moveaxis(found, new, tuple(n + place for n in new)) if place else found


def _is_grid(positions: list[Ints]) -> bool:
    """Whether every array has a dimension of its own, in order, as those of `np.ix_`."""
    ndim = len(positions)
    return ndim > 1 and all(
        idx.shape == (1,) * k + (idx.size,) + (1,) * (ndim - 1 - k)
        for k, idx in enumerate(positions)
    )


def _points(x: Tensor, points: list[Ints], axes: tuple[int, ...]) -> Tensor:
    """The parts at points of some dimensions, one after the other along a new dimension."""
    sizes = [shape_of(x)[d] for d in axes]
    rows = api.shapes.moveaxis(x, axes, tuple(range(len(axes))))
    rows = api.shapes.reshape(rows, (math.prod(sizes), *shape_of(rows)[len(axes) :]))
    return select(rows, flatten(points, sizes), 0)


# -- take ------------------------------------------------------------------------------------------


@located
def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Tensor:
    """The parts of an array at positions along a dimension."""
    x, given = as_tensor(x), as_tensor(indices).to_numpy()
    if axis is None:
        if x.ndim != 1:
            raise ArgumentError("take from an array of several dimensions wants an axis")
        axis = 0
    d = axis_number(axis, x.ndim)
    if given.dtype.kind not in "iu":
        raise ArgumentError(f"positions are integers, not {given.dtype}")
    at = positions(given, shape_of(x)[d], d).reshape(-1)
    found = select(x, at, d)
    if given.ndim == 1:
        return found
    shape = shape_of(x)
    return api.shapes.reshape(found, (*shape[:d], *given.shape, *shape[d + 1 :]))


@located
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Tensor:
    """For every place, the element at a position along a dimension that `indices` tells."""
    x, given = as_tensor(x), as_tensor(indices).to_numpy()
    d = axis_number(axis, x.ndim)
    if given.dtype.kind not in "iu":
        raise ArgumentError(f"positions are integers, not {given.dtype}")
    if given.ndim != x.ndim:
        raise ShapeError(f"indices have {given.ndim} dimensions, and the array has {x.ndim}")
    old = shape_of(x)
    others = api.shapes.broadcast_shapes(
        tuple(1 if m == d else n for m, n in enumerate(old)),
        tuple(1 if m == d else n for m, n in enumerate(given.shape)),
    )
    shape = tuple(given.shape[d] if m == d else n for m, n in enumerate(others))
    if is_large(x) and not is_dense(x.contents().format) and 0 not in shape:
        return along(x, positions(given, old[d], d), d, shape)
    at = np.broadcast_to(positions(given, old[d], d), shape).reshape(-1)
    places = unflatten(np.arange(math.prod(shape)), shape)
    source = [np.zeros_like(p) if old[m] == 1 else p for m, p in enumerate(places)]
    source[d] = at
    found, values = lookup(x, source)
    return build([p[found] for p in places], values, shape, alike(x.contents().format, x.ndim))


def lookup(x: Tensor, places: list[Ints]) -> tuple[Ints, NDArray[Any]]:
    """Which of some places are stored, and the values there."""
    coordinates, values = sorted_entries(x)
    stored, wanted = flatten(coordinates, shape_of(x)), flatten(places, shape_of(x))
    if not len(stored):
        return np.zeros(0, np.int64), values
    at = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    found = np.flatnonzero(stored[at] == wanted)
    return found, values[at[found]]
