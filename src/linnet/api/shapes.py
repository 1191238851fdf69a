"""The same values in another shape: reshaped, permuted, broadcast, flipped, rolled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy as copied
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet import api, arrays
from linnet.api.operands import (
    Array,
    Axes,
    as_array,
    as_tensor,
    axis_number,
    axis_numbers,
    shape_of,
    whole,
)
from linnet.api.programs import is_large
from linnet.api.runs import is_long
from linnet.api.storage import (
    alike,
    build,
    dense,
    entries,
    flatten,
    is_dense,
    refuse_large,
    reshaped_alike,
    unflatten,
)
from linnet.arrays import Lazy
from linnet.errors import FormatError, ShapeError
from linnet.formats.coordinates import MANY
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST, check_shape
from linnet.options import limit

Ints: TypeAlias = NDArray[Any]


@located
def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """The same elements, in row-major order, in another shape; one size may be -1.

    >>> ln.reshape(ln.eye(4), (2, 8)).nnz
    4
    """
    x = as_tensor(x)
    wanted = _completed(shape, x.size)
    if wanted == x.shape:
        return x.copy() if copy else copied(x)
    if is_dense(x.contents().format):
        array = x.to_numpy().reshape(wanted)
        if copy is False and not np.may_share_memory(array, x.to_numpy()) and array.size:
            raise FormatError("this array lies in memory in an order that asks for a copy")
        return dense(array.copy() if copy else array)
    if copy is False:
        raise FormatError("a sparse array is reshaped only with a copy")
    stretched = x.size >= limit(MANY) and api.reshaping.is_stretched(x)
    if is_large(x) or stretched or x.size > LARGEST:
        return api.reshaping.reshaped(x, wanted)
    coordinates, values = entries(x)
    key = flatten(coordinates, shape_of(x))
    return build(unflatten(key, wanted), values, wanted, reshaped_alike(x, wanted))


def _completed(shape: Any, size: int) -> tuple[int, ...]:
    """The shape with the one size that was left open."""
    dims = list(shape) if isinstance(shape, Sequence | np.ndarray) else [shape]
    dims = [whole(n, "a size") for n in dims]
    if dims.count(-1) > 1:
        raise ShapeError(f"only one size can be -1, not {dims.count(-1)} of {tuple(dims)}")
    if -1 in dims:
        known = math.prod(n for n in dims if n != -1)
        if not known or size % known:
            raise ShapeError(f"an array of {size} elements does not fit the shape {tuple(dims)}")
        dims[dims.index(-1)] = size // known
    found = check_shape(dims)
    if math.prod(found) != size:
        raise ShapeError(f"an array of {size} elements does not fit the shape {found}")
    return found


@located
def squeeze(x: Array, /, axis: Axes = None) -> Tensor:
    """Without dimensions of size 1: those given, or all of them."""
    x = as_tensor(x)
    shape = shape_of(x)
    if axis is None:
        axes: tuple[int, ...] = tuple(d for d, n in enumerate(shape) if n == 1)
    else:
        axes = axis_numbers(axis, x.ndim)
    for d in axes:
        if shape[d] != 1:
            raise ShapeError(f"dimension {d} of the shape {shape} has size {shape[d]}, not 1")
    return reshape(x, tuple(n for d, n in enumerate(shape) if d not in axes))


@located
def expand_dims(x: Array, /, axis: int | tuple[int, ...] = 0) -> Tensor:
    """With further dimensions of size 1, which have these numbers in the result."""
    x = as_tensor(x)
    given = axis if isinstance(axis, tuple | list) else (axis,)
    axes = axis_numbers(tuple(given), x.ndim + len(given))
    sizes = iter(shape_of(x))
    return reshape(x, tuple(1 if d in axes else next(sizes) for d in range(x.ndim + len(axes))))


@located
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Dimension m of the result is dimension `axes[m]` of `x`; nothing is copied."""
    x = as_array(x)
    given = tuple(axes) if isinstance(axes, tuple | list) else (axes,)
    numbers = axis_numbers(given, x.ndim)
    if len(numbers) != x.ndim:
        raise ShapeError(f"{given} is not an order of {x.ndim} dimensions")
    return arrays.permute(x, numbers)


