"""Functions of a user (`ln.function`) as plain data, for processes that cannot import them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from types import FunctionType
from typing import TypeAlias

from linnet.algebra.body import Body
from linnet.algebra.function import Case, Function, add_cases
from linnet.frontend.functions import Claims, case_of, made
from linnet.python.sending import here, is_imported, keep, named, sendable

Text: TypeAlias = tuple[FunctionType, str, str | None]
State: TypeAlias = tuple[str, Text, Claims | None, tuple[Case, ...]]


def reduced(function: Function) -> tuple[object, ...]:
    """What a pickle holds of a function: its name, or its text and what is said about it.

    The function is made before its surroundings are, in which it may be named itself.
    """
    body = function.body
    assert body is not None
    module, name = body.python.__module__, body.python.__qualname__
    if is_imported(function, module, name):
        return named, (module, name)
    key = hashlib.sha256("\n".join(_told(function, body)).encode()).hexdigest()
    keep(key, function)
    text = (sendable(body.pinned()), body.name, body.dtype)
    claims = body.claims if isinstance(body.claims, Claims) else None
    return _begun, (key,), (key, text, claims, function.cases), None, None, _complete


def _told(function: Function, body: Body) -> Iterator[str]:
    """All that tells functions apart, and where they stand: errors show that."""
    code = body.python.__code__
    yield f"{function.name} {body.digest} {code.co_filename} {code.co_firstlineno}"
    for case in function.cases:
        if case.function.body is not None:
            yield f"{case.values} {case.order}"
            yield from _told(case.function, case.function.body)


def _begun(key: str) -> Function:
    """The function that has come before, or one that is nothing yet."""
    return here(key, Function) or object.__new__(Function)


def _complete(function: Function, state: State) -> None:
    """Make of the text what `ln.function` made of it."""
    key, (text, name, dtype), claims, cases = state
    if here(key, Function) is function:
        return
    same = case_of(text, name, dtype) if claims is None else made(text, name, dtype, claims)
    for field in dataclasses.fields(same):
        object.__setattr__(function, field.name, getattr(same, field.name))
    add_cases(function, cases)
    keep(key, function)
