"""FROSTT, SciPy and NumPy files, and what all kinds have in common: names, whole files."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import linnet as ln

DTYPES = ("float64", "float32", "int64", "int8", "uint16", "complex128", "complex64", "bool")


def sample(dtype: str, shape: tuple[int, ...] = (3, 4, 5)) -> np.ndarray:
    rng = np.random.default_rng(5)
    dense = rng.integers(0, 99, shape) * (rng.random(shape) < 0.3)
    if dtype[0] in "fc":
        return (dense / 7).astype(dtype) * (1 - 2j if dtype[0] == "c" else 1)
    return dense.astype(dtype)


# -- FROSTT --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("end", [".tns", ".tns.gz"])
def test_tns_round_trip(tmp_path: Path, dtype: str, end: str):
    dense = sample(dtype).astype(dtype)
    for format in (ln.COO, ln.CSF, ln.CSF(3).with_order(2, 0, 1)):
        A = ln.asarray(dense, format=format)
        ln.write(tmp_path / f"a{end}", A)
        back = ln.read(tmp_path / f"a{end}", format=format)
        assert back.shape == A.shape
        assert back.format == A.format
        assert np.array_equal(back.to_numpy(), dense)


def test_tns_without_a_header(tmp_path: Path):
    path = tmp_path / "a.tns"
    path.write_text("# from elsewhere\n1 1 2 1.5\n3 2 1 -2\n\n1 1 2 1\n")
    A = ln.read(path)
    assert A.shape == (3, 2, 2)
    assert A.dtype == np.float64
    assert A.format.name == "COO(3)"
    assert A.buffers["idx0_0"].dtype == np.int32
    assert A.to_numpy()[0, 0, 1] == 2.5
    assert A.to_numpy()[2, 1, 0] == -2
    assert ln.read(path, dtype="int64", format=ln.CSF).to_numpy()[0, 0, 1] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected a line of coordinates and a value"),
        ("# only\n", "line 1: expected a line of coordinates and a value"),
        ("# one\n5\n", "line 2: expected a line of coordinates and a value"),
        ("1 2 3\n1 2\n", "line 2: expected 3 fields (row, column, number), found 2"),
        ("1 2 3\n1 2 3 4\n", "line 2: expected the end of the line, found '4'"),
        ("1 0 3\n", "line 1: column 0 is not 1 or more"),
        (f"1 1 3\n1 {10**22} 3\n", f"line 2: column {10**22} is too large"),
        ("1 1 1 x\n", "line 1: expected a number, found 'x'"),
        ("# shape: 2 2\n1 3 1\n", "line 2: column 3 is not between 1 and 2"),
        ("# shape: 2 2 2\n1 2 1\n", "says that it has 3 dimensions, and lists 2"),
        ("# shape: two\n1 1 1\n", "line 1: expected a shape"),
        ("# shape: ² 2\n1 1 1\n", "line 1: expected a shape"),
        ("# shape: 2 9999999999999999999\n1 1 1\n", "line 1: a dimension is too large"),
        (f"# shape: 2 {'9' * 5000}\n1 1 1\n", "line 1: a dimension is too large"),
        ("# dtype: real\n1 1 1\n", "line 1: expected a dtype"),
        ("# dtype: int8\n1 1 1.5\n", "line 2: expected an integer"),
        ("# dtype: int8\n1 1 3\n\n1 2 300\n", "line 4: the value 300 does not fit the dtype int8"),
        ("# dtype: uint8\n1 1 -3\n", "line 2: the value -3 does not fit the dtype uint8"),
        (
            "# dtype: uint64\n1 1 -3\n",
            "line 2: expected an integer of 64 bits that is not",
        ),
        ("1 " * 99 + "\n", "expected a line of coordinates"),
    ],
)
def test_malformed_tns(tmp_path: Path, text: str, message: str):
    path = tmp_path / "a.tns"
    path.write_text(text)
    with pytest.raises(ln.errors.FileError) as caught:
        ln.read(path)
    assert message in str(caught.value)


# -- SciPy and NumPy -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("compressed", [True, False])
def test_what_scipy_saves(tmp_path: Path, kind: str, compressed: bool):
    A = sp.random_array((6, 8), density=0.3, rng=0).asformat(kind)
    sp.save_npz(tmp_path / "a.npz", A, compressed=compressed)
    found = ln.read(tmp_path / "a.npz")
    assert np.array_equal(found.to_numpy(), A.toarray())
    expected = {"csr": ln.CSR, "csc": ln.CSC, "coo": ln.COO(2)}.get(kind, ln.CSR)
    assert found.format.levels[:-1] == expected.levels[:-1]
    assert found.format.order == expected.order
    assert ln.read(tmp_path / "a.npz", format=ln.DCSR).format.name == "DCSR"


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.BAND])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_scipy_loads(tmp_path: Path, format: object, dtype: str):
    dense = sample(dtype, (6, 8)).astype(dtype)
    A = ln.asarray(dense, format=format)
    ln.write(tmp_path / "a.npz", A)
    assert np.array_equal(sp.load_npz(tmp_path / "a.npz").toarray(), dense)
    back = ln.read(tmp_path / "a.npz", format=format)
    assert back.format == A.format
    assert np.array_equal(back.to_numpy(), dense)


def test_npz_of_three_dimensions_and_patterns(tmp_path: Path):
    dense = sample("float64")
    ln.write(tmp_path / "a.npz", ln.asarray(dense, format=ln.CSF))
    assert np.array_equal(ln.read(tmp_path / "a.npz").to_numpy(), dense)
    pattern = ln.asarray(np.eye(3, dtype=bool), format=ln.Dense(ln.SparseList(ln.Pattern())))
    ln.write(tmp_path / "b.npz", pattern)
    assert np.array_equal(sp.load_npz(tmp_path / "b.npz").toarray(), np.eye(3))


def test_damaged_npz(tmp_path: Path):
    path = tmp_path / "a.npz"
    sp.save_npz(path, sp.eye_array(50).tocsr())
    whole = path.read_bytes()
    for content, message in (
        (whole[: len(whole) // 2], "is not a NumPy file, or is damaged"),
        (b"hello", "is not a NumPy file, or is damaged"),
        (b"", "is not a NumPy file, or is damaged"),
        (whole.replace(whole[200:260], b"\0" * 60), "damaged"),
    ):
        path.write_bytes(content)
        with pytest.raises(ln.errors.FileError, match=message):
            ln.read(path)
    np.savez(path, x=np.ones(3))
    with pytest.raises(ln.errors.FileError, match="holds no sparse matrix"):
        ln.read(path)
    np.savez(path, format=b"csr", data=np.ones(3), shape=(2, 2))
    with pytest.raises(ln.errors.FileError, match="a csr matrix without indices"):
        ln.read(path)
    parts = {"data": np.ones(2), "indices": [0, 7], "indptr": [0, 1, 2]}
    np.savez(path, format=b"csr", shape=(2, 2), **parts)
    with pytest.raises(ln.errors.FileError, match=r"a\.npz: indices\[1\] is 7"):
        ln.read(path)


def test_objects_are_not_unpickled(tmp_path: Path):
    np.save(tmp_path / "a.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ln.errors.FileError, match="is not a NumPy file, or is damaged"):
        ln.read(tmp_path / "a.npy")


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path: Path, order: str):
    dense = np.array(sample("float32"), order=order)
    np.save(tmp_path / "a.npy", dense)
    found = ln.read(tmp_path / "a.npy")
    assert np.array_equal(found.to_numpy(), dense)
    ln.write(tmp_path / "b.npy", found)
    assert np.array_equal(np.load(tmp_path / "b.npy"), dense)
    assert ln.read(tmp_path / "a.npy", format=ln.CSF).nnz == np.count_nonzero(dense)
    with pytest.raises(ln.errors.FileError, match=r"\.npy files are dense"):
        ln.write(tmp_path / "c.npy", ln.asarray(dense, format=ln.CSF))
    assert not (tmp_path / "c.npy").exists()


# -- all kinds -----------------------------------------------------------------------------------


def test_names_that_tell_nothing(tmp_path: Path):
    for name in ("a", "a.txt", "mtx", "a.gz"):
        with pytest.raises(ln.errors.FileError, match="does not tell what kind of file"):
            ln.read(tmp_path / name)
        with pytest.raises(ln.errors.FileError, match="does not tell what kind of file"):
            ln.write(tmp_path / name, [[1.0]])
    with pytest.raises(ln.errors.ArgumentError, match="a path is a string, not int"):
        ln.read(5)
    with pytest.raises(FileNotFoundError):
        ln.read(tmp_path / "a.mtx")
    with pytest.raises(ln.errors.ArgumentError, match="holds one tensor"):
        ln.read(tmp_path / "a.mtx", "X")


@pytest.mark.parametrize("name", ["a.mtx", "a.tns"])
def test_a_format_is_refused_before_anything_is_read(tmp_path: Path, name: str):
    head = "%%MatrixMarket matrix coordinate real general\n3 3 1\n" if name == "a.mtx" else ""
    (tmp_path / name).write_text(head + "1 1 x\n")
    for format, message in (("crs", "is not a format"), (ln.CSF(5), "stores 5 dimensions")):
        with pytest.raises(ln.errors.FormatError, match=message):
            ln.read(tmp_path / name, format=format)


def test_names_in_capitals(tmp_path: Path):
    ln.write(tmp_path / "A.MTX", [[1.0, 2.0]])
    assert ln.read(tmp_path / "A.MTX").to_numpy().tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_npz_with_more_dimensions_than_arrays(kind: str, tmp_path: Path):
    """A tensor of three dimensions in CSR came of it."""
    path = tmp_path / "a.npz"
    sp.save_npz(path, sp.eye_array(4).asformat(kind))
    with np.load(path) as loaded:
        arrays = dict(loaded)
    np.savez(path, **{**arrays, "shape": np.array([4, 4, 4])})
    with pytest.raises(ln.LinnetError, match=r"a\.npz"):
        ln.read(path)


@pytest.mark.parametrize("end", [".mtx", ".mtx.gz", ".tns", ".npz", ".npy", ".bsp.h5"])
def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str):
    if end == ".bsp.h5":
        pytest.importorskip("h5py")
    path = tmp_path / f"a{end}"
    path.write_bytes(b"what was there")
    format = ln.DENSE if end == ".npy" else ln.CSR
    tensor = ln.asarray(np.eye(3), format=format)

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(KeyboardInterrupt):
        ln.write(path, tensor)
    assert path.read_bytes() == b"what was there"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_links_and_permissions(tmp_path: Path):
    (tmp_path / "there").mkdir()
    (tmp_path / "a.mtx").symlink_to(tmp_path / "there" / "b.mtx")
    before = os.umask(0o027)
    try:
        ln.write(tmp_path / "a.mtx", [[1.0]])
    finally:
        os.umask(before)
    assert (tmp_path / "a.mtx").is_symlink()
    assert (tmp_path / "there" / "b.mtx").stat().st_mode & 0o777 == 0o640


def test_equal_tensors_make_equal_files(tmp_path: Path):
    A = ln.asarray(np.eye(5), format=ln.CSR)
    ln.write(tmp_path / "a.mtx.gz", A)
    ln.write(tmp_path / "b.mtx.gz", A)
    assert (tmp_path / "a.mtx.gz").read_bytes() == (tmp_path / "b.mtx.gz").read_bytes()


def test_compressed_by_content(tmp_path: Path):
    """A name that says nothing of compression does not hide it, and the other way round."""
    ln.write(tmp_path / "a.mtx", [[1.0, 2.0]])
    packed = gzip.compress((tmp_path / "a.mtx").read_bytes())
    (tmp_path / "b.mtx").write_bytes(packed)
    (tmp_path / "c.mtx.gz").write_bytes((tmp_path / "a.mtx").read_bytes())
    for name in ("b.mtx", "c.mtx.gz"):
        assert ln.read(tmp_path / name).to_numpy().tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64", "bool"])
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 5)])
def test_nothing_stored_in_tns(tmp_path: Path, shape: tuple[int, ...], dtype: str):
    path = tmp_path / "a.tns"
    ln.write(path, ln.zeros(shape, dtype=dtype, format=ln.COO))
    found = ln.read(path)
    assert (found.shape, found.dtype, found.nnz) == (shape, np.dtype(dtype), 0)
    assert ln.read(path, format=ln.CSF).format.name == f"CSF({len(shape)})"


@pytest.mark.parametrize("end", ["tns", "npz"])
def test_single_numbers_are_not_written(tmp_path: Path, end: str):
    with pytest.raises(ln.LinnetError, match="a single number"):
        ln.write(tmp_path / f"a.{end}", ln.asarray(3.0))
    assert not list(tmp_path.iterdir())


def test_lazy_arrays_are_computed(tmp_path: Path):
    ln.write(tmp_path / "a.npz", ln.lazy(ln.eye(3)) * 2)
    np.testing.assert_array_equal(ln.read(tmp_path / "a.npz").to_numpy(), 2 * np.eye(3))


def test_a_shape_that_the_file_does_not_tell(tmp_path: Path):
    (tmp_path / "a.tns").write_text("1 2 1 4.0\n2 1 3 5.0\n")
    assert ln.read(tmp_path / "a.tns").shape == (2, 2, 3)
    found = ln.read(tmp_path / "a.tns", shape=[4, 2, 5], format=ln.CSF)
    assert found.shape == (4, 2, 5)
    assert found[1, 0, 2].item() == 5.0
    with pytest.raises(ln.errors.FileError, match="coordinate 3 is not between 1 and 2"):
        ln.read(tmp_path / "a.tns", shape=(2, 2, 2))
    with pytest.raises(ln.errors.FileError, match="2 dimensions, and lists 3"):
        ln.read(tmp_path / "a.tns", shape=(2, 2))
    ln.write(tmp_path / "a.mtx", ln.eye(3))
    with pytest.raises(TypeError, match="a shape of its own"):
        ln.read(tmp_path / "a.mtx", shape=(4, 4))
