"""The dimensions of what a kernel writes, from its arguments, before it runs; and whether they fit.

A size is an expression over dimensions of arguments and over elements of them, such as `n[()]`. It
is computed in Python's integers, which do not overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np

from linnet import loops
from linnet.errors import IndexBoundsError, Location, OutOfMemoryError, ShapeError
from linnet.formats.assemble import unpack
from linnet.formats.contents import Contents
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.normalize.shape_checks import exactly
from linnet.records import dataclass

Shapes = Sequence[Sequence[int]]
Held = Sequence[Contents | None]
Size = Callable[[Shapes, Held], int]
"""From the arguments' shapes and contents to a size."""

LARGEST = 2**63 - 1
_MOST = 2**59  # elements of 16 bytes that 64 bits can count


@dataclass(frozen=True, slots=True)
class Axis:
    """The size that is a dimension of an argument, as most are."""

    position: int
    mode: int

    def __call__(self, shapes: Shapes, held: Held) -> int:
        """What it is for arguments of these shapes."""
        return shapes[self.position][self.mode]


def size_of(expr: loops.Expr, positions: dict[str, int]) -> Size:
    """How to compute a size; `positions` are those of the arguments."""
    match expr:
        case loops.Dimension(tensor, mode):
            return Axis(positions[tensor], mode)
        case loops.Literal(value):
            size = int(value)  # type: ignore[arg-type]
            return lambda shapes, held: size
        case loops.Access(str(tensor), indices):
            p, at = positions[tensor], [size_of(i, positions) for i in indices]
            return lambda shapes, held: _element(expr, held[p], [i(shapes, held) for i in at])
        case loops.Call(function, args):
            apply, sizes = exactly(function), [size_of(a, positions) for a in args]
            return lambda shapes, held: apply(*[size(shapes, held) for size in sizes])
        case _:
            raise AssertionError(f"not a size: {expr}")


def not_negative(name: str, size: Size, expr: loops.Expr, at: Location | None) -> Size:
    """The same size, which is checked when it has been computed."""
    if isinstance(expr, loops.Dimension):
        return size

    def checked(shapes: Shapes, held: Held) -> int:
        n = size(shapes, held)
        if n < 0:
            raise ShapeError(f"`{name}` would have a dimension of {n}, {show(expr)}", at=at)
        return n

    return checked


def is_known(expr: loops.Expr, names: set[str]) -> bool:
    """Whether an expression is a size once the arguments of these names are known."""
    for node in walk(expr):
        match node:
            case loops.Dimension(tensor, _) | loops.Access(tensor, _) if tensor in names:
                pass
            case loops.Literal() | loops.Call():
                pass
            case _:
                return False
    return True


def unknown(name: str, expr: loops.Expr, at: Location | None) -> ShapeError:
    """The error for a result whose size depends on what the kernel computes."""
    return ShapeError(
        f"the size of `{name}`, {show(expr)}, is not known before the kernel runs",
        at=at,
        hint="compute it first, in another kernel or in Python, and pass it",
    )


def _element(access: loops.Access, contents: Contents | None, indices: list[int]) -> int:
    """An element of an argument."""
    assert contents is not None
    if not all(0 <= i < n for i, n in zip(indices, contents.shape, strict=True)):
        raise IndexBoundsError(
            f"{show(access)} is outside {access.tensor}, whose shape is {contents.shape}",
            at=access.at,
        )
    stored, values = unpack(Tensor(contents.format, contents.shape, contents.buffers))
    here = np.ones(len(values), bool)
    for coordinates, i in zip(stored, indices, strict=True):
        here &= coordinates == i
    found = values[here] if here.any() else np.array([contents.format.fill_value])
    return int(found[0])


# -- whether it fits -------------------------------------------------------------------------------


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
