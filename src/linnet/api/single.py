"""One element of a tensor, read where it lies: no kernel is compiled for a single number."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from linnet import arrays
from linnet.algebra.dtypes import Number, as_python
from linnet.algebra.exact import same
from linnet.api.storage import Ints, alike
from linnet.formats.assemble import unstored
from linnet.formats.buffers import Buffer
from linnet.formats.contents import NARROW, Contents, Signature
from linnet.formats.dense import Dense
from linnet.formats.format import Format
from linnet.formats.level import Level
from linnet.formats.packing import unpack_level
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor


def element(x: Tensor, index: tuple[int, ...]) -> Tensor:
    """The element at an index that is in range, as a tensor without dimensions.

    Where nothing is stored it is `Unstored`, as it was in the array.
    """
    contents = x.shared()
    may_run, format, dtype, signature = _layout(contents.signature)
    value = _computed(x, index) if may_run and _is_vast(x) else _located(contents, index)
    if value is None:
        return unstored(format.fill_value, str(format.dtype))  # type: ignore[arg-type]
    made = Tensor(format, (), (Buffer.borrow(np.array((value,), dtype)),))
    made.contents()._signature = signature
    return made


def _is_vast(x: Tensor) -> bool:
    from linnet.api.programs import is_vast  # which brings more along than lists need

    return is_vast(x)


@lru_cache(maxsize=1024)
def _layout(held: Signature) -> tuple[bool, Format, np.dtype[Any], Signature]:
    """Whether an array may have runs of any length, and how one element is stored."""
    format = alike(held.format, 0)
    dtype = np.dtype(format.dtype)
    one = Tensor(format, (), (Buffer.borrow(np.zeros(1, dtype)),))
    return any(level.runs for level in held.format.levels[:-1]), format, dtype, one.signature


def _located(contents: Contents, index: tuple[int, ...]) -> Number | None:
    """Down the levels, from a fiber to its subfiber; None where there is none."""
    format, p, arrays = contents.format, 0, iter(contents.arrays())
    for k, level in enumerate(format.levels[:-1]):
        kind, modes = type(level), format.modes_of(k)
        if kind is Dense:
            p = p * contents.shape[modes[0]] + index[modes[0]]
            continue
        held = [next(arrays) for _ in level.arrays]
        at = [index[mode] for mode in modes]
        if kind is SparseList or kind is SparseCOO:
            found = _searched(held, p, at)
        else:
            found = _listed(level, held, p, at, [contents.shape[mode] for mode in modes])
        if found is None:
            return None
        p = found
    value: Number = next(arrays)[p].item() if format.leaf.arrays else True
    return value


def _searched(arrays: list[Ints], p: int, index: list[int]) -> int | None:
    """Where sorted coordinates have an index, among those of fiber p."""
    ptr, *coordinates = arrays
    begin, end = int(ptr[p]), int(ptr[p + 1])
    for idx, i in zip(coordinates, index, strict=True):
        if i >= NARROW and idx.dtype.itemsize < 8:
            return None
        here, key = idx[begin:end], np.array(i, idx.dtype)  # of another type, `here` is copied
        end = begin + int(here.searchsorted(key, "right"))
        begin += int(here.searchsorted(key))
    return begin if begin < end else None


def _listed(
    level: Level, arrays: list[Ints], p: int, index: list[int], dims: list[int]
) -> int | None:
    """The same in a level of any other kind, which lists what fiber p stores."""
    named = {array.name: held for array, held in zip(level.arrays, arrays, strict=True)}
    entries = unpack_level(level, named, np.array([p]), dims)
    here = np.ones(len(entries.at), bool)
    for idx, i in zip(entries.coordinates, index, strict=True):
        here &= idx == i
    found = entries.at[here]
    return int(found[0]) if len(found) else None


def _computed(x: Tensor, index: tuple[int, ...]) -> Number | None:
    """By a kernel; None if it reads another fill value where there is another."""
    value, format = _read(x, index), x.contents().format
    if not same(value, format.fill_value):
        return value
    if not format.leaf.arrays:  # a pattern is true where it stores something
        return None
    other = as_python(not format.fill_value, str(format.dtype))
    contents = x.shared()
    relabelled = Tensor(format.with_fill(other), contents.shape, contents.buffers)
    return None if same(_read(relabelled, index), other) else value


def _read(x: Tensor, index: tuple[int, ...]) -> Number:
    found = arrays.view(x, index)
    assert isinstance(found, Tensor)
    return found.item()
