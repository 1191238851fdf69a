"""What the programs mean, in NumPy."""

from __future__ import annotations

from functools import reduce

import numpy as np


def einsum(spec: str, *arrays: np.ndarray) -> np.ndarray:
    """Sum of products in the dtype that a kernel gives it: truth values are counted."""
    dtype = reduce(np.promote_types, [a.dtype for a in arrays])
    wide = np.dtype("int64") if dtype.kind == "b" else dtype
    return np.asarray(np.einsum(spec, *(a.astype(wide) for a in arrays)), wide)


def added(*arrays: np.ndarray) -> np.ndarray:
    """The sum into a tensor that was declared with the number 0."""
    return widened(reduce(np.add, arrays))


def multiplied(*arrays: np.ndarray) -> np.ndarray:
    """The product, likewise."""
    return widened(reduce(np.multiply, arrays))


def widened(array: np.ndarray) -> np.ndarray:
    """Truth values where numbers are: the dtype in which they meet the literal 0."""
    return array.astype("int64") if array.dtype.kind == "b" else array
