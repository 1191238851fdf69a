"""The decorator `@ln.kernel`."""

from __future__ import annotations

from types import FunctionType

from linnet.errors import ArgumentError, Location
from linnet.frontend.parse import parse
from linnet.normalize.lifecycles import insert_lifecycles
from linnet.runtime.kernel import Kernel, too_deep


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
    program = parse(function)
    try:
        insert_lifecycles(program)  # what can be refused is refused here, at the user's line
    except RecursionError:
        raise too_deep(program) from None
    made = Kernel(program)
    made.__doc__, made.__module__ = function.__doc__, function.__module__ or "__main__"
    made.__qualname__ = function.__qualname__
    return made
