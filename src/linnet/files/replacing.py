"""`replacing`: a file that is written under another name, and takes its own when it is whole."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name in the same folder, to be written to; if that fails, nothing is left of it."""
    target = Path(os.path.realpath(path))  # a link stays one
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder", str(target.parent))
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        yield unfinished
        unfinished.replace(target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == str(unfinished):
            error.filename = str(target)  # the name that the user knows
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
