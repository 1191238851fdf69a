"""HDF5 files: opened with h5py, which is not needed for anything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linnet.errors import FileError
from linnet.files.understood import understood
from linnet.formats.validate import check_booleans
from linnet.shortage import of_memory

_SMALL = 1 << 20  # bytes
_COMPRESSED = 1 << 16  # times as large as what a file holds of it, an array may well be


def library() -> Any:
    """The module h5py, or an error that says how to get it."""
    try:
        import h5py  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise of_memory(error) or FileError(
            "HDF5 files are read and written by the module h5py, which is not installed",
            hint="pip install h5py",
        ) from None
    return h5py


@contextmanager
def opened(path: Path, key: str | None) -> Iterator[Any]:
    """A group or an array of a file, to be read."""
    h5py = library()
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    with understood(path, "an HDF5 file"), h5py.File(path, "r") as file:
        if key is not None and key not in file:
            raise FileError(f"{path.name} has no {key!r}", hint=f"it has {', '.join(file)}")
        yield file if key is None else file[key]


def array_of(path: Path, found: Any) -> NDArray[Any]:
    """An array of numbers in a file; one of which the file holds next to nothing is not made."""
    name = found.name
    if not isinstance(found, library().Dataset) or found.shape is None:
        raise FileError(f"{path.name} has no array in {name!r}")
    if found.dtype.kind not in "biufc":
        raise FileError(f"{path.name} has no numbers in {name!r}, but {found.dtype}")
    held = found.id.get_storage_size()
    if found.nbytes > _SMALL + _COMPRESSED * held and not (found.is_virtual or found.external):
        raise FileError(
            f"{path.name} announces {found.nbytes} bytes in {name!r}, and holds {held} of them"
        )
    array = np.asarray(found[()])
    check_booleans(array, name)
    return array


def text_of(value: Any) -> str:
    """An attribute that is a string, stored in one of several ways; "" if it is none."""
    array = np.asarray(value)
    held = array.item() if array.size == 1 and array.dtype.kind in "SUO" else ""
    held = held.decode("utf-8", "replace") if isinstance(held, bytes) else held
    return held if isinstance(held, str) else ""
