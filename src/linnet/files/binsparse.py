"""The Binary Sparse Format (binsparse) 0.1 in HDF5 files, `.bsp.h5`.

Arrays named by level (`pointers_to_1`, `indices_1`, `values`) lie beside a JSON text that says what
they form: one of the named formats, or any stack of dense and sparse levels.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import as_python, canonical
from linnet.errors import FileError, LinnetError
from linnet.files.binsparse_names import Level, Structure, by_name, described, name_of, structure_of
from linnet.files.build import from_entries
from linnet.files.hdf5 import library, opened, text_of
from linnet.files.understood import understood
from linnet.formats.assemble import unpack
from linnet.formats.construct import asarray, from_buffers
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.named import COO, FormatLike, recognize, stack
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor

_KEY = "binsparse"


# -- writing -------------------------------------------------------------------------------------


def write_binsparse(path: Path, tensor: Tensor) -> None:
    """Write a tensor; levels that binsparse does not have are written as coordinates."""
    structure = structure_of(tensor.format)
    if structure is None:
        tensor = tensor.to(COO(tensor.ndim).with_order(*tensor.format.order))
        structure = structure_of(tensor.format)
        assert structure is not None
    arrays = _arrays(tensor, structure)
    types = {name: str(array.dtype) for name, array in arrays.items()}
    values = tensor.buffers.get("val")
    arrays["values"], types["values"] = _as_stored(values)
    about: dict[str, object] = {
        "version": "0.1",
        "format": name_of(structure),
        "shape": list(tensor.contents().shape),
        "number_of_stored_values": tensor.nnz,
        "data_types": types,
    }
    if about["format"] == "custom":
        about["custom"] = described(structure)
    if tensor.fill_value:
        about["fill"] = True
        one = np.array([tensor.fill_value], tensor.dtype)
        arrays["fill_value"], types["fill_value"] = _as_stored(one)
    with library().File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array)
        file.attrs[_KEY] = json.dumps({_KEY: about})


def _arrays(tensor: Tensor, structure: Structure) -> dict[str, NDArray[Any]]:
    """The index arrays, under their names."""
    found: dict[str, NDArray[Any]] = {}
    dim = 0
    for (kind, rank), held in zip(structure.levels, tensor.shared().levels(), strict=False):
        if kind == "sparse":
            ptr, *indices = held.values()
            found |= {f"pointers_to_{dim}": ptr} if dim else {}
            found |= {f"indices_{dim + k}": idx for k, idx in enumerate(indices)}
        dim += rank
    return found


def _as_stored(values: NDArray[Any] | None) -> tuple[NDArray[Any], str]:
    """Values as HDF5 keeps them, and what binsparse calls that; without any, all are true."""
    if values is None:
        return np.ones(1, np.uint8), "iso[bint8]"
    if values.dtype == bool:
        return values.astype(np.uint8), "bint8"
    if values.dtype.kind == "c":
        real = "float32" if values.dtype == np.complex64 else "float64"
        return values.view(real), f"complex[{real}]"
    return values, str(values.dtype)


# -- reading -------------------------------------------------------------------------------------


def read_binsparse(
    path: Path, key: str | None, format: FormatLike | None, dtype: str | None
) -> Tensor:
    """The tensor in a file, in the format in which it lies there."""
    with opened(path, key) as group:
        about = _about(path, group)
        structure = _structure(path, about)
        types = about.get("data_types", {})
        wanted = [name for name, _ in _places(structure)] + ["values"]
        wanted += ["fill_value"] if about.get("fill") else []
        missing = [name for name in wanted if name not in group]
        if missing:
            why = f"its format is {about['format']}"
            raise FileError(f"{path.name} has no array {missing[0]}", why=why)
        arrays = {name: group[name][()] for name in wanted}
    try:
        with understood(path, "a binsparse file"):
            tensor = _tensor(structure, about, arrays, types if isinstance(types, dict) else {})
            tensor = _completed(tensor, str(about.get("structure", "general")))
    except LinnetError as error:
        if path.name not in error.message:
            error.message = f"{path.name}: {error.message}"
        raise
    return tensor if format is dtype is None else asarray(tensor, dtype, format)


def _about(path: Path, group: Any) -> dict[str, Any]:
    """What the JSON text says."""
    try:
        found = json.loads(text_of(group.attrs[_KEY]))
        about = found.get(_KEY, found)
        version = str(about.get("version", "0.1"))
        shape = [int(n) for n in about["shape"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(
            f"{path.name} is not a binsparse file",
            why=f"its attribute `binsparse` should be a JSON text that tells the shape ({error})",
        ) from None
    if version.split(".")[0] != "0":
        raise FileError(f"{path.name} is of version {version} of binsparse", hint="0.1 is known")
    return {**about, "shape": shape}


def _structure(path: Path, about: dict[str, Any]) -> Structure:
    found = by_name(about.get("format"), about.get("custom"))
    if found is None:
        raise FileError(f"{path.name} has the format {about.get('format')!r}, which is not known")
    ndim = sum(rank for _, rank in found.levels)
    if ndim != len(about["shape"]) or sorted(found.order) != list(range(ndim)):
        raise FileError(f"{path.name} says the shape {about['shape']} of {ndim} dimensions")
    return found


def _places(structure: Structure) -> list[tuple[str, str]]:
    """The index arrays: their name in the file, and in `Tensor.buffers`."""
    found, dim = [], 0
    for k, (kind, rank) in enumerate(structure.levels):
        if kind == "sparse":
            found += [(f"pointers_to_{dim}", f"ptr{k}")] if dim else []
            ours = [f"idx{k}"] if rank == 1 else [f"idx{k}_{d}" for d in range(rank)]
            found += [(f"indices_{dim + d}", name) for d, name in enumerate(ours)]
        dim += rank
    return found


def _tensor(
    structure: Structure, about: dict[str, Any], arrays: dict[str, Any], types: dict[str, str]
) -> Tensor:
    """The tensor, checked."""
    buffers = {ours: arrays[theirs] for theirs, ours in _places(structure)}
    root = [ours for theirs, ours in _places(structure) if theirs == "indices_0"]
    if root:
        buffers["ptr0"] = np.array([0, len(buffers[root[0]])])
    said = types.get("values", "")
    values = _as_ours(arrays["values"], said)
    pattern = said == "iso[bint8]" and values[:1].tolist() == [True]
    if said.startswith("iso[") and not pattern:
        values = np.repeat(values[:1], int(about.get("number_of_stored_values", 0)))
    fill = None
    if "fill_value" in arrays:
        one = _as_ours(arrays["fill_value"].reshape(-1), types.get("fill_value", ""))
        fill = as_python(one[0], canonical(values.dtype))
    tree: Level = Pattern() if pattern else Element(fill)
    for kind, rank in reversed(structure.levels):
        if kind == "sparse":
            tree = SparseCOO(rank, tree) if rank > 1 else SparseList(tree)
        else:
            for _ in range(rank):
                tree = Dense(tree)
    if not pattern:
        buffers["val"] = values.reshape(-1)
    return from_buffers(recognize(stack(tree, structure.order)), about["shape"], buffers)


def _as_ours(values: NDArray[Any], said: str) -> NDArray[Any]:
    """Values as they are meant."""
    kind = said.removeprefix("iso[").rstrip("]") if said.startswith("iso[") else said
    if kind.startswith("complex"):
        if values.dtype.kind == "c":
            return values
        return values.view(np.complex64 if values.dtype == np.float32 else np.complex128)
    return values.astype(bool) if kind == "bint8" else values


def _completed(tensor: Tensor, structure: str) -> Tensor:
    """With the other triangle, where only one is stored."""
    if structure == "general":
        return tensor
    kind = structure.rsplit("_", 1)[0]
    if kind not in ("symmetric", "hermitian", "skew_symmetric") or tensor.ndim != 2:
        raise FileError(f"the structure {structure!r} is not known")
    (i, j), values = unpack(tensor)
    beside = i != j
    other = values[beside]
    other = other.conj() if kind == "hermitian" else -other if kind == "skew_symmetric" else other
    coords = [np.concatenate([i, j[beside]]), np.concatenate([j, i[beside]])]
    both = np.concatenate([values, other])
    return from_entries(coords, both, tensor.contents().shape, tensor.format, None)
