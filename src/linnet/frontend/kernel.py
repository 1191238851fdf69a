"""The decorator `@ln.kernel`."""

from __future__ import annotations

from functools import partial
from inspect import unwrap
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from linnet.errors import ArgumentError, Location
from linnet.formats.located import bordered
from linnet.frontend.origin import origin_of
from linnet.options import current
from linnet.runtime import kept
from linnet.runtime.kernel import Kernel
from linnet.shortage import IMPORTING, imported, make_room

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Generic

    from linnet import loops

P = ParamSpec("P")
R = TypeVar("R")
_NOTHING: Any = None  # what a decorator written with parentheses is given

if TYPE_CHECKING:

    class Typed(Kernel, Generic[P, R]):
        """A kernel, to type checkers: it takes and gives what its function does."""

        def __call__(self, *args: P.args, **named: P.kwargs) -> R:  # type: ignore[override]
            """Run on tensors; outputs are updated in place, and returned."""


@bordered
def kernel(function: Callable[P, R] = _NOTHING, /) -> Typed[P, R]:
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
    return cast("Typed[P, R]", made)


def _remade(outline: kept.Outline, function: FunctionType) -> loops.Program:
    """The program that another process has read; read again if it cannot be made of its bytes."""
    return outline.program() or _read(function)


def _read(function: FunctionType) -> loops.Program:
    """The program; what can be refused is refused here, at the user's line."""
    make_room(IMPORTING)
    program: loops.Program = imported("linnet.frontend.parse").parse(function)
    try:
        imported("linnet.normalize.lifecycles").insert_lifecycles(program)
    except RecursionError:
        raise imported("linnet.loops.printer").too_deep(program) from None
    return program
