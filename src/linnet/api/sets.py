"""Which values an array holds. What is not stored is one value, the fill value, many times."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linnet.api.operands import Array, as_tensor, shape_of
from linnet.api.programs import coordinates as coordinates_of
from linnet.api.programs import is_large, is_many
from linnet.api.run_vectors import is_long_vector, numbered, values_of_runs
from linnet.api.runs import is_long, tallied
from linnet.api.searching import valuewise
from linnet.api.storage import (
    Ints,
    alike,
    build,
    dense,
    flatten,
    is_dense,
    refuse_large,
    sorted_entries,
    typed,
    unpatterned,
    values_of,
)
from linnet.errors import ShapeError
from linnet.formats.assemble import wrap
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.packing import index_dtype
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST


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
    return dense(_counted(as_tensor(x), told=False)[0])


@located
def unique_counts(x: Array, /) -> UniqueCounts:
    """The different values, sorted, and how often each occurs."""
    values, counts = _counted(as_tensor(x))
    return UniqueCounts(dense(values), dense(counts))


def _counted(x: Tensor, *, told: bool = True) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different values, and how often each occurs, where that is to be told."""
    if told:
        _refuse_uncountable(x)
    values, counts, missing = _of_runs(x) if is_long(x) else _of_elements(x)
    if not missing:
        return values, counts
    fill = np.asarray(x.contents().format.fill_value, values.dtype)
    if fill != fill:
        refuse_large(missing, "an array of every NaN that is not stored")
        return np.append(values, np.full(missing, fill)), np.append(counts, np.ones(missing, int))
    at = int(np.searchsorted(values, fill))
    if at == len(values) or values[at] != fill:
        values, counts = np.insert(values, at, fill), np.insert(counts, at, 0)
    counts[at] += missing if told else 0
    return values, counts


def _of_elements(x: Tensor) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Different values that are stored, how often each is, and how many elements are not."""
    stored = values_of(x)
    return *_counts(stored), x.size - len(stored)


def _of_runs(x: Tensor) -> tuple[NDArray[Any], NDArray[Any], int]:
    """The same by the lengths of runs, whose elements may be more than can be listed."""
    stored = x.shared().arrays()[-1]
    first, inverse, _ = _distinct(stored)
    tally = tallied(x, inverse + 1)
    values, counts = stored[first], tally[1:]
    lost = values != values
    if lost.any():  # each NaN is a value of its own
        refuse_large(int(counts[lost].sum()), "an array of every NaN")
        times = np.where(lost, counts, 1).astype(np.int64)
        values, counts = np.repeat(values, times), np.repeat(np.where(lost, 1, counts), times)
    return values, counts, int(tally[0])


def _refuse_uncountable(x: Tensor) -> None:
    """Stop where the number of elements, or the place of one, is no number of 64 bits."""
    if x.size > LARGEST:
        raise ShapeError(
            f"an array of shape {shape_of(x)} has more elements than 64 bits can count",
            why="how often a value occurs, and where it is first, are numbers of 64 bits",
            hint="ln.unique_values(x) counts nothing",
        )


def _counts(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different ones of some values, and how often each occurs; of many, compiled."""
    if not is_many(len(values)):
        found = np.unique(values, return_counts=True, equal_nan=False)
        return found[0], found[1].astype(np.int64)
    from linnet.runtime.distinct import counted

    return counted(np.ascontiguousarray(values))


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The first entry of each different value, the number of each entry, and the counts."""
    if not is_many(len(values)):
        return np.unique(values, True, True, True, equal_nan=False)[1:]
    from linnet.runtime.distinct import distinct

    return distinct(np.ascontiguousarray(values))


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
        return _of_array(x.to_numpy())
    _refuse_uncountable(x)
    if is_long_vector(x) and (found := _of_long_runs(x)):
        return found
    coordinates, stored = _in_order(x)
    missing = x.size - len(stored)
    if missing and x.fill_value != x.fill_value:  # each NaN is a value of its own, stored or not
        refuse_large(x.size, "an array of every NaN that is not stored")
        found = _of_array(x.to_numpy())
        return found._replace(inverse_indices=found.inverse_indices.to(_numbers(x, 0)))
    return _of_stored(x, coordinates, stored, missing)


def _of_array(array: NDArray[Any]) -> UniqueAll:
    """The same of an array of NumPy."""
    flat = array.reshape(-1)
    first, inverse, counts = _distinct(flat)
    return _all(flat[first], first, dense(inverse.reshape(array.shape)), counts)


def _of_long_runs(x: Tensor) -> UniqueAll | None:
    """The same by runs, whose elements may be more than can be listed; None if one is of NaN."""
    runs = values_of_runs(x)
    if np.any(runs != runs):
        return None
    first, numbers, _ = _distinct(runs)
    fills = numbers[runs == x.fill_value]
    format = _numbers(x, int(fills[0]) if len(fills) else 0)
    inverse, places, counts = numbered(x, numbers.astype(np.int64), len(first), format)
    return _all(runs[first], places, inverse, counts)


def _of_stored(x: Tensor, coordinates: list[Ints], stored: NDArray[Any], missing: int) -> UniqueAll:
    """The same of what is stored; the fill value takes part once, if it occurs."""
    fill = np.full(min(missing, 1), x.fill_value, stored.dtype)
    entries = np.concatenate([stored, fill])
    first, inverse, counts = _distinct(entries)
    known = first < len(stored)
    places = np.full(len(first), x.size, np.int64)
    places[known] = flatten([idx[first[known]] for idx in coordinates], shape_of(x))
    default = 0
    if missing:
        default = int(inverse[-1])
        counts[default] += missing - 1
        places[default] = min(places[default], _first_free(coordinates, shape_of(x)))
    numbers = _placed(coordinates, inverse[: len(stored)], shape_of(x), _numbers(x, default))
    return _all(entries[first], places, numbers, counts)


def _in_order(x: Tensor) -> tuple[list[Ints], NDArray[Any]]:
    """Coordinates by dimension, and values, in row-major order."""
    if not is_large(x):
        return sorted_entries(x)
    listed = x.to(coordinates_of(unpatterned(x.contents().format)))
    _, *coordinates, values = listed.shared().arrays()
    return coordinates, values


def _placed(
    coordinates: list[Ints], values: Ints, shape: tuple[int, ...], format: Format
) -> Tensor:
    """The array that has these values there, in row-major order."""
    if not is_many(len(values)):
        return build(coordinates, values, shape, format)
    ends = np.array([0, len(values)], index_dtype(len(values)))
    listed = wrap(coordinates_of(format), shape, [ends, *coordinates, values])
    return listed.to(format)


def _first_free(coordinates: list[Ints], shape: tuple[int, ...]) -> int:
    """The first place at which nothing is stored: as many are stored before it."""
    count = len(coordinates[0])

    def is_later(q: int) -> bool:
        return int(flatten([idx[q : q + 1] for idx in coordinates], shape)[0]) > q

    return bisect_left(range(count), True, key=is_later)


def _numbers(x: Tensor, default: int) -> Format:
    """The format of numbers that are stored as an array is."""
    return typed(alike(x.contents().format, x.ndim), "int64", default)


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
