"""`read`: a tensor from a file, whose name says what kind it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from linnet.algebra.dtypes import canonical
from linnet.errors import ArgumentError, FileError
from linnet.formats.located import located
from linnet.formats.named import FormatLike
from linnet.formats.tensor import Tensor
from linnet.formats.validate import check_shape
from linnet.shortage import imported

# The end of a name, and who reads such a file: imported when one is read.
_READERS = {
    ".mtx": "matrix_market.read_matrix_market",
    ".mtx.gz": "matrix_market.read_matrix_market",
    ".tns": "tns.read_tns",
    ".tns.gz": "tns.read_tns",
    ".npz": "npz.read_npz",
    ".npy": "npz.read_npy",
}
_GROUPED = {
    ".bsp.h5": ("binsparse.read_binsparse", None),
    ".bsp.hdf5": ("binsparse.read_binsparse", None),
    ".h5ad": ("h5ad.read_h5ad", "X"),
}
KINDS = (*_READERS, *_GROUPED)


@located
def read(
    path: str | os.PathLike[str],
    key: str | None = None,
    *,
    format: FormatLike | None = None,
    dtype: object = None,
    shape: Sequence[int] | None = None,
) -> Tensor:
    """The tensor in a file: Matrix Market, FROSTT, SciPy, NumPy, binsparse or h5ad.

    The end of the name says which: .mtx .tns (also with .gz) .npz .npy .bsp.h5 .h5ad. `key` names
    the group of an HDF5 file ("X" in an h5ad file if none is given). Without a format, matrices are
    CSR, other coordinates COO, arrays dense, and what a file has a format for stays in it. FROSTT
    files do not tell a `shape`: unless it is given, a tensor ends at its greatest coordinates.

    >>> A = ln.read("A.mtx.gz", format=ln.CSC)  # doctest: +SKIP
    """
    found = as_path(path)
    if key is not None and not isinstance(key, str):
        raise ArgumentError(f"a key is a string, not {type(key).__name__}")
    wanted = None if dtype is None else canonical(dtype)
    end = kind_of(found, KINDS)
    if shape is not None:
        return _of_shape(found, end, format, wanted, shape)
    if end in _GROUPED:
        name, default = _GROUPED[end]
        return part(name)(found, key or default, format, wanted)
    if key is not None:
        raise ArgumentError(
            f"{found.name} holds one tensor, and has nothing named {key!r}",
            hint="a key is for HDF5 files; a format is given by name: format=…",
        )
    return part(_READERS[end])(found, format, wanted)


def _of_shape(
    path: Path, end: str, format: FormatLike | None, dtype: str | None, shape: Sequence[int]
) -> Tensor:
    """The tensor in a file that does not tell how large it is."""
    if not end.startswith(".tns"):
        raise ArgumentError(f"{path.name} has a shape of its own", hint="leave out shape=")
    return part(_READERS[end])(path, format, dtype, check_shape(shape))


def as_path(path: object) -> Path:
    """The path that a user gives."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"a path is a string, not {type(path).__name__}")
    try:
        found = Path(os.fsdecode(path)).expanduser()
        known = b"\0" not in os.fsencode(found)
    except (ValueError, RuntimeError):  # not of this system's characters, or of an unknown user
        known = False
    if not known:
        raise ArgumentError(f"{path!r} is not the name of a file on this system")
    return found


def kind_of(path: Path, known: tuple[str, ...]) -> str:
    """The end of the name, if it is one of those that are known."""
    name = path.name.lower()
    for end in sorted(known, key=len, reverse=True):
        if name.endswith(end):
            return end
    raise FileError(
        f"the name {path.name!r} does not tell what kind of file it is",
        hint=f"it should end in one of {' '.join(known)}",
    )


def part(name: str) -> Callable[..., Tensor]:
    """A function of one of the files beside this one."""
    module, function = name.split(".")
    found: Callable[..., Tensor] = getattr(imported(f"linnet.files.{module}"), function)
    return found
