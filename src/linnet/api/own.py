"""Which functions of arrays are ours, for who reads the code of a user's function."""

from __future__ import annotations

from types import FunctionType

from linnet.algebra.lookup import by_name
from linnet.api import NAMES

_PARTS = ("linnet.api.", "linnet.arrays.", "linnet.frontend.")
_AROUND = ("linnet.formats.located", "linnet.runtime.operation")  # whose decorators these may have


def is_own(value: object) -> bool:
    """Whether a value is a function of arrays of this package, whose result its arguments tell."""
    if not isinstance(value, FunctionType):
        return False
    module = value.__globals__.get("__name__", "")
    named = value.__module__ or ""
    return (
        str(module).startswith((*_PARTS, *_AROUND))
        and named.startswith(_PARTS)
        and named != "linnet.api.random"
    )


def is_function(name: str) -> bool:
    """Whether a function of NumPy has one of ours of its name, which it calls for our arrays."""
    return name in NAMES or name in by_name or name == "einsum"
