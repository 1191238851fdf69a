"""Numbers in expressions: given to a kernel when it is called, or part of its code?

A kernel that has a number in its code is compiled again for every other number. So a number is an
argument wherever the fill value of the result does not depend on it (`A * c`, or anything on dense
tensors), and for comparisons, whose fill value is one of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import Number, as_python, concrete
from linnet.algebra.exact import apply as value_of
from linnet.algebra.function import Function
from linnet.arrays.nodes import Constant, Leaf, Node
from linnet.formats.buffers import Buffer
from linnet.formats.contents import Contents, Signature
from linnet.formats.format import Format
from linnet.formats.named import SCALAR, settle
from linnet.formats.tensor import Tensor
from linnet.normalize.simplify import Facts, simplify_expr

PASSED, OUTCOME, VALUE = "passed", "outcome", "value"
BETTER_KNOWN = ("pow", "bitwise_left_shift", "bitwise_right_shift", "round")  # as x ** 2 is


def lift(function: Function, args: Sequence[Node]) -> tuple[Function, list[Node], str]:
    """A function and arguments in which numbers are tensors, where that is better; and how.

    What a kernel depends on is then: nothing of the number (`PASSED`), the fill value of the result
    (`OUTCOME`), or the number itself (`VALUE`).
    """
    leaves = [a for a in args if isinstance(a, Leaf)]
    numbers = [a for a in args if isinstance(a, Constant)]
    if not numbers or not leaves or len(leaves) + len(numbers) < len(args):
        return function, list(args), VALUE
    given = function.types(tuple([a.dtype for a in args]))[0]
    sparse = [a for a in leaves if not _is_dense(a)]
    how = PASSED
    if function.name in BETTER_KNOWN or len(numbers) > 1:
        return function, list(args), VALUE
    if sparse:
        facts = tuple((_fill(a), a.dtype) if isinstance(a, Leaf) else None for a in args)
        if fixed_fill(function, facts, given) is None:
            if len(args) > 2 or function.types(given)[1] != "bool":
                return function, list(args), VALUE
            how, function = OUTCOME, decided(function, *outcome(function, args))
    passed: list[Node] = [
        Leaf(scalar(a.value, dtype), (), dtype) if isinstance(a, Constant) else a
        for a, dtype in zip(args, given, strict=True)
    ]
    return function, passed, how


def outcome(function: Function, args: Sequence[Node]) -> tuple[int, Number, Number]:
    """The place and fill value of the only tensor among two arguments, and f(fill, number)."""
    place = 0 if isinstance(args[0], Leaf) else 1
    values = tuple([_fill(a) if isinstance(a, Leaf) else a.value for a in args])  # type: ignore[union-attr]
    return place, values[place], value_of(function, values, tuple([a.dtype for a in args]))


@lru_cache(maxsize=1024)
def decided(function: Function, place: int, fill: Number, result: Number) -> Function:
    """A comparison whose result is known where one argument is its fill value.

    What an infinite number would decide is left out: it is another result, for another number.
    """
    return replace(
        function,
        name=f"{function.name}_{'no' if place else 'yes'}_{fill!r}_{result!r}",
        symbol="",
        constants=((fill, place, result),),
    )


def fixed_fill(
    function: Function, facts: tuple[tuple[Number, str] | None, ...], given: tuple[str, ...]
) -> Number | None:
    """The result where the tensors store nothing, if it is the same whatever the numbers are."""
    return _fixed_fill(function, facts, repr(facts), given)


@lru_cache(maxsize=1024)
def _fixed_fill(
    function: Function,
    facts: tuple[tuple[Number, str] | None, ...],
    text: str,  # which tells 0.0 from -0.0
    given: tuple[str, ...],
) -> Number | None:
    args: list[loops.Expr] = []
    types: dict[str, str] = {}
    for k, (fact, dtype) in enumerate(zip(facts, given, strict=True)):
        if fact is None:
            types[f"c{k}"] = dtype
            args.append(loops.Access(f"c{k}", ()))
        else:
            args.append(loops.Literal(*fact, structural=True))
    found = simplify_expr(loops.Call(function, tuple(args)), Facts({}, types))
    if not isinstance(found, loops.Literal):
        return None
    return as_python(found.value, concrete(function.types(_dtypes(facts, given))[1]))


def _dtypes(
    facts: tuple[tuple[Number, str] | None, ...], given: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple([g if f is None else f[1] for f, g in zip(facts, given, strict=True)])


def _fill(leaf: Leaf) -> Number:
    fill = leaf.tensor.contents().format.fill_value
    assert fill is not None
    return fill


def _is_dense(leaf: Leaf) -> bool:
    return all(level.full for level in leaf.tensor.contents().format.levels[:-1])


@lru_cache(maxsize=64)
def _scalar_format(dtype: str) -> tuple[Format, np.dtype[np.generic], Signature]:
    format, held = settle(SCALAR, dtype), np.dtype(dtype)
    return format, held, Contents(format, (), (Buffer.borrow(np.zeros(1, held)),)).signature


def scalar(value: Number, dtype: str) -> Tensor:
    """A number as a tensor without dimensions; refuses what the dtype does not hold."""
    format, held, signature = _scalar_format(dtype)
    try:
        array = np.array((value,), held)
    except (OverflowError, TypeError, ValueError):
        array = np.array((as_python(value, dtype),), held)
    made = Tensor(format, (), (Buffer.borrow(array),))
    made.contents()._signature = signature
    return made
