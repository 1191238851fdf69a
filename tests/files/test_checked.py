"""What a file holds passes the checks that operands pass, whatever it says of itself."""

from __future__ import annotations

import ast
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import linnet as ln
from linnet import files
from linnet.files.build import from_entries

BSR = {
    "format": b"bsr",
    "shape": (4, 6),
    "data": np.arange(1.0, 13).reshape(2, 2, 3),
    "indices": [1, 0],
    "indptr": [0, 1, 2],
}
DIA = {
    "format": b"dia",
    "shape": (3, 4),
    "data": np.arange(1.0, 9).reshape(2, 4),
    "offsets": [0, 1],
}
COO = {"format": b"coo", "shape": (3, 4), "data": [1.0, 2.0], "row": [0, 2], "col": [3, 1]}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (BSR | {"indices": [1, 7]}, r"indices\[1\] is 7, outside its dimension of size 2"),
        (BSR | {"indices": [-1, 0]}, r"indices\[0\] is -1"),
        (BSR | {"indices": [0]}, "indices has 1 elements, and indptr calls for 2"),
        (BSR | {"indices": [0.5, 0]}, "indices has dtype float64"),
        (BSR | {"indptr": [0, 2]}, "indptr has 2 elements, and 3 are called for"),
        (BSR | {"indptr": [0, 2, 1]}, "indptr falls from 2 to 1"),
        (BSR | {"indptr": []}, "indptr has 0 elements"),
        (BSR | {"shape": (4, 7)}, "blocks of 2 x 3 do not make a matrix of the shape"),
        (BSR | {"shape": (-4, 6)}, "is negative"),
        (BSR | {"shape": (4.5, 6)}, "a shape is a tuple of integers"),
        (BSR | {"shape": (4, 6, 2)}, "do not have 3 dimensions"),
        (BSR | {"shape": 4}, "do not have 1 dimensions"),
        (BSR | {"data": np.ones((2, 6))}, "data has 2 dimensions, and must have 3"),
        (BSR | {"data": np.ones((1, 2, 3))}, "data has 1 elements, and indptr calls for 2"),
        (BSR | {"data": np.ones((2, 0, 3))}, "blocks of 0 x 3"),
        (DIA | {"shape": (-1, 8)}, "is negative"),
        (DIA | {"offsets": [0, 1, 2]}, "offsets has 3 elements, and 2 are called for"),
        (DIA | {"offsets": [0]}, "offsets has 1 elements, and 2 are called for"),
        (DIA | {"offsets": [1, 1]}, "names a diagonal twice"),
        (DIA | {"offsets": [0.5, 1]}, "offsets has dtype float64"),
        (DIA | {"data": np.ones(4)}, "data has 1 dimensions"),
        (COO | {"row": [0]}, r"coords\[0\] has 1 elements, and 2 are called for"),
        (COO | {"row": [0, 3]}, r"coords\[0\]\[1\] is 3"),
        (COO | {"data": [[1.0], [2.0]]}, "data has 2 dimensions, and must have 1"),
        (COO | {"data": ["x", "y"]}, "does not hold values of dtype"),
        (COO | {"coords": [[0, 2]]}, "do not have 2 dimensions"),
        (COO | {"format": [b"coo", b"csr"]}, "holds no sparse matrix"),
        ({k: v for k, v in COO.items() if k != "col"}, "is a coo matrix without col"),
    ],
)
def test_arrays_that_are_no_matrix(tmp_path: Path, parts: dict, message: str):
    np.savez(tmp_path / "a.npz", **parts)
    with pytest.raises(ln.errors.FileError, match=message) as caught:
        ln.read(tmp_path / "a.npz")
    assert "a.npz" in caught.value.message


def test_blocks_and_diagonals_that_are_unusual(tmp_path: Path):
    """More room than is used, blocks twice or not in order, diagonals beside the matrix."""
    path = tmp_path / "a.npz"
    more = np.concatenate([BSR["data"], np.full((1, 2, 3), 99.0)])
    np.savez(path, **BSR | {"data": more, "indices": [0, 0, 55], "indptr": [0, 2, 2]})
    expected = np.zeros((4, 6))
    expected[:2, :3] = BSR["data"].sum(axis=0)
    assert np.array_equal(ln.read(path).to_numpy(), expected)
    np.savez(path, **DIA | {"offsets": [-2, 2**63 - 1]})
    expected = np.zeros((3, 4))
    expected[2, 0] = 1
    assert np.array_equal(ln.read(path).to_numpy(), expected)
    wide = {"shape": (1, 2**33), "data": np.ones((1, 1, 2**20)), "indptr": [0, 1]}
    np.savez(path, **BSR | wide | {"indices": np.array([2**13 - 1], np.int32)})
    assert ln.read(path, format=ln.COO).buffers["idx0_1"].min() == 2**33 - 2**20


