"""Stretches of neighbouring subfibers, in NumPy: how levels of runs and blocks are packed."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FormatError, OutOfMemoryError
from linnet.formats.packing import Fibers, distinct
from linnet.records import dataclass

Ints: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Stretches:
    """Neighbouring indices `left … right` of a fiber, in order; and the stretch of each entry.

    `kept` are the entries of the first subfiber of each.
    """

    fiber: Ints
    left: Ints
    right: Ints
    member: Ints
    kept: Ints

    def pointers(self, count: int, dtype: str) -> Ints:
        """Where the stretches of each of `count` fibers begin."""
        ptr = np.zeros(count + 1, dtype)
        np.cumsum(np.bincount(self.fiber, minlength=count), out=ptr[1:])
        return ptr

    def check_single(self, what: str, hint: str) -> None:
        """No fiber has a second stretch."""
        again = np.flatnonzero(self.fiber[1:] == self.fiber[:-1]) + 1
        if len(again):
            q = int(again[0])
            raise FormatError(
                f"fiber {self.fiber[q]} has a second {what}, at index {self.left[q]}",
                why=f"this level stores one {what} per fiber",
                hint=hint,
            )


def stretches(fibers: Fibers, index: Ints, *, equal: bool, longest: int | None = None) -> Stretches:
    """The stretches of neighbouring subfibers that are stored: all, or those that are `equal`."""
    first, below = distinct(fibers, [index])
    owner, where = fibers.at[first], index[first].astype(np.int64)
    joined = np.zeros(len(first), bool)
    if longest != 1:
        joined[1:] = (owner[1:] == owner[:-1]) & (where[1:] == where[:-1] + 1)
    if equal:
        joined &= _repeats(first, fibers.content, len(index))
    begins = np.flatnonzero(~joined)
    ends = np.append(begins[1:], len(first)) - 1 if len(begins) else begins
    kept = np.flatnonzero(~joined[below.at])
    member = (np.cumsum(~joined) - 1)[below.at]
    return Stretches(owner[begins], where[begins], where[ends] + 1, member, kept)


def _repeats(first: Ints, content: tuple[Ints, ...], count: int) -> Ints:
    """Which subfibers hold the same as the one before; their entries begin at `first`."""
    length = np.diff(first, append=count)
    alike = np.zeros(len(first), bool)
    alike[1:] = length[1:] == length[:-1]
    entry = np.arange(count)
    back = np.repeat(np.where(alike, length, 0), length)
    differs = np.zeros(count, bool)
    for array in map(bits, content):
        unlike = array != array[entry - back]
        differs |= unlike.any(axis=1) if unlike.ndim > 1 else unlike
    if len(first):
        alike &= np.add.reduceat(differs, first, dtype=np.int64) == 0
    return alike


def bits(values: Ints) -> Ints:
    """Values as integers that are equal where the values are the same to the last bit."""
    if values.dtype.kind not in "fc":
        return values
    if values.dtype.itemsize == 16:
        return np.ascontiguousarray(values).view(np.uint64).reshape(-1, 2)
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def spread(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Every index of every stretch, and which stretch it belongs to."""
    length = right.astype(np.int64) - left
    _check_room(int(length.sum()))
    which = np.repeat(np.arange(len(length)), length)
    begin = left - (np.cumsum(length) - length)
    return which, np.arange(len(which)) + begin[which]


def _check_room(count: int) -> None:
    """Refuse to list what no memory holds: a system may promise it, and end who writes to it."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return
    nbytes = 8 * count
    if nbytes > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise OutOfMemoryError(
            f"could not allocate {nbytes} bytes for a list of elements",
            why="what runs, bands and blocks hold is listed element by element there",
            hint="take a part of it first, or work on the whole by functions and kernels",
        )
