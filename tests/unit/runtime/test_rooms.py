"""What memory the next result of a kernel is lent."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from linnet.runtime.handover import _NONE, _next_room


def next_room(last: int, capacity: int, left: int) -> tuple[int, bool]:
    """The room after a call that had `last` bytes, made `capacity` numbers and left some."""
    gone = []
    buffer = SimpleNamespace(
        dtype=np.dtype(np.float64), capacity=left, discard=lambda: gone.append(True)
    )
    return _next_room(last, capacity, buffer), bool(gone)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("last", "capacity", "left", "room"),
    [
        (0, 9000, 5000, 40_000),  # the first result
        (40_000, 5000, 5000, 40_000),  # it had enough
        (40_000, 10_000, 5000, _NONE),  # it had enough, made itself more, and it was cut
        (_NONE, 10_000, 5000, _NONE),  # and does so again
        (_NONE, 10_000, 10_000, 80_000),  # it needed all
        (40_000, 80_000, 60_000, 480_000),  # the last result was smaller
        (40_000, 60_000, 60_000, 480_000),
    ],
)
def test_next_room(last: int, capacity: int, left: int, room: int):
    """A kernel that is called with larger operands went on making new memory in every call."""
    assert next_room(last, capacity, left) == (room, room == _NONE)
