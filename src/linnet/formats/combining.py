"""How a workspace combines two values of one element: an update function as a codelet."""

from __future__ import annotations

import re
from functools import lru_cache
from types import FunctionType

from linnet import imp
from linnet.algebra.codelets import resolve
from linnet.algebra.dtypes import Number, concrete, kind
from linnet.algebra.function import Function
from linnet.imp.flushing import flushing
from linnet.imp.translate import define


def merges(op: Function | None, dtype: str, init: Number) -> bool:
    """Whether updates may be combined with each other before they meet what is stored.

    `init` is what an element has before its first update: it must not count. The last one of
    several assignments counts, and nothing else.
    """
    if op is None:
        return True
    identity = op.identity(dtype)
    return op.associative and identity is not None and _same(identity, init)


def _same(a: Number, b: Number) -> bool:
    return a == b or (a != a and b != b)


@lru_cache(maxsize=256)
def combine(op: Function | None, dtype: str) -> FunctionType:
    """`combine(old, new)` for values of this dtype; without a function, the new one."""

    def combine(old: float, new: float) -> float:
        return new

    assert isinstance(combine, FunctionType)
    if op is not None:
        for passed in {dtype, imp.INT} if kind(dtype) in "iu" else {dtype}:
            _define(combine, op, dtype, passed)
    return combine


@lru_cache(maxsize=256)
def flush_codelet(
    op: Function | None, dtype: str, sort: FunctionType, groups: bool, checked: bool
) -> FunctionType:
    """The codelet that sorts what has accumulated, and merges it into the all array."""
    found = flushing(combine(op, dtype), sort, groups, checked)
    assert isinstance(found, FunctionType)
    return found


def _define(function: FunctionType, op: Function, dtype: str, passed: str) -> None:
    """Give the function the code of the operator. Integers may be `passed` as wide ones."""
    old, new = imp.Var("old", passed), imp.Var("new", passed)
    wanted, result = op.types((dtype, dtype))
    args = tuple(
        _cast(_cast(v, dtype), concrete(t)) for v, t in zip((old, new), wanted, strict=True)
    )
    registry: dict[str, imp.Function] = {}
    value = resolve(_cast(_cast(op.emit(args, concrete(result)), dtype), passed), registry)
    body = imp.Block((imp.Return(value),))
    name = re.sub(r"\W", lambda odd: f"_{ord(odd[0]):x}_", f"combine_{op.name}_{dtype}")
    module = (*registry.values(), imp.Function(name, (old, new), body, passed))
    define(function, (passed, passed), module)


def _cast(x: imp.Expr, dtype: str) -> imp.Expr:
    return x if x.dtype == dtype else imp.Cast(x, dtype)
