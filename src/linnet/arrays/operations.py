"""The operations on arrays: lazy if an operand is lazy, else computed at once, by the same path.

An operation on tensors is a graph of one node, planned and run like any other. Its plan is also
kept under a key that is quick to make, so that the next call like it only runs the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.arrays.evaluate import Memory, evaluate, run
from linnet.arrays.graph import broadcast, map_of, node_of, permuted, reduce_of
from linnet.arrays.lazy import Lazy
from linnet.arrays.nodes import Constant, Leaf, Node, View
from linnet.arrays.plan import Plan, plan
from linnet.arrays.scalars import OUTCOME, PASSED, VALUE, lift, outcome, scalar
from linnet.arrays.slices import Index, viewed
from linnet.arrays.subscripts import contraction
from linnet.arrays.trace import pattern_of, scale, trace, well_filled
from linnet.arrays.written import Expression, called
from linnet.errors import ArgumentError
from linnet.formats.located import located
from linnet.formats.named import FormatLike, as_format
from linnet.formats.tensor import Tensor

Array: TypeAlias = Tensor | Lazy

_NUMBERS = frozenset((bool, int, float, complex))
_FAST: Memory[tuple[object, ...], Quick | str] = Memory()


@dataclass(frozen=True, slots=True)
class Quick:
    """A plan that needs nothing but tensors, and the dtypes of those that are made of numbers."""

    plan: Plan
    dtypes: tuple[str, ...]


def apply(function: object, *args: object, format: FormatLike | None = None) -> Array:
    """A function of elements, with NumPy's broadcasting."""
    if format is None:
        found = _quick(function, args)
        if found is not None:
            return run(found[0].plan, found[1])[0]
    return _applied(function, args, format)


def _quick(function: object, args: tuple[object, ...]) -> tuple[Quick, list[Tensor]] | None:
    """How this has been done before, and with which tensors."""
    key, tensors, number = _quick_key(function, args)
    known = None if key is None else _FAST.get(key)
    if type(known) is str:
        known = _FAST.get(_full_key(known, key, function, args))  # type: ignore[arg-type]
    if type(known) is not Quick:
        return None
    if known.dtypes and number is not None:
        place, value = number
        tensors.insert(place, scalar(value, known.dtypes[place]))
    return known, tensors


def _quick_key(
    function: object, args: tuple[object, ...]
) -> tuple[tuple[object, ...] | None, list[Tensor], tuple[int, Number] | None]:
    """What tells how tensors of one shape and a number are combined, if it is as simple as that."""
    tensors: list[Tensor] = []
    number: tuple[int, Number] | None = None
    key: list[object] = [function]
    shape: tuple[int, ...] | None = None
    for arg in args:
        if type(arg) in _NUMBERS:
            if number is not None:
                return None, tensors, None
            number = len(tensors), arg  # type: ignore[assignment]
            key.append(type(arg))
            continue
        if type(arg) is not Tensor or (contents := arg._contents) is None:
            return None, tensors, None
        if shape is None:
            shape = contents.shape
        elif shape != contents.shape or arg is tensors[0]:
            return None, tensors, None
        key.append(contents.signature)
        tensors.append(arg)
    return tuple(key), tensors, number


def _full_key(
    how: str, key: tuple[object, ...], function: object, args: tuple[object, ...]
) -> tuple[object, ...]:
    """The key with what else the plan depends on: a number, or what a comparison with it gives."""
    if how == OUTCOME:
        return (*key, OUTCOME, outcome(function_of(function), [node_of(a) for a in args])[2])
    return (*key, VALUE, *[repr(a) for a in args if type(a) in _NUMBERS])


@located
def _applied(function: object, args: tuple[object, ...], format: FormatLike | None) -> Array:
    if any(isinstance(a, Expression) for a in args):
        return called(function_of(function), args)  # type: ignore[return-value]
    nodes = [operand(a) for a in args]
    wanted, lifted, how = lift(function_of(function), nodes)
    made = map_of(wanted, lifted)
    if any(isinstance(a, Lazy) for a in args):
        return Lazy(made)
    key = None if format is not None else _quick_key(function, args)[0]
    if key is not None and how != PASSED and any(isinstance(n, Constant) for n in nodes):
        _FAST.put(key, how)
        key = _full_key(how, key, function, args)
    scalars = any(a is not b for a, b in zip(nodes, lifted, strict=True))
    dtypes = tuple([a.dtype for a in lifted]) if scalars else ()
    return _evaluated(made, format, key, dtypes)


