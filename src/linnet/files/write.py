"""`write`: a tensor to a file, whose name says what kind it is. It is there whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from linnet.errors import FileError
from linnet.files.read import as_path, kind_of, part
from linnet.files.replacing import replacing
from linnet.files.stream import Progress
from linnet.files.text import LINES
from linnet.formats.construct import asarray
from linnet.formats.located import located
from linnet.formats.tensor import Tensor

# The end of a name, and who writes such a file: text piece by piece, or the file itself.
_TEXT = {".mtx": "matrix_market.matrix_market_text", ".tns": "tns.tns_text"}
_BINARY = {
    ".npz": "npz.write_npz",
    ".npy": "npz.write_npy",
    ".bsp.h5": "binsparse.write_binsparse",
    ".bsp.hdf5": "binsparse.write_binsparse",
}
_FILLED = (".npy", ".bsp.h5", ".bsp.hdf5")  # can say what is not stored
KINDS = (*_TEXT, *(f"{end}.gz" for end in _TEXT), *_BINARY)


@located
def write(path: str | os.PathLike[str], tensor: object) -> None:
    """Write a tensor to a file: Matrix Market, FROSTT, SciPy, NumPy or binsparse.

    The end of the name says which: .mtx .tns (also with .gz) .npz .npy .bsp.h5. What is read back
    has the same values to the last bit. A file that was there is replaced when the new one is
    complete; if anything fails, it stays as it was.

    >>> ln.write("A.mtx.gz", A)  # doctest: +SKIP
    """
    found = as_path(path)
    end = kind_of(found, KINDS)
    if hasattr(tensor, "compute"):  # what is lazy, here or in another library
        tensor = tensor.compute()
    given = tensor if isinstance(tensor, Tensor) else asarray(tensor)
    given.contents()
    if end not in _FILLED and given.fill_value:
        raise FileError(
            f"a {end} file cannot say that what is not stored is {given.fill_value!r}",
            hint="write .bsp.h5, or convert to a format whose fill value is 0",
        )
    with replacing(found) as unfinished:
        if end in _BINARY:
            part(_BINARY[end])(unfinished, given)
        else:
            text: Callable[..., Iterator[bytes]] = part(_TEXT[end.removesuffix(".gz")])  # type: ignore[assignment]
            pieces = _shown(text(given), found.name, given.nnz)
            _write_text(unfinished, pieces, end.endswith(".gz"))


def _shown(pieces: Iterator[bytes], name: str, entries: int) -> Iterator[bytes]:
    """The pieces of a file, and on a terminal how far it is."""
    progress, size = Progress(name, entries), 0
    try:
        for number, piece in enumerate(pieces):
            yield piece
            size += len(piece)
            progress.show(number * LINES, size)
    finally:
        progress.close()


def _write_text(path: Path, pieces: Iterator[bytes], compressed: bool) -> None:
    with path.open("wb") as file:
        if not compressed:
            file.writelines(pieces)
            return
        # without a time, so that equal tensors make equal files
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            packed.writelines(pieces)
