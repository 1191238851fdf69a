"""What each stage of the compiler made, for those who want to look (`ln.explain`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_record: ContextVar[dict[str, object] | None] = ContextVar("linnet_stages", default=None)


def stage(name: str, result: T) -> T:
    """Pass a stage's result on, and note it if somebody is looking."""
    record = _record.get()
    if record is not None:
        record[name] = result
    return result


def watched() -> bool:
    """Whether somebody is looking."""
    return _record.get() is not None


@contextmanager
def recorded() -> Iterator[dict[str, object]]:
    """Note the result of every stage that runs inside."""
    record: dict[str, object] = {}
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)
