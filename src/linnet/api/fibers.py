"""Parts of tensors made of `Dense` and `SparseList` levels, fiber by fiber: nothing is sorted.

What `indexing` and `joining` do by coordinates for every format, done here on the levels' own
arrays for the formats that hold most data: CSR, CSC, DCSR, CSF.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.api.operands import shape_of
from linnet.formats.assemble import wrap
from linnet.formats.dense import Dense
from linnet.formats.format import Format
from linnet.formats.packing import index_dtype
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor

Ints: TypeAlias = NDArray[Any]


def is_plain(format: Format) -> bool:
    """Whether the format is made of these two levels over a leaf of values."""
    levels = format.levels[:-1]
    return bool(format.leaf.arrays) and all(type(level) in (Dense, SparseList) for level in levels)


def selected(x: Tensor, positions: Ints, d: int) -> Tensor | None:
    """The parts at positions of dimension `d`; None where coordinates have to be sorted."""
    contents = x.contents()
    format = contents.format
    place = format.order.index(d)
    shape = tuple(len(positions) if m == d else n for m, n in enumerate(contents.shape))
    if place == 0:
        return wrap(format, shape, _rows(x, positions))
    level = format.levels[place]
    if level.full or (len(positions) > 1 and not (np.diff(positions) > 0).all()):
        return None
    new = np.full(contents.shape[d], -1, np.int64)
    new[positions] = np.arange(len(positions))
    return wrap(format, shape, _narrowed(x, place, new))


def _rows(x: Tensor, positions: Ints) -> list[Ints]:
    """The arrays of the tensor with other outermost fibers."""
    contents = x.contents()
    if contents.format.levels[0].full:
        return _below(x, 1, positions)
    idx = contents.levels()[0]["idx"]
    at = np.searchsorted(idx, positions)
    found = np.flatnonzero(idx[np.minimum(at, len(idx) - 1)] == positions) if len(idx) else at[:0]
    ptr = np.array([0, len(found)], index_dtype(len(found)))
    return [ptr, found.astype(index_dtype(len(positions))), *_below(x, 1, at[found])]


def _below(x: Tensor, place: int, fibers: Ints) -> list[Ints]:
    """The arrays of the levels from `place` on, with these fibers in this order."""
    contents = x.contents()
    format, result = contents.format, []
    arrays = contents.levels()
    for k in range(place, len(format.levels) - 1):
        if format.levels[k].full:
            n = contents.shape[format.order[k]]
            fibers = (fibers[:, None] * n + np.arange(n)).reshape(-1)
            continue
        ptr, idx = arrays[k]["ptr"], arrays[k]["idx"]
        begin = ptr[fibers].astype(np.int64)
        count = ptr[fibers + 1] - begin
        stop = np.cumsum(count)
        total = int(stop[-1]) if len(stop) else 0
        fibers = np.repeat(begin - stop + count, count) + np.arange(total)
        result += [_pointers(stop, total), idx[fibers]]
    return [*result, arrays[-1]["val"][fibers]]


def _pointers(stop: Ints, total: int) -> Ints:
    return np.concatenate([[0], stop]).astype(index_dtype(total))


def _narrowed(x: Tensor, place: int, new: Ints) -> list[Ints]:
    """The arrays of the tensor with some coordinates of one level left out, the others renamed."""
    contents = x.contents()
    arrays, result = contents.levels(), []
    for k in range(place):
        result += list(arrays[k].values())
    ptr, idx = arrays[place]["ptr"], arrays[place]["idx"]
    moved = new[idx]
    kept = np.flatnonzero(moved >= 0)
    count = np.searchsorted(kept, ptr)
    result += [count.astype(index_dtype(len(kept))), moved[kept].astype(idx.dtype)]
    return [*result, *_below(x, place + 1, kept)]


# -- joining ---------------------------------------------------------------------------------------


def joined(parts: list[Tensor], d: int) -> Tensor | None:
    """Tensors of one format, one after the other along `d`; None where coordinates are needed."""
    format = parts[0].contents().format
    if not is_plain(format) or any(x.contents().format != format for x in parts[1:]):
        return None
    sizes = [shape_of(x)[d] for x in parts]
    shape = tuple(sum(sizes) if m == d else n for m, n in enumerate(shape_of(parts[0])))
    place = format.order.index(d)
    if place == 0:
        return wrap(format, shape, _stacked(parts, sizes))
    last = place == len(format.order) - 1 and not format.levels[place].full
    if last and all(level.full for level in format.levels[:place]):
        return wrap(format, shape, _beside(parts, sizes))
    return None


def _stacked(parts: list[Tensor], sizes: list[int]) -> list[Ints]:
    """Outermost fibers one after the other: arrays are appended, positions shifted."""
    all_levels = [x.contents().levels() for x in parts]
    starts = np.cumsum([0, *sizes[:-1]])
    result: list[Ints] = []
    for k, level in enumerate(parts[0].contents().format.levels[:-1]):
        if level.full:
            continue
        ptrs = [levels[k]["ptr"] for levels in all_levels]
        idxs = [levels[k]["idx"] for levels in all_levels]
        total = sum(len(idx) for idx in idxs)
        if k == 0:
            idxs = [idx + start for idx, start in zip(idxs, starts, strict=True)]
            result.append(np.array([0, total], index_dtype(total)))
        else:
            result.append(_appended(ptrs, total))
        joint = np.concatenate(idxs)
        result.append(joint.astype(index_dtype(int(starts[-1]) + sizes[-1])) if k == 0 else joint)
    return [*result, np.concatenate([levels[-1]["val"] for levels in all_levels])]


def _appended(ptrs: list[Ints], total: int) -> Ints:
    dtype = index_dtype(total)
    ends = np.cumsum([0, *(int(ptr[-1]) for ptr in ptrs)])
    found = [
        ptr[1:].astype(dtype) + _number(dtype, end)
        for ptr, end in zip(ptrs, ends[:-1], strict=True)
    ]
    return np.concatenate([np.zeros(1, dtype), *found])


def _number(dtype: str, number: Any) -> Any:
    """A number of a type, so that adding it does not widen an array."""
    return np.dtype(dtype).type(number)


def _beside(parts: list[Tensor], sizes: list[int]) -> list[Ints]:
    """Innermost fibers side by side: the entries of each go behind those of the part before."""
    levels = [x.contents().levels()[-2:] for x in parts]
    ptrs = [level["ptr"].astype(np.int64) for level, _ in levels]
    total_ptr = np.sum(ptrs, axis=0)
    total = int(total_ptr[-1])
    idx = np.empty(total, index_dtype(sum(sizes)))
    val = np.empty(total, levels[0][1]["val"].dtype)
    before = total_ptr[:-1].copy()  # where the entries of the next part begin, row by row
    for (level, leaf), ptr, start in zip(levels, ptrs, np.cumsum([0, *sizes[:-1]]), strict=True):
        count = np.diff(ptr)
        at = np.repeat(before - ptr[:-1], count) + np.arange(ptr[-1])
        idx[at] = level["idx"] + start
        val[at] = leaf["val"]
        before += count
    return [total_ptr.astype(index_dtype(total)), idx, val]
