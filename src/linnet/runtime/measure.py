"""How large a tensor is and how much it holds, roughly: what plans depend on beside its format."""

from __future__ import annotations

from functools import lru_cache

from linnet.formats.contents import Contents
from linnet.formats.coordinates import KEY, MANY, key_bits
from linnet.options import limit


@lru_cache(maxsize=4096)
def scale(count: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The number of stored values and the sizes of dimensions, roughly."""
    return (count.bit_length() // 3, *[n.bit_length() // 3 for n in shape])


def well_filled(contents: Contents) -> bool:
    """Whether there is a value for every few indices of every dimension."""
    return _is_filled(contents.nnz, contents.shape)


def _is_filled(count: int, shape: tuple[int, ...]) -> bool:
    return max(shape, default=0) <= 8 * count + 64


@lru_cache(maxsize=4096)
def measured(count: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Both, and whether there is no element at all."""
    return (_is_filled(count, shape), 0 in shape, *scale(count, shape))


def measure(contents: Contents) -> tuple[int, ...]:
    """The same of what a tensor holds, which remembers it, and whether others hold its memory."""
    contents._measure = found = measured(contents.nnz, contents.shape)
    contents._shared = contents.exported
    return found


def is_long(contents: Contents) -> bool:
    """Whether there are many entries, whose coordinates fit the keys that are sorted."""
    many = max([buffer.length for buffer in contents.buffers], default=0) >= limit(MANY)
    return many and _fits(contents.shape)


@lru_cache(maxsize=4096)
def _fits(shape: tuple[int, ...]) -> bool:
    """Whether all coordinates of an element fit a key."""
    return sum(key_bits(shape)) <= KEY
