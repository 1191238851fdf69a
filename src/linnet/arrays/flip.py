"""Tensors back to front: what a negative step reads, where a level is walked in one direction only.

Most levels are read at any index, or walked from their end. One that is not is turned around first,
by a kernel that visits what is stored and no more.
"""

from __future__ import annotations

from functools import lru_cache

from linnet import loops
from linnet.algebra.table import choose, subtract
from linnet.formats.format import Format
from linnet.formats.result import result_format
from linnet.formats.tensor import Tensor
from linnet.runtime.kernel import Kernel


def one_way(format: Format, mode: int) -> bool:
    """Whether the level that stores a dimension is walked from the first index to the last."""
    for number, level in enumerate(format.levels[:-1]):
        if mode in format.modes_of(number):
            return not (level.full or level.takes(-1))
    return False


def flipped(tensor: Tensor, modes: tuple[int, ...]) -> Tensor:
    """The tensor with some dimensions back to front."""
    format = tensor.contents().format
    if any(level.mirrored for level in format.levels):  # what kernels do not write
        return flipped(tensor.to(result_format([True] * format.ndim, format.order)), modes)
    result = Tensor(format, None)
    flip_kernel(format, modes)(result, tensor)
    return result


@lru_cache(maxsize=256)
def flip_kernel(format: Format, modes: tuple[int, ...]) -> Kernel:
    """`B[i, n - 1 - j] = A[i, j]`, for what A stores."""
    names = [f"i{m}" if format.ndim > 3 else "ijk"[m] for m in range(format.ndim)]
    indices = tuple(loops.Index(name) for name in names)
    dims = tuple(loops.Dimension("A", m) for m in range(format.ndim))
    places = tuple(_mirrored(indices[m], dims[m]) if m in modes else indices[m]
                   for m in range(format.ndim))  # fmt: skip
    fill = format.fill_value
    assert fill is not None
    op = choose(fill) if fill == fill else None  # by which fill values change nothing
    body: loops.Stmt = loops.Assign(loops.Access("B", places), op, loops.Access("A", indices))
    for mode in reversed(format.order):
        body = loops.Loop(names[mode], None, body)
    declare = loops.Declare("B", loops.Literal(fill, format.dtype), dims)
    return Kernel(loops.Program("flip", ("B", "A"), (), loops.Block((declare, body)), ("B",)))


def _mirrored(index: loops.Expr, size: loops.Expr) -> loops.Expr:
    last = loops.Call(subtract, (size, loops.Literal(1)))
    return loops.Call(subtract, (last, index))