@located
def matrix_transpose(x: Array, /) -> Array:
    """With the last two dimensions exchanged; nothing is copied."""
    x = as_array(x)
    if x.ndim < 2:
        raise ShapeError(f"a matrix has two dimensions, and this has shape {shape_of(x)}")
    return arrays.permute(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@located
def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """With dimensions moved to other places; the others keep their order."""
    x = as_array(x)
    old, new = axis_numbers(source, x.ndim), axis_numbers(destination, x.ndim)
    if len(old) != len(new):
        raise ShapeError(f"{len(old)} dimensions cannot move to {len(new)} places")
    order = [d for d in range(x.ndim) if d not in old]
    for place, d in sorted(zip(new, old, strict=True)):
        order.insert(place, d)
    return arrays.permute(x, tuple(order))


# -- broadcasting ----------------------------------------------------------------------------------


@located
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which arrays of these shapes meet."""
    found = [check_shape(shape) for shape in shapes]
    result: list[int] = []
    for d in range(1, max(map(len, found), default=0) + 1):
        sizes = {shape[-d] for shape in found if len(shape) >= d} - {1}
        if len(sizes) > 1:
            raise ShapeError(f"the shapes {', '.join(map(str, found))} do not fit together")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result[::-1])


@located
def broadcast_to(x: Array, /, shape: Any) -> Array:
    """With dimensions of size 1 repeated, and new ones in front.

    A sparse array stays sparse: what it stores is stored once for every repetition.
    """
    wanted = check_shape(shape)
    if isinstance(x, Lazy):
        return arrays.broadcast_to(x, wanted)
    x = as_tensor(x)
    old = shape_of(x)
    if old == wanted:
        return copied(x)
    if broadcast_shapes(old, wanted) != wanted:
        raise ShapeError(f"an array of shape {old} cannot be broadcast to {wanted}")
    if is_dense(x.contents().format):
        refuse_large(math.prod(wanted), "an array of this shape")
        return dense(np.broadcast_to(x.to_numpy(), wanted))
    new = len(wanted) - len(old)
    repeated = tuple(d for d, n in enumerate(wanted) if d < new or (old[d - new] == 1 and n != 1))
    sizes = [wanted[d] for d in repeated]
    times = math.prod(sizes)
    if is_large(x) or is_long(x):
        refuse_large(times * x.nnz, "an array that stores every repetition")
        x = api.reshaping.reshaped(x, (1,) * new + old) if new else x
        return reduce(lambda y, d: api.moves.tiled(y, wanted[d], d), reversed(repeated), x)
    coordinates, values = entries(x)
    refuse_large(times * len(values), "an array that stores every repetition")
    places = unflatten(np.tile(np.arange(times), len(values)), sizes)
    found: list[Ints] = []
    for d in range(len(wanted)):
        if d in repeated:
            found.append(places[repeated.index(d)])
        else:
            found.append(np.repeat(coordinates[d - new], times))
    return build(found, np.repeat(values, times), wanted, alike(x.contents().format, len(wanted)))


@located
def broadcast_arrays(*arrays: Array) -> tuple[Tensor, ...]:
    """All arrays in the shape in which they meet."""
    given = [as_tensor(x) for x in arrays]
    shape = broadcast_shapes(*(shape_of(x) for x in given))
    return tuple(broadcast_to(x, shape) for x in given)


# -- the same dimensions, other places -------------------------------------------------------------


def move(x: Tensor, maps: dict[int, Callable[..., Ints]]) -> Tensor:
    """With coordinates along some dimensions mapped one to one."""
    coordinates, values = entries(x)
    coordinates = [maps[d](idx) if d in maps else idx for d, idx in enumerate(coordinates)]
    return build(coordinates, values, shape_of(x), alike(x.contents().format, x.ndim))


@located
def flip(x: Array, /, *, axis: Axes = None) -> Tensor:
    """With the order along some dimensions, or all, reversed."""
    x = as_tensor(x)
    axes = axis_numbers(axis, x.ndim)
    if is_dense(x.contents().format):
        return dense(np.flip(x.to_numpy(), axes))
    if is_large(x) or is_long(x):
        return reduce(api.moves.flipped, axes, x) if axes else copied(x)
    shape = shape_of(x)
    return move(x, {d: lambda idx, n=shape[d]: n - 1 - idx for d in axes})


@located
def roll(x: Array, /, shift: Any, *, axis: Axes = None) -> Tensor:
    """With elements moved along dimensions; what leaves at the end comes back at the front."""
    x = as_tensor(x)
    if axis is None:
        return reshape(roll(reshape(x, (-1,) if x.size else (0,)), shift, axis=0), shape_of(x))
    axes = [axis_number(a, x.ndim) for a in (axis if isinstance(axis, tuple) else (axis,))]
    shifts = list(shift) if isinstance(shift, tuple | list) else [shift]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ShapeError(f"{len(shifts)} shifts do not go with {len(axes)} axes")
    count = len(axes) if len(shifts) == 1 else len(shifts)
    shifts, axes = (each * count if len(each) == 1 else each for each in (shifts, axes))
    total: dict[int, int] = {}
    for d, by in zip(axes, shifts, strict=True):
        total[d] = total.get(d, 0) + whole(by, "a shift")
    if not total:
        return copied(x)
    if is_dense(x.contents().format):
        return dense(np.roll(x.to_numpy(), tuple(total.values()), tuple(total)))
    shape = shape_of(x)
    if is_large(x) or is_long(x):
        return reduce(lambda y, d: api.moves.rolled(y, total[d] % max(shape[d], 1), d), total, x)
    maps = {d: lambda idx, s=by % n, n=n: (idx + s) % n
            for d, by in total.items() if (n := shape[d])}  # fmt: skip
    return move(x, maps)
