"""binsparse and h5ad: names and layouts of their conventions, read and written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import linnet as ln

h5py = pytest.importorskip("h5py")

DENSE = np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4.25]])
NAMED = {
    "CSR": ln.CSR, "CSC": ln.CSC, "DCSR": ln.DCSR, "DCSC": ln.DCSC, "COOR": ln.COO(2),
    "COOC": ln.COO(2).with_order(1, 0), "DMATR": ln.DENSE(2), "DMATC": ln.DENSE(2).with_order(1, 0),
}  # fmt: skip


def about(path: Path) -> dict:
    with h5py.File(path) as file:
        return json.loads(file.attrs["binsparse"])["binsparse"]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint64", "bool", "complex64"])
def test_named_formats(tmp_path: Path, name: str, dtype: str):
    path = tmp_path / "a.bsp.h5"
    A = ln.asarray(DENSE.astype(dtype), format=NAMED[name])
    ln.write(path, A)
    said = about(path)
    assert said["format"] == name
    assert said["version"] == "0.1"
    assert said["shape"] == [3, 4]
    assert said["number_of_stored_values"] == A.nnz
    stored = {"bool": "bint8", "complex64": "complex[float32]"}.get(dtype, dtype)
    assert said["data_types"]["values"] == stored
    back = ln.read(path)
    assert back.format == A.format
    assert np.array_equal(back.to_numpy(), DENSE.astype(dtype))


def test_arrays_of_csr(tmp_path: Path):
    ln.write(tmp_path / "a.bsp.h5", ln.asarray(DENSE, format=ln.CSR))
    with h5py.File(tmp_path / "a.bsp.h5") as file:
        assert file["pointers_to_1"][()].tolist() == [0, 2, 2, 4]
        assert file["indices_1"][()].tolist() == [1, 3, 0, 3]
        assert file["values"][()].tolist() == [1.5, 2, 3, 4.25]
        assert set(file) == {"pointers_to_1", "indices_1", "values"}


@pytest.mark.parametrize(
    "format",
    [
        ln.CSF(3), ln.COO(3), ln.DENSE(3), ln.CSF(3).with_order(2, 0, 1),
        ln.Dense(ln.SparseCOO(2, ln.Element())),
        ln.SparseList(ln.Dense(ln.SparseList(ln.Element()))),
        ln.SparseCOO(2, ln.SparseList(ln.Element())),
    ],
    ids=repr,
)  # fmt: skip
def test_custom_formats(tmp_path: Path, format: object):
    dense = np.arange(24.0).reshape(2, 3, 4) % 5
    A = ln.asarray(dense, format=format)
    ln.write(tmp_path / "a.bsp.h5", A)
    assert about(tmp_path / "a.bsp.h5")["format"] == "custom"
    back = ln.read(tmp_path / "a.bsp.h5")
    assert back.format == A.format
    assert np.array_equal(back.to_numpy(), dense)


@pytest.mark.parametrize("format", [ln.BAND, ln.RLE, ln.BLOCK])
def test_other_levels_are_listed(tmp_path: Path, format: object):
    ln.write(tmp_path / "a.bsp.h5", ln.asarray(DENSE, format=format))
    assert about(tmp_path / "a.bsp.h5")["format"] == "COOR"
    assert np.array_equal(ln.read(tmp_path / "a.bsp.h5", format=format).to_numpy(), DENSE)


def test_vectors_fills_and_patterns(tmp_path: Path):
    path = tmp_path / "a.bsp.h5"
    ln.write(path, ln.asarray([0.0, 1.0, 0.0], format=ln.CSF))
    assert about(path)["format"] == "CVEC"
    assert ln.read(path).to_numpy().tolist() == [0.0, 1.0, 0.0]
    filled = ln.asarray([[np.inf, 1.0]], format=ln.CSR.with_fill(np.inf))
    ln.write(path, filled)
    assert about(path)["fill"] is True
    assert ln.read(path).format == filled.format
    pattern = ln.asarray(DENSE != 0, format=ln.Dense(ln.SparseList(ln.Pattern())))
    ln.write(path, pattern)
    assert about(path)["data_types"]["values"] == "iso[bint8]"
    assert ln.read(path).format == pattern.format


def by_hand(path: Path, text: object, **arrays: object) -> Path:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array
        if text is not None:
            file.attrs["binsparse"] = text if isinstance(text, str) else json.dumps(text)
    return path


CSR = {
    "version": "0.1",
    "format": "CSR",
    "shape": [2, 2],
    "number_of_stored_values": 2,
    "data_types": {"pointers_to_1": "uint64", "indices_1": "uint64", "values": "float64"},
}
PARTS = {"pointers_to_1": np.array([0, 1, 2], "u8"), "indices_1": np.array([0, 0], "u8")}


def test_what_others_write(tmp_path: Path):
    path = by_hand(tmp_path / "a.bsp.h5", {"binsparse": CSR}, **PARTS, values=[1.0, 2.0])
    assert ln.read(path).to_numpy().tolist() == [[1, 0], [2, 0]]
    same = CSR | {"data_types": {"values": "iso[int8]"}}
    path = by_hand(tmp_path / "b.bsp.h5", {"binsparse": same}, **PARTS, values=np.array([7], "i1"))
    assert ln.read(path).to_numpy().tolist() == [[7, 0], [7, 0]]
    for structure, other in (("symmetric_lower", 2), ("skew_symmetric_lower", -2)):
        half = CSR | {"structure": structure}
        path = by_hand(tmp_path / "c.bsp.h5", {"binsparse": half}, **PARTS, values=[0.0, 2.0])
        assert ln.read(path).to_numpy().tolist() == [[0, other], [2, 0]]


def test_a_group_by_its_key(tmp_path: Path):
    path = tmp_path / "a.bsp.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("one/two")
        for name, array in PARTS.items():
            group[name] = array
        group["values"] = [1.0, 2.0]
        group.attrs["binsparse"] = json.dumps({"binsparse": CSR})
    assert ln.read(path, "one/two").nnz == 2
    with pytest.raises(ln.errors.FileError, match="has no 'three'"):
        ln.read(path, "three")


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (None, {}, "is not a binsparse file"),
        ("{", {}, "is not a binsparse file"),
        ("[]", {}, "is not a binsparse file"),
        ({"binsparse": CSR | {"version": "2.0"}}, {}, "is of version 2.0"),
        ({"binsparse": CSR | {"format": "ELL"}}, {}, "the format 'ELL', which is not known"),
        ({"binsparse": CSR | {"shape": [2, 2, 2]}}, {}, "says the shape [2, 2, 2] of 2 dimensions"),
        ({"binsparse": CSR | {"format": "DCSR"}}, {}, "has no array indices_0"),
        ({"binsparse": CSR | {"structure": "odd"}}, {}, "the structure 'odd' is not known"),
        ({"binsparse": CSR}, {"indices_1": [0, 5]}, "is 5, outside its dimension of size 2"),
        ({"binsparse": CSR}, {"values": [1.0]}, "has 1 elements, and 2 are called for"),
        ({"binsparse": CSR | {"format": "custom", "custom": {"level": 3}}}, {}, "is not known"),
    ],
)
def test_malformed_binsparse(tmp_path: Path, text: object, change: dict, message: str):
    path = by_hand(tmp_path / "a.bsp.h5", text, **(PARTS | {"values": [1.0, 2.0]} | change))
    with pytest.raises(ln.LinnetError) as caught:
        ln.read(path)
    assert message in str(caught.value)
    assert "a.bsp.h5" in str(caught.value)


def test_what_is_no_hdf5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.bsp.h5"
    with pytest.raises(FileNotFoundError):
        ln.read(path)
    path.write_bytes(b"hello")
    with pytest.raises(ln.errors.FileError, match="is not an HDF5 file, or is damaged"):
        ln.read(path)
    ln.write(path, ln.asarray(np.ones((300, 300))))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ln.errors.FileError, match="is not an HDF5 file, or is damaged"):
        ln.read(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ln.errors.FileError, match="pip install h5py"):
        ln.read(path)


# -- h5ad ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_h5ad(tmp_path: Path, kind: str):
    path = tmp_path / "a.h5ad"
    A = ln.asarray(DENSE.astype("float32"), format=kind)
    with h5py.File(path, "w") as file:
        for key in ("X", "layers/counts"):
            group = file.create_group(key)
            group["data"], group["indices"] = A.buffers["val"], A.buffers["idx1"]
            group["indptr"] = A.buffers["ptr1"]
            group.attrs["encoding-type"] = f"{kind}_matrix"
            group.attrs["shape"] = A.shape
        file["raw"] = DENSE
        file.create_group("obs")
    for found in (ln.read(path), ln.read(path, "X"), ln.read(path, "layers/counts")):
        assert found.format == A.format
        assert np.array_equal(found.to_numpy(), DENSE)
    assert np.array_equal(ln.read(path, "raw").to_numpy(), DENSE)
    assert ln.read(path, "X", format=ln.COO, dtype="float64").dtype == np.float64
    with pytest.raises(ln.errors.FileError, match="has no matrix in 'obs'"):
        ln.read(path, "obs")
    with h5py.File(path, "a") as file:
        file["X/indices"][0] = 77
    with pytest.raises(ln.errors.FileError, match=r"a\.h5ad, X: indices\[0\] is 77"):
        ln.read(path, "X")
