"""Comparison of small arrays without waiting for a compiler: `x == y` where a test looks at it.

Everything else, and larger arrays, go through compiled kernels. What is computed here is the
function's own meaning in the algebra's table, the one that kernels are tested against.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.lookup import by_name
from linnet.api.shapes import broadcast_shapes
from linnet.api.storage import dense, is_dense, stored_as
from linnet.formats.assemble import unpack
from linnet.formats.tensor import Tensor
from linnet.options import limit

SMALL = 64
"""Elements up to which an array is small."""


def is_small(args: tuple[Any, ...]) -> bool:
    """Whether all operands are tensors or numbers, and what is computed of them is small."""
    for arg in args:
        if isinstance(arg, Tensor):
            if arg._contents is None or arg.size > limit(SMALL):
                return False
        elif not isinstance(arg, bool | int | float | complex):
            return False
    return True


def elements(x: Tensor) -> NDArray[Any]:
    """The elements of a small tensor."""
    contents = x.contents()
    if is_dense(contents.format):
        return x.to_numpy()
    array = np.full(contents.shape, contents.format.fill_value, contents.format.dtype)
    coordinates, values = unpack(x)
    array[tuple(coordinates)] = values
    return array


def compared(name: str, args: tuple[Any, ...]) -> Tensor:
    """The comparison of small operands, element by element."""
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    broadcast_shapes(*(x.contents().shape for x in tensors))
    function = by_name[name].numpy
    found = np.asarray(function(*(elements(a) if isinstance(a, Tensor) else a for a in args)))
    sparse = next((x for x in tensors if not is_dense(x.contents().format)), None)
    if sparse is None or any(is_dense(x.contents().format) and x.ndim for x in tensors):
        return dense(found)
    fills = (a.contents().format.fill_value if isinstance(a, Tensor) else a for a in args)
    return stored_as(found, sparse.contents().format, bool(function(*fills)))
