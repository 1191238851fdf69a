"""Reductions in which what is not stored takes part, though the loops do not run along its runs.

The sums of columns, over rows in the outer loop, of a matrix whose fill value is 1: what is not
stored is not visited. What is stored is combined and counted, and at the end every element of the
result gets its share of fill values: `n` of them amount to `n * x`, `x ** n`, or once `x`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.stored import stored
from linnet.algebra.table import (
    add,
    astype,
    less,
    logical_or,
    multiply,
    power,
    subtract,
    where,
)
from linnet.arrays.arrange import names_in
from linnet.arrays.result import simplified
from linnet.formats.format import Format
from linnet.loops.rewrite import walk
from linnet.normalize.known import as_number
from linnet.normalize.simplify import same
from linnet.records import dataclass

Formats = Mapping[str, Format]


@dataclass(frozen=True, slots=True)
class Counted:
    """The statements in the nest, and what an element of the result is in the end."""

    body: loops.Stmt
    result: loops.Expr


def counted(
    function: Function,
    value: loops.Expr,
    free: Sequence[str],
    order: Sequence[str],
    names: tuple[str, str],
    count: loops.Expr,
    dtype: str,
    formats: Formats,
    types: Mapping[str, str],
    local: frozenset[str],
) -> Counted | None:
    """A reduction that visits what is stored only; None where the usual way is as good.

    `names` are those of the tensors for what is stored and for how much that is; `count` is how
    many elements are combined into one; `local` are scalars that exist in the loops only.
    """
    sparse, rest = _unstored(value, formats, types, local)
    if not function.repeat or not sparse or not _is_scattered(sparse, free, order, formats):
        return None
    if _is_identity(rest, function, dtype):
        return None
    if dtype.startswith("c") and function.repeat == "times" and not _is_finite(rest):
        return None  # a complex infinity times n has a part that is not a number
    left = {str(n.tensor) for n in walk(rest) if isinstance(n, loops.Access)}
    if not set(names_in(rest)) <= set(free) or left & local:
        return None
    indices = tuple(loops.Index(i) for i in free)
    total, number = (loops.Access(name, indices) for name in names)
    updates = (
        loops.Assign(total, function, value),
        loops.Assign(number, add, loops.Literal(1, "int64")),
    )
    unstored = loops.Call(subtract, (count, number))
    result = _with_rest(function, total, as_number(rest), unstored, dtype)
    body = loops.If(_is_stored(sparse, formats), loops.Block(updates), loops.NOTHING)
    return Counted(body, result)


def passes_over(
    function: Function,
    value: loops.Expr,
    dtype: str,
    formats: Formats,
    types: Mapping[str, str],
    local: frozenset[str],
) -> bool:
    """Whether a reduction need not visit what is not stored, since that changes nothing."""
    sparse, rest = _unstored(value, formats, types, local)
    return bool(sparse) and _is_identity(rest, function, dtype)


def _unstored(
    value: loops.Expr, formats: Formats, types: Mapping[str, str], local: frozenset[str]
) -> tuple[list[loops.Access], loops.Expr]:
    """The sparse operands of a value, and what it is where they store nothing."""
    read = [a for a in _reads(value) if a.tensor not in local]
    sparse = [a for a in read if not is_full(formats[str(a.tensor)])]
    return sparse, simplified(value, formats, types, lambda a: any(a == s for s in sparse))


def _is_identity(value: loops.Expr, function: Function, dtype: str) -> bool:
    identity = function.identity(dtype)
    return isinstance(value, loops.Literal) and identity is not None and same(value.value, identity)


def _is_stored(sparse: Sequence[loops.Access], formats: Formats) -> loops.Expr:
    """Whether any of some elements is."""
    tests = [loops.Call(stored(_fill(formats[str(a.tensor)])), (a,)) for a in sparse]
    return reduce(lambda a, b: loops.Call(logical_or, (a, b)), tests[1:], tests[0])


def _with_rest(
    function: Function, total: loops.Expr, rest: loops.Expr, left: loops.Expr, dtype: str
) -> loops.Expr:
    """What is stored, combined with `left` values that are not.

    The rest is a number: an infinity that nothing is larger than does not hide a NaN.
    """
    times = loops.Call(astype[dtype], (left,))
    match function.repeat:
        case "times":
            both = loops.Call(function, (total, loops.Call(multiply, (rest, times))))
        case "power":
            both = loops.Call(function, (total, loops.Call(power, (rest, times))))
        case _:
            both = loops.Call(function, (total, rest))
    if function.repeat == "power" or (function.repeat == "times" and _is_finite(rest)):
        return both
    some = loops.Call(less, (loops.Literal(0, "int64"), left))  # 0 times infinity is not 0
    return loops.Call(where, (some, both, total))


def _is_finite(value: loops.Expr) -> bool:
    return isinstance(value, loops.Literal) and bool(np.isfinite(value.value))


def _is_scattered(
    sparse: Sequence[loops.Access], free: Sequence[str], order: Sequence[str], formats: Formats
) -> bool:
    """Whether a sparse dimension of the result is walked inside a loop that is reduced over."""
    outer = [i for i in order if i not in free]
    if not outer:
        return False
    inside = set(order[order.index(outer[0]) + 1 :]) & set(free)
    for access in sparse:
        format = formats[str(access.tensor)]
        for number, level in enumerate(format.levels[:-1]):
            for mode in format.modes_of(number):
                if not level.full and inside & set(names_in(access.indices[mode])):
                    return True
    return False


def _reads(value: loops.Expr) -> list[loops.Access]:
    found = (n for n in walk(value) if isinstance(n, loops.Access) and n.indices)
    return list(dict.fromkeys(found))


def is_full(format: Format) -> bool:
    """Whether there is something at every index."""
    return all(level.full or level.covers for level in format.levels[:-1])


def _fill(format: Format) -> Number:
    assert format.fill_value is not None
    return format.fill_value
