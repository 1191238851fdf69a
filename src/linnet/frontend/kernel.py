"""The decorator `@ln.kernel`."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from inspect import unwrap
from types import FunctionType
from typing import TYPE_CHECKING

from linnet.errors import ArgumentError, Location
from linnet.frontend.origin import origin_of
from linnet.options import current
from linnet.runtime import kept
from linnet.runtime.kernel import Kernel

if TYPE_CHECKING:
    from linnet import loops


def kernel(function: FunctionType | None = None, /) -> Kernel:
    """Read a Python function as a program of the loop language.

    >>> @ln.kernel
    ... def spmv(y, A, x):
    ...     y[...] = 0
    ...     for i, j in ...:
    ...         y[i] += A[i, j] * x[j]
    """
    if function is None:
        raise ArgumentError(
            "@ln.kernel wants a function",
            at=Location.of_caller(),
            hint="put @ln.kernel directly above a def, without parentheses",
        )
    if not isinstance(function, FunctionType):
        raise ArgumentError(
            f"@ln.kernel wants a function, not {function!r}",
            at=Location.of_caller(),
            hint="write it with def, and put @ln.kernel directly above",
        )
    origin = origin_of(unwrap(function))
    found = None if origin is None else kept.load(origin, current(), kept.Outline)
    if found is None:
        made = Kernel(_read(function))
        made.origin = origin
    else:
        made = Kernel.outlined(found[0], partial(_remade, found[0], function))
    made.__doc__, made.__module__ = function.__doc__, function.__module__ or "__main__"
    made.__qualname__ = function.__qualname__
    return made


def _remade(outline: kept.Outline, function: FunctionType) -> loops.Program:
    """The program that another process has read; read again if it cannot be made of its bytes."""
    return outline.program() or _read(function)


def _read(function: FunctionType) -> loops.Program:
    """The program; what can be refused is refused here, at the user's line."""
    program: loops.Program = import_module("linnet.frontend.parse").parse(function)
    try:
        import_module("linnet.normalize.lifecycles").insert_lifecycles(program)
    except RecursionError:
        raise import_module("linnet.runtime.refusals").too_deep(program) from None
    return program
