"""The dimensions of what a kernel writes, from its arguments, before it runs; and whether they fit.

A size is computed in Python's integers, which do not overflow: `runtime.extents` says how. To call
what is in the disk cache takes nothing of the loop language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

from linnet.errors import OutOfMemoryError, ShapeError
from linnet.formats.contents import Contents
from linnet.formats.format import Format
from linnet.records import NamedTuple

Shapes = Sequence[Sequence[int]]
Held = Sequence[Contents | None]

LARGEST = 2**63 - 1
_MOST = 2**59  # elements of 16 bytes that 64 bits can count


class Axis(NamedTuple):
    """The size that is a dimension of an argument, as most are."""

    position: int
    mode: int

    def __call__(self, shapes: Shapes, held: Held) -> int:
        """What it is for arguments of these shapes."""
        return shapes[self.position][self.mode]


Size = Axis | Callable[[Shapes, Held], int]
"""From the arguments' shapes and contents to a size."""


def runs_of(format: Format) -> tuple[tuple[int, ...], ...]:
    """The modes of levels in a row that have a place for every index: memory is their product."""
    return tuple(run for run in _runs(format) if run)


def _runs(format: Format) -> Iterator[tuple[int, ...]]:
    run: tuple[int, ...] = ()
    for k, level in enumerate(format.levels[:-1]):
        if level.full or any(a.role == "flag" for a in level.arrays):
            run += format.modes_of(k)
        else:
            yield run
            run = ()
    yield run


def check_size(name: str, size: Sequence[int], format: Format, what: str) -> None:
    """Refuse what no memory can hold, before anything runs."""
    for mode, n in enumerate(size):
        if n > LARGEST:
            raise ShapeError(
                f"dimension {mode} of the {what} `{name}` would be {n}",
                why="coordinates are 64-bit integers",
            )
    for modes in runs_of(format):
        count = prod([size[mode] for mode in modes])
        if count > _MOST:
            raise OutOfMemoryError(
                f"the {what} `{name}` would have room for {count} elements",
                why=f"its shape is {tuple(size)}, and its format {format.describe()}",
                hint="store these dimensions in sparse levels, such as SparseList",
            )
