"""The operations on arrays: lazy if an operand is lazy, else computed at once, by the same path.

An operation on tensors is a graph of one node, planned and run like any other. Its plan is also
kept under a key that is quick to make, so that the next call like it only runs the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.algebra.table import power
from linnet.arrays.alone import alone
from linnet.arrays.evaluate import evaluate, run
from linnet.arrays.exponents import check_exponent
from linnet.arrays.graph import (
    broadcast,
    broadcast_shape,
    map_of,
    node_of,
    permuted,
    reduce_of,
    rounded,
)
from linnet.arrays.lazy import Lazy
from linnet.arrays.nodes import Constant, Leaf, Node, View
from linnet.arrays.plan import BY_VALUE, Plan, plan
from linnet.arrays.scalars import as_numbers, passed, scalar
from linnet.arrays.slices import Index, viewed
from linnet.arrays.subscripts import contraction
from linnet.arrays.trace import trace
from linnet.arrays.written import Expression, called
from linnet.errors import ArgumentError, DTypeError, ShapeError
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.named import Family, FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.records import dataclass
from linnet.runtime.measure import scale, well_filled
from linnet.runtime.memory import Memory
from linnet.runtime.slices import pattern_of

Array: TypeAlias = Tensor | Lazy

_NUMBERS = frozenset((bool, int, float, complex))
_FAST: Memory[tuple[object, ...], Quick] = Memory()


@dataclass(frozen=True, slots=True)
class Quick:
    """A plan that needs nothing but tensors, and the dtypes of those that are made of numbers."""

    plan: Plan
    dtypes: tuple[str, ...]
    powers: bool = False  # exponents are looked at first


def apply(function: object, *args: object, format: FormatLike | None = None) -> Array:
    """A function of elements, with NumPy's broadcasting."""
    if Lazy in map(type, args):
        return _noted(function, args)
    args = as_numbers(args)
    if format is None:
        try:
            made = alone(function, args)
            found = _quick(function, args) if made is None else None
        except DTypeError:  # a number that does not fit: refused, unless it is compared with
            made = found = None
        if made is not None:
            return made
        if found is not None:
            if found[0].plan is BY_VALUE:
                return _through_graph(function, args)
            if found[0].powers:
                check_exponent(*map(operand, args))
            return run(found[0].plan, found[1])[0]
    return _applied(function, args, format)


@located
def _noted(function: object, args: tuple[object, ...]) -> Array:
    """A function of lazy arrays."""
    nodes = []
    for arg in args:
        if type(arg) is Lazy:
            nodes.append(arg.node)
        elif isinstance(arg, Expression):
            return called(function_of(function), args)  # type: ignore[return-value]
        else:
            nodes.append(node_of(arg))
    return Lazy(_mapped(function_of(function), nodes))


def _quick(function: object, args: tuple[object, ...]) -> tuple[Quick, list[Tensor]] | None:
    """How this has been done before, and with which tensors."""
    key, tensors, number = _quick_key(function, args)
    known = None if key is None else _FAST.get(key)
    if known is None:
        return None
    if known.dtypes and number is not None:
        place, value = number
        tensors.insert(place, scalar(value, known.dtypes[place]))
    return known, tensors


def _quick_key(
    function: object, args: tuple[object, ...]
) -> tuple[tuple[object, ...] | None, list[Tensor], tuple[int, Number] | None]:
    """What tells how tensors and a number are combined, if it is as simple as that."""
    tensors: list[Tensor] = []
    number: tuple[int, Number] | None = None
    key: list[object] = [function]
    shapes: list[tuple[int, ...]] = []
    for arg in args:
        if type(arg) is Tensor and (contents := arg._contents) is not None:
            key.append(contents.signature)
            tensors.append(arg)
            shapes.append(contents.shape)
        elif type(arg) in _NUMBERS or isinstance(arg, np.generic):
            if number is not None:
                return None, tensors, None
            number = len(tensors), arg  # type: ignore[assignment]
            key.append(arg.dtype if isinstance(arg, np.generic) else type(arg))
        else:
            return None, tensors, None
    if len(tensors) > 1:
        if shapes.count(shapes[0]) < len(shapes):
            key.append(_repeated(tuple(shapes)))
        distinct = {id(t): t for t in tensors}
        if len(distinct) < len(tensors):  # an operand of the kernel is read twice
            key.append(tuple([[*distinct].index(id(t)) for t in tensors]))
            tensors = [*distinct.values()]
        if key[-1] is None or (number is not None and len(distinct) < len(shapes)):
            return None, tensors, None
    return tuple(key), tensors, number


