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
from linnet.errors import DTypeError, FileError, FormatError, ShapeError
from linnet.files.binsparse_names import Level, Structure, by_name, described, name_of, structure_of
from linnet.files.build import from_entries
from linnet.files.hdf5 import array_of, library, opened, text_of
from linnet.files.triangles import HERMITIAN, SKEW, SYMMETRIC, contradiction, mirrored
from linnet.files.understood import understood
from linnet.formats.assemble import enough_memory, unpack
from linnet.formats.construct import asarray, from_buffers
from linnet.formats.dense import Dense
from linnet.formats.element import Element, Pattern
from linnet.formats.named import COO, FormatLike, recognize, stack
from linnet.formats.sparse_coo import SparseCOO
from linnet.formats.sparse_list import SparseList
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_length, check_product, check_shape

_KEY = "binsparse"
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_STRUCTURES = {
    f"{name}_{side}": (symmetry, side)
    for name, symmetry in (
        ("symmetric", SYMMETRIC),
        ("skew_symmetric", SKEW),
        ("hermitian", HERMITIAN),
    )
    for side in ("lower", "upper")
}


# -- writing -------------------------------------------------------------------------------------


def write_binsparse(path: Path, tensor: Tensor) -> None:
    """Write a tensor."""
    with library().File(path, "w") as file:
        put(file, tensor)


def put(group: Any, tensor: Tensor) -> None:
    """A tensor into a group; levels that binsparse does not have are written as coordinates."""
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
    for name, array in arrays.items():
        group.create_dataset(name, data=array)
    group.attrs[_KEY] = json.dumps({_KEY: about})


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
        wanted = [name for name, _ in _places(structure)] + ["values"]
        wanted += ["fill_value"] if about.get("fill") else []
        missing = [name for name in wanted if name not in group]
        if missing:
            why = f"its format is {about['format']}"
            raise FileError(f"{path.name} has no array {missing[0]}", why=why)
        arrays = {name: array_of(path, group[name]) for name in wanted}
    with understood(path, "a binsparse file"):
        tensor = _tensor(structure, about, arrays)
    tensor = _completed(path, tensor, about.get("structure", "general"))
    return tensor if format is dtype is None else asarray(tensor, dtype, format)


def _about(path: Path, group: Any) -> dict[str, Any]:
    """What the JSON text says."""
    try:
        found = json.loads(text_of(group.attrs[_KEY]))
        about = found.get(_KEY, found)
        version = str(about.get("version", "0.1"))
        shape = check_shape(about["shape"])
        if not isinstance(about["shape"], list) or not isinstance(about, dict):
            raise TypeError("a shape is a list")
    except _UNREADABLE as error:
        raise FileError(
            f"{path.name} is not a binsparse file",
            why=f"its attribute `binsparse` should be a JSON text that tells the shape ({error})",
        ) from None
    if version.split(".")[0] != "0":
        raise FileError(f"{path.name} is of version {version} of binsparse", hint="0.1 is known")
    types = about.get("data_types")
    types = types if isinstance(types, dict) else {}
    texts = {name: text for name, text in types.items() if isinstance(text, str)}
    return {**about, "shape": shape, "data_types": texts}


def _structure(path: Path, about: dict[str, Any]) -> Structure:
    found = by_name(about.get("format"), about.get("custom"))
    if found is None:
        raise FileError(f"{path.name} has the format {about.get('format')!r}, which is not known")
    ndim = sum(rank for _, rank in found.levels)
    if ndim != len(about["shape"]) or sorted(found.order) != list(range(ndim)):
        said = list(about["shape"])
        raise FileError(f"{path.name} says the shape {said} of {ndim} dimensions")
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


