"""Vectors of long runs, looked at run by run: searched, sorted, picked from, repeated.

A run is one value and where it ends; the gaps between runs are runs of the fill value. So a vector
of 2**40 elements in four runs is four numbers to sort.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.api.operands import shape_of
from linnet.api.runs import has_runs, is_long
from linnet.api.storage import Ints, alike, refuse_large, stored_as
from linnet.formats.assemble import wrap
from linnet.formats.element import Element
from linnet.formats.format import Format
from linnet.formats.packing import index_dtype
from linnet.formats.run_list import RunList
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_shape


def is_of_runs(x: Tensor) -> bool:
    """Whether an array is a vector that is stored in runs."""
    return x.ndim == 1 and has_runs(x.contents().format)


def is_long_vector(x: Tensor) -> bool:
    """Whether it is one of so many elements that these are not to be listed."""
    return x.ndim == 1 and is_long(x)


def masks(x: Tensor, mask: Tensor) -> bool:
    """Whether a vector of runs is asked for where a mask of long runs is true."""
    alike = is_long_vector(mask) and is_of_runs(x) and shape_of(x) == shape_of(mask)
    return alike and mask.contents().format.dtype == "bool"


def _runs(x: Tensor) -> tuple[Ints, NDArray[Any]]:
    """Where runs end, and the value of each; they cover the vector."""
    contents, (n,) = x.shared(), shape_of(x)
    level, leaf = contents.levels()
    ends, values = level["right"].astype(np.int64), leaf["val"]
    if "left" in level:  # a gap ends where the next run begins
        ends = np.append(np.stack((level["left"], ends), 1).reshape(-1), n)
        fills = np.full(len(values) + 1, contents.format.fill_value, values.dtype)
        values = np.append(np.stack((fills[1:], values), 1).reshape(-1), fills[:1])
    some = np.diff(ends, prepend=0) > 0
    return ends[some], values[some]


def _of_runs(ends: Ints, values: NDArray[Any], format: Format) -> Tensor:
    """The vector of runs that end there, in a format; neighbours that are alike are one."""
    last = np.ones(len(values), bool)
    if len(values):
        last[:-1] = _unlike(values[1:], values[:-1])
    ends, values = ends[last], values[last]
    n = int(ends[-1]) if len(ends) else 0
    ptr = np.array([0, len(ends)], index_dtype(len(ends)))
    runs = Format((RunList(Element()), Element(format.fill_value, format.dtype)), (0,))
    made = wrap(runs, (n,), [ptr, ends.astype(index_dtype(n)), np.ascontiguousarray(values)])
    return made.to(alike(format, 1))


def _unlike(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two arrays differ, be it in the sign of a zero or as NaN."""
    bits = f"V{a.dtype.itemsize}"
    return np.asarray(np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits))


def first_extreme(x: Tensor, largest: bool) -> int:
    """The position of the first of the largest, or smallest, elements."""
    ends, values = _runs(x)
    best = int(np.argmax(values) if largest else np.argmin(values))
    return int(ends[best - 1]) if best else 0


def in_order(x: Tensor, descending: bool) -> Tensor:
    """The elements in order."""
    ends, values = _runs(x)
    order = np.argsort(values, kind="stable")[:: -1 if descending else 1]
    lengths = np.diff(ends, prepend=0)
    return _of_runs(np.cumsum(lengths[order]), values[order], x.contents().format)


def first_few(x: Tensor, k: int, order: Ints) -> tuple[NDArray[Any], Ints]:
    """The first k elements and their positions, where runs come in an order."""
    refuse_large(k, "what is picked")
    ends, values = _runs(x)
    lengths = np.diff(ends, prepend=0)[order]
    until = np.cumsum(lengths)
    taken = np.clip(k - (until - lengths), 0, lengths)
    begins = np.repeat(ends[order] - lengths - np.cumsum(taken) + taken, taken)
    return np.repeat(values[order], taken), begins + np.arange(k)


def values_of_runs(x: Tensor) -> NDArray[Any]:
    """The value of each run."""
    return _runs(x)[1]


def numbered(x: Tensor, numbers: Ints, count: int, format: Format) -> tuple[Tensor, Ints, Ints]:
    """Of runs whose values have these numbers: those of elements; where each is first; counts."""
    ends, _ = _runs(x)
    lengths = np.diff(ends, prepend=0)
    first, counts = np.full(count, shape_of(x)[0], np.int64), np.zeros(count, np.int64)
    np.minimum.at(first, numbers, ends - lengths)
    np.add.at(counts, numbers, lengths)
    return _of_runs(ends, numbers, format), first, counts


def searched(x: Tensor, values: NDArray[Any], right: bool) -> Ints:
    """Where values would go in a sorted vector."""
    ends, held = _runs(x)
    run = np.searchsorted(held, values, "right" if right else "left")
    return np.append(0, ends)[run]


def picked(x: Tensor, positions: Ints) -> Tensor:
    """The elements at positions that are in range."""
    ends, values = _runs(x)
    found = values[np.searchsorted(ends, positions, "right")]
    format = x.contents().format
    assert format.fill_value is not None
    return stored_as(found, format, format.fill_value)


def repeated(x: Tensor, times: int) -> Tensor:
    """Every element equally often."""
    check_shape((shape_of(x)[0] * times,))
    ends, values = _runs(x)
    kept = slice(None) if times else slice(0)
    return _of_runs(ends[kept] * times, values[kept], x.contents().format)


def masked(x: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask of the same size is true."""
    (ends, values), (stops, told) = _runs(x), _runs(mask)
    bounds = np.union1d(ends, stops)
    lengths = np.diff(bounds, prepend=0)
    kept = told[np.searchsorted(stops, bounds)]
    found = values[np.searchsorted(ends, bounds)]
    return _of_runs(np.cumsum(lengths[kept]), found[kept], x.contents().format)


def not_zero(x: Tensor) -> Ints:
    """The positions of what is not zero, which are few."""
    ends, values = _runs(x)
    lengths = np.diff(ends, prepend=0)
    some = np.flatnonzero(values)
    begins, lengths = (ends - lengths)[some], lengths[some]
    refuse_large(int(lengths.sum()), "the list of what is not zero")
    first = np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    return first + np.arange(len(first))
