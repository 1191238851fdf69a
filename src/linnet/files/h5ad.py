"""The matrices of annotated data (`.h5ad`): `X`, `layers/…`, `raw/X`, sparse or dense."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from linnet.errors import FileError, LinnetError
from linnet.files.hdf5 import opened, text_of
from linnet.formats.construct import asarray
from linnet.formats.from_numpy import from_numpy
from linnet.formats.from_scipy import from_scipy
from linnet.formats.named import FormatLike
from linnet.formats.tensor import Tensor

_KINDS = {"csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc"}


def read_h5ad(path: Path, key: str, format: FormatLike | None, dtype: str | None) -> Tensor:
    """The matrix under a key: CSR and CSC stay what they are."""
    with opened(path, key) as group:
        if hasattr(group, "dtype"):  # an array
            return from_numpy(group[()], dtype, format, None, None)
        attributes = group.attrs
        said = attributes.get("encoding-type", attributes.get("h5sparse_format"))
        shape = attributes.get("shape", attributes.get("h5sparse_shape"))
        kind = _KINDS.get(text_of(said)) if said is not None else None
        parts = ("data", "indices", "indptr")
        if kind is None or shape is None or any(name not in group for name in parts):
            raise FileError(
                f"{path.name} has no matrix in {key!r}",
                why="a sparse one is a group with data, indices, indptr, and the attributes "
                "encoding-type (csr_matrix or csc_matrix) and shape",
            )
        arrays: dict[str, Any] = {name: group[name][()] for name in parts}
    dims = tuple(map(int, shape))
    try:
        obj = SimpleNamespace(format=kind, shape=dims, ndim=len(dims), **arrays)
        tensor = from_scipy(obj, dtype, None, None)
        return tensor if format is None else asarray(tensor, dtype, format)
    except LinnetError as error:
        error.message = f"{path.name}, {key}: {error.message}"
        raise
