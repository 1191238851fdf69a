"""Is what Linnet has made a tensor? With `check=True` its results pass what operands must pass.

Kernels are trusted: one that promises to write in order is not asked whether it did, and what it
wrote is right as long as somebody only lists it. What is made of it next is silently wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from linnet.errors import FormatError, InternalError
from linnet.formats.contents import Contents
from linnet.formats.level import Level
from linnet.formats.validate import LARGEST
from linnet.options import current

_waits: ContextVar[bool] = ContextVar("linnet_unfinished", default=False)


@contextmanager
def unfinished() -> Iterator[None]:
    """A block whose results are put in order after it, and verified by who does so."""
    token = _waits.set(True)
    try:
        yield
    finally:
        _waits.reset(token)


def verify(contents: Contents) -> None:
    """With `check=True`, an error if levels do not hold what they promise.

    Needs: contents that no kernel writes to meanwhile. Their memory is not shown to anybody.
    """
    if not current().check or _waits.get():
        return
    try:
        _validate(contents)
    except FormatError as error:
        format = contents.format.describe()
        raise InternalError(
            f"a result is no tensor in the format {format}: {error.message}", why=error.why
        ) from error


def _validate(contents: Contents) -> None:
    format, shape = contents.format, contents.shape
    arrays, count = iter([buffer.seen() for buffer in contents.buffers]), 1
    for k, level in enumerate(format.levels):
        if type(level).validate is Level.validate:  # somebody else's, which promises nothing
            return
        held = {array.name: next(arrays) for array in level.arrays}
        for array in level.arrays:
            _check_kind(array.role, str(held[array.name].dtype), str(format.dtype), array.name)
        sizes = tuple([shape[mode] for mode in format.modes_of(k)])
        count = level.validate(held, count, sizes, f"level{k}")
        if count > LARGEST:
            raise FormatError(f"level{k} has more subfibers than 64 bits can count")


def _check_kind(role: str, dtype: str, values: str, name: str) -> None:
    """An array has the type that its role asks for."""
    known = {"value": (values,), "flag": ("bool",), "table": ("int64",)}
    wanted = known.get(role, ("int32", "int64"))
    if dtype not in wanted:
        raise FormatError(f"{name} has dtype {dtype}, and must have {' or '.join(wanted)}")
