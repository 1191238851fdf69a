"""`located`: what leaves a public function as an error is one of Linnet's, and shows its place.

Arguments are checked where they are used, by functions that say what is wrong. What Python or NumPy
say of an argument that nobody thought of, and that there is no memory, becomes ours here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from linnet.errors import ArgumentError, LinnetError, Location, RangeError, is_ours
from linnet.shortage import RAISED, of_memory, retold

P = ParamSpec("P")
R = TypeVar("R")
_OTHERS = TypeError, ValueError, ArithmeticError, IndexError, BufferError


def located(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, whose errors know their place."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except LinnetError as error:
            if error.at is None:
                error.at = Location.of_caller()
            raise
        except (*_OTHERS, *RAISED) as error:
            made = of_memory(error) or _ours(error, function.__name__)
            if made is None:
                raise
            raise made from error

    return call


def bordered(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, which says that memory has run out as ours do; located ones do it."""
    if getattr(function, "__code__", None) is _LOCATED:
        return function

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RAISED as error:
            retold(error)

    vars(call)["__wrapped__"] = getattr(function, "__wrapped__", function)
    return call


def _ours(error: Exception, name: str) -> LinnetError | None:
    """What we say instead; None of an error in a function of the user, which stays as it is."""
    at, told = Location.of_caller(), str(error)
    if isinstance(error, (FloatingPointError, *RAISED)) or not is_ours(error):
        return None  # what `np.errstate(over="raise")` asks for is NumPy's, here, too
    numeric = isinstance(error, ValueError | ArithmeticError | IndexError)
    kind = RangeError if numeric else ArgumentError
    return kind(f"`{name}` was given something that it does not take: {told}", at=at)


_LOCATED = located(bordered).__code__
