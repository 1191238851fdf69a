"""The operations on arrays: lazy if an operand is lazy, else computed at once, by the same path.

An operation on tensors is a graph of one node, planned and run like any other. What is known of a
function of elements is looked up first (`runtime.eager`), by the same keys as operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import lru_cache, partial
from typing import TypeAlias

from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.lookup import by_name, lookup
from linnet.algebra.table import power
from linnet.arrays.alone import alone
from linnet.arrays.evaluate import calls_of, evaluate, evaluated, planned, run
from linnet.arrays.graph import broadcast, map_of, node_of, permuted, reduce_of, rounded
from linnet.arrays.lazy import Lazy
from linnet.arrays.nodes import Leaf, Node, View
from linnet.arrays.scalars import as_numbers
from linnet.arrays.slices import Index, viewed
from linnet.arrays.subscripts import contraction
from linnet.arrays.written import Expression, called
from linnet.errors import ArgumentError, DTypeError
from linnet.formats.format import Format
from linnet.formats.located import located
from linnet.formats.named import Family, FormatLike, as_format
from linnet.formats.tensor import Tensor
from linnet.runtime import eager
from linnet.runtime.recall import Computed, result
from linnet.runtime.slices import pattern_of

Array: TypeAlias = Tensor | Lazy


def apply(function: object, *args: object, format: FormatLike | None = None) -> Array:
    """A function of elements, with NumPy's broadcasting."""
    if Lazy in map(type, args):
        return _noted(function, args)
    args = as_numbers(args)
    if format is not None:
        return result(_applied(function, args, format))  # type: ignore[no-any-return]
    found = lookup(function)
    if found is None or found is power:  # whose exponents are looked at in every call
        return result(_computed(function, *args))  # type: ignore[no-any-return]
    # functions of users have names that others may have, too
    name = found.name if by_name.get(found.name) is found else found
    if len(args) == 1:
        return result(eager.unary(_of_name, name, *args))  # type: ignore[no-any-return]
    if len(args) == 2:
        return result(eager.elementwise(_of_name, name, *args))  # type: ignore[no-any-return]
    return result(_computed(found, *args))  # type: ignore[no-any-return]


def _of_name(name: str | Function, *args: object) -> Computed | Array:
    return _computed(by_name[name] if isinstance(name, str) else name, *args)


def _computed(function: object, *args: object) -> Computed | Array:
    """A function of tensors and numbers, computed as nobody has done it before."""
    try:
        made = alone(function, args)
    except DTypeError:  # a number that does not fit: refused, unless it is compared with
        made = None
    return _applied(function, args, None) if made is None else made


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


@located
def _applied(
    function: object, args: tuple[object, ...], format: FormatLike | None
) -> Computed | Array:
    if any(isinstance(a, Expression) for a in args):
        return called(function_of(function), args)  # type: ignore[return-value]
    return _evaluated(_mapped(function_of(function), [operand(a) for a in args]), format)


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
    made = reduce_of(function_of(function), operand(x), axis, keepdims, initial, dtype)
    return Lazy(made) if isinstance(x, Lazy) else result(_evaluated(made, format))


@located
def view(x: object, index: Index, format: FormatLike | None = None) -> Array:
    """Basic indexing: slices with any step, integers, `None`, `...`, and tuples of them."""
    if type(x) is Tensor and format is None and type(index) is tuple:
        found = window(x, index)
        if found is not None:
            return found
    made = viewed(operand(x), index)
    return Lazy(made) if isinstance(x, Lazy) else result(_evaluated(made, format))


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

    def general(x: Tensor) -> Computed | None:
        node = viewed(operand(x), parts)  # type: ignore[arg-type]
        if not isinstance(node, View):
            return None
        made, traced = planned([node], [None], ())
        if traced.numbers != numbers or any(step.large for step in made.steps):
            return None
        (found,) = run(made, traced.tensors, numbers)
        return Computed(found, partial(calls_of, made, traced.tensors, numbers, found))

    return result(eager.window(general, x, pattern, numbers))  # type: ignore[no-any-return]


@located
def permute(x: object, axes: Sequence[int], format: FormatLike | None = None) -> Array:
    """The array whose dimension m is dimension `axes[m]` of x; of a tensor, without a copy."""
    made = permuted(operand(x), axes)
    if isinstance(x, Lazy):
        return Lazy(made)
    if isinstance(x, Tensor) and format is None:
        return x.permute(tuple(int(a) % x.ndim for a in axes))
    return result(_evaluated(made, format))  # type: ignore[no-any-return]


@located
def broadcast_to(x: object, shape: tuple[int, ...], format: FormatLike | None = None) -> Array:
    """The array with its elements repeated to fill a shape."""
    made = broadcast(operand(x), tuple(int(n) for n in shape))
    return Lazy(made) if isinstance(x, Lazy) else result(_evaluated(made, format))


@located
def contract(
    subscripts: str,
    *args: object,
    semiring: object = None,
    format: FormatLike | None = None,
    told: str = "",
) -> Array:
    """Products of elements summed over indices, in NumPy's notation: `"ij,jk->ik"`.

    With a semiring, its functions take the places of product and sum. `...` stands for the
    dimensions that are not named, which are broadcast. `told` is the operator of which the formats
    of operands tell all this.
    """
    if _is_plain(subscripts, args) and isinstance(format, str | Format | Family | None):

        def general(*tensors: Tensor) -> Computed | Tensor:
            made = contraction(subscripts, [operand(a) for a in tensors], semiring)
            return _evaluated(made, format)

        known = told or (subscripts, semiring, format)
        return result(eager.contraction(general, known, args))  # type: ignore[no-any-return, arg-type]
    made = contraction(subscripts, [operand(a) for a in args], semiring)
    if any(isinstance(a, Lazy) for a in args):
        return Lazy(made)
    return result(_evaluated(made, format))  # type: ignore[no-any-return]


def _is_plain(subscripts: str, args: tuple[object, ...]) -> bool:
    """Whether tensors are contracted none of whose dimensions is repeated."""
    terms, equal = _terms(subscripts) if type(subscripts) is str else ((), ())
    if len(terms) != len(args):
        return False
    shapes = [a._contents.shape for a in args if type(a) is Tensor and a._contents is not None]
    if tuple(map(len, shapes)) != terms:
        return False
    return all(shapes[p][m] == shapes[q][n] for p, m, q, n in equal)


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


def _evaluated(node: Node, format: FormatLike | None) -> Computed | Tensor:
    """The tensor of a node, and what its plan has called."""
    if format is None and isinstance(node, Leaf):
        return copy(node.tensor)  # another object, that may be written to
    wanted = None if format is None else as_format(format, len(node.shape))
    (found,), made, traced = evaluated([node], (wanted,), ())
    return Computed(found, partial(calls_of, made, traced.tensors, traced.numbers, found))
