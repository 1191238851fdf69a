"""The matrices of annotated data (`.h5ad`): `X`, `layers/…`, `raw/X`, sparse or dense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.errors import FileError
from linnet.files.hdf5 import array_of, opened, text_of
from linnet.files.scipy_arrays import from_arrays
from linnet.files.understood import understood
from linnet.formats.from_numpy import from_numpy
from linnet.formats.named import FormatLike
from linnet.formats.tensor import Tensor

_KINDS = {"csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc"}


def read_h5ad(path: Path, key: str, format: FormatLike | None, dtype: str | None) -> Tensor:
    """The matrix under a key: CSR and CSC stay what they are."""
    with opened(path, key) as group:
        dense = hasattr(group, "dtype")
        arrays = {"": array_of(path, group)} if dense else _parts(path, key, group)
        kind = "" if dense else _kind_of(group)
    if dense:
        with understood(path, "annotated data", key):
            canonical(arrays[""].dtype)
        return from_numpy(arrays[""], dtype, format, None, None)
    return from_arrays(path, key, kind, arrays, format, dtype)


def _kind_of(group: Any) -> str:
    """SciPy's name of the layout, or "" if there is none."""
    attributes = group.attrs
    said = attributes.get("encoding-type", attributes.get("h5sparse_format"))
    return _KINDS.get(text_of(said), "")


def _parts(path: Path, key: str, group: Any) -> dict[str, NDArray[Any]]:
    """The arrays of a sparse matrix, and its shape."""
    parts = ("data", "indices", "indptr")
    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    if not _kind_of(group) or shape is None or any(name not in group for name in parts):
        raise FileError(
            f"{path.name} has no matrix in {key!r}",
            why="a sparse one is a group with data, indices, indptr, and the attributes "
            "encoding-type (csr_matrix or csc_matrix) and shape",
        )
    return {name: array_of(path, group[name]) for name in parts} | {"shape": np.asarray(shape)}
