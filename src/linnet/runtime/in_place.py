"""Entries in any order, sorted where they are: what lies beside them is small.

A system may take longer to find memory for a copy than we to sort. Entries are dealt into buckets
by the leading bits of their keys, and each bucket is sorted as few entries are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.function import Function
from linnet.codelets import blocks
from linnet.formats.coordinates import key_bits
from linnet.runtime.entries import sort_entries
from linnet.runtime.routine import Routine

Ints = NDArray[Any]
LARGE = 1 << 21  # entries: fewer are sorted into other memory, which takes less time
_WIDTH = 9  # bits that tell buckets apart

_append_leading = Routine(blocks.append_leading)
_fill_blocks, _permute_blocks = Routine(blocks.fill_blocks), Routine(blocks.permute_blocks)
_spread_blocks = Routine(blocks.spread_blocks)


def sort_in_place(
    coordinates: Sequence[Ints], dims: Sequence[int], values: NDArray[Any], op: Function
) -> tuple[list[Ints], NDArray[Any]]:
    """Coordinates (outermost first) and values, each once: what is given is overwritten.

    The values of equal coordinates are combined in given order, by a function that is compiled.
    """
    coordinates, values = [_own(idx) for idx in coordinates], _own(values)
    bits = key_bits(dims)
    width = min(_WIDTH, sum(bits))
    buckets = _buckets(coordinates, bits, width)
    for array in (*coordinates, values):
        sizes = _deal(array, buckets, 1 << width)
    begin = end = 0
    for size in sizes.tolist():
        some = slice(begin, begin + size)
        parts = [idx[some] for idx in coordinates]
        found, held, _ = sort_entries(parts, dims, values[some], op, width)
        for array, part in zip((*coordinates, values), (*found, held), strict=True):
            array[end : end + len(held)] = part
        begin, end = begin + size, end + len(held)
    return [idx[:end] for idx in coordinates], values[:end]


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """An array that can be written to, one value beside the other."""
    return np.require(array, requirements=["C", "W"])


def _buckets(coordinates: Sequence[Ints], bits: Sequence[int], width: int) -> Ints:
    """The leading bits of all keys."""
    buckets = np.zeros(len(coordinates[0]), np.int16)
    left = width
    for idx, own in zip(coordinates, bits, strict=True):
        taken = min(left, own)
        left -= taken
        _append_leading(buckets, idx, len(idx), left, own - taken)
        if not left:
            break
    return buckets


def _deal(values: NDArray[Any], buckets: Ints, count: int) -> Ints:
    """Deal values into buckets, in place; how many are in each."""
    n = len(values)
    held, counts = np.empty(count * blocks.BLOCK, values.dtype), np.zeros(count, np.int64)
    owners = np.empty(n // blocks.BLOCK, np.int16)
    full = _fill_blocks(values, buckets, n, held, counts, owners)
    source = np.argsort(owners[:full], kind="stable")
    _permute_blocks(values, source, full, np.empty(blocks.BLOCK, values.dtype))
    whole = np.bincount(owners[:full], minlength=count)
    _spread_blocks(values, n, count, whole, held, counts)
    return whole * blocks.BLOCK + counts
