"""Sound files of every kind as named fields, which can be changed, and how fields become a file.

A field is an array, a value of JSON, or the tokens of lines.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import linnet as ln

Fields = dict[str, Any]

DENSE = np.array(
    [[0, 1.5, 0, 2, 0, 0], [0, 0, 0, 0, 0, 7], [3, 0, 0, 4.25, 0, 0], [0, 1, 0, 0, 5, 0]]
)
# So much that entries are sorted by code that is compiled (`formats.coordinates.MANY`).
LARGE = np.random.default_rng(0).integers(-3, 9, (72, 90)) * 0.5
SQUARE = np.array([[1, 2, 0, 4], [2, 0, 0, 5], [0, 0, 3, 0], [4, 5, 0, 0]])


# -- from fields to files --------------------------------------------------------------------------


def save_npz(path: Path, fields: Fields) -> None:
    """As SciPy does, but whatever the fields are."""
    with zipfile.ZipFile(path, "w") as file:
        for name, value in fields.items():
            text = io.BytesIO()
            np.lib.format.write_array(text, np.asanyarray(value), allow_pickle=False)
            file.writestr(f"{name}.npy", text.getvalue())


def save_npy(path: Path, fields: Fields) -> None:
    """A header that says what it will, and bytes."""
    said = {name: value for name, value in fields.items() if name not in ("bytes", "version")}
    shape = said.get("shape")
    said |= {"shape": tuple(shape)} if isinstance(shape, list) else {}
    header = (repr(said) + " " * 20 + "\n").encode("latin-1")
    head = b"\x93NUMPY" + bytes(np.asarray(fields["version"]).astype("u1").reshape(-1)[:2])
    data = np.asarray(fields["bytes"]).tobytes()
    path.write_bytes(head + len(header).to_bytes(2, "little") + header + data)


def save_binsparse(path: Path, fields: Fields) -> None:
    """Arrays beside a JSON text."""
    import h5py

    with h5py.File(path, "w") as file:
        for name, value in fields.items():
            if name != "binsparse":
                file[name] = value
        if "binsparse" in fields:
            file.attrs["binsparse"] = json.dumps(fields["binsparse"])


def save_h5ad(path: Path, fields: Fields) -> None:
    """Arrays in a group that has attributes, which begin with @ here; or a single array."""
    import h5py

    with h5py.File(path, "w") as file:
        if "X" in fields:
            file["X"] = fields["X"]
            return
        group = file.create_group("X")
        for name, value in fields.items():
            if name.startswith("@"):
                group.attrs[name[1:]] = value
            else:
                group[name] = value


def save_text(path: Path, fields: Fields) -> None:
    """Lines of tokens."""
    path.write_text("".join(" ".join(line) + "\n" for line in fields["lines"]), "utf-8")


SAVE: dict[str, Callable[[Path, Fields], None]] = {
    "npz": save_npz,
    "npy": save_npy,
    "bsp.h5": save_binsparse,
    "h5ad": save_h5ad,
    "mtx": save_text,
    "tns": save_text,
}
KINDS = [kind for kind in SAVE if find_spec("h5py") or kind not in ("bsp.h5", "h5ad")]


# -- sound files -----------------------------------------------------------------------------------


def of_npz() -> list[Fields]:
    """All that SciPy saves."""
    found = []
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        text = io.BytesIO()
        made = sp.coo_array(DENSE).asformat(kind)
        made = made.tobsr((2, 3)) if kind == "bsr" else made
        sp.save_npz(text, made, compressed=False)
        text.seek(0)
        with np.load(text) as loaded:
            found.append(dict(loaded))
    row, col = np.nonzero(DENSE)
    old = {"format": b"coo", "shape": DENSE.shape, "data": DENSE[row, col], "row": row, "col": col}
    vector = {"format": b"csr", "shape": (6,), "data": [1, 2], "indices": [1, 4], "indptr": [0, 2]}
    three = {
        "format": "coo",
        "shape": (2, 3, 4),
        "data": [1j, 2],
        "coords": [[1, 0], [2, 0], [3, 1]],
    }
    return [*found, old, vector, three, _large("coo"), _large("csc"), _large("bsr")]


def _large(kind: str) -> Fields:
    """Many entries; those that are listed are in no order."""
    row, col = np.random.default_rng(1).permutation(np.argwhere(LARGE)).T
    coo = {"format": b"coo", "shape": np.array(LARGE.shape), "data": LARGE[row, col]}
    if kind == "coo":
        return coo | {"row": row.astype("i4"), "col": col.astype("i4")}
    made = sp.coo_array(LARGE)
    made = made.tobsr((8, 9)) if kind == "bsr" else made.asformat(kind)
    names = ("shape", "data", "indices", "indptr")
    return {"format": np.array(kind)} | {name: np.asarray(getattr(made, name)) for name in names}


def of_npy() -> list[Fields]:
    """Arrays in either order."""
    base = {"version": np.array([1, 0]), "fortran_order": False, "shape": [4, 6]}
    return [
        base | {"descr": "<f8", "bytes": DENSE},
        base | {"descr": ">i4", "bytes": DENSE.astype(">i4"), "fortran_order": True},
        base | {"descr": "|b1", "bytes": DENSE != 0},
    ]


def _structures() -> list[tuple[Any, Any]]:
    """Tensors, and the format to write them in."""
    three = np.arange(24.0).reshape(2, 3, 4) % 5
    two = [ln.CSR, ln.CSC, ln.DCSR, ln.DCSC, ln.COO(2), ln.COO(2).with_order(1, 0), ln.DENSE(2)]
    two += [ln.CSR.with_fill(1.5), ln.DENSE(2).with_order(1, 0)]
    more = [ln.CSF(3), ln.COO(3), ln.Dense(ln.SparseCOO(2, ln.Element()))]
    more += [ln.SparseCOO(2, ln.Dense(ln.Element())), ln.CSF(3).with_order(2, 0, 1)]
    pattern = ln.Dense(ln.SparseList(ln.Pattern()))
    others = [(DENSE != 0, pattern), (DENSE != 0, ln.CSR), (DENSE + 1j * (DENSE != 0), ln.CSR)]
    others += [(DENSE[0], ln.CSF(1)), (LARGE, ln.COO(2).with_order(1, 0))]
    return [*((DENSE, f) for f in two), *((three, f) for f in more), *others]


def of_binsparse() -> list[Fields]:
    """All structures that we write, and what others do."""
    import h5py

    found: list[Fields] = []
    for dense, format in _structures():
        with h5py.File(io.BytesIO(), "w") as file:
            found.append(_written(file, ln.asarray(dense, format=format)))
    for structure, dense in (
        ("symmetric_lower", np.tril(SQUARE)),
        ("symmetric_upper", np.triu(SQUARE)),
        ("skew_symmetric_lower", np.tril(SQUARE, -1)),
        ("hermitian_upper", np.triu(SQUARE) + 1j * np.triu(SQUARE, 1)),
    ):
        with h5py.File(io.BytesIO(), "w") as file:
            fields = _written(file, ln.asarray(dense, format=ln.COO))
        fields["binsparse"]["binsparse"]["structure"] = structure
        found.append(fields)
    same = copy.deepcopy(found[0])
    same["values"] = same["values"][:1]
    same["binsparse"]["binsparse"]["data_types"]["values"] = "iso[float64]"
    return [*found, same]


def _written(file: Any, tensor: ln.Tensor) -> Fields:
    """The fields of a tensor as `ln.write` writes it."""
    from linnet.files.binsparse import put

    put(file, tensor)
    arrays = {name: array[()] for name, array in file.items()}
    return arrays | {"binsparse": json.loads(file.attrs["binsparse"])}


def of_h5ad() -> list[Fields]:
    """Rows, columns, arrays, and the attributes of older files."""
    found: list[Fields] = [{"X": DENSE}]
    for kind, said, shape in (
        ("csr", "@encoding-type", "@shape"),
        ("csc", "@encoding-type", "@shape"),
        ("csr", "@h5sparse_format", "@h5sparse_shape"),
    ):
        made = sp.coo_array(DENSE.astype("f4")).asformat(kind)
        arrays = {"data": made.data, "indices": made.indices, "indptr": made.indptr}
        name = kind if said == "@h5sparse_format" else f"{kind}_matrix"
        found.append(arrays | {said: name, shape: np.array(DENSE.shape)})
    return found


def of_mtx() -> list[Fields]:
    """Each layout with each field and each symmetry that it may have."""
    found = []
    values = {"real": ["0.5", "-1e-3", "7", "1e22"], "integer": ["1", "-2", "3", "9"]}
    values |= {"unsigned-integer": ["1", "2", "3", "18446744073709551615"], "pattern": [""] * 4}
    values |= {"complex": ["1 2", "0.5 -1", "3 0", "1e5 2"]}
    for field, tokens in values.items():
        for symmetry in ("general", "symmetric", "skew-symmetric", "hermitian"):
            if (symmetry == "hermitian") > (field == "complex"):
                continue
            if symmetry == "skew-symmetric" and field in ("pattern", "unsigned-integer"):
                continue
            head = f"%%MatrixMarket matrix coordinate {field} {symmetry}"
            places = ["2 1", "4 2", "4 3", "5 1"]
            lines = [head, "% c", "5 5 4", *map(" ".join, zip(places, tokens, strict=True))]
            found.append({"lines": [line.split() for line in lines]})
            if field != "pattern":
                count = {"general": 9, "skew-symmetric": 3}.get(symmetry, 6)
                real = ["1 0" if field == "complex" else "1"] * count
                head = head.replace("coordinate", "array")
                found.append({"lines": [line.split() for line in (head, "3 3", *real)]})
    return [*found, _many_lines()]


def _many_lines() -> Fields:
    """More entries than are sorted by NumPy, in no order."""
    row, col = np.random.default_rng(2).permutation(np.argwhere(LARGE)).T
    head = ["%%MatrixMarket matrix coordinate real general".split()]
    sizes = [*map(str, LARGE.shape), str(len(row))]
    entries = zip(row + 1, col + 1, LARGE[row, col], strict=True)
    return {"lines": [*head, sizes, *([str(i), str(j), str(v)] for i, j, v in entries)]}


def of_tns() -> list[Fields]:
    """With and without comments that say more."""
    entries = ["1 2 3 0.5", "3 4 5 -1e300", "2 2 2 7"]
    heads = [[], ["# shape: 3 4 5"], ["# shape: 3 4 5", "# dtype: float32"], ["# dtype: int64"]]
    found = [[*head, *(entries if k < 3 else ["1 2 3", "2 1 5"])] for k, head in enumerate(heads)]
    found += [["# shape: 9 9", "# dtype: complex128", "1 2 3 4", "9 9 1 0"]]
    found += [["# shape: 9", "# dtype: uint64", "1 18446744073709551615", "9 0"]]
    found += [["# shape: 2 2", "# dtype: bool", "1 2 1", "2 2 0"]]
    return [{"lines": [line.split() for line in lines]} for lines in found]


@cache
def seeds(kind: str) -> list[Fields]:
    """The fields of sound files of a kind; not to be changed."""
    of = {"npz": of_npz, "npy": of_npy, "bsp.h5": of_binsparse, "h5ad": of_h5ad}
    return (of | {"mtx": of_mtx, "tns": of_tns})[kind]()
