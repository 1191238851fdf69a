"""The sparse matrices that SciPy keeps in `.npz` files, without SciPy; and dense ones in `.npy`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FileError, LinnetError
from linnet.files.build import from_entries
from linnet.files.understood import understood
from linnet.formats.assemble import unpack
from linnet.formats.construct import asarray
from linnet.formats.format import Format
from linnet.formats.from_numpy import from_numpy
from linnet.formats.from_scipy import from_scipy
from linnet.formats.named import CSC, CSR, FormatLike
from linnet.formats.tensor import Tensor

Named = Mapping[str, NDArray[Any]]
_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data",),
    "dia": ("data", "offsets"),
}


def read_npz(path: Path, format: FormatLike | None, dtype: str | None) -> Tensor:
    """The matrix in a file; what SciPy stores as blocks or diagonals is listed."""
    with understood(path, "a NumPy file"), np.load(path, allow_pickle=False) as loaded:
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise FileError(f"{path.name} holds a single array", hint="its name should end in .npy")
        kind = _kind(path, loaded)
        missing = [name for name in (*_PARTS[kind], "shape") if name not in loaded]
        if missing:
            raise FileError(f"{path.name} is a {kind} matrix without {missing[0]}")
        arrays = {name: loaded[name] for name in loaded if name not in ("format", "_is_array")}
    try:
        with understood(path, "a sparse matrix"):
            return _tensor(kind, arrays, format, dtype)
    except LinnetError as error:
        if path.name not in error.message:
            error.message = f"{path.name}: {error.message}"
        raise


def _tensor(
    kind: str, arrays: dict[str, Any], format: FormatLike | None, dtype: str | None
) -> Tensor:
    """The tensor of the arrays that SciPy names."""
    shape = tuple(map(int, arrays["shape"].reshape(-1)))
    _check_dimensions(kind, arrays, len(shape))
    if kind in ("bsr", "dia"):
        coords, values = _listed(kind, arrays, shape)
        return from_entries(coords, values, shape, format, dtype)
    if kind == "coo":
        coords = arrays["coords"] if "coords" in arrays else [arrays["row"], arrays["col"]]
        arrays = {**arrays, "coords": coords}
    obj = SimpleNamespace(**{**arrays, "format": kind, "shape": shape, "ndim": len(shape)})
    tensor = from_scipy(obj, dtype, None, None)
    return tensor if format is None else asarray(tensor, dtype, format)


def _check_dimensions(kind: str, arrays: Named, ndim: int) -> None:
    """Refuse a shape with more or fewer dimensions than the arrays tell of."""
    told = {"csr": (1, 2), "coo": (len(arrays.get("coords", "ij")),)}
    if ndim not in told.get(kind, (2,)):
        raise FileError(f"the arrays of a {kind} matrix do not have {ndim} dimensions")


def _kind(path: Path, loaded: Named) -> str:
    """SciPy's name of the layout."""
    said = loaded["format"].item() if "format" in loaded else None
    kind = said.decode("ascii", "replace") if isinstance(said, bytes) else said
    if kind not in _PARTS:
        names = ", ".join(list(loaded)[:8])
        raise FileError(
            f"{path.name} holds no sparse matrix",
            why=f"one is stored with its format; this file has the arrays {names}",
            hint="np.load reads any .npz file; ln.asarray takes its arrays",
        )
    return str(kind)


def _listed(
    kind: str, arrays: Named, shape: tuple[int, ...]
) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """The entries of blocks or diagonals."""
    data = arrays["data"]
    if kind == "dia":
        which, j = np.nonzero(np.ones(data.shape, bool))
        i = j - arrays["offsets"][which]
        inside = (i >= 0) & (i < shape[0]) & (j < shape[1])
        inside &= data.reshape(-1) != 0  # padding cannot be told from zeros
        return [i[inside], j[inside]], data.reshape(-1)[inside]
    _, height, width = data.shape
    ptr, idx = arrays["indptr"], arrays["indices"]
    block_row = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    q, a, b = np.indices(data.shape).reshape(3, -1)
    return [block_row[q] * height + a, idx[q] * width + b], data.reshape(-1)


def write_npz(path: Path, tensor: Tensor) -> None:
    """Write a tensor as SciPy's `save_npz` would: CSR and CSC as they are, others as COO."""
    shape, arrays = tensor.contents().shape, dict(tensor.buffers)
    if not shape:
        raise FileError("a .npz file holds a sparse array, and a single number is none")
    kind = next((k for k, f in (("csr", CSR), ("csc", CSC)) if _alike(tensor.format, f)), "coo")
    if kind != "coo":
        parts = {"indices": arrays["idx1"], "indptr": arrays["ptr1"]}
        values = arrays.get("val", np.ones(len(arrays["idx1"]), bool))
    else:
        coords, values = unpack(tensor)
        two = len(shape) == 2
        parts = {"row": coords[0], "col": coords[1]} if two else {"coords": np.array(coords)}
    with path.open("wb") as file:
        np.savez(
            file,
            allow_pickle=False,
            format=np.array(kind.encode()),
            shape=np.array(shape),
            data=values,
            _is_array=np.array(True),
            **parts,
        )


def _alike(a: Format, b: Format) -> bool:
    """Whether two formats differ in their values at most."""
    return a.levels[:-1] == b.levels[:-1] and a.order == b.order


def read_npy(path: Path, format: FormatLike | None, dtype: str | None) -> Tensor:
    """The array in a file."""
    with understood(path, "a NumPy file"):
        loaded = np.load(path, allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        loaded.close()
        raise FileError(f"{path.name} holds several arrays", hint="its name should end in .npz")
    return from_numpy(loaded, dtype, format, None, None)


def write_npy(path: Path, tensor: Tensor) -> None:
    """Write a dense tensor."""
    if not all(level.full for level in tensor.format.levels[:-1]):
        raise FileError(
            f".npy files are dense, and this tensor is {tensor.format!r}",
            why="a sparse tensor is not made dense unless you say so",
            hint="write .npz, or tensor.to(ln.DENSE)",
        )
    with path.open("wb") as file:
        np.save(file, tensor.to_numpy(), allow_pickle=False)