@lru_cache(maxsize=1024)
def _repeated(shapes: tuple[tuple[int, ...], ...]) -> tuple[object, ...] | None:
    """Which dimensions of operands are whole and not repeated; None if they do not fit."""
    try:
        sizes = broadcast_shape(shapes)
    except ShapeError:  # which is told elsewhere
        return None
    return tuple(
        [
            tuple([n == m for n, m in zip(shape, sizes[len(sizes) - len(shape) :], strict=True)])
            for shape in shapes
        ]
    )


@located
def _applied(function: object, args: tuple[object, ...], format: FormatLike | None) -> Array:
    if any(isinstance(a, Expression) for a in args):
        return called(function_of(function), args)  # type: ignore[return-value]
    found = function_of(function)
    nodes = rounded(found, [operand(a) for a in args])
    made = map_of(found, nodes)
    key = None if format is not None else _quick_key(function, args)[0]
    if not any(isinstance(n, Constant) for n in nodes):
        return _evaluated(made, format, key, powers=found is power)
    if key is None or made.args != tuple(nodes):
        return _evaluated(made, format, None)
    lifted = passed(found, nodes)
    if lifted is None:
        _FAST.put(key, Quick(BY_VALUE, ()))  # there is no quicker way than through a graph
        return _evaluated(made, format, None)
    return _evaluated(map_of(found, lifted), format, key, tuple([a.dtype for a in lifted]))


@located
def _through_graph(function: object, args: tuple[object, ...]) -> Array:
    """A function of tensors and numbers, of which the result may depend."""
    return evaluate([_mapped(function_of(function), [operand(a) for a in args])])[0]


def _mapped(function: Function, nodes: Sequence[Node]) -> Node:
    return map_of(function, rounded(function, nodes))


def apply_each(functions: Sequence[object], *args: object) -> tuple[Array, ...]:
    """Several functions of the same elements, computed together: in one pass over the operands."""
    nodes = [operand(a) for a in args]
    made = [_mapped(function_of(f), nodes) for f in functions]
    if any(isinstance(a, Lazy) for a in args):
        return tuple([Lazy(node) for node in made])
    return tuple(evaluate(made))


@located
def reduce(
    function: object,
    x: object,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    dtype: object = None,
    format: FormatLike | None = None,
) -> Array:
    """The elements along an axis, several, or all, combined by a function of two arguments.

    A function without an identity needs an `initial` value. Integers are added and multiplied in
    64 bits, unless `dtype` says otherwise.

    >>> either = ln.function(lambda x, y: x + y - x * y, associative=True, identity=0)
    >>> ln.reduce(either, ln.asarray([[0.5, 0.0, 0.5], [0.0, 0.25, 0.0]]), axis=1).tolist()
    [0.75, 0.25]
    """
    key: tuple[object, ...] | None = None
    if type(x) is Tensor and initial is None and format is None and x._contents is not None:
        contents = x._contents
        if type(axis) is list:
            axis = tuple(axis)
        if _is_told(function, axis, keepdims, dtype):
            key = (function, contents.signature, axis, keepdims, dtype, well_filled(contents))
        known = None if key is None or 0 in contents.shape else _FAST.get(key)
        if known is not None:
            return run(known.plan, [x])[0]
    made = reduce_of(function_of(function), operand(x), axis, keepdims, initial, dtype)
    return Lazy(made) if isinstance(x, Lazy) else _evaluated(made, format, key)


def _is_told(function: object, axis: object, keepdims: object, dtype: object) -> bool:
    """Whether a reduction may be known by these: what is refused may be equal to what is not."""
    axes = axis if type(axis) is tuple else (axis,)
    plain = type(keepdims) is bool and all(type(a) is int or a is None for a in axes)
    try:
        hash((function, dtype))
    except TypeError:  # a list, or something that holds one
        return False
    return plain


@located
def view(x: object, index: Index, format: FormatLike | None = None) -> Array:
    """Basic indexing: slices with any step, integers, `None`, `...`, and tuples of them."""
    if type(x) is Tensor and format is None and type(index) is tuple:
        found = window(x, index)
        if found is not None:
            return found
    made = viewed(operand(x), index)
    return Lazy(made) if isinstance(x, Lazy) else _evaluated(made, format, None)


def window(x: Tensor, parts: tuple[object, ...]) -> Tensor | None:
    """Slices of a tensor, one part for each dimension, by a kernel for all slices like these.

    None if there is more to the index, or the result is better made otherwise.
    """
    contents = x.contents()
    if len(parts) != len(contents.shape) or 1 in contents.shape:
        return None
    found = pattern_of(contents, parts)
    if found is None:
        return None
    pattern, numbers = found
    known = _FAST.get(pattern)
    if known is not None:
        return run(known.plan, [x], numbers)[0]
    node = viewed(operand(x), parts)  # type: ignore[arg-type]
    if not isinstance(node, View):
        return None
    traced = trace([node])
    made = plan(traced, [node], [None])
    if traced.numbers != numbers or any(step.large for step in made.steps):
        return None
    _FAST.put(pattern, Quick(made, ()))
    return run(made, traced.tensors, numbers)[0]


