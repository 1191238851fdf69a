"""`understood`: what other libraries say about a damaged file becomes an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linnet.errors import FileError, LinnetError

# These are not about what the file holds.
_PASSED_ON = (LinnetError, FileNotFoundError, PermissionError, IsADirectoryError)


@contextmanager
def understood(path: Path, kind: str) -> Iterator[None]:
    """A block that reads a file of a kind; libraries raise nearly anything at what is damaged."""
    try:
        yield
    except _PASSED_ON:
        raise
    except Exception as error:
        why = str(error) or type(error).__name__
        raise FileError(f"{path.name} is not {kind}, or is damaged", why=why) from None
