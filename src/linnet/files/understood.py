"""`understood`: what is said about a damaged file, here or in a library, becomes a `FileError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linnet.errors import (
    ArgumentError,
    DTypeError,
    FileError,
    FormatError,
    LinnetError,
    OutOfMemoryError,
    RangeError,
    ShapeError,
)

# These are about what operands hold, and about a file where that is where they come from.
_OF_CONTENTS = (FormatError, ShapeError, DTypeError, ArgumentError, RangeError)
# These are not about what the file holds.
_PASSED_ON = (LinnetError, FileNotFoundError, PermissionError, IsADirectoryError)


@contextmanager
def understood(path: Path, kind: str, part: str = "") -> Iterator[None]:
    """A block that reads a file of a kind; libraries raise nearly anything at what is damaged.

    What a user asks for (a format, a dtype) has no place in it: that is not the file's fault.
    """
    place = f"{path.name}, {part}" if part else path.name
    try:
        yield
    except _OF_CONTENTS as error:
        raise FileError(f"{place}: {error.message}", why=error.why, hint=error.hint) from None
    except _PASSED_ON:
        raise
    except MemoryError as error:
        why = "it is as large as that, or damaged"
        raise OutOfMemoryError(f"{place}: {str(error) or 'out of memory'}", why=why) from None
    except Exception as error:
        why = str(error) or type(error).__name__
        raise FileError(f"{place} is not {kind}, or is damaged", why=why) from None
