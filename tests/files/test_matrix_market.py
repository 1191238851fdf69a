"""Matrix Market files: read as SciPy reads them, written exactly, refused with their line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import linnet as ln

FIELDS = ("real", "double", "integer", "complex", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
LEGAL = [
    (layout, field, symmetry)
    for layout in ("coordinate", "array")
    for field in FIELDS
    for symmetry in SYMMETRIES
    if not (layout == "array" and field == "pattern")
    and not (symmetry == "hermitian" and field != "complex")
    and not (symmetry == "skew-symmetric" and field == "pattern")
]


def numbers(field: str, rng: np.random.Generator) -> str:
    match field:
        case "pattern":
            return ""
        case "integer":
            return f" {rng.integers(-(10**12), 10**12)}"
        case "complex":
            return f" {float(rng.normal())!r} {float(rng.normal() * 1e-9)!r}"
        case _:
            return f" {float(rng.normal() * 10.0 ** rng.integers(-30, 30))!r}"


def text(layout: str, field: str, symmetry: str, n: int = 7) -> str:
    """A small file; a triangle has the size that its symmetry says."""
    rng, lines = np.random.default_rng(3), []
    strict = symmetry == "skew-symmetric"
    for j in range(n):
        for i in range(n):
            if symmetry != "general" and i < j + strict:
                continue
            real = field == "complex" and symmetry == "hermitian" and i == j
            value = f" {i}.5 0" if real else numbers(field, rng)
            if layout == "array":
                lines.append(value)
            elif rng.random() < 0.4:
                lines.append(f"{i + 1} {j + 1}{value}")
    sizes = f"{n} {n}" + (f" {len(lines)}" if layout == "coordinate" else "")
    head = f"%%MatrixMarket matrix {layout} {field} {symmetry}\n% a comment\n\n{sizes}\n"
    return head + "\n".join(lines) + "\n"


@pytest.mark.parametrize(("layout", "field", "symmetry"), LEGAL)
def test_what_scipy_reads(tmp_path: Path, layout: str, field: str, symmetry: str):
    path = tmp_path / "a.mtx"
    path.write_text(text(layout, field, symmetry))
    found = ln.read(path)
    if field == "double":  # which SciPy does not know
        path.write_text(text(layout, field, symmetry).replace("double", "real"))
    expected = scipy.io.mmread(path)
    assert np.array_equal(found.to_numpy(), sp.coo_array(expected).toarray())
    assert found.dtype == {"pattern": bool}.get(field, expected.dtype)
    expected_format = ln.CSR if layout == "coordinate" else ln.DENSE(2)
    assert found.format.levels[:-1] == expected_format.levels[:-1]


@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.DENSE, ln.BAND])
@pytest.mark.parametrize("end", [".mtx", ".mtx.gz"])
def test_round_trip(tmp_path: Path, format: object, end: str):
    rng = np.random.default_rng(0)
    for dtype in ("float64", "float32", "int64", "uint8", "complex128"):
        dense = rng.integers(-9, 9, (5, 8)) * (rng.random((5, 8)) < 0.5)
        dense = (np.abs(dense) if dtype == "uint8" else dense / (3 if "f" in dtype else 1)).astype(
            dtype
        )
        A = ln.asarray(dense, format=format)
        ln.write(tmp_path / f"a{end}", A)
        back = ln.read(tmp_path / f"a{end}", format=format, dtype=dtype)
        assert back.format == A.format
        assert np.array_equal(back.to_numpy(), dense)


def test_pattern_round_trip(tmp_path: Path):
    A = ln.asarray(np.eye(4, dtype=bool), format=ln.Dense(ln.SparseList(ln.Pattern())))
    ln.write(tmp_path / "a.mtx", A)
    assert "pattern" in (tmp_path / "a.mtx").read_text()
    back = ln.read(tmp_path / "a.mtx")
    assert back.format == A.format
    assert np.array_equal(back.to_numpy(), np.eye(4))
    as_numbers = ln.read(tmp_path / "a.mtx", dtype="float64")
    assert as_numbers.format == ln.CSR.with_dtype("float64").with_fill(0.0)


@pytest.mark.parametrize(
    "value", ["inf", "-Infinity", "nan", "1e-400", "1e400", "-0.0", "4.9e-324"]
)
@pytest.mark.parametrize("digits", ["", "1234567890123456789012345.5"])
def test_numbers_at_the_ends_of_the_range(tmp_path: Path, value: str, digits: str):
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix array real general\n1 2\n{value}\n{digits or 3}\n")
    found = ln.read(path).to_numpy()[0]
    assert np.array_equal(found, [float(value), float(digits or 3)], equal_nan=True)
    assert np.signbit(found[0]) == np.signbit(float(value))


def test_duplicates_are_summed_in_any_order(tmp_path: Path):
    path = tmp_path / "a.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate integer general\n"
        "3 3 5\n3 1 1\n1 2 10\n3 1 2\n1 1 5\n3 1 4\n"
    )
    assert ln.read(path).to_numpy().tolist() == [[5, 10, 0], [0, 0, 0], [7, 0, 0]]
    assert ln.read(path).nnz == 3


def test_hypersparse_matrices_are_listed(tmp_path: Path):
    path = tmp_path / "a.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate real general\n"
        "1000000000000 1000000000000 2\n999999999999 5 1.5\n7 3 2.5\n"
    )
    A = ln.read(path)
    assert A.format.name == "COO(2)"
    assert A.buffers["idx0_0"].tolist() == [6, 999999999998]


def test_many_blocks(tmp_path: Path):
    """More text than is held at once, through a compressed file of unknown length."""
    rng = np.random.default_rng(1)
    A = sp.random_array((3000, 4000), density=0.03, rng=rng).tocsr()
    path = tmp_path / "a.mtx.gz"
    ln.write(path, ln.asarray(A))
    assert len(gzip.decompress(path.read_bytes())) > 2 * (1 << 22)
    B = ln.read(path).to_scipy()
    assert np.array_equal(B.indptr, A.indptr)
    assert np.array_equal(B.indices, A.indices)
    assert np.array_equal(B.data, A.data)


HEAD = "%%MatrixMarket matrix coordinate real general\n"
REFUSED = {
    "not a header": ("hello\n", "line 1: expected `%%MatrixMarket matrix"),
    "empty": ("", "line 1: expected `%%MatrixMarket matrix"),
    "layout": (
        "%%MatrixMarket matrix list real general\n",
        "expected a layout (coordinate, array)",
    ),
    "field": ("%%MatrixMarket matrix array quaternion general\n", "expected a field (real, double"),
    "array pattern": ("%%MatrixMarket matrix array pattern general\n", "found 'pattern'"),
    "symmetry": ("%%MatrixMarket matrix array real odd\n", "expected a symmetry (general"),
    "hermitian": ("%%MatrixMarket matrix array real hermitian\n", "is complex, and not real"),
    "sizes": (HEAD + "% x\n3 3\n", "line 3: expected 3 sizes (rows, columns, entries)"),
    "no sizes": (HEAD, "found the end of the file"),
    "negative": (HEAD + "3 -3 1\n", "line 2: expected 3 sizes"),
    "huge": (HEAD + "99999999999999999999 3 1\n", "too large"),
    "square": (
        HEAD.replace("general", "symmetric") + "3 4 0\n",
        "line 2: a symmetric matrix is square, and this one is 3 x 4",
    ),
    "row": (HEAD + "3 3 2\n1 1 1\n4 1 1\n", "line 4: row 4 is not between 1 and 3"),
    "column": (HEAD + "3 3 1\n1 0 1\n", "line 3: column 0 is not between 1 and 3"),
    "index": (HEAD + "3 3 1\n1 x 1\n", "line 3: expected a column (a whole number), found 'x'"),
    "real index": (HEAD + "3 3 1\n1 2.0 1\n", "found '2.0'"),
    "negative index": (HEAD + "3 3 1\n-1 2 1\n", "found '-1'"),
    "number": (HEAD + "3 3 2\n1 1 1\n2 2 one\n", "line 4: expected a number, found 'one'"),
    "underscore": (HEAD + "3 3 1\n1 1 1_0\n", "expected a number, found '1_0'"),
    "short": (HEAD + "3 3 1\n1 1\n", "line 3: expected 3 fields (row, column, number), found 2"),
    "shorter": (HEAD + "3 3 1\n1\n", "line 3: expected 3 fields (row, column, number), found 1"),
    "long": (HEAD + "3 3 1\n1 1 1 7\n", "line 3: expected the end of the line, found '7'"),
    "cut off": (HEAD + "3 3 3\n1 1 1\n2 2 1", "the file ends after 2 of 3 entries"),
    "too many": (HEAD + "3 3 1\n1 1 1\n\n2 2 1\n", "line 5: this is one entry more than the 1"),
    "count": (HEAD + "3 3 999999999999999\n1 1 1\n", "ends after 1 of 999999999999999"),
    "both triangles": (
        HEAD.replace("general", "symmetric") + "% x\n3 3 2\n\n2 1 1\n% y\n1 2 1\n",
        "line 7: the entry at (1, 2) is above the diagonal, and the others are below it",
    ),
    "skew diagonal": (
        HEAD.replace("general", "skew-symmetric") + "3 3 1\n2 2 1\n",
        "line 3: the entry at (2, 2) is on the diagonal, and is not 0",
    ),
    "hermitian diagonal": (
        HEAD.replace("real general", "complex hermitian") + "3 3 2\n2 1 1 1\n2 2 1 1\n",
        "line 4: the entry at (2, 2) is on the diagonal, and is not real",
    ),
    "hermitian array": (
        "%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 1\n\n3 1\n",
        "line 6: the entry at (2, 2) is on the diagonal, and is not real",
    ),
    "skew unsigned": (
        HEAD.replace("real general", "unsigned-integer skew-symmetric") + "3 3 2\n2 1 0\n3 1 7\n",
        "line 4: the entry at (3, 1) has an opposite that the dtype uint64 does not hold",
    ),
    "skew least": (
        "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n-9223372036854775808\n",
        "line 3: the entry at (2, 1) has an opposite that the dtype int64 does not hold",
    ),
    "negative unsigned": (
        HEAD.replace("real", "unsigned-integer") + "3 3 2\n2 1 0\n3 1 -7\n",
        "line 4: expected an integer of 64 bits that is not negative, found '-7'",
    ),
    "64 bits": (
        HEAD + "3 9223372036854775807 2\n2 9223372036854775807 1\n2 9223372036854775808 1\n",
        "line 4: column 9223372036854775808 is too large",
    ),
    "control": (HEAD + "3 3 1\n1 0\x01\xfb 1\n", "line 3: column 0 is not between 1 and 3"),
    "page": (HEAD + "3 3 1\n\f\n", "line 3: expected a row (a whole number), found '\\x0c'"),
    "20 digits": (HEAD + "3 3 1\n2 99999999999999999999 1\n", "line 3: column 9999"),
    "integer": (
        HEAD.replace("real", "integer") + "3 3 1\n1 1 1.5\n",
        "line 3: expected an integer of 64 bits, found '1.5'",
    ),
    "large integer": (
        HEAD.replace("real", "integer") + "3 3 1\n1 1 9223372036854775808\n",
        "expected an integer of 64 bits",
    ),
    "pattern with values": (
        HEAD.replace("real", "pattern") + "3 3 1\n1 1 1.5\n",
        "expected the end of the line, found '1.5'",
    ),
    "complex": (HEAD.replace("real", "complex") + "3 3 1\n1 1 1\n", "imaginary part"),
    "array": ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "after 3 of 4 entries"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("end", [".mtx", ".mtx.gz"])
def test_malformed_files_are_refused(tmp_path: Path, case: str, end: str):
    content, message = REFUSED[case]
    path = tmp_path / f"a{end}"
    path.write_bytes(
        gzip.compress(content.encode("latin-1")) if end == ".mtx.gz" else content.encode("latin-1")
    )
    with pytest.raises(ln.errors.FileError) as caught:
        ln.read(path)
    assert message in str(caught.value)
    assert path.name in caught.value.message
    assert "test_matrix_market.py" in str(caught.value)


def test_damaged_compression(tmp_path: Path):
    whole = gzip.compress((HEAD + "3 3 1\n" + "% x\n" * 10000 + "1 1 1\n").encode())
    path = tmp_path / "a.mtx.gz"
    for content, message in (
        (gzip.compress(whole), "compressed twice"),
        (whole[:-20], "ends in the middle of its compressed data"),
        (whole[:40] + b"\xff" * 40, "cannot be decompressed"),
    ):
        path.write_bytes(content)
        with pytest.raises(ln.errors.FileError, match=message):
            ln.read(path)
    path.write_bytes(whole)
    assert ln.read(path).nnz == 1


def test_binary_junk_is_no_text(tmp_path: Path):
    (tmp_path / "a.mtx").write_bytes(b"\0\1\2" * 1000)
    with pytest.raises(ln.errors.FileError, match="this is not text"):
        ln.read(tmp_path / "a.mtx")


def test_what_cannot_be_written(tmp_path: Path):
    path = tmp_path / "a.mtx"
    path.write_text("before")
    for tensor, message in (
        (ln.asarray(np.zeros((2, 2, 2))), "has 3 dimensions"),
        (ln.asarray([[1.0, 2.0]], format=ln.CSR.with_fill(1.0)), "what is not stored is 1.0"),
    ):
        with pytest.raises(ln.errors.FileError, match=message):
            ln.write(path, tensor)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.mtx"]


def test_integers_without_a_sign(tmp_path: Path):
    values = np.array([1, 2**64 - 1, 2**63, 7], np.uint64)
    a = sp.coo_array((values, ([0, 1, 2, 2], [1, 2, 0, 1])), shape=(3, 3))
    scipy.io.mmwrite(tmp_path / "a.mtx", a)
    assert "unsigned-integer" in (tmp_path / "a.mtx").read_text()
    found = ln.read(tmp_path / "a.mtx")
    assert found.dtype == np.uint64
    for end in ("mtx", "tns"):
        ln.write(tmp_path / f"b.{end}", found)
        assert np.array_equal(ln.read(tmp_path / f"b.{end}").to_numpy(), a.toarray())
    assert np.array_equal(scipy.io.mmread(tmp_path / "b.mtx").toarray(), a.toarray())
    for token in ("-5", str(2**64)):
        text = f"%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 1\n1 1 {token}\n"
        (tmp_path / "c.mtx").write_text(text)
        with pytest.raises(ln.errors.FileError, match=r"negative|64 bits"):
            ln.read(tmp_path / "c.mtx")


@pytest.mark.parametrize("end", [".mtx", ".tns", ".npz"])
@pytest.mark.parametrize("index", [10**18 - 1, 10**18, 2**63 - 2])
def test_large_coordinates_are_read_back(tmp_path: Path, end: str, index: int):
    path = tmp_path / f"a{end}"
    A = ln.tensor([[0, index], [index, 1]], [1.5, 2.5], (index + 1, index + 1))
    ln.write(path, A)
    back = ln.read(path)
    assert back.shape == A.shape
    assert back.buffers["idx0_0"].tolist() == [0, index]
    assert back.buffers["idx0_1"].tolist() == [index, 1]


def test_the_line_of_an_entry_far_behind(tmp_path: Path):
    """More lines than a block holds, and more values that take Python than a call leaves to it."""
    head = HEAD.replace("general", "symmetric") + "% x\n9 9 200001\n"
    body = "".join(f"{k % 9 + 1} 1 1e400\n" for k in range(200000))
    for end, pack in (("mtx", bytes), ("mtx.gz", gzip.compress)):
        (tmp_path / f"a.{end}").write_bytes(pack((head + body + "1 2 3\n").encode()))
        with pytest.raises(ln.errors.FileError, match=r"line 200004: the entry at \(1, 2\)"):
            ln.read(tmp_path / f"a.{end}")
