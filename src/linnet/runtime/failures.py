"""Exceptions while a kernel is compiled: whose they are.

What the handler of a signal raises is for whoever installed it; all else is a mistake of ours.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from linnet.errors import InternalError, Location


def of_handler(error: BaseException) -> BaseException | None:
    """What came out of the handler of a signal, such as one that ends a wait; None if nothing did.

    What comes while Python makes a class is the cause of an error of another type.
    """
    import signal  # whose names take a millisecond to make, and few processes ask

    handlers = {_code(signal.getsignal(s)) for s in signal.valid_signals()} - {None}
    found: BaseException | None = error
    while found is not None:
        if not isinstance(found, Exception):  # that of Python has no code
            return found
        at = found.__traceback__
        while at is not None:
            if at.tb_frame.f_code in handlers:
                return found
            at = at.tb_next
        found = found.__cause__
    return None


def _code(handler: Any) -> CodeType | None:
    """The code of a function, of a method, or of an object that is called."""
    if not callable(handler):
        return None
    function = getattr(handler, "__func__", handler)
    if not hasattr(function, "__code__"):
        function = type(handler).__call__
    found: CodeType | None = getattr(function, "__code__", None)
    return found


def mistake(name: str, at: Location | None, formats: str, error: Exception) -> InternalError:
    """The error for a kernel that the compiler fails on."""
    return InternalError(
        f"`{name}` cannot be compiled: {type(error).__name__} {error}".rstrip(),
        at=at,
        why=f"this is a mistake in Linnet, met with the formats {formats}",
        hint="please report it, with the kernel; other formats may do meanwhile",
    )
