"""Lines of coordinates and values, read into arrays. A codelet: compiled on demand.

A value is real, an integer (`whole` is 1), or one that is not negative (2).
One call reads as many lines as the text, the arrays and the list of what is left to Python allow.
`state` holds where it is, and is where the next call goes on.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from typing import TYPE_CHECKING

from linnet.files.numbers import read_real, read_whole

if TYPE_CHECKING:
    uint64 = int  # all integers are, to who only looks at types
else:
    from numpy import uint64

Text = Sequence[int]
Target = MutableSequence[int]

# what `state` holds
AT, COUNT, LINE, HARD, PROBLEM, FIELD = range(6)
STATE = 6
# what `PROBLEM` says
NOT_AN_INDEX, OUT_OF_RANGE, TOO_SHORT, TOO_LONG = 1, 2, 3, 4


def read_entries(
    text: Text, end: int, state: Target, dims: Sequence[int], ndim: int, coords: Target, room: int,
    values: Target, parts: int, whole: int, hard: Target, patience: int, comment: int,
    powers: Sequence[int],
) -> None:  # fmt: skip
    """Read the lines of text[:end], which ends with a line.

    Coordinate d of entry q is coords[d * room + q], its values are values[parts * q …]. A value
    that is left to Python is noted in `hard`: which one, where it stands, and in which line.
    """
    p, q = state[AT], state[COUNT]
    while p < end and q < room and state[HARD] + parts <= patience:
        p = _blank(text, p)
        if text[p] == comment:
            while text[p] != 10:
                p += 1
        if text[p] != 10:
            line = p
            p = _read_indices(text, p, state, dims, ndim, coords, room, q)
            part = 0
            while part < parts and p >= 0:
                p = _read_value(text, p, state, values, parts * q + part, whole, hard, powers)
                part += 1
            if p >= 0:
                p = _blank(text, p)
                if text[p] != 10:
                    state[PROBLEM], state[FIELD] = TOO_LONG, ndim + parts
                    p = -1
            if p < 0:
                state[AT] = line
                state[COUNT] = q
                return
            q += 1
        p += 1
        state[LINE] += 1
    state[AT], state[COUNT] = p, q


def _blank(text: Text, p: int) -> int:
    """The next place that is not a space, a tab or a carriage return."""
    while text[p] == 32 or text[p] == 9 or text[p] == 13:
        p += 1
    return p


def _read_indices(
    text: Text, p: int, state: Target, dims: Sequence[int], ndim: int, coords: Target, room: int,
    q: int,
) -> int:  # fmt: skip
    """Read the coordinates of entry q, counted from 1; return where they end, or -1."""
    for d in range(ndim):
        p = _blank(text, p)
        start = p
        index = uint64(0)
        while 48 <= text[p] <= 57:
            index = index * 10 + uint64(text[p] - 48)
            p += 1
        if p == start or p - start > 19 or text[p] > 32:
            state[PROBLEM], state[FIELD] = TOO_SHORT if text[p] == 10 else NOT_AN_INDEX, d
            return -1
        if index < 1 or index > uint64(dims[d]):
            state[PROBLEM], state[FIELD] = OUT_OF_RANGE, d
            return -1
        coords[d * room + q] = int(index - 1)
    return p


def _read_value(
    text: Text, p: int, state: Target, values: Target, at: int, whole: int, hard: Target,
    powers: Sequence[int],
) -> int:  # fmt: skip
    """Read a value into values[at], or leave it to Python; return where it ends, or -1."""
    p = _blank(text, p)
    if text[p] == 10:
        state[PROBLEM] = TOO_SHORT
        return -1
    stop = -1
    if whole == 0:
        stop = read_real(text, p, values, at, powers)
    elif whole == 1 or text[p] != 45:
        stop = read_whole(text, p, values, at)
    if stop < 0:
        stop = p
        while text[stop] > 32:
            stop += 1
        k = 4 * state[HARD]
        hard[k], hard[k + 1], hard[k + 2], hard[k + 3] = at, p, stop, state[LINE]
        state[HARD] += 1
    return stop
