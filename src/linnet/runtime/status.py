"""What a kernel returns that has not done its work, as an exception.

The lowest byte of a status says what was wrong, the others at which of the kernel's sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linnet import imp
from linnet.errors import (
    FormatError,
    IndexBoundsError,
    InternalError,
    LinnetError,
    OutOfMemoryError,
    ScheduleError,
)
from linnet.imp.how import BOUNDED
from linnet.records import NamedTuple

if TYPE_CHECKING:
    from linnet.lower.context import Site


class _Said(NamedTuple):
    error: type[LinnetError]
    message: str  # of the kernel and the site
    why: str
    hint: str


_SAID = {
    imp.OUT_OF_BOUNDS: _Said(
        IndexBoundsError,
        "{site} in `{kernel}`",
        why="an index runs from 0 to the size of its dimension less one",
        hint="check the indices before the call; a read that may lie outside is written "
        "`ln.coalesce(A[~i], 0)`",
    ),
    imp.NO_PLACE: _Said(
        FormatError,
        "{site} in `{kernel}`",
        why="its format stores one per fiber",
        hint="use one for more of them: SparseList for elements, SparseRunList for runs",
    ),
    imp.UNSORTED: _Said(
        FormatError,
        "the policy of a workspace gives components out of order in `{kernel}`",
        why="its `sort` must list every component once, by rising coordinates",
        hint="compare components with linnet.codelets.components.compare",
    ),
    imp.UNBOUND: _Said(
        ScheduleError,
        "{site} in `{kernel}`",
        why=BOUNDED,
        hint="leave out the command where operands are not so",
    ),
    imp.ASTRAY: _Said(
        FormatError,
        "the policy of a workspace goes beyond its arrays in `{kernel}`",
        why="its codelets may read `crd`, `order`, `spare` and `slots`, and write the last three, "
        "as far as they reach; and call themselves a thousand times",
        hint="look at the indices, and at how large `heads` makes the table",
    ),
}


def failure(status: int, kernel: str, sites: Sequence[Site]) -> LinnetError:
    """The error that a status other than 0 stands for."""
    kind, number = status & 0xFF, status >> 8
    if kind == imp.OUT_OF_MEMORY:
        return OutOfMemoryError(
            f"there is not enough memory for the result of `{kernel}`",
            why="the operands are as they were",
            hint="use sparser formats for results and temporaries, or a smaller problem",
        )
    if kind not in _SAID:
        return InternalError(f"`{kernel}` returned the unknown status {status}")
    said, site = _SAID[kind], sites[number]
    message = said.message.format(site=site.message, kernel=kernel)
    return said.error(message, at=site.at, why=said.why, hint=said.hint)
