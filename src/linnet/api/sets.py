"""Which values an array holds. What is not stored is one value, the fill value, many times."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linnet.api.operands import Array, as_tensor, dtype_of, shape_of
from linnet.api.searching import valuewise
from linnet.api.storage import (
    alike,
    build,
    dense,
    flatten,
    is_dense,
    refuse_large,
    sorted_entries,
    typed,
    values_of,
)
from linnet.formats.located import located
from linnet.formats.tensor import Tensor


class UniqueAll(NamedTuple):
    """Values, where each is first, which of them each element is, and how often each occurs."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Values, and how often each occurs."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Values, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


@located
def unique_values(x: Array, /) -> Tensor:
    """The different values, sorted."""
    return dense(_counted(as_tensor(x))[0])


@located
def unique_counts(x: Array, /) -> UniqueCounts:
    """The different values, sorted, and how often each occurs."""
    values, counts = _counted(as_tensor(x))
    return UniqueCounts(dense(values), dense(counts))


def _counted(x: Tensor) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different values, and how often each occurs; the fill value where nothing is stored."""
    stored = np.sort(values_of(x))
    new = np.ones(len(stored), bool)
    np.not_equal(stored[1:], stored[:-1], out=new[1:])  # every NaN differs from the one before
    first = np.flatnonzero(new)
    values, counts = stored[first], np.diff(np.append(first, len(stored)))
    missing = x.size - len(stored)
    if not missing:
        return values, counts
    fill = np.asarray(x.contents().format.fill_value, values.dtype)
    if fill != fill:
        refuse_large(missing, "an array of every NaN that is not stored")
        return np.append(values, np.full(missing, fill)), np.append(counts, np.ones(missing, int))
    at = int(np.searchsorted(values, fill))
    if at == len(values) or values[at] != fill:
        values, counts = np.insert(values, at, fill), np.insert(counts, at, 0)
    counts[at] += missing
    return values, counts


@located
def unique_inverse(x: Array, /) -> UniqueInverse:
    """The different values, sorted, and which of them each element is."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


@located
def unique_all(x: Array, /) -> UniqueAll:
    """All about the different values of an array; every NaN is a value of its own.

    The inverse is stored as the array is: its fill value says which value the fill value is.
    """
    x = as_tensor(x)
    if is_dense(x.contents().format):
        found = np.unique(x.to_numpy(), True, True, True, equal_nan=False)
        values, first, inverse, counts = found
        inverse = inverse.reshape(shape_of(x))
        return UniqueAll(*(dense(np.asarray(a)) for a in (values, first, inverse, counts)))
    return _of_stored(x)


def _of_stored(x: Tensor) -> UniqueAll:
    coordinates, stored = sorted_entries(x)
    key, missing = flatten(coordinates, shape_of(x)), x.size - len(stored)
    fill = np.asarray([x.contents().format.fill_value], dtype_of(x))
    # the fill value takes part once, if it occurs, at the first place that is not stored
    gaps = np.flatnonzero(key != np.arange(len(key)))
    free = int(gaps[0]) if len(gaps) else len(key)
    many = missing if fill[0] != fill[0] else min(missing, 1)
    both = np.concatenate([stored, np.repeat(fill, many)])
    places = np.concatenate([key, _free_places(key, many, free)])
    values, inverse, counts = np.unique(both, False, True, True, equal_nan=False)
    first = np.full(len(values), x.size, np.int64)
    np.minimum.at(first, inverse, places)
    if many == 1:
        counts[inverse[-1]] += missing - 1
    default = int(inverse[-1]) if many else 0
    format = typed(alike(x.contents().format, x.ndim), "int64", default)
    if many > 1:  # each NaN that is not stored has a number of its own
        from linnet.api.storage import unflatten

        coordinates = unflatten(places, shape_of(x))
        return _all(values, first, build(coordinates, inverse, shape_of(x), format), counts)
    numbers = build(coordinates, inverse[: len(stored)], shape_of(x), format)
    return _all(values, first, numbers, counts)


def _free_places(key: NDArray[Any], many: int, free: int) -> NDArray[Any]:
    """The first places, in order, at which nothing is stored."""
    if many <= 1:
        return np.full(many, free, np.int64)
    return np.setdiff1d(np.arange(len(key) + many), key, assume_unique=True)[:many]


def _all(
    values: NDArray[Any], first: NDArray[Any], inverse: Tensor, counts: NDArray[Any]
) -> UniqueAll:
    return UniqueAll(dense(values), dense(first), inverse, dense(counts.astype(np.int64)))


@located
def isin(x1: Array, x2: Array, /, *, invert: bool = False) -> Tensor:
    """Which elements of one array are among those of another."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    among = unique_values(x2).to_numpy()
    return valuewise(x1, lambda v: np.isin(v, among, invert=invert))
