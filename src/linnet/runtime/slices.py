"""Slices of a tensor, as what their kernel depends on and the numbers that it is given.

Numbers are not compiled in, so that `A[k : k + 10]` is one kernel for all k.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from linnet.formats.buffers import Buffer
from linnet.formats.contents import NARROW, Contents, Signature
from linnet.formats.element import Pattern
from linnet.formats.format import Format
from linnet.formats.named import COO, Family, settle
from linnet.formats.tensor import Tensor


def pattern_of(
    contents: Contents, parts: Sequence[object]
) -> tuple[tuple[object, ...], list[int]] | None:
    """What the kernel of slices of a tensor depends on, and the numbers that it is given.

    That is what the trace of a graph would find; None for what is not as simple.
    """
    pattern: list[object] = ["view", contents.signature]
    starts: list[int] = []
    sizes: list[int] = []
    for part, size in zip(parts, contents.shape, strict=True):
        if type(part) is int and 0 <= part < size:
            starts.append(part)
            pattern.append(None)
        elif type(part) is slice:
            start, stop, step = part.indices(size)
            if step < 0:
                return None
            count = len(range(start, stop, step))
            pattern.append(step if count != size else 0)
            if count != size:
                starts.append(start if count else 0)
                sizes.append(count)
        else:
            return None
    return tuple(pattern), starts + sizes


@lru_cache(maxsize=64)
def _sizes_format(count: int) -> tuple[Format, tuple[Buffer, ...], Signature]:
    family = Family(COO.name, COO.wrap, Pattern())
    nowhere = [Buffer.borrow(np.zeros(0, np.int32)) for _ in range(count)]
    format, buffers = (
        settle(family(count), "bool"),
        (Buffer.borrow(np.zeros(2, np.int64)), *nowhere),
    )
    return format, buffers, Contents(format, (0,) * count, buffers).signature


@lru_cache(maxsize=64)
def _nowhere(count: int) -> tuple[int, ...]:
    return Contents((found := _sizes_format(count))[0], (), found[1]).slots


def slots_of(numbers: Sequence[int]) -> tuple[int, ...]:
    """What a kernel is given of `sizes(numbers)`."""
    return (*numbers, *_nowhere(len(numbers)))


def sizes(numbers: tuple[int, ...]) -> Tensor:
    """Numbers that are not negative, as the dimensions of a tensor that stores nothing.

    A kernel knows dimensions before it runs, so they can say how far loops run.
    """
    format, buffers, signature = _sizes_format(len(numbers))
    made = Tensor(format, numbers, buffers)
    if max(numbers) < NARROW:
        made.contents()._signature = signature  # which takes longer to find than the kernel to run
    return made


def is_sizes(tensor: Tensor) -> bool:
    """Whether a tensor is nothing but such numbers."""
    contents = tensor.contents()
    return contents.shape != () and contents.buffers is _sizes_format(len(contents.shape))[1]
