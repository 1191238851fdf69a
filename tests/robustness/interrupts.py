"""Interrupts, and other threads, at a given line of a module."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Interrupt(BaseException):
    """What a test raises where a user might press a key."""


class At:
    """Counts the lines of a module that are run, and does something once, at the n-th."""

    def __init__(self, module: ModuleType, number: int, do: Callable[[], None], never: Any) -> None:
        self.file, self.number, self.do, self.never = module.__file__, number, do, never
        self.lines = 0

    def trace(self, frame: Any, event: str, arg: object) -> Any:
        """What `sys.settrace` calls."""
        if frame.f_code.co_filename != self.file:
            return None
        if event == "line" and not self._text(frame).startswith(self.never):
            self.lines += 1
            if self.lines == self.number:
                sys.settrace(None)
                self.do()
        return self.trace if self.lines < self.number else None

    def _text(self, frame: Any) -> str:
        return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()


def meanwhile(
    module: ModuleType,
    call: Callable[[], Any],
    do: Callable[[], None],
    number: int,
    never: tuple[str, ...] = (),
) -> tuple[Any, bool]:
    """What a call returns while something is done at its n-th line; and whether it has one."""
    at, before = At(module, number, do, never), sys.gettrace()
    sys.settrace(at.trace)
    try:
        return call(), at.lines >= number
    finally:
        sys.settrace(before)


def interrupted(
    module: ModuleType, call: Callable[[], Any], number: int, never: tuple[str, ...] = ()
) -> bool:
    """Whether a call has an n-th line in this module, at which it is interrupted."""

    def stop() -> None:
        raise Interrupt

    try:
        meanwhile(module, call, stop, number, never)
    except Interrupt:
        return True
    return False
