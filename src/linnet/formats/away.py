"""Tensors whose contents a kernel has taken, to write in their memory, and who waits for them.

Other threads see such a tensor without contents. They wait until it has them again; the thread
that has taken them does not, since nobody else will bring them: what it runs meanwhile (a signal's
handler, a finalizer) finds the tensor empty.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from itertools import count
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING

from linnet.guards import LONG, SHORT, is_above, runs

if TYPE_CHECKING:
    from linnet.formats.contents import Contents
    from linnet.formats.tensor import Tensor

TAKEN: dict[tuple[int, FrameType], int] = {}
"""Tensors that are being written: the id of each with the call that writes, and a number."""
_numbers = count()  # of those that were taken, and of looks

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TAKEN.clear)  # the threads are gone, and bring nothing


def taken(tensor: Tensor, call: FrameType) -> None:
    """A kernel is about to have the contents, until the call is over or tells `brought`."""
    TAKEN[id(tensor), call] = next(_numbers)


def brought(tensors: Iterable[Tensor], call: FrameType) -> None:
    """They are back, or gone for good; to say so twice does no harm."""
    for tensor in tensors:
        TAKEN.pop((id(tensor), call), None)


def awaited(tensor: Tensor) -> Contents | None:
    """What a tensor holds, once it has been brought back; None if nobody is to bring it."""
    pause = SHORT
    while True:
        number = next(_numbers)
        contents = tensor._contents
        if contents is not None:
            return contents
        if not _is_away(tensor):
            contents = tensor._contents  # it may have been brought between the two looks
            if contents is not None or next(_numbers) == number + 1:  # nor taken again
                return contents
            continue
        time.sleep(pause)
        pause = min(2 * pause, LONG)


def _is_away(tensor: Tensor) -> bool:
    """Whether another thread has taken what a tensor holds."""
    found = False
    for key in list(TAKEN):
        where, call = key
        if where == id(tensor) and not is_above(call, _getframe()):
            if runs(call):
                found = True
            else:  # an interrupt has kept it from telling
                TAKEN.pop(key, None)
    return found