@located
def permute(x: object, axes: Sequence[int], format: FormatLike | None = None) -> Array:
    """The array whose dimension m is dimension `axes[m]` of x; of a tensor, without a copy."""
    made = permuted(operand(x), axes)
    if isinstance(x, Lazy):
        return Lazy(made)
    if isinstance(x, Tensor) and format is None:
        return x.permute(tuple(int(a) % x.ndim for a in axes))
    return _evaluated(made, format, None)


@located
def broadcast_to(x: object, shape: tuple[int, ...], format: FormatLike | None = None) -> Array:
    """The array with its elements repeated to fill a shape."""
    made = broadcast(operand(x), tuple(int(n) for n in shape))
    return Lazy(made) if isinstance(x, Lazy) else _evaluated(made, format, None)


@located
def contract(
    subscripts: str,
    *args: object,
    semiring: object = None,
    format: FormatLike | None = None,
) -> Array:
    """Products of elements summed over indices, in NumPy's notation: `"ij,jk->ik"`.

    With a semiring, its functions take the places of product and sum. `...` stands for the
    dimensions that are not named, which are broadcast.
    """
    key, tensors = _contract_key(subscripts, args, semiring, format)
    known = None if key is None else _FAST.get(key)
    if known is not None:
        return run(known.plan, tensors)[0]
    made = contraction(subscripts, [operand(a) for a in args], semiring)
    if any(isinstance(a, Lazy) for a in args):
        return Lazy(made)
    return _evaluated(made, format, key)


def _contract_key(
    subscripts: str, args: tuple[object, ...], semiring: object, format: FormatLike | None
) -> tuple[tuple[object, ...] | None, list[Tensor]]:
    """What tells how tensors are contracted, if none of their dimensions is broadcast."""
    key: list[object] = [subscripts, semiring, format]
    tensors: list[Tensor] = []
    terms, equal = _terms(subscripts) if type(subscripts) is str else ((), ())
    if len(terms) != len(args) or not isinstance(format, str | Format | Family | None):
        return None, tensors
    shapes: list[tuple[int, ...]] = []
    for ndim, arg in zip(terms, args, strict=True):
        if type(arg) is not Tensor or (contents := arg._contents) is None:
            return None, tensors
        shape = contents.shape
        if len(shape) != ndim:
            return None, tensors
        shapes.append(shape)
        tensors.append(arg)
        key += (contents.signature, well_filled(contents), scale(contents.nnz, shape))
    if len({*map(id, tensors)}) < len(tensors):
        return None, tensors
    for p, m, q, n in equal:
        if shapes[p][m] != shapes[q][n]:
            return None, tensors
    return tuple(key), tensors


@lru_cache(maxsize=256)
def _terms(subscripts: str) -> tuple[tuple[int, ...], tuple[tuple[int, int, int, int], ...]]:
    """How many dimensions operands have, and which are equal; nothing if it is not so simple."""
    if "." in subscripts or " " in subscripts:
        return (), ()
    terms = subscripts.partition("->")[0].split(",")
    first: dict[str, tuple[int, int]] = {}
    equal = []
    for p, term in enumerate(terms):
        for m, letter in enumerate(term):
            q, n = first.setdefault(letter, (p, m))
            if (p, m) != (q, n):
                equal.append((p, m, q, n))
    return tuple(map(len, terms)), tuple(equal)


# -- one node --------------------------------------------------------------------------------------


def function_of(function: object) -> Function:
    """The function that an object stands for."""
    found = lookup(function)
    if found is None:
        raise ArgumentError(
            f"{function!r} is not a function that Linnet knows",
            hint="use one of linnet's or NumPy's, or make one with ln.function",
        )
    return found


def operand(value: object) -> Node:
    """Anything that can be an operand, as a node."""
    return value.node if isinstance(value, Lazy) else node_of(value)


def _evaluated(
    node: Node,
    format: FormatLike | None,
    key: tuple[object, ...] | None,
    dtypes: tuple[str, ...] = (),
    powers: bool = False,
) -> Tensor:
    """The tensor of a node; its plan is kept under a quick key if it needs nothing else."""
    if format is None and isinstance(node, Leaf):
        return copy(node.tensor)  # another object, that may be written to
    wanted = None if format is None else as_format(format, len(node.shape))
    if key is None:
        return evaluate([node], [wanted])[0]
    found = trace([node])
    made = plan(found, [node], [wanted])
    if any(step.numbers or step.large for step in made.steps):
        return evaluate([node], [wanted])[0]
    known = _FAST.put(key, Quick(made, dtypes, powers))
    return run(known.plan, found.tensors)[0]
