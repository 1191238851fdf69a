"""What is raised where memory runs out, by whatever part of Python or of a library meets that.

Python raises a `MemoryError`; who loads a library, an `OSError` or `ImportError` that says why in
words; what does not look, a `SystemError`; and its parser finds mistakes in a text that has none.
LLVM ends the process, and Python may lose count of an object that it has no room to call. So what
takes memory in many small pieces, to import, to compile and to optimize, asks for room before.
"""

from __future__ import annotations

import mmap
import sys
from errno import ENOMEM
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from linnet.errors import LinnetError, Location, OutOfMemoryError

RAISED = (MemoryError, OSError, ImportError, SystemError, SyntaxError)
"""What it may be."""
IMPORTING = 12 << 20  # bytes: what all parts of this package take together
COMPILING = 24 << 20  # a kernel; long texts take more, see `backend.machine`
LOADING = 192 << 20  # LLVM, with what it takes to begin
_MUCH = 256 << 20  # more than the compiler takes with its libraries
_RESERVE = 1 << 20
_WHY = "what was read or to be updated is as it was; compiling a kernel takes some 200 MB"
_HINT = (
    "give the process more memory, or let one that has more fill the disk cache: what is "
    "there takes next to nothing to load"
)


def _pages(nbytes: int) -> mmap.mmap:
    """Memory that is not written to; of the system, since `malloc` would keep more from then on."""
    if hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, nbytes)


_reserve = [_pages(_RESERVE)]


def is_short(nbytes: int = _MUCH) -> bool:
    """Whether the process can have little memory beyond what it has."""
    try:
        _pages(nbytes).close()
    except (OSError, MemoryError):
        return True
    return False


def make_room(nbytes: int) -> None:
    """An error where there is not as much memory as what comes next may take."""
    if is_short(nbytes):
        raise out_of_memory()
    if not _reserve:
        _reserve.append(_pages(_RESERVE))


def imported(module: str) -> ModuleType:
    """A part of this package; to read it takes memory."""
    if module in sys.modules:  # if only in part, this waits for the rest
        return import_module(module)
    make_room(IMPORTING)
    try:
        return import_module(module)
    except RAISED as error:
        retold(error)


def out_of_memory() -> OutOfMemoryError:
    """The error, made with memory that was kept for it."""
    _reserve.clear()
    return OutOfMemoryError("out of memory", at=Location.of_caller(), why=_WHY, hint=_HINT)


def of_memory(error: BaseException) -> OutOfMemoryError | None:
    """The error of ours for one that comes of too little memory; None if this one does not."""
    if isinstance(error, MemoryError):
        _reserve.clear()
        words = str(error)  # of NumPy, for what
        return OutOfMemoryError(words, at=Location.of_caller()) if words else out_of_memory()
    number = getattr(error, "errno", None)
    if number is not None or not isinstance(error, RAISED):
        return out_of_memory() if number == ENOMEM else None
    # a module that is looked for with some memory left is not there
    enough = IMPORTING if isinstance(error, ModuleNotFoundError) else _MUCH
    return out_of_memory() if is_short(enough) else None


def retold(error: BaseException) -> NoReturn:
    """Raise ours for an error that comes of too little memory, and this one if it does not."""
    if isinstance(error, LinnetError):
        error.at = error.at or Location.of_caller()
        raise error
    ours = of_memory(error)
    if ours is None:
        raise error
    raise ours from error
