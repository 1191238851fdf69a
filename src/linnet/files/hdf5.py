"""HDF5 files: opened with h5py, which is not needed for anything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linnet.errors import FileError
from linnet.files.understood import understood


def library() -> Any:
    """The module h5py, or an error that says how to get it."""
    try:
        import h5py  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise FileError(
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


def text_of(value: Any) -> str:
    """An attribute that is a string, stored in one of several ways."""
    value = getattr(value, "item", lambda: value)() if not isinstance(value, str | bytes) else value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
