"""A tensor from the arrays that SciPy makes a sparse matrix of, in whatever file they lie.

They are checked as SciPy's own matrices are when they are operands.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.errors import FormatError
from linnet.files.build import from_entries
from linnet.files.understood import understood
from linnet.formats.construct import asarray
from linnet.formats.from_numpy import cast
from linnet.formats.from_scipy import block_entries, from_scipy
from linnet.formats.given import as_indices
from linnet.formats.named import FormatLike
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_length, check_shape

PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data",),
    "dia": ("data", "offsets"),
}
Ints = NDArray[Any]


def from_arrays(
    path: Path,
    part: str,
    kind: str,
    arrays: Mapping[str, NDArray[Any]],
    format: FormatLike | None,
    dtype: str | None,
) -> Tensor:
    """The matrix of a kind: what SciPy stores as blocks or diagonals is listed."""
    with understood(path, "a sparse matrix", part):
        shape = check_shape(np.asarray(arrays["shape"]).reshape(-1))
        held = np.asarray(arrays["data"])
        canonical(held.dtype)
        if kind in ("bsr", "dia"):
            listed = _blocks if kind == "bsr" else _diagonals
            coords, values = listed(arrays, shape)
    if kind in ("bsr", "dia"):
        return from_entries(path, coords, values, shape, format, dtype)
    held = held if dtype is None else cast(held, dtype)
    with understood(path, "a sparse matrix", part):
        about = {**arrays, "data": held, "format": kind, "shape": shape, "ndim": len(shape)}
        if kind == "coo" and "coords" not in arrays:
            about["coords"] = [arrays["row"], arrays["col"]]
        tensor = from_scipy(SimpleNamespace(**about), None, None, None)
    return tensor if format is None else asarray(tensor, dtype, format)


def _blocks(
    arrays: Mapping[str, NDArray[Any]], shape: tuple[int, ...]
) -> tuple[list[Ints], NDArray[Any]]:
    """The entries of dense blocks."""
    return block_entries(SimpleNamespace(**{**arrays, "format": "bsr", "shape": shape}))


def _diagonals(
    arrays: Mapping[str, NDArray[Any]], shape: tuple[int, ...]
) -> tuple[list[Ints], NDArray[Any]]:
    """The entries of diagonals; padding cannot be told from zeros, and neither is listed."""
    data, offsets = arrays["data"], as_indices(arrays["offsets"], "offsets").astype(np.int64)
    if data.ndim != 2 or len(shape) != 2:
        raise FormatError(
            f"data has {data.ndim} dimensions and the matrix {len(shape)}; both must have two",
            why="each row of data is a diagonal",
        )
    check_length(offsets, len(data), "offsets")
    if len(np.unique(offsets)) != len(offsets):
        raise FormatError("offsets names a diagonal twice")
    which, j = np.nonzero(data)
    i = j - offsets[which]
    inside = (i >= 0) & (i < shape[0]) & (j < shape[1])
    return [i[inside], j[inside]], data[which, j][inside]
