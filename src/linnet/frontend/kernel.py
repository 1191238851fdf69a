"""The decorator `@ln.kernel`."""

from __future__ import annotations

from types import FunctionType

from linnet.errors import ArgumentError
from linnet.frontend.parse import parse
from linnet.runtime.kernel import Kernel


def kernel(function: FunctionType) -> Kernel:
    """Read a Python function as a program of the loop language.

    >>> @ln.kernel
    ... def spmv(y, A, x):
    ...     y[...] = 0
    ...     for i, j in ...:
    ...         y[i] += A[i, j] * x[j]
    """
    if not isinstance(function, FunctionType):
        raise ArgumentError(f"@ln.kernel wants a function, not {function!r}")
    made = Kernel(parse(function))
    made.__doc__ = function.__doc__
    return made
