"""Negative powers of integers are no integers: where an exponent can be seen, that is refused.

Exponents that are computed by the same kernel are not looked at; there a power is rounded toward 0.
"""

from __future__ import annotations

import numpy as np

from linnet.algebra.dtypes import kind
from linnet.arrays.nodes import Constant, Leaf, Node
from linnet.errors import RangeError
from linnet.formats.assemble import unpack
from linnet.formats.tensor import Tensor


def check_exponent(base: Node, exponent: Node) -> None:
    """Refuse negative exponents of integers: a number, or elements of a tensor."""
    if kind(base.dtype) not in "biu" or kind(exponent.dtype) != "i":
        return
    found = None
    if isinstance(exponent, Constant):
        found = repr(exponent.value) if exponent.value < 0 else None  # type: ignore[operator]
    elif isinstance(exponent, Leaf):
        found = _negative(exponent.tensor)
    if found is not None:
        raise RangeError(
            f"integers to negative integer powers are not allowed: the exponent is {found}",
            why="the result would not be an integer",
            hint="convert one of them to floats first, with astype(float)",
        )


def _negative(tensor: Tensor) -> str | None:
    """An element of a tensor that is negative, and where it is."""
    contents = tensor.shared()
    fill, values = contents.format.fill_value, contents.levels()[-1].get("val")
    if values is not None and len(values) and values.min() < 0:
        coordinates, listed = unpack(tensor)
        below = np.flatnonzero(listed < 0)
        if len(below):
            place = [int(index[below[0]]) for index in coordinates]
            return f"{listed[below[0]]} at {place}"
    whole = all(level.full for level in contents.format.levels[:-1])
    return None if whole or fill is None or fill >= 0 else f"{fill} where nothing is stored"  # type: ignore[operator]
