"""FROSTT files, `.tns` and `.tns.gz`: a line for every entry, coordinates from 1, then the value.

They have no header. What is written here has comments that say shape and dtype, and they are
understood when it is read; other files are as large as their greatest coordinates, and real.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.algebra.dtypes import canonical
from linnet.errors import DTypeError, FileError
from linnet.files.build import from_entries
from linnet.files.lines import DIGITS, Layout, Lines
from linnet.files.stream import Source
from linnet.files.text import text_of
from linnet.formats.assemble import unpack
from linnet.formats.named import FormatLike, as_format
from linnet.formats.packing import index_dtype
from linnet.formats.tensor import Tensor
from linnet.formats.validate import LARGEST

_SAID = re.compile(r"#\s*(shape|dtype):\s*(.*)")
_MOST = 64  # dimensions


def read_tns(
    path: Path,
    format: FormatLike | None,
    dtype: str | None,
    given: tuple[int, ...] | None = None,
) -> Tensor:
    """The tensor in a file; entries with equal coordinates are summed."""
    shape, held = _said(path)
    shape = shape if given is None else given
    whole, parts = held[:1] in ("i", "u", "b"), 2 if held[:1] == "c" else 1
    with Source(path) as source:
        fields, first = len(_first_line(source).split()), source.lines
    if shape and not fields:  # nothing is stored, and the comments say of what
        dtype, none = dtype or held or None, [np.zeros(0, np.int64)] * len(shape)
        return from_entries(path, none, np.zeros(0, held or "float64"), shape, format, dtype)
    ndim = fields - parts
    with Source(path) as source:  # from the beginning
        if not 0 < ndim <= _MOST:
            raise source.problem("expected a line of coordinates and a value", line=max(1, first))
        if shape is not None and len(shape) != ndim:
            raise source.problem(
                f"says that it has {len(shape)} dimensions, and lists {ndim} coordinates"
            )
        if format is not None:
            format = as_format(format, ndim)  # refused before a large file is read
        layout = Layout(shape or (LARGEST,) * ndim, parts, whole, "#", unsigned=held == "uint64")
        lines = Lines(source, layout)
        coords, bits = lines.read()
        kind = "complex128" if parts == 2 else "float64"
        values = bits.view(held if layout.unsigned else "int64" if whole else kind)
        if whole:
            _check_fit(lines, values, held)
        found = shape or tuple(int(idx.max()) + 1 for idx in coords)
    coords = [idx.astype(index_dtype(n), copy=False) for idx, n in zip(coords, found, strict=True)]
    return from_entries(path, coords, values, found, format, dtype or held or None)


def _check_fit(lines: Lines, values: NDArray[Any], held: str) -> None:
    """The dtype that the comments tell holds every integer; as a boolean, each means something."""
    wrong = values.astype(held) != values if held != "bool" else np.zeros(0, bool)
    if wrong.any():
        q = int(np.argmax(wrong))
        raise lines.source.problem(
            f"the value {values[q]} does not fit the dtype {held}",
            line=lines.line_of(q),
            why="a comment says that all values are of this dtype",
        )


def _first_line(source: Source) -> str:
    """The first line that is no comment."""
    text = source.line()
    while text and (not text.strip() or text.lstrip().startswith("#")):
        text = source.line()
    return text


def _said(path: Path) -> tuple[tuple[int, ...] | None, str]:
    """The shape and the dtype that the comments at the beginning tell, if they do."""
    shape, dtype = None, ""
    with Source(path) as source:
        text = source.line()
        while text.startswith("#"):
            match _SAID.match(text):
                case None:
                    pass
                case found if found[1] == "shape":
                    words = found[2].split()
                    if not all(word.isascii() and word.isdigit() for word in words):
                        raise source.problem("expected a shape", line=source.lines)
                    if any(len(word) > DIGITS or int(word) > LARGEST for word in words):
                        raise source.problem("a dimension is too large", line=source.lines)
                    shape = tuple(map(int, words))
                case found:
                    try:
                        dtype = canonical(found[2].strip())
                    except DTypeError:
                        raise source.problem("expected a dtype", line=source.lines) from None
            text = source.line()
    return shape, dtype


def tns_text(tensor: Tensor) -> Iterator[bytes]:
    """The file that holds a tensor, piece by piece."""
    shape = tensor.contents().shape
    if not shape:
        raise FileError("a .tns file lists coordinates, and a single number has none")
    yield f"# shape: {' '.join(map(str, shape))}\n# dtype: {tensor.dtype}\n".encode()
    coords, values = unpack(tensor)
    yield from text_of(coords, values)