@pytest.mark.parametrize(
    ("coords", "values", "shape", "message"),
    [
        ([[0, 1], [1, 3]], [1.0, 2.0], (2, 3), r"a\.mtx: coords\[1\]\[1\] is 3, outside"),
        ([[0, -1], [1, 2]], [1.0, 2.0], (2, 3), r"coords\[0\]\[1\] is -1, outside"),
        ([[0, 1], [1]], [1.0, 2.0], (2, 3), r"coords\[1\] has 1 elements, and 2 are called for"),
        ([[0, 1], [1, 1.5]], [1.0, 2.0], (2, 3), r"coords\[1\] has dtype float64"),
        ([[0, 1]], [1.0, 2.0], (2, 3), "shape has 2 elements, and 1 are called for"),
        ([[0, 1], [1, 2]], [1.0, 2.0], (2, -3), "is negative"),
        ([[0, 1], [1, 2]], [[1.0], [2.0]], (2, 3), "values has 2 dimensions, and must have one"),
        ([[0, 1], [1, 2]], ["x", "y"], (2, 3), "does not hold values of dtype"),
    ],
)
def test_entries_of_any_file(coords: list, values: list, shape: tuple, message: str):
    """Whoever lists the entries of a file, nothing that trusts them is called before this."""
    listed = [np.array(idx) for idx in coords]
    with pytest.raises(ln.errors.FileError, match=message):
        from_entries(Path("a.mtx"), listed, np.array(values), shape, None, None)


@pytest.mark.parametrize("end", ["npy", "npz", "h5ad"])
def test_booleans_are_0_or_1(tmp_path: Path, end: str):
    """The C back end may do anything with another byte; NumPy writes none."""
    path, odd = tmp_path / f"a.{end}", np.array([1, 110], "u1").view(bool)
    if end == "h5ad":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["X"] = odd
    elif end == "npz":
        np.savez(path, **COO | {"data": odd})
    else:
        np.save(path, odd)
    with pytest.raises(ln.errors.FileError, match="has the boolean 110 at position 1"):
        ln.read(path)


@pytest.mark.parametrize("end", ["npy", "npz"])
def test_arrays_beyond_all_memory(tmp_path: Path, end: str):
    text = io.BytesIO()
    said = {"descr": "<f8", "fortran_order": False, "shape": (2**58,)}
    np.lib.format.write_array_header_1_0(text, said)
    (tmp_path / "a.npy").write_bytes(text.getvalue() + bytes(64))
    if end == "npz":
        np.savez(tmp_path / "a.npz", **COO)
        with zipfile.ZipFile(tmp_path / "a.npz", "a") as file:
            file.writestr("coords.npy", text.getvalue())
    with pytest.raises(ln.errors.OutOfMemoryError, match=rf"a\.{end}: ") as caught:
        ln.read(tmp_path / f"a.{end}")
    assert caught.value.why == "it is as large as that, or damaged"


