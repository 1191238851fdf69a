"""What is raised where memory runs out, by whatever part of Python or of a library meets that.

Python raises a `MemoryError`; who loads a library, an `OSError` or `ImportError` that says why in
words; what does not look, a `SystemError`; and its parser finds mistakes in a text that has none.
"""

from __future__ import annotations

from errno import ENOMEM

from linnet.errors import Location, OutOfMemoryError
from linnet.formats.spare import C

RAISED = (MemoryError, OSError, ImportError, SystemError, SyntaxError)
"""What it may be."""
_MUCH = 256 << 20  # bytes: more than the compiler takes with its libraries


def is_short() -> bool:
    """Whether the process can have little memory beyond what it has."""
    address = C.malloc(_MUCH)
    C.free(address)
    return not address


def of_memory(error: BaseException) -> OutOfMemoryError | None:
    """The error of ours for one that comes of too little memory; None if this one does not."""
    number = getattr(error, "errno", None)
    words = isinstance(error, RAISED) and number is None
    if not isinstance(error, MemoryError) and number != ENOMEM and not (words and is_short()):
        return None
    if isinstance(error, MemoryError) and str(error):  # as NumPy says it
        return OutOfMemoryError(str(error), at=Location.of_caller())
    return OutOfMemoryError(
        "out of memory",
        at=Location.of_caller(),
        why="what was read or to be updated is as it was; compiling a kernel takes some 200 MB",
        hint="give the process more memory, or let one that has more fill the disk cache: what is "
        "there takes next to nothing to load",
    )
