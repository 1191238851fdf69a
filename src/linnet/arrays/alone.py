"""One tensor and numbers: computed where something is stored, and once for everywhere else.

Whatever `f` is, `f(A, c)` has the value `f(fill, c)` where A stores nothing. So one kernel does for
all numbers and all fill values: it is compiled as if both fill values were 0, and the result gets
its own afterwards. A loop over a thousand numbers compiles nothing but once. Left to the algebra
are numbers that decide the result by themselves (`A ** 0`), and dense tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from linnet.algebra.derive import decides
from linnet.algebra.dtypes import concrete
from linnet.algebra.function import Function, no_constant
from linnet.algebra.lookup import lookup
from linnet.algebra.table import power
from linnet.arrays.evaluate import calls_of, run
from linnet.arrays.exponents import check_exponent
from linnet.arrays.graph import fill_of, leaf, map_of, node_of
from linnet.arrays.nodes import Constant, Leaf, Node
from linnet.arrays.plan import Plan, plan
from linnet.arrays.scalars import BETTER_KNOWN, fixed_fill, scalar
from linnet.arrays.trace import trace
from linnet.arrays.unstored import decided
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.tensor import Tensor
from linnet.records import dataclass
from linnet.runtime.memory import Memory
from linnet.runtime.recall import Computed

_NUMBERS = frozenset((bool, int, float, complex))


@dataclass(frozen=True, slots=True)
class _Way:
    """A kernel for numbers of some types, and its operand and result with the fill value 0.

    `fixed` is the format of the result if its fill value is the same for all numbers.
    """

    plan: Plan
    dtypes: tuple[str | None, ...]  # of numbers; None: it is part of the code, or the tensor
    held: Format
    result: Format
    fixed: Format | None


@dataclass(frozen=True, slots=True)
class _Given:
    """The numbers of a call, which are kept for the next, and the format of its result."""

    numbers: tuple[Tensor, ...]
    result: Format


_WAYS: Memory[tuple[object, ...], _Way] = Memory()
_PLANS: Memory[tuple[object, ...], Plan] = Memory()
_GIVEN: Memory[tuple[object, ...], _Given] = Memory()


def alone(function: object, args: Sequence[object]) -> Computed | Tensor | None:
    """A function of one sparse tensor and numbers; None if the arguments are others.

    Single elements that are not stored may decide it, whatever the others are.
    """
    tensor: Tensor | None = None
    key: list[object] = [function]
    for arg in args:
        if type(arg) is Tensor and tensor is None and arg._contents is not None:
            tensor = arg
            key.append(arg._contents.signature)
        elif type(arg) in _NUMBERS or isinstance(arg, np.generic):
            key.append(arg.dtype if isinstance(arg, np.generic) else type(arg))
        else:
            return decided(function, args)
    if tensor is None or is_dense(tensor.contents().format):
        return decided(function, args)
    return _computed(function, args, tensor, key)


@located
def _computed(
    function: object, args: Sequence[object], tensor: Tensor, kinds: list[object]
) -> Computed | None:
    found = lookup(function)
    if found is None or found.arity != len(args):
        return None
    if found is power:
        check_exponent(*[leaf(tensor) if arg is tensor else node_of(arg) for arg in args])
    texts = _texts(args, tensor)
    key = (*kinds, *texts) if found.name in BETTER_KNOWN else tuple(kinds)
    way = _WAYS.get(key)
    if way is None:
        way = _WAYS.put(key, _way(found, args, tensor, key))
    key = (*kinds, *texts)
    given = _GIVEN.get(key)
    if given is None:
        result = way.fixed or _result(found, args, tensor, way)
        if result is None:
            return None
        numbers = [scalar(a, d) for a, d in zip(args, way.dtypes, strict=True) if d is not None]  # type: ignore[arg-type]
        given = _GIVEN.put(key, _Given(tuple(numbers), result))
    tensors = [_shared(tensor, way.held), *given.numbers]
    made = _labelled(run(way.plan, tensors)[0], given.result)
    return Computed(made, partial(calls_of, way.plan, tensors, (), made))


def _texts(args: Sequence[object], tensor: Tensor) -> list[str]:
    """The numbers, as what tells 0.0 from -0.0."""
    return [repr(arg) for arg in args if arg is not tensor]


def _labelled(tensor: Tensor, format: Format) -> Tensor:
    """The same values with another fill value, on which nothing that is stored depends."""
    contents = tensor.contents()
    if contents.format == format:
        return tensor
    return Tensor(format, contents.shape, contents.buffers)


def _shared(tensor: Tensor, format: Format) -> Tensor:
    """The same of a tensor that others have: who writes to it meanwhile takes other memory."""
    if tensor.contents().format == format:
        return tensor
    contents = tensor.shared()
    return Tensor(format, contents.shape, contents.buffers)


def _result(function: Function, args: Sequence[object], tensor: Tensor, way: _Way) -> Format | None:
    """The format of the result for these numbers; None if one of them decides it by itself."""
    nodes = [leaf(tensor) if arg is tensor else node_of(arg) for arg in args]
    if any(_decides(function, k, nodes) for k in range(len(nodes))):
        return None
    return way.result.with_fill(fill_of(map_of(function, nodes)))


def _decides(function: Function, k: int, nodes: Sequence[Node]) -> bool:
    """Whether an argument is a number that decides the result, whatever the others are."""
    node = nodes[k]
    if not isinstance(node, Constant):
        return False
    given = function.types(tuple([n.dtype for n in nodes]))[0]
    return decides(function, k, node.value, concrete(given[k])) is not None


@lru_cache(maxsize=1024)
def is_dense(format: Format) -> bool:
    """Whether every place is stored."""
    return all(level.full for level in format.levels[:-1])


# -- kernels ---------------------------------------------------------------------------------------


def _way(
    function: Function, args: Sequence[object], tensor: Tensor, key: tuple[object, ...]
) -> _Way:
    """The kernel for numbers of these types, which knows nothing of the fill values."""
    contents = tensor.contents()
    zero = contents.format.with_fill(0)
    held = _labelled(tensor, zero)
    nodes = [leaf(held) if arg is tensor else node_of(arg) for arg in args]
    given = function.types(tuple([n.dtype for n in nodes]))[0]
    passed = [isinstance(n, Constant) and function.name not in BETTER_KNOWN for n in nodes]
    dtypes = [concrete(d) if p else None for d, p in zip(given, passed, strict=True)]
    place = [arg is tensor for arg in args].index(True)
    made = map_of(_as_if_zero(function, place), nodes)
    like = tuple([held.contents().signature if k is contents.signature else k for k in key])
    found = _PLANS.get(like)
    if found is None:
        found = _PLANS.put(like, _plan(function, place, nodes, dtypes))
    assert found.only is not None  # a map of one operand needs no other order of its loops
    settled = found.only.results[0].format.with_dtype(made.dtype)
    value = contents.format.fill_value
    assert value is not None
    facts = tuple([(value, n.dtype) if n is nodes[place] else None for n in nodes])
    fill = fixed_fill(function, facts, given)
    fixed = None if fill is None else settled.with_fill(fill)
    return _Way(found, tuple(dtypes), zero, settled, fixed)


def _plan(
    function: Function, place: int, nodes: Sequence[Node], dtypes: Sequence[str | None]
) -> Plan:
    lifted: list[Node] = list(nodes)
    for k, (node, dtype) in enumerate(zip(nodes, dtypes, strict=True)):
        if isinstance(node, Constant) and dtype is not None:
            lifted[k] = Leaf(scalar(node.value, dtype), (), dtype)
    made = map_of(_as_if_zero(function, place), lifted)
    numbers = [n for k, n in enumerate(lifted) if k != place and isinstance(n, Leaf)]
    found = trace([lifted[place], *numbers, made])  # so that tensors are in this order
    return plan(found, [made], [None])


@lru_cache(maxsize=1024)
def _as_if_zero(function: Function, place: int) -> Function:
    """The function without its laws: what is not stored stays so, and the rest is computed."""
    return replace(
        function,
        name=f"{function.name}_stored_{place}",
        symbol="",
        commutative=False,
        idempotent=False,
        identity=no_constant,
        annihilator=no_constant,
        left_identity=no_constant,
        right_identity=no_constant,
        left_annihilator=no_constant,
        decisive=False,
        constants=((0, place, 0),),
        space=None,
        cases=(),
    )
