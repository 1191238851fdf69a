"""Which kernels an operation calls: looked at the first time, so that the next goes straight there.

Only the calls of the thread that looks are seen.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linnet.formats.tensor import Tensor
    from linnet.runtime.call import Entry

Seen = list[tuple["Entry", Sequence["Tensor"]]]
"""Kernels in the order of their calls, and what they were called with."""

WATCHED: dict[int, Seen] = {}  # by thread


class watch:
    """`with watch() as seen:` the kernels that are called in the block; an inner one tells too."""

    def __enter__(self) -> Seen:
        self._thread = threading.get_ident()
        self._outer = WATCHED.get(self._thread)
        self._seen: Seen = []
        WATCHED[self._thread] = self._seen
        return self._seen

    def __exit__(self, *raised: object) -> None:
        if self._outer is None:
            del WATCHED[self._thread]
        else:
            self._outer += self._seen
            WATCHED[self._thread] = self._outer


def note(entry: Entry, tensors: Sequence[Tensor]) -> None:
    """A kernel has been called."""
    seen = WATCHED.get(threading.get_ident())
    if seen is not None:
        seen.append((entry, tensors))
