"""The sparse matrices that SciPy keeps in `.npz` files, without SciPy; and dense ones in `.npy`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.errors import FileError
from linnet.files.scipy_arrays import PARTS, from_arrays
from linnet.files.understood import understood
from linnet.formats.assemble import unpack
from linnet.formats.format import Format
from linnet.formats.from_numpy import from_numpy
from linnet.formats.named import CSC, CSR, FormatLike
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_booleans

_PLACES = ("coords", "row", "col")  # of entries: older files have one array for each dimension


def read_npz(path: Path, format: FormatLike | None, dtype: str | None) -> Tensor:
    """The matrix in a file."""
    with understood(path, "a NumPy file"), np.load(path, allow_pickle=False) as loaded:
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise FileError(f"{path.name} holds a single array", hint="its name should end in .npy")
        kind = _kind(path, loaded)
        names = [*PARTS[kind], "shape"]
        if kind == "coo":
            names += _PLACES[:1] if "coords" in loaded else _PLACES[1:]
        missing = [name for name in names if name not in loaded]
        if missing:
            raise FileError(f"{path.name} is a {kind} matrix without {missing[0]}")
        arrays = {name: loaded[name] for name in names}
        check_booleans(arrays["data"], "data")
    return from_arrays(path, "", kind, arrays, format, dtype)


def _kind(path: Path, loaded: Mapping[str, NDArray[Any]]) -> str:
    """SciPy's name of the layout."""
    said = loaded["format"] if "format" in loaded else np.array(None)
    kind = said.item() if said.size == 1 else None
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if not isinstance(kind, str) or kind not in PARTS:
        names = ", ".join(list(loaded)[:8])
        raise FileError(
            f"{path.name} holds no sparse matrix",
            why=f"one is stored with its format; this file has the arrays {names}",
            hint="np.load reads any .npz file; ln.asarray takes its arrays",
        )
    return kind


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
        canonical(loaded.dtype)
        check_booleans(loaded, "it")
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
