"""How a workspace combines two values of one element: an update function as a codelet."""

from __future__ import annotations

import re
from functools import lru_cache
from types import FunctionType

from linnet import imp, target
from linnet.algebra.codelets import resolve
from linnet.algebra.derive import is_lawful
from linnet.algebra.dtypes import Number, concrete, kind
from linnet.algebra.function import Function
from linnet.codelets.flushing import arranging, guarded_staging, staging
from linnet.codelets.merging import doubling, merging
from linnet.options import current
from linnet.python.translate import define
from linnet.records import dataclass


def merges(op: Function | None, dtype: str, init: Number, found: str) -> bool:
    """Whether updates may be combined with each other before they meet what is stored.

    They are by values of the dtype `found`.
    `init` is what an element has before its first update: it must not count. The last one of
    several assignments counts, and nothing else.
    """
    if op is None:
        return True
    identity = op.identity(dtype)
    neutral = op.associative and identity is not None and _same(identity, init)
    return neutral and is_lawful(op, dtype, found)


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


@dataclass(frozen=True, slots=True)
class Merging:
    """What merges components: a function, for values of one type; with `doubled`, elsewhere."""

    op: Function | None
    dtype: str
    doubled: bool


@lru_cache(maxsize=256)
def arrange_codelet(what: Merging, sort: FunctionType, groups: bool, checked: bool) -> FunctionType:
    """The codelet that makes a sorted run of what has accumulated."""
    return _plain(arranging(combine(what.op, what.dtype), sort, groups, checked))


@lru_cache(maxsize=256)
def merge_codelet(what: Merging) -> FunctionType:
    """The codelet that merges a run with the all array, in place or into another one."""
    return _plain((doubling if what.doubled else merging)(combine(what.op, what.dtype)))


@lru_cache(maxsize=256)
def stage_codelet(what: Merging, arrange: FunctionType, clear: FunctionType) -> FunctionType:
    """The codelet that does both, and clears the table, for a thread of its own."""
    return _plain(staging(arrange, merge_codelet(what), clear, what.doubled))


@lru_cache(maxsize=256)
def guarded_stage_codelet(
    sort: FunctionType, stage: FunctionType, clear: FunctionType
) -> FunctionType:
    """The same where sorting and clearing are not to be trusted."""
    return _plain(guarded_staging(sort, stage, clear))


def _plain(function: object) -> FunctionType:
    assert isinstance(function, FunctionType)
    return function


def _define(function: FunctionType, op: Function, dtype: str, passed: str) -> None:
    """Give the function the code of the operator. Integers may be `passed` as wide ones."""
    old, new = imp.Var("old", passed), imp.Var("new", passed)
    wanted, result = op.types((dtype, dtype))
    args = tuple(
        _cast(_cast(v, dtype), concrete(t)) for v, t in zip((old, new), wanted, strict=True)
    )
    registry: dict[str, imp.Function] = {}
    written = _cast(_cast(op.emit(args, concrete(result)), dtype), passed)
    value = resolve(written, registry, target.of(current()))
    body = imp.Block((imp.Return(value),))
    name = re.sub(r"\W", lambda odd: f"_{ord(odd[0]):x}_", f"combine_{op.name}_{dtype}")
    module = (*registry.values(), imp.Function(name, (old, new), body, passed))
    define(function, (passed, passed), module)


def _cast(x: imp.Expr, dtype: str) -> imp.Expr:
    return x if x.dtype == dtype else imp.Cast(x, dtype)
