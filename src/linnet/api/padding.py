"""`ln.pad`: an array with a border of one value around it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from linnet.api.creation import full
from linnet.api.joining import concat
from linnet.api.operands import Array, as_tensor, dtype_of, shape_of
from linnet.api.storage import alike, is_dense
from linnet.errors import ArgumentError, ShapeError
from linnet.formats.located import located
from linnet.formats.tensor import Tensor


@located
def pad(x: Array, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Tensor:
    """An array with so many more elements before and after, along every dimension.

    `pad_width` is a number, a pair, or a pair for every dimension, as in NumPy; so are the values.
    A border of the fill value is not stored.

    >>> ln.pad(ln.eye(2), (0, 1)).to_numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    found = copy(as_tensor(x))
    if mode != "constant":
        raise ArgumentError(f"there is no padding of mode {mode!r}", hint="mode='constant'")
    widths = _pairs(pad_width, found.ndim, "the widths of a border")
    values = _pairs(constant_values, found.ndim, "the values of a border")
    if widths.dtype.kind not in "iu" or (widths < 0).any():
        raise ArgumentError(f"the widths of a border are whole numbers, 0 or more: {pad_width!r}")
    for d in range(found.ndim):
        parts = [_border(found, d, int(widths[d, k]), values[d, k]) for k in (0, 1)]
        wanted = [p for p in (parts[0], found, parts[1]) if p is not None]
        found = concat(wanted, axis=d) if len(wanted) > 1 else found
    return found


def _pairs(given: Any, ndim: int, what: str) -> Any:
    """Two numbers for every dimension."""
    try:
        return np.broadcast_to(np.asarray(given), (ndim, 2))
    except ValueError:
        raise ShapeError(f"{what} do not fit {ndim} dimensions: {given!r}") from None


def _border(x: Tensor, d: int, width: int, value: Any) -> Tensor | None:
    """What is put beside an array along a dimension; None for nothing."""
    if not width:
        return None
    shape = tuple(width if m == d else n for m, n in enumerate(shape_of(x)))
    held, format = dtype_of(x), x.contents().format
    value = np.asarray(value).astype(held).item()
    kind = None if is_dense(format) else alike(format, x.ndim)
    made = full(shape, value, dtype=held, format=kind)
    same = is_dense(format) or made.fill_value == x.fill_value or value != value
    return made if same else full(shape, value, dtype=held)
