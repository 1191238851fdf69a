"""How to compute the dimensions of what a kernel writes, from expressions of its program.

They are expressions over dimensions of arguments and over elements of them, such as `n[()]`.
"""

from __future__ import annotations

import numpy as np

from linnet import loops
from linnet.errors import IndexBoundsError, Location, ShapeError
from linnet.formats.assemble import unpack
from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor
from linnet.loops.printer import show
from linnet.loops.rewrite import walk
from linnet.normalize.shape_checks import exactly
from linnet.runtime.sizes import Axis, Held, Shapes, Size


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
