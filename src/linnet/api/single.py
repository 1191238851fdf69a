"""One element of a tensor, read where it lies: no kernel is compiled for a single number."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from linnet import arrays
from linnet.algebra.dtypes import Number, as_python
from linnet.algebra.exact import same
from linnet.api.storage import alike
from linnet.formats.assemble import unpack, unstored
from linnet.formats.buffers import Buffer
from linnet.formats.contents import Contents, Signature
from linnet.formats.dense import Dense
from linnet.formats.format import Format
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor

_MANY = 1 << 14  # stored values: so many are not listed to find one


def element(x: Tensor, index: tuple[int, ...]) -> Tensor:
    """The element at an index that is in range, as a tensor without dimensions.

    Where nothing is stored it is `Unstored`, as it was in the array.
    """
    contents = x.shared()
    is_walked, format, dtype, signature = _layout(contents.signature)
    if is_walked:
        value = _located(contents, index)
    elif contents.nnz > _MANY or _is_vast(x):
        value = _computed(x, index)
    else:
        value = _listed(x, index)
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
    """Whether elements are found by going down lists, and how one of them is stored."""
    format = alike(held.format, 0)
    dtype = np.dtype(format.dtype)
    plain = all(type(level) in (Dense, SparseList) for level in held.format.levels[:-1])
    one = Tensor(format, (), (Buffer.borrow(np.zeros(1, dtype)),))
    return plain and bool(held.format.leaf.arrays), format, dtype, one.signature


def _located(contents: Contents, index: tuple[int, ...]) -> Number | None:
    """Down the levels: a place in a dense one, a search in a list; None if it fails."""
    format, p, arrays = contents.format, 0, iter(contents.arrays())
    for level, mode in zip(format.levels[:-1], format.order, strict=True):
        if level.full:
            p = p * contents.shape[mode] + index[mode]
            continue
        ptr, idx = next(arrays), next(arrays)
        begin, end = int(ptr[p]), int(ptr[p + 1])
        p = begin + int(np.searchsorted(idx[begin:end], index[mode]))
        if p == end or idx[p] != index[mode]:
            return None
    value: Number = next(arrays)[p].item()
    return value


def _listed(x: Tensor, index: tuple[int, ...]) -> Number | None:
    """Among all that is stored; None if it is not."""
    coordinates, values = unpack(x)
    here = np.ones(len(values), bool)
    for idx, i in zip(coordinates, index, strict=True):
        here &= idx == i
    at = np.flatnonzero(here)
    value: Number | None = values[at[0]].item() if len(at) else None
    return value


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
