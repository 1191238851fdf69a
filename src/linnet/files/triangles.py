"""Matrices of which a file lists one triangle: which entries it may list, and what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[Any]
SYMMETRIC, SKEW, HERMITIAN = "symmetric", "skew-symmetric", "hermitian"


def contradiction(
    symmetry: str, i: Ints, j: Ints, values: NDArray[Any] | None, side: str = ""
) -> tuple[int, str] | None:
    """An entry that a matrix of this symmetry does not list, and why; None if there is none.

    All are on one `side` of the diagonal, "lower" or "upper"; on either, where nothing tells which.
    """
    below, above = i > j, i < j
    if (side or ("lower" if below.any() else "upper")) == "lower":
        found = _first(above, "is above the diagonal, and the others are below it")
    else:
        found = _first(below, "is below the diagonal, and the others are above it")
    if found is not None or values is None or symmetry == SYMMETRIC:
        return found
    if symmetry == HERMITIAN:
        return _first((i == j) & (values.imag != 0), "is on the diagonal, and is not real")
    found = _first((i == j) & (values != 0), "is on the diagonal, and is not 0")
    dtype = values.dtype
    without = values == np.iinfo(dtype).min if dtype.kind == "i" else values != 0
    lost = without & (dtype.kind in "biu")
    return found or _first(lost, f"has an opposite that the dtype {dtype} does not hold")


def _first(wrong: NDArray[np.bool_], what: str) -> tuple[int, str] | None:
    return (int(np.argmax(wrong)), what) if wrong.any() else None


def mirrored(
    symmetry: str, i: Ints, j: Ints, values: NDArray[Any] | None
) -> tuple[list[Ints], NDArray[Any] | None]:
    """The entries, and those on the other side of the diagonal that they stand for."""
    beside = i != j
    both = [np.concatenate([i, j[beside]]), np.concatenate([j, i[beside]])]
    if values is None:
        return both, None
    return both, np.concatenate([values, opposite(symmetry, values[beside])])


def opposite(symmetry: str, values: NDArray[Any]) -> NDArray[Any]:
    """The values on the other side of the diagonal."""
    if symmetry == SKEW and values.dtype != bool:  # of booleans, all are false
        return -values
    return values.conj() if symmetry == HERMITIAN else values
