"""Matrix Market files, `.mtx` and `.mtx.gz`: all fields and symmetries, coordinates and arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FileError
from linnet.files.build import from_entries
from linnet.files.lines import DIGITS, Layout, Lines
from linnet.files.stream import Source
from linnet.files.text import text_of
from linnet.files.triangles import (
    HERMITIAN,
    SKEW,
    SYMMETRIC,
    contradiction,
    mirrored,
    opposite,
)
from linnet.formats.assemble import unpack
from linnet.formats.from_numpy import from_numpy
from linnet.formats.named import FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST
from linnet.records import dataclass

Ints = NDArray[Any]
LAYOUTS = ("coordinate", "array")
FIELDS = {
    "real": "float64",
    "double": "float64",
    "integer": "int64",
    "unsigned-integer": "uint64",
    "complex": "complex128",
}
SYMMETRIES = ("general", SYMMETRIC, SKEW, HERMITIAN)


@dataclass(frozen=True, slots=True)
class Header:
    """What the first lines say."""

    layout: str
    field: str
    symmetry: str
    shape: tuple[int, int]
    count: int  # entries, or elements of an array, that the file lists


def read_matrix_market(path: Path, format: FormatLike | None, dtype: str | None) -> Tensor:
    """The matrix in a file; a triangle that stands for both is completed."""
    if format is not None:
        format = as_format(format, 2)  # refused before a large file is read
    with Source(path) as source:
        header = _read_header(source)
        lines = Lines(source, _layout_of(header))
        coords, bits = lines.read()
    values = None if header.field == "pattern" else bits.view(FIELDS[header.field])
    if header.layout == "array":
        assert values is not None
        return from_numpy(_square(header, values, lines), dtype, format, None, None)
    if header.symmetry != "general":
        i, j = coords
        _check_triangle(header, i, j, values, lines)
        coords, values = mirrored(header.symmetry, i, j, values)
    return from_entries(path, coords, values, header.shape, format, dtype)


def _layout_of(header: Header) -> Layout:
    """What the lines behind the header hold."""
    parts = {"pattern": 0, "complex": 2}.get(header.field, 1)
    dims = header.shape if header.layout == "coordinate" else ()
    whole, unsigned = header.field.endswith("integer"), header.field.startswith("unsigned")
    return Layout(dims, parts, whole, "%", header.count, unsigned)


# -- the header ----------------------------------------------------------------------------------


def _read_header(source: Source) -> Header:
    words = source.line().lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket" or words[1] != "matrix":
        raise source.problem(
            "expected `%%MatrixMarket matrix <layout> <field> <symmetry>`",
            line=1,
            why="every Matrix Market file begins with this line",
        )
    layout = _one_of(source, "layout", words[2], LAYOUTS)
    fields = (*FIELDS, "pattern") if layout == "coordinate" else tuple(FIELDS)
    field = _one_of(source, "field", words[3], fields)
    symmetry = _one_of(source, "symmetry", words[4], SYMMETRIES)
    if symmetry == HERMITIAN and field != "complex":
        raise source.problem(f"a hermitian matrix is complex, and not {field}", line=1)
    if symmetry == SKEW and field == "pattern":
        raise source.problem("a pattern has no signs, and cannot be skew-symmetric", line=1)
    sizes = _read_sizes(source, 3 if layout == "coordinate" else 2)
    rows, columns = sizes[:2]
    if symmetry != "general" and rows != columns:
        raise source.problem(
            f"a {symmetry} matrix is square, and this one is {rows} x {columns}", line=source.lines
        )
    count = sizes[2] if layout == "coordinate" else _elements(symmetry, rows, columns)
    return Header(layout, field, symmetry, (rows, columns), count)


def _one_of(source: Source, what: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise source.problem(f"expected a {what} ({', '.join(known)}), found {word!r}", line=1)
    return word


def _read_sizes(source: Source, count: int) -> list[int]:
    """The first line that is no comment: rows, columns, and the number of entries."""
    text = source.line()
    while text and (not text.strip() or text.startswith("%")):
        text = source.line()
    words = text.split()
    names = ("rows", "columns", "entries")[:count]
    if len(words) != count or not all(word.isascii() and word.isdigit() for word in words):
        found = repr(text.strip()[:40]) if text else "the end of the file"
        raise source.problem(
            f"expected {count} sizes ({', '.join(names)}), found {found}", line=source.lines
        )
    if max(map(len, words)) > DIGITS:
        raise source.problem("a size is too large", line=source.lines)
    sizes = list(map(int, words))
    if max(sizes[:2]) > LARGEST:
        raise source.problem(f"a dimension of {max(sizes)} is too large", line=source.lines)
    return sizes


def _elements(symmetry: str, rows: int, columns: int) -> int:
    """How many elements of an array are listed."""
    if symmetry == "general":
        return rows * columns
    return rows * (rows - 1) // 2 if symmetry == SKEW else rows * (rows + 1) // 2


# -- symmetry ------------------------------------------------------------------------------------


def _check_triangle(
    header: Header, i: Ints, j: Ints, values: NDArray[Any] | None, lines: Lines
) -> None:
    """One triangle is listed, not both; the diagonal is what the symmetry lets it be."""
    wrong = contradiction(header.symmetry, i, j, values)
    if wrong is not None:
        q, what = wrong
        raise lines.source.problem(
            f"the entry at ({int(i[q]) + 1}, {int(j[q]) + 1}) {what}",
            line=lines.line_of(q),
            why=f"a {header.symmetry} matrix is listed by one triangle, which stands for both",
        )


def _square(header: Header, values: NDArray[Any], lines: Lines) -> NDArray[Any]:
    """The array, from what is listed of it, column by column."""
    rows, columns = header.shape
    if header.symmetry == "general":
        return values.reshape(columns, rows).T
    result = np.zeros((rows, rows), values.dtype)
    offset = -1 if header.symmetry == SKEW else 0
    j, i = np.triu_indices(rows, -offset)  # by columns: the transpose of an upper triangle by rows
    _check_triangle(header, i, j, values, lines)
    result[j, i] = opposite(header.symmetry, values)
    result[i, j] = values
    return result


# -- writing -------------------------------------------------------------------------------------


def matrix_market_text(tensor: Tensor) -> Iterator[bytes]:
    """The file that holds a matrix, piece by piece."""
    shape = tensor.contents().shape
    if len(shape) != 2:
        raise FileError(
            f"a Matrix Market file holds a matrix, and this tensor has {len(shape)} dimensions",
            hint="write a .tns file",
        )
    dense = all(level.full for level in tensor.format.levels[:-1])
    if dense and tensor.dtype != bool:
        values = tensor.to_numpy().T.reshape(-1)  # by columns
        yield _banner("array", field_of(values), shape)
        yield from text_of([], values)
        return
    coords, values = unpack(tensor)
    if values.dtype == bool:
        coords, values = [idx[values] for idx in coords], values[values]
    field = field_of(values)
    yield _banner("coordinate", field, (*shape, len(values)))
    yield from text_of(coords, None if field == "pattern" else values)


def field_of(values: NDArray[Any]) -> str:
    """What a file calls values of this type: unsigned, where no signed integer holds them."""
    kinds = {"b": "pattern", "i": "integer", "u": "integer", "f": "real", "c": "complex"}
    field = kinds[values.dtype.kind]
    if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
        return f"unsigned-{field}"
    return field


def _banner(layout: str, field: str, sizes: tuple[int, ...]) -> bytes:
    head = f"%%MatrixMarket matrix {layout} {field} general\n"
    return (head + " ".join(map(str, sizes)) + "\n").encode()
