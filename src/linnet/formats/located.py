"""`located`: an error that leaves a public function shows the line of the user who called it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from linnet.errors import LinnetError, Location

P = ParamSpec("P")
R = TypeVar("R")


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

    return call
