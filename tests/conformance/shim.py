"""The namespace with another default format, for the Array API's own test suite.

The suite sees only what `asarray` and the creation functions return. Here these make every array in
the format named by the variable LINNET_DEFAULT_FORMAT: dense, coo, csf (outer level sparse), or
runs (run-length along the last dimension). Everything else is `linnet` as it is.
"""

from __future__ import annotations

import os
from functools import wraps
from typing import Any

import linnet as ln

_MADE = "asarray zeros ones empty full arange linspace eye from_dlpack".split()


def runs(ndim: int) -> object:
    """Run-length along the last dimension, under dense levels."""
    level: Any = ln.RunList(ln.Element())
    for _ in range(ndim - 1):
        level = ln.Dense(level)
    return level


def _format(ndim: int) -> object:
    name = os.environ.get("LINNET_DEFAULT_FORMAT", "dense")
    if ndim == 0 or name == "dense":
        return ln.DENSE(ndim)
    return {"coo": ln.COO, "csf": ln.CSF, "runs": runs}[name](ndim)


class Namespace:
    """`linnet`, but for the functions that make arrays."""

    __name__ = "linnet"

    def __getattr__(self, name: str) -> object:
        found = getattr(ln, name)
        if name in _MADE:
            found = _in_format(found)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return dir(ln)


def _in_format(function: Any) -> Any:
    @wraps(function)
    def made(*args: Any, **named: Any) -> ln.Tensor:
        found = function(*args, **named)
        format = _format(found.ndim)
        return ln.asarray(found, format=format) if found.ndim else found

    return made


xp = Namespace()