def test_one_file_alone_makes_tensors_of_what_it_trusts():
    """It is the one that checks them before."""
    trusting = {"wrap", "pack", "sort_unique", "sort_stably", "sort_in_place", "sort_entries"}
    trusting |= {"complete_level", "Buffer", "Contents"}
    found = {
        path.stem
        for path in Path(files.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and trusting & {name.name for name in node.names}
    }
    assert found == {"build"}


def test_what_is_asked_for_is_not_the_fault_of_the_file(tmp_path: Path):
    np.savez(tmp_path / "a.npz", **COO | {"data": [1.0, 300.0]})
    with pytest.raises(ln.errors.DTypeError, match=r"300.0 at .* does not fit the dtype int8"):
        ln.read(tmp_path / "a.npz", dtype="int8")
    with pytest.raises(ln.errors.FormatError, match="stores 5 dimensions"):
        ln.read(tmp_path / "a.npz", format=ln.CSF(5))


def test_npy_of_what_is_no_number(tmp_path: Path):
    np.save(tmp_path / "a.npy", np.array(["x"]))
    with pytest.raises(ln.errors.FileError, match=r"a\.npy: Linnet does not hold values of dtype"):
        ln.read(tmp_path / "a.npy")


# Windows has names of any characters, and guesses where others are at home.
ELSEWHERE = [] if sys.platform == "win32" else ["\ud800.mtx", "~nobody-of-this-name/a.mtx"]


@pytest.mark.parametrize("name", ["a\0.mtx", *ELSEWHERE])
def test_names_that_no_file_has(name: str):
    with pytest.raises(ln.errors.ArgumentError, match="is not the name of a file"):
        ln.read(name)
    with pytest.raises(ln.errors.ArgumentError, match="is not the name of a file"):
        ln.write(name, ln.eye(2))


def test_a_key_is_a_string(tmp_path: Path):
    with pytest.raises(ln.errors.ArgumentError, match="a key is a string, not int"):
        ln.read(tmp_path / "a.h5ad", 5)


# -- HDF5 ------------------------------------------------------------------------------------------

TEXT = {"version": "0.1", "format": "COO", "shape": [3, 3], "number_of_stored_values": 2}
PARTS = {"indices_0": [1, 2], "indices_1": [0, 2], "values": [5.0, 7.0]}


def binsparse(path: Path, text: object, **arrays: object) -> Path:
    with pytest.importorskip("h5py").File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array
        file.attrs["binsparse"] = text if isinstance(text, str) else json.dumps(text)
    return path


@pytest.mark.parametrize(
    ("text", "parts", "message"),
    [
        ({"structure": "symmetric_lower", "shape": [3, 4]}, {}, "is square, not"),
        ({"structure": "symmetric_upper"}, {}, r"entry at \(1, 0\) is below the diagonal"),
        ({"structure": "symmetric_odd"}, {}, "is not known"),
        ({"structure": ["symmetric"]}, {}, "is not known"),
        ({"structure": "skew_symmetric_lower"}, {}, r"\(2, 2\) is on the diagonal, and is not 0"),
        (
            {"structure": "skew_symmetric_lower"},
            {"values": np.array([5, 0], "u1")},
            r"\(1, 0\) has an opposite that the dtype uint8 does not hold",
        ),
        (
            {"structure": "hermitian_lower", "data_types": {"values": "complex[float64]"}},
            {"values": [1.0, 1.0, 1.0, 1.0]},
            r"\(2, 2\) is on the diagonal, and is not real",
        ),
        (
            {"data_types": {"values": "iso[float64]"}, "number_of_stored_values": 10**12},
            {"values": [1.0]},
            "is 1000000000000, and the arrays call for 2 values",
        ),
        ({"data_types": {"values": "iso[int8]"}}, {"values": [1, 2]}, "values has 2 elements"),
        ({"data_types": {"values": "complex[float64]"}}, {"values": [1, 2]}, "pairs of floats"),
        ({"data_types": {"values": "complex[float32]"}}, {"values": [1.0]}, "pairs of floats"),
        ({"shape": [3.5, 3]}, {}, "a shape is a tuple of integers"),
        ({"shape": "33"}, {}, "is not a binsparse file"),
        ({"shape": [-3, 3]}, {}, "is negative"),
        ({"fill": True}, {"fill_value": []}, "fill_value has 0 elements"),
        ({"fill": True}, {"fill_value": b"x"}, "has no numbers in '/fill_value'"),
        ({}, {"values": b"x"}, "has no numbers in '/values'"),
        ({}, {"indices_0": [[1, 2]]}, "must have one"),
        ({}, {"indices_1": [0, -1]}, "outside its dimension"),
    ],
)
def test_texts_that_contradict_the_arrays(tmp_path: Path, text: dict, parts: dict, message: str):
    path = binsparse(tmp_path / "a.bsp.h5", TEXT | text, **PARTS | parts)
    with pytest.raises(ln.errors.FileError, match=message) as caught:
        ln.read(path)
    assert "a.bsp.h5" in caught.value.message


def test_text_that_is_nested_beyond_reason(tmp_path: Path):
    path = binsparse(tmp_path / "a.bsp.h5", "[" * 20000, **PARTS)
    with pytest.raises(ln.errors.FileError, match="is not a binsparse file"):
        ln.read(path)


def test_groups_and_promises_are_no_arrays(tmp_path: Path):
    path = binsparse(tmp_path / "a.bsp.h5", TEXT, **PARTS)
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "a") as file:
        del file["values"]
        file.create_dataset("values", (10**10,), "f8", chunks=True)
    with pytest.raises(ln.errors.FileError, match="announces 80000000000 bytes in '/values'"):
        ln.read(path)
    with h5py.File(path, "a") as file:
        del file["values"]
        file.create_group("values")
    with pytest.raises(ln.errors.FileError, match="has no array in '/values'"):
        ln.read(path)


@pytest.mark.parametrize(
    "attributes",
    [
        {"shape": 5},
        {"shape": "three"},
        {"shape": [3.0, 4.0]},
        {"shape": [3, 4, 5]},
        {"shape": [-3, 4]},
        {"shape": [[3, 4], [3, 4]]},
        {"encoding-type": 5},
        {"encoding-type": ["csr_matrix", "csc_matrix"]},
        {"encoding-type": b"array"},
    ],
    ids=str,
)
def test_attributes_of_odd_types(tmp_path: Path, attributes: dict):
    path = tmp_path / "a.h5ad"
    with pytest.importorskip("h5py").File(path, "w") as file:
        group = file.create_group("X")
        group["data"], group["indices"], group["indptr"] = [1.0, 2.0], [0, 3], [0, 1, 1, 2]
        for name, value in ({"encoding-type": "csr_matrix", "shape": [3, 4]} | attributes).items():
            group.attrs[name] = value
    with pytest.raises(ln.errors.FileError, match=r"a\.h5ad"):
        ln.read(path)


def test_annotated_data_that_is_no_number(tmp_path: Path):
    path = tmp_path / "a.h5ad"
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["X"] = ["x", "y"]
        file["Y"] = np.ones(3, np.float16)
    for key in ("X", "Y"):
        with pytest.raises(ln.errors.FileError, match=r"a\.h5ad"):
            ln.read(path, key)