def apply_each(functions: Sequence[object], *args: object) -> tuple[Array, ...]:
    """Several functions of the same elements, computed together: in one pass over the operands."""
    nodes = [operand(a) for a in args]
    made = [map_of(function_of(f), nodes) for f in functions]
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
    """
    key: tuple[object, ...] | None = None
    if type(x) is Tensor and initial is None and format is None and x._contents is not None:
        if type(axis) is list:
            axis = tuple(axis)
        contents = x._contents
        key = (function, contents.signature, axis, keepdims, dtype, well_filled(contents))
        known = _FAST.get(key) if 0 not in contents.shape else None
        if type(known) is Quick:
            return run(known.plan, [x])[0]
    made = reduce_of(function_of(function), operand(x), axis, keepdims, initial, dtype)
    return Lazy(made) if isinstance(x, Lazy) else _evaluated(made, format, key)


@located
def view(x: object, index: Index, format: FormatLike | None = None) -> Array:
    """Basic indexing: slices with any step, integers, `None`, `...`, and tuples of them."""
    made = viewed(operand(x), index)
    if isinstance(x, Lazy):
        return Lazy(made)
    if format is None and isinstance(made, View) and isinstance(made.arg, Leaf):
        return _window(made, made.arg)
    return _evaluated(made, format, None)


def _window(view: View, leaf: Leaf) -> Tensor:
    """A part of a tensor, by a kernel for all parts like it."""
    pattern, numbers = pattern_of(view)
    key = (*pattern, leaf.tensor.contents().signature)
    known = _FAST.get(key)
    if type(known) is Quick:
        return run(known.plan, [leaf.tensor], numbers)[0]
    found, _ = trace([view])
    made = plan(found, [view], [None])
    if any(step.large for step in made.steps):
        return evaluate([view])[0]
    _FAST.put(key, Quick(made, ()))
    return run(made, found.tensors, found.numbers)[0]


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
    key: tuple[object, ...] | None = None
    if format is None:
        key, tensors = _contract_key(subscripts, args, semiring)
        known = None if key is None else _FAST.get(key)
        if type(known) is Quick:
            return run(known.plan, tensors)[0]
    made = contraction(subscripts, [operand(a) for a in args], semiring)
    if any(isinstance(a, Lazy) for a in args):
        return Lazy(made)
    return _evaluated(made, format, key)


def _contract_key(
    subscripts: str, args: tuple[object, ...], semiring: object
) -> tuple[tuple[object, ...] | None, list[Tensor]]:
    """What tells how tensors are contracted, if none of their dimensions is broadcast."""
    key: list[object] = [subscripts, semiring]
    tensors: list[Tensor] = []
    sizes: dict[str, int] = {}
    terms = subscripts.partition("->")[0].split(",")
    if "." in subscripts or " " in subscripts or len(terms) != len(args):
        return None, tensors
    for arg, term in zip(args, terms, strict=True):
        if type(arg) is not Tensor or (contents := arg._contents) is None:
            return None, tensors
        if len(term) != len(contents.shape) or any(arg is t for t in tensors):
            return None, tensors
        for letter, size in zip(term, contents.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return None, tensors
        key += (contents.signature, well_filled(contents), scale(contents))
        tensors.append(arg)
    return tuple(key), tensors


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
) -> Tensor:
    """The tensor of a node; its plan is kept under a quick key if it needs nothing else."""
    if format is None and isinstance(node, Leaf):
        return node.tensor
    wanted = None if format is None else as_format(format, len(node.shape))
    if key is None:
        return evaluate([node], [wanted])[0]
    found, _ = trace([node])
    made = plan(found, [node], [wanted])
    if any(step.numbers or step.large for step in made.steps):
        return evaluate([node], [wanted])[0]
    known = _FAST.put(key, Quick(made, dtypes))
    return run(known.plan if type(known) is Quick else made, found.tensors)[0]
