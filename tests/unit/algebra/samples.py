"""Values at which functions are tried: zero, one, the limits, infinities, NaN."""

from __future__ import annotations

import itertools

import numpy as np

_INTEGERS = (0, 1, 2, 3, 5, 7, 8, 10, 31, 32, 63, 64, 100)
_REALS = (0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 7.25, 1e-3, 1e10, 1e-30, 5e-324, np.inf, np.nan)
_PARTS = (0.0, 1.0, -1.0, 0.5, -2.0, 3.25)


def edges(dtype: str) -> np.ndarray:
    """Interesting values of a dtype."""
    match np.dtype(dtype).kind:
        case "b":
            return np.array([False, True])
        case "i" | "u":
            limits = np.iinfo(dtype)
            near = [limits.min, limits.min + 1, limits.max // 2, limits.max - 1, limits.max]
            signs = (1, -1) if limits.min < 0 else (1,)
            small = [s * n for n in _INTEGERS for s in signs]
            return np.array(sorted({*near, *small}), dtype)
        case "f":
            with np.errstate(all="ignore"):
                large = np.finfo(dtype).max
                return np.array([s * x for x in (*_REALS, large) for s in (1.0, -1.0)], dtype)
        case _:
            return np.array([complex(x, y) for x, y in itertools.product(_PARTS, repeat=2)], dtype)


def is_open(name: str, z: np.ndarray) -> np.ndarray:
    """Where NumPy before 2.3 says something else of complex numbers than C's library, and may.

    The sign of these infinities is not specified; that an angle of NaN is a right one, since C17.
    """
    here = np.zeros(z.shape, bool)
    if np.lib.NumpyVersion(np.__version__) < "2.3.0":
        if name in ("acosh", "arccosh"):
            here = (z.real == 0) & np.isnan(z.imag)
        elif name in ("asin", "arcsin"):
            here = np.isinf(z.real) & np.isnan(z.imag)
        elif name in ("asinh", "arcsinh"):
            here = np.isnan(z.real) & np.isinf(z.imag)
    return here


def grid(*dtypes: str, most: int = 4000) -> list[np.ndarray]:
    """All combinations of interesting values, one array per argument, thinned if there are many."""
    columns = [edges(d) for d in dtypes]
    total = int(np.prod([len(c) for c in columns]))
    chosen = np.arange(0, total, -(-total // most))
    where = np.unravel_index(chosen, [len(c) for c in columns])
    return [c[w] for c, w in zip(columns, where, strict=True)]
