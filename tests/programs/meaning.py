"""What the programs mean, in NumPy."""

from __future__ import annotations

from functools import reduce

import numpy as np


def einsum(spec: str, *arrays: np.ndarray) -> np.ndarray:
    """Sum of products in the dtype that a kernel gives it: truth values are counted."""
    dtype = reduce(np.promote_types, [a.dtype for a in arrays])
    wide = np.dtype("int64") if dtype == bool else dtype
    return np.asarray(np.einsum(spec, *(a.astype(wide) for a in arrays)), wide)
