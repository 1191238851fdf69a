"""One tensor and numbers: computed where something is stored, and once for everywhere else.

Whatever `f` is, `f(A, c)` has the value `f(fill, c)` where A stores nothing. So one kernel does for
all numbers and all fill values: it is compiled as if both fill values were 0, and the result gets
its own afterwards. In a loop over a thousand thresholds nothing is compiled but once. Left to the
algebra are numbers that decide the result by themselves (`A * 0`, `A ** 0`), and dense tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from linnet.algebra.derive import decides
from linnet.algebra.dtypes import Number, concrete
from linnet.algebra.function import Function, no_constant
from linnet.algebra.lookup import lookup
from linnet.arrays.evaluate import Memory, run
from linnet.arrays.graph import fill_of, leaf, map_of, node_of
from linnet.arrays.nodes import Constant, Leaf, Node
from linnet.arrays.plan import Plan, plan
from linnet.arrays.scalars import BETTER_KNOWN, scalar
from linnet.arrays.trace import trace
from linnet.formats.contents import Contents
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.tensor import Tensor

_NUMBERS = frozenset((bool, int, float, complex))
_WAYS: Memory[tuple[object, ...], _Way] = Memory()


@dataclass(frozen=True, slots=True)
class _Way:
    """A kernel for a function of one tensor, and the dtypes of numbers that it is given."""

    plan: Plan
    dtypes: tuple[str | None, ...]  # None: the number is part of the code


def alone(function: object, args: Sequence[object]) -> Tensor | None:
    """A function of one sparse tensor and numbers; None if the arguments are others."""
    place, key = -1, [function]
    for k, arg in enumerate(args):
        if type(arg) is Tensor and place < 0:
            place = k
            key.append("tensor")
        elif type(arg) in _NUMBERS:
            key.append(type(arg))
        elif isinstance(arg, np.generic):
            key.append(arg.dtype)
        else:
            return None
    if place < 0:
        return None
    tensor: Tensor = args[place]  # type: ignore[assignment]
    contents = tensor._contents
    if contents is None or is_dense(contents.format):
        return None
    return _computed(function, args, place, tensor, tuple(key))


@located
def _computed(
    function: object, args: Sequence[object], place: int, tensor: Tensor, key: tuple[object, ...]
) -> Tensor | None:
    found = lookup(function)
    if found is None or found.arity != len(args):
        return None
    contents = tensor.contents()
    fill = _fill(found, place, contents.format, _values(args, place))
    if fill is None:
        return None
    held = _with_fill(tensor, contents, 0)
    numbers = found.name in BETTER_KNOWN and _values(args, place)
    key = (*key, held.contents().signature, numbers)
    way = _WAYS.get(key)
    if way is None:
        way = _WAYS.put(key, _way(found, place, held, args))
    given = [
        scalar(args[k], dtype)  # type: ignore[arg-type]
        for k, dtype in enumerate(way.dtypes)
        if dtype is not None
    ]
    out = run(way.plan, [held, *given])[0]
    return _with_fill(out, out.contents(), fill)


def _values(args: Sequence[object], place: int) -> tuple[tuple[object, object], ...]:
    """The numbers, with what tells 0.0 from -0.0, False and a NumPy scalar."""
    return tuple([(repr(a), a) for k, a in enumerate(args) if k != place])


# -- how it is computed ----------------------------------------------------------------------------


def _way(function: Function, place: int, held: Tensor, args: Sequence[object]) -> _Way:
    """The kernel, which knows nothing of the fill values."""
    nodes: list[Node] = [leaf(held) if k == place else node_of(a) for k, a in enumerate(args)]
    given = function.types(tuple([n.dtype for n in nodes]))[0]
    dtypes: list[str | None] = [None] * len(nodes)
    if function.name not in BETTER_KNOWN:
        for k, node in enumerate(nodes):
            if isinstance(node, Constant):
                dtypes[k] = concrete(given[k])
                nodes[k] = Leaf(scalar(node.value, dtypes[k]), (), dtypes[k])
    order = [nodes[place], *[n for n, d in zip(nodes, dtypes, strict=True) if d is not None]]
    made = map_of(_as_if_zero(function, place), nodes)
    found, _ = trace([*order, made])  # so that tensors are in this order
    return _Way(plan(found, [made], [None]), tuple(dtypes))


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


# -- fill values -----------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _fill(
    function: Function, place: int, format: Format, numbers: tuple[tuple[str, Number], ...]
) -> Number | None:
    """The fill value of the result; None if a number decides the result by itself."""
    values = [number for _, number in numbers]
    nodes: list[Node] = [node_of(v) for v in values]
    nothing = Tensor(format, (0,) * format.ndim)
    nodes.insert(place, Leaf(nothing, (0,) * format.ndim, str(format.dtype)))
    given = function.types(tuple([n.dtype for n in nodes]))[0]
    for k, node in enumerate(nodes):
        known = isinstance(node, Constant)
        if known and decides(function, k, node.value, concrete(given[k])) is not None:
            return None
    return fill_of(map_of(function, nodes))


def _with_fill(tensor: Tensor, contents: Contents, fill: Number) -> Tensor:
    """The same values with another fill value, which nothing stored depends on."""
    format = _format(contents.format, repr(fill), fill)
    if format is contents.format:
        return tensor
    return Tensor(format, contents.shape, contents.buffers)


@lru_cache(maxsize=8192)
def _format(format: Format, text: str, fill: Number) -> Format:
    made = format.with_fill(fill)
    return format if repr(made.fill_value) == repr(format.fill_value) else made


@lru_cache(maxsize=1024)
def is_dense(format: Format) -> bool:
    """Whether every place is stored."""
    return all(level.full for level in format.levels[:-1])
