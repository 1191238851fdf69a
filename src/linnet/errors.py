"""What goes wrong, said to the user: what, where in their code, why, and what to try.

Every error Linnet raises derives from `LinnetError`. An error carries data; its text is laid out
in one place (`__str__`), so that all messages look alike.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType, FrameType

import numpy as np

from linnet.records import dataclass


def _folder(code: CodeType) -> str:
    """Where code was, when it was compiled: modules of a frozen application may have no file."""
    folder, found, _ = code.co_filename.rpartition(os.sep)  # pathlib takes long to import
    return folder + found or "no folder at all"


_PACKAGE = _folder(sys._getframe().f_code)
_LIBRARY = _folder(linecache.getline.__code__)  # of Python, and packages in a folder of it


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's source: `column` and `end_column` are zero-based, end exclusive."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    text: str = ""

    @staticmethod
    def of_caller() -> Location | None:
        """The line that the innermost frame outside the package is at, or None."""
        frame = frame_of_caller()
        if frame is None:
            return None
        file, line = frame.f_code.co_filename, frame.f_lineno
        return Location(file, line, text=linecache.getline(file, line).rstrip())

    def __str__(self) -> str:
        head = f'  File "{self.file}", line {self.line}'
        text = self.text or linecache.getline(self.file, self.line).rstrip()
        if not text:
            return head
        indent = len(text) - len(text.lstrip())
        head += f"\n    {text.lstrip()}"
        width = self.end_column - self.column
        if width > 0 and self.column >= indent:
            head += f"\n    {' ' * (self.column - indent)}{'^' * width}"
        return head


_NOT_THE_USER = {"linnet", "numpy", "scipy"}  # code that `dataclass` makes has no file, but a name


def frame_of_caller() -> FrameType | None:
    """The innermost frame outside the package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of the package, or of a library that calls it for its user."""
    file = frame.f_code.co_filename
    if file.startswith(_PACKAGE):
        return True
    if file.startswith(_LIBRARY) and "-packages" not in file:
        return True
    package, dot, _ = str(frame.f_globals.get("__name__", "")).partition(".")
    return bool(dot) and package in _NOT_THE_USER


def is_ours(error: BaseException) -> bool:
    """Whether an error arose in our code, or in what it calls, not in a function of the user."""
    below = error.__traceback__ and error.__traceback__.tb_next
    while below is not None:
        if not _is_ours(below.tb_frame):
            return False
        below = below.tb_next
    return True


class LinnetError(Exception):
    """The base of all errors of Linnet: a message, and where known a place, a reason, a remedy."""

    def __init__(
        self,
        message: str,
        *,
        at: Location | None = None,
        why: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.why = why
        self.hint = hint
        self.call: Location | None = None  # of a kernel, where `at` is a line of the kernel

    def told_to(self, caller: Location | None) -> None:
        """Say where the call stands that went wrong, besides the place in what was called."""
        if self.at is None:
            self.at = caller
        elif caller is not None and (caller.file, caller.line) != (self.at.file, self.at.line):
            self.call = self.call or caller

    def __str__(self) -> str:
        parts = [self.message]
        if self.at is not None:
            parts.append(str(self.at))
        if self.call is not None:
            parts.append(f"in the call\n{self.call}")
        if self.why:
            parts.append(f"why:  {self.why}")
        if self.hint:
            parts.append(f"try:  {self.hint}")
        return "\n".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.message, self.at, self.why, self.hint, self.call)
        return _rebuild, (type(self), *parts)


def _rebuild(
    cls: type[LinnetError],
    message: str,
    at: Location | None,
    why: str | None,
    hint: str | None,
    call: Location | None,
) -> LinnetError:
    error = cls(message, at=at, why=why, hint=hint)
    error.call = call
    return error


class ShapeError(LinnetError, ValueError):
    """Dimensions disagree, or a shape is not one."""


class RangeError(LinnetError, ValueError):
    """A number that means nothing here: a density of 2, a slice whose step is 0."""


class AxisError(ShapeError, np.exceptions.AxisError):
    """A dimension that an array does not have, or one that is named twice."""


class SingularError(LinnetError, np.linalg.LinAlgError):
    """A matrix for which a factorization or an inverse does not exist, or is not found."""


class DTypeError(LinnetError, TypeError):
    """A value type that Linnet does not hold, or that does not fit here."""


class FormatError(LinnetError, ValueError):
    """A format that cannot hold or do what is asked of it, or arrays that do not form one."""


class FileError(LinnetError, ValueError):
    """A file that does not hold what it says it does, or a tensor that its kind cannot hold."""


class KernelSyntaxError(LinnetError, SyntaxError):
    """Python that is outside the loop language."""

    def __init__(
        self,
        message: str,
        *,
        at: Location | None = None,
        why: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, at=at, why=why, hint=hint)
        self.msg = LinnetError.__str__(self)  # what Python's traceback prints of a SyntaxError

    def __str__(self) -> str:  # SyntaxError has a layout of its own; ours says more
        return LinnetError.__str__(self)


class StageError(LinnetError, KeyError):
    """A stage of the compiler that an explanation does not have."""

    def __str__(self) -> str:  # KeyError shows the repr of its message
        return LinnetError.__str__(self)


class ScheduleError(LinnetError, ValueError):
    """A rewriting of a program that it does not allow, or that names what is not there."""


class LifecycleError(LinnetError):
    """A tensor read and written in one scope, used before it is declared, and the like."""


class ArgumentError(LinnetError, TypeError):
    """A kernel called with the wrong number or kind of arguments."""


class NotComputedError(ArgumentError, AttributeError):
    """Something was asked of a lazy array that only its elements can tell."""


class IndexBoundsError(LinnetError, IndexError):
    """An index computed at run time that leaves its dimension."""


class OutOfMemoryError(LinnetError, MemoryError):
    """Too little memory for a result, a temporary or the compiler; operands are untouched."""


class BuildError(LinnetError):
    """A compiler that failed; keeps the source and what the compiler printed."""

    def __init__(
        self,
        message: str,
        *,
        source: str = "",
        output: str = "",
        at: Location | None = None,
        why: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, at=at, why=output.strip() or why, hint=hint)
        self.source = source
        self.output = output


class InstallationError(LinnetError, ImportError):
    """A library that this package needs, and that is not there or cannot be loaded."""


class CacheError(LinnetError, OSError):
    """A kernel cache directory that cannot be trusted."""


class InternalError(LinnetError):
    """A bug in Linnet: please report it with the text of this message."""


class DiscordanceWarning(UserWarning):
    """An access that goes against the order in which its tensor is stored, and what that costs."""
