"""Tensors whose contents a kernel has taken, to write in their memory, and who waits for them.

Other threads see such a tensor without contents. They wait until it has them again; the thread
that has taken them does not, since nobody else will bring them: what it runs meanwhile (a signal's
handler, a finalizer) finds the tensor empty.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from threading import get_ident
from typing import TYPE_CHECKING

from linnet.formats.buffers import GUARD

if TYPE_CHECKING:
    from linnet.formats.contents import Contents
    from linnet.formats.tensor import Tensor

TAKEN: dict[int, int] = {}  # by id of the tensor, the thread whose kernel writes to it
_SHORT, _LONG = 1e-5, 1e-3  # seconds between two looks

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TAKEN.clear)  # the threads are gone, and bring nothing


def taken(tensor: Tensor) -> None:
    """A kernel of this thread has the contents; called with the guard held."""
    TAKEN[id(tensor)] = get_ident()


def brought(tensors: Iterable[Tensor]) -> None:
    """They are back, or gone for good; some may not have been taken, or by another since."""
    me = get_ident()
    with GUARD.lock:
        for tensor in tensors:
            if TAKEN.get(id(tensor)) == me:
                del TAKEN[id(tensor)]


def awaited(tensor: Tensor) -> Contents | None:
    """What a tensor holds, once it has been brought back; None if nobody is to bring it."""
    pause, me = _SHORT, get_ident()
    while True:
        with GUARD.lock:  # so that nobody takes it between two looks; it may be brought
            nobody = TAKEN.get(id(tensor), me) == me
            contents = tensor._contents
            if contents is not None or nobody:
                return contents
        time.sleep(pause)
        pause = min(2 * pause, _LONG)
