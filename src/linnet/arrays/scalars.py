"""Numbers in expressions: given to a kernel when it is called, or part of its code?

A kernel that has a number in its code is compiled again for every other number. So a number is an
argument, but for those that tell where there is something to compute. What the fill value of the
result is may depend on it all the same (`passing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count

import numpy as np

from linnet import loops
from linnet.algebra.derive import decides
from linnet.algebra.dtypes import Number, as_python, concrete
from linnet.algebra.exact import apply as value_of
from linnet.algebra.function import Function
from linnet.algebra.overflow import overflows
from linnet.arrays.nodes import Constant, Leaf, Map, Node, Take, View
from linnet.errors import DTypeError
from linnet.formats.buffers import Buffer
from linnet.formats.contents import Contents, Signature
from linnet.formats.format import Format
from linnet.formats.named import SCALAR, settle
from linnet.formats.tensor import Tensor
from linnet.normalize.facts import Facts
from linnet.normalize.known import number
from linnet.normalize.simplify import simplify_expr

_MOST = 64  # nodes of an expression that are looked at for its fill value
Fact = tuple[Number, str]
BETTER_KNOWN = ("pow", "bitwise_left_shift", "bitwise_right_shift", "round")  # as x ** 2 is


def as_numbers(args: tuple[object, ...]) -> tuple[object, ...]:
    """Arrays without dimensions beside sparse ones as the numbers that they hold.

    The fill value of the result may follow from them, and it need not be dense.
    """
    single = [type(a) in (Tensor, np.ndarray) and not a.ndim and not is_unstored(a) for a in args]  # type: ignore[attr-defined]
    if not any(single) or not any(map(_is_sparse, args)):
        return args
    return tuple([_value_of(a) if one else a for a, one in zip(args, single, strict=True)])


def _value_of(single: object) -> np.generic:
    """The number of an array without dimensions, with its dtype."""
    array = single.to_numpy() if type(single) is Tensor else single
    return array[()]  # type: ignore[index,no-any-return]


def _is_sparse(arg: object) -> bool:
    """Whether an argument is a tensor that does not store all its elements."""
    if type(arg) is not Tensor or arg._contents is None:
        return False
    return not all(level.full for level in arg._contents.format.levels[:-1])


def is_passed(function: Function, k: int, value: Number, dtype: str) -> bool:
    """Whether a number is given to a kernel that computes with it, and not part of its code.

    Part of the code is what tells where there is something to compute: 0 and 1, infinities, what
    the function's laws speak of, and small exponents.
    """
    if dtype.startswith("weak") or function.name in BETTER_KNOWN:
        return False
    return not _tells(function, k, value, dtype)


def settled(node: Map, given: tuple[str, ...], numbers: Iterable[int]) -> tuple[Function, str]:
    """The function of a call some of whose numbers are passed, and what is known of its fill value.

    `minimum(X, c)` is 0 where X is, for all c that are not negative. Where the fill value is one
    that tells, as that is, the kernel knows it. Others are given to results afterwards.
    """
    function = node.function
    others = [k for k, arg in enumerate(node.args) if not isinstance(arg, Constant)]
    try:
        known = known_fill(node.args[others[0]]) if len(others) == 1 else None
    except _LongError:
        known = None
    if known is None:
        return function, ""
    place = others[0]
    facts = tuple([known if k == place else (a.value, a.dtype) for k, a in enumerate(node.args)])  # type: ignore[union-attr]
    return _settled(function, facts, repr(facts), given, place, tuple(numbers))


@lru_cache(maxsize=1024)
def _settled(
    function: Function,
    facts: tuple[Fact, ...],
    text: str,  # which tells 0.0 from -0.0
    given: tuple[str, ...],
    place: int,
    numbers: tuple[int, ...],
) -> tuple[Function, str]:
    """The same of the fill value, at one place, and numbers, some of which are passed."""
    while_compiling = tuple([None if k in numbers else fact for k, fact in enumerate(facts)])
    if fixed_fill(function, while_compiling, given) is not None:
        return function, ""
    found = value_of(function, tuple([f[0] for f in facts]), tuple([f[1] for f in facts]))
    if not is_telling(found):
        return function, ""
    return decided(function, place, facts[place][0], found), repr(found)


def is_telling(value: Number) -> bool:
    """0, 1, -1, a truth value, or what is not finite."""
    return value in (0, 1, -1) or value - value != 0


@lru_cache(maxsize=4096)
def _tells(function: Function, k: int, value: Number, dtype: str) -> bool:
    if is_telling(value) or decides(function, k, value, dtype) is not None:
        return True
    laws = (function.identity, function.left_identity, function.right_identity)
    cases = [case for case in function.cases if (k, value) in case.values]
    return bool(function.space or cases) or any(law(dtype) == value for law in laws)


# -- fill values -----------------------------------------------------------------------------------


class _LongError(Exception):
    """An expression is too long to be looked into whenever a number is put to it."""


def known_fill(node: Node) -> Fact | None:
    """The value of a node where its operands store nothing, with its dtype; None: it may be any."""
    found = _value(node, count(_MOST, -1))
    return (found.value, node.dtype) if isinstance(found, loops.Literal) else None


def _value(node: Node, left: Iterator[int]) -> loops.Literal | None:
    if next(left) == 0:
        raise _LongError
    match node:
        case Constant(value, dtype):
            return loops.Literal(value, None if dtype.startswith("weak") else dtype)
        case Leaf(_, _, dtype):
            return None if _is_dense(node) else loops.Literal(_fill(node), dtype, structural=True)
        case View(arg) | Take(arg):
            return _value(arg, left)
        case Map(function, args):
            if not node.fill:
                found = _of_call(function, args, [_value(a, left) for a in args])
                object.__setattr__(node, "fill", (found,))  # which is the same for all threads
            return node.fill[0]
        case _:
            return None


def _of_call(
    function: Function, args: Sequence[Node], values: Sequence[loops.Literal | None]
) -> loops.Literal | None:
    dtypes = tuple([a.dtype for a in args])
    return _simplified(function, tuple(values), repr(values), dtypes)


@lru_cache(maxsize=1024)
def _simplified(
    function: Function,
    values: tuple[loops.Literal | None, ...],
    text: str,  # which tells 0.0 from -0.0
    dtypes: tuple[str, ...],
) -> loops.Literal | None:
    """The value of a call, if it is known though some of its arguments are not."""
    types = {f"x{k}": dtype for k, dtype in enumerate(dtypes)}
    args = [loops.Access(f"x{k}", ()) if v is None else v for k, v in enumerate(values)]
    found = number(simplify_expr(loops.Call(function, tuple(args)), Facts({}, types)))
    return found if isinstance(found, loops.Literal) else None


def decided(function: Function, place: int, fill: Number, result: Number) -> Function:
    """A function whose result is known where one argument is its fill value.

    What an infinite number would decide is left out: it is another result, for another number.
    """
    return _decided(function, place, fill, result, f"{place}_{fill!r}_{result!r}")


@lru_cache(maxsize=1024)
def _decided(function: Function, place: int, fill: Number, result: Number, text: str) -> Function:
    # the text tells 0.0 from -0.0, and False
    return replace(
        function,
        name=f"{function.name}_{text}",
        symbol="",
        constants=((fill, place, result),),
    )


def fixed_fill(
    function: Function, facts: tuple[Fact | None, ...], given: tuple[str, ...]
) -> Number | None:
    """The result where the tensors store nothing, if it is the same whatever the numbers are."""
    values = tuple([f if f is None else loops.Literal(*f, structural=True) for f in facts])
    dtypes = tuple([g if f is None else f[1] for f, g in zip(facts, given, strict=True)])
    found = _simplified(function, values, repr(facts), dtypes)
    if found is None:
        return None
    return as_python(found.value, concrete(function.types(dtypes)[1]))


def nowhere_stored(leaf: Leaf) -> loops.Literal | None:
    """The value of a single element that is not stored."""
    format = leaf.tensor.contents().format
    if not format.leaf.unstored:
        return None
    return loops.Literal(_fill(leaf), format.dtype, structural=True)


def is_unstored(arg: object) -> bool:
    """Whether an argument is a single element that is not stored."""
    return type(arg) is Tensor and arg.contents().format.leaf.unstored


def _fill(leaf: Leaf) -> Number:
    fill = leaf.tensor.contents().format.fill_value
    assert fill is not None
    return fill


def _is_dense(leaf: Leaf) -> bool:
    levels = leaf.tensor.contents().format.levels
    return all(level.full for level in levels[:-1]) and not levels[-1].unstored


@lru_cache(maxsize=64)
def _scalar_format(dtype: str) -> tuple[Format, np.dtype[np.generic], Signature]:
    format, held = settle(SCALAR, dtype), np.dtype(dtype)
    return format, held, Contents(format, (), (Buffer.borrow(np.zeros(1, held)),)).signature


def scalar(value: Number, dtype: str) -> Tensor:
    """A number as a tensor without dimensions; refuses what the dtype does not hold."""
    format, held, signature = _scalar_format(dtype)
    if overflows(value, dtype):
        raise DTypeError(f"the value {value!r} does not fit the dtype {dtype}")
    try:
        array = np.array((value,), held)
    except (OverflowError, TypeError, ValueError):
        array = np.array((as_python(value, dtype),), held)
    made = Tensor(format, (), (Buffer.borrow(array),))
    made.contents()._signature = signature
    return made
