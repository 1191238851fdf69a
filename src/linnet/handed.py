"""`Above`: functions that a layer calls and that stand above it, by what they do there.

A layer knows what it asks for, and nothing of who does it. That is said by `linnet.wiring`, which
stands above all layers and is the first thing that `import linnet` brings along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from linnet.errors import InternalError
from linnet.shortage import imported

Function = Callable[..., Any]
_PLACES: dict[tuple[str, str], str] = {}


def hand(asked_by: str, modules: Mapping[str, str]) -> None:
    """Say in which modules the functions are that somebody asks for."""
    for name, module in modules.items():
        _PLACES[asked_by, name] = module


class Above:
    """What somebody asks for: each function is imported when it is first called."""

    def __init__(self, asked_by: str, wrap: Callable[[Function], Function] | None = None) -> None:
        self._asked_by, self._wrap = asked_by, wrap

    def __getattr__(self, name: str) -> Function:
        module = _PLACES.get((self._asked_by, name))
        if module is None:
            raise InternalError(f"nothing above `{self._asked_by}` was handed in for `{name}`")
        function: Function = getattr(imported(module), name)
        if self._wrap is not None:
            function = self._wrap(function)
        setattr(self, name, function)  # the next time it is found at once
        return function