def _tensor(structure: Structure, about: dict[str, Any], arrays: dict[str, Any]) -> Tensor:
    """The tensor, checked."""
    types = about["data_types"]
    buffers = {ours: arrays[theirs] for theirs, ours in _places(structure)}
    root = [ours for theirs, ours in _places(structure) if theirs == "indices_0"]
    if root:
        buffers["ptr0"] = np.array([0, buffers[root[0]].size])
    said = types.get("values", "")
    values = _as_ours(arrays["values"], said, "values")
    pattern = said == "iso[bint8]" and values[:1].tolist() == [True]
    count = _count(structure, about["shape"], arrays)
    _check_count(about.get("number_of_stored_values", count), count)
    if said.startswith("iso[") and not pattern:
        check_length(values, 1, "values")
        with enough_memory():
            values = np.repeat(values, count)
    fill = None
    if "fill_value" in arrays:
        one = _as_ours(arrays["fill_value"], types.get("fill_value", ""), "fill_value")
        check_length(one, 1, "fill_value")
        fill = as_python(one[0], canonical(values.dtype))
    tree: Level = Pattern() if pattern else Element(fill)
    for kind, rank in reversed(structure.levels):
        if kind == "sparse":
            tree = SparseCOO(rank, tree) if rank > 1 else SparseList(tree)
        else:
            for _ in range(rank):
                tree = Dense(tree)
    if not pattern:
        buffers["val"] = values
    return from_buffers(recognize(stack(tree, structure.order)), about["shape"], buffers)


def _count(structure: Structure, shape: tuple[int, ...], arrays: dict[str, Any]) -> int:
    """How many values the arrays and the shape call for."""
    count, dim = 1, 0
    for kind, rank in structure.levels:
        for d in range(dim, dim + rank):
            if kind == "dense":
                count = check_product(count, shape[structure.order[d]], "a dense level")
        count = arrays[f"indices_{dim}"].size if kind == "sparse" else count
        dim += rank
    return count


def _check_count(said: object, count: int) -> None:
    """What the text says of how much is stored is so."""
    if said != count or isinstance(said, bool):
        raise FormatError(
            f"number_of_stored_values is {said!r}, and the arrays call for {count} values"
        )


def _as_ours(values: NDArray[Any], said: str, name: str) -> NDArray[Any]:
    """Values as they are meant."""
    values = values.reshape(-1) if values.ndim == 0 or values.size == 1 else values
    if values.ndim != 1:
        raise ShapeError(f"{name} has {values.ndim} dimensions, and must have one")
    kind = said.removeprefix("iso[").rstrip("]") if said.startswith("iso[") else said
    if kind.startswith("complex") and values.dtype.kind != "c":
        wanted = _COMPLEX.get(canonical(values.dtype))
        if wanted is None or len(values) % 2:
            raise DTypeError(
                f"{name} holds {len(values)} numbers of dtype {values.dtype}",
                why=f"they are said to be {kind}: pairs of floats",
            )
        return np.ascontiguousarray(values, canonical(values.dtype)).view(wanted)
    return values.astype(bool) if kind == "bint8" else values


def _completed(path: Path, tensor: Tensor, structure: object) -> Tensor:
    """With the other triangle, where only one is stored."""
    if structure == "general":
        return tensor
    found = _STRUCTURES.get(structure) if isinstance(structure, str) else None
    shape = tensor.contents().shape
    if found is None:
        raise FileError(f"{path.name}: the structure {structure!r} is not known")
    if len(shape) != 2 or shape[0] != shape[1]:
        raise FileError(f"{path.name}: a matrix that is {structure} is square, not {shape}")
    symmetry, side = found
    (i, j), values = unpack(tensor)
    wrong = contradiction(symmetry, i, j, values, side)
    if wrong is not None:
        q, what = wrong
        raise FileError(
            f"{path.name}: the entry at {int(i[q]), int(j[q])} {what}",
            why=f"the matrix is said to be {structure}",
        )
    coords, both = mirrored(symmetry, i, j, values)
    return from_entries(path, coords, both, shape, tensor.format, None)
