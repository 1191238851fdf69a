"""Nodes made of nodes: shapes and dtypes that fit are found here, others are refused."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, zip_longest
from operator import index

import numpy as np

from linnet import loops
from linnet.algebra.dtypes import (
    Number,
    as_python,
    canonical,
    comparable,
    concrete,
    kind,
    weak_dtype,
)
from linnet.algebra.function import Function, typed
from linnet.algebra.overflow import overflown, overflows
from linnet.algebra.table import astype, power
from linnet.arrays.exponents import check_exponent
from linnet.arrays.flip import flipped, one_way
from linnet.arrays.moving import is_moving
from linnet.arrays.nodes import Axis, Constant, Leaf, Map, Node, Position, Reduce, Take, View
from linnet.errors import ArgumentError, AxisError, DTypeError, ShapeError
from linnet.formats.construct import asarray
from linnet.formats.from_numpy import share
from linnet.formats.tensor import Tensor
from linnet.loops.rewrite import walk
from linnet.normalize.facts import Facts
from linnet.normalize.known import number
from linnet.normalize.simplify import same, simplify_expr

_NUMBERS = (bool, int, float, complex)
_EMPTY_IS_REFUSED = ("minimum", "maximum", "fmin", "fmax")
COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))
_LONG = 32  # nodes of an expression that is still looked into for a fill value
_WIDENED = {"b": "int64", "i": "int64", "u": "uint64"}  # in which integers are summed


def leaf(tensor: Tensor, name: str = "") -> Leaf:
    """The node of a tensor."""
    contents = tensor.contents()
    assert contents.format.dtype is not None
    return Leaf(tensor, contents.shape, contents.format.dtype, name)


def node_of(value: object) -> Node:
    """Anything that can be an operand, as a node."""
    if type(value) is Tensor:
        return leaf(value)
    if type(value) in _NUMBERS:
        return Constant(value, weak_dtype(value))  # type: ignore[arg-type]
    if is_moving(value):
        return node_of(int(value))  # type: ignore[call-overload]
    if isinstance(value, np.generic):
        dtype = canonical(value.dtype)
        return Constant(as_python(value, dtype), dtype)
    if type(value) is np.ndarray:
        return leaf(share(value))
    return leaf(value if isinstance(value, Tensor) else asarray(value))


# -- elements --------------------------------------------------------------------------------------


def map_of(function: Function, args: Sequence[Node]) -> Map:
    """A function of elements, with NumPy's broadcasting."""
    if len(args) != function.arity:
        raise ArgumentError(f"{function.name} takes {function.arity} arguments, not {len(args)}")
    if function.name in COMPARISONS:
        args = compared(args)
    elif function is power:
        check_exponent(*args)
    shape = args[0].shape
    dtype = typed(function, tuple([a.dtype for a in args]))[1]
    for arg in args:
        if arg.shape != shape:
            return _map_repeated(function, args, dtype)
    return Map(function, tuple(args), shape, concrete(dtype) if shape else dtype)


def compared(args: Sequence[Node]) -> Sequence[Node]:
    """The operands of a comparison; a number beyond the type of the other is infinite."""
    for k, arg in enumerate(args):
        if type(arg) is Constant:
            other = args[1 - k]
            value = comparable(arg.value, other.dtype)
            if value is not arg.value:
                beyond = Constant(value, "weak_float")
                return (beyond, other) if k == 0 else (other, beyond)
    return args


def rounded(function: Function, args: Sequence[Node]) -> Sequence[Node]:
    """Arguments of a function; a number that floats beside it cannot hold is infinite."""
    for k, arg in enumerate(args):
        if type(arg) is Constant and overflows(arg.value, "float32"):
            dtypes = tuple([a.dtype for a in args])
            dtype = typed(function, dtypes)[0][k] if len(args) == function.arity else ""
            if overflows(arg.value, dtype):
                value = overflown(arg.value, dtype)
                args = [*args[:k], Constant(value, weak_dtype(value)), *args[k + 1 :]]
    return args


def _map_repeated(function: Function, args: Sequence[Node], dtype: str) -> Map:
    """The same of arguments some of which are repeated."""
    shape = broadcast_shape([a.shape for a in args])
    placed = tuple([a if a.shape == shape or not a.shape else broadcast(a, shape) for a in args])
    return Map(function, placed, shape, concrete(dtype) if shape else dtype)


def converted(node: Node, dtype: object) -> Node:
    """The same elements in another dtype."""
    wanted = canonical(dtype)
    return node if node.dtype == wanted else Map(astype[wanted], (node,), node.shape, wanted)


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape in which arrays of these shapes meet."""
    found = shapes[0]
    for shape in shapes:
        if shape != found:
            found = _meet(found, shape, shapes)
    return found


def _meet(
    a: tuple[int, ...], b: tuple[int, ...], shapes: Sequence[tuple[int, ...]]
) -> tuple[int, ...]:
    pairs = list(zip_longest(reversed(a), reversed(b), fillvalue=1))
    for m, n in pairs:
        if m != n and 1 not in (m, n):
            raise ShapeError(
                f"shapes {', '.join(map(str, shapes))} do not fit together",
                why=f"a dimension of {m} meets one of {n}, and neither of them is 1",
            )
    return tuple(n if m == 1 else m for m, n in reversed(pairs))


# -- views -----------------------------------------------------------------------------------------


def view_of(arg: Node, axes: Sequence[Axis], shape: tuple[int, ...]) -> Node:
    """The elements of a node at other indices; a view of a view is one view."""
    if isinstance(arg, View):
        axes = [_composed(inner, axes) for inner in arg.axes]
        arg = arg.arg
    if type(arg) is Leaf:
        for axis in axes:
            if axis.step < 0:
                arg, axes = _forward(arg, axes, shape)
                break
    if shape == arg.shape and all(x == Axis(k) for k, x in enumerate(axes)):
        return arg
    return View(arg, tuple(axes), shape, arg.dtype)


def _forward(
    leaf: Leaf, axes: Sequence[Axis], shape: tuple[int, ...]
) -> tuple[Leaf, Sequence[Axis]]:
    """A tensor that is turned around, where it cannot be walked backward, and its axes."""
    format = leaf.tensor.contents().format
    modes = tuple(
        m
        for m, axis in enumerate(axes)
        if axis.step < 0 and axis.out is not None and shape[axis.out] > 1 and one_way(format, m)
    )
    if not modes:
        return leaf, axes
    turned = [
        Axis(axis.out, leaf.shape[m] - 1 - axis.start, -axis.step) if m in modes else axis
        for m, axis in enumerate(axes)
    ]
    return Leaf(flipped(leaf.tensor, modes), leaf.shape, leaf.dtype, leaf.name), turned


def _composed(inner: Axis, outer: Sequence[Axis]) -> Axis:
    if inner.out is None:
        return inner
    axis = outer[inner.out]
    return Axis(axis.out, inner.start + inner.step * axis.start, inner.step * axis.step)


def broadcast(node: Node, shape: tuple[int, ...]) -> Node:
    """The node with its elements repeated to fill a shape."""
    missing = len(shape) - len(node.shape)
    fits = missing >= 0 and all(
        n in (1, m) for n, m in zip(node.shape, shape[missing:], strict=True)
    )
    if not fits:
        raise ShapeError(
            f"an array of shape {node.shape} cannot be broadcast to {shape}",
            why="a dimension stays as it is, unless it is 1 or is not there",
        )
    axes = [
        Axis(None) if n != shape[k + missing] else Axis(k + missing)
        for k, n in enumerate(node.shape)
    ]
    return view_of(node, axes, shape)


def permuted(node: Node, axes: Sequence[int]) -> Node:
    """The node whose dimension m is dimension `axes[m]` of the other."""
    order = tuple(normal_axis(axis, len(node.shape)) for axis in axes)
    if sorted(order) != list(range(len(node.shape))):
        raise ShapeError(f"{tuple(axes)} is not an order of {len(node.shape)} dimensions")
    places = [Axis(order.index(k)) for k in range(len(order))]
    return view_of(node, places, tuple(node.shape[axis] for axis in order))


def normal_axis(axis: object, ndim: int) -> int:
    """An axis counted from the front."""
    try:
        number = index(axis)  # type: ignore[arg-type]
    except TypeError:  # of an array of one element, too
        raise ArgumentError(f"an axis is an integer, not {axis!r}") from None
    if isinstance(axis, bool):
        raise ArgumentError(f"an axis is an integer, not {axis!r}")
    if not -ndim <= number < ndim:
        raise AxisError(f"there is no axis {number} in {ndim} dimensions")
    return number % ndim


# -- reductions ------------------------------------------------------------------------------------


def reduce_of(
    function: Function,
    arg: Node,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    initial: Number | None = None,
    dtype: object = None,
) -> Node:
    """The elements along some axes, or all, combined by a function of two arguments."""
    if function.arity != 2:
        raise ArgumentError(
            f"{function.name} takes {function.arity} arguments, and a reduction combines two"
        )
    ndim = len(arg.shape)
    given = range(ndim) if axis is None else (axis,) if not isinstance(axis, Sequence) else axis
    axes = tuple(sorted(normal_axis(a, ndim) for a in given))
    if len(set(axes)) < len(axes):
        raise AxisError(f"an axis is given twice in {tuple(given)}")
    arg = converted(arg, dtype if dtype is not None else sum_dtype(function, arg.dtype))
    begin = _initial(function, arg, axes, initial)
    shape = tuple(n for k, n in enumerate(arg.shape) if k not in axes)
    made: Node = Reduce(function, axes, arg, begin, shape, arg.dtype) if axes else arg
    if not axes and initial is not None:
        made = map_of(function, (Constant(begin, arg.dtype), arg))
    if not keepdims:
        return made
    kept = [k for k in range(ndim) if k not in axes]
    return view_of(made, [Axis(k) for k in kept], tuple(
        1 if k in axes else n for k, n in enumerate(arg.shape)
    ))  # fmt: skip


def sum_dtype(function: Function, dtype: str) -> str:
    """The dtype in which a reduction is computed: integers are summed in 64 bits."""
    dtype = concrete(dtype)
    if function.name in ("add", "multiply"):
        return _WIDENED.get(kind(dtype), dtype)
    result = concrete(function.types((dtype, dtype))[1])
    if concrete(function.types((result, result))[1]) != result:
        raise DTypeError(f"{function.name} of {dtype} values cannot be repeated: it makes {result}")
    return result


def _initial(
    function: Function, arg: Node, axes: tuple[int, ...], initial: Number | None
) -> Number:
    """What a reduction begins with: what is given, or the function's identity."""
    if initial is not None:
        return as_python(initial, arg.dtype)
    if function.name in _EMPTY_IS_REFUSED and any(arg.shape[k] == 0 for k in axes):
        raise ShapeError(
            f"there is no {function.name} of no elements",
            why=f"an axis of the shape {arg.shape} that is reduced over is empty",
            hint="give initial=",
        )
    identity = function.identity(arg.dtype)
    if identity is None:
        raise ArgumentError(
            f"`{function.name}` has no identity, so a reduction has no value to begin with",
            hint="give initial=",
        )
    return identity


# -- fill values -----------------------------------------------------------------------------------


def fill_of(node: Node) -> Number:
    """What the elements are where the sparse operands store nothing.

    Dense operands may hold anything there, and so may reductions, if they are stored densely. If
    that makes a difference the result is dense, and its fill value is nominal: 0.
    """
    found = _Fills(reductions_are_known=False).expr(node)
    if not isinstance(found, loops.Literal):
        found = _Fills(reductions_are_known=True).expr(node)
    value = found.value if isinstance(found, loops.Literal) else 0
    return value if node.dtype.startswith("weak") else as_python(value, node.dtype)


class _Fills:
    """The values of nodes where nothing is stored, as expressions."""

    def __init__(self, reductions_are_known: bool) -> None:
        self._reductions_are_known = reductions_are_known
        self._found: dict[int, loops.Expr] = {}
        self._types: dict[str, str] = {}

    def expr(self, node: Node) -> loops.Expr:
        """The value of a node; an access to a tensor of no name if it may be anything."""
        if id(node) not in self._found:
            self._found[id(node)] = self._value(node)
        return self._found[id(node)]

    def _value(self, node: Node) -> loops.Expr:
        match node:
            case Constant(value, dtype):
                return loops.Literal(value, None if dtype.startswith("weak") else dtype)
            case Leaf(tensor, _, dtype):
                format = tensor.contents().format
                whole = all(level.full for level in format.levels[:-1])
                if whole and not format.leaf.unstored:
                    return self._anything(dtype)
                return loops.Literal(as_python(format.fill_value, dtype), dtype, structural=True)
            case Position():
                return self._anything(node.dtype)
            case View(arg) | Take(arg):
                below = self.expr(arg)
                if isinstance(below, loops.Literal):
                    return below
                return self._anything(node.dtype)  # what is read elsewhere is something else
            case Map(function, args):
                values = tuple([self.expr(a) for a in args])
                call = loops.Call(function, values)
                made = number(simplify_expr(call, Facts({}, self._types)))
                # what is used twice would be twice in it, and so on: see `cuts`
                return self._anything(node.dtype) if self._is_long(made) else made
            case Reduce(function, _, arg, initial, _, dtype):
                below, identity = self.expr(arg), function.identity(dtype)
                held = isinstance(below, loops.Literal) and identity is not None
                kept = held and same(below.value, identity)  # type: ignore[union-attr]
                if kept and self._reductions_are_known:
                    return loops.Literal(initial, dtype, structural=True)
                return self._anything(dtype)

    def _is_long(self, expr: loops.Expr) -> bool:
        return any(True for _ in islice(walk(expr), _LONG, None))

    def _anything(self, dtype: str) -> loops.Expr:
        name = f"x{len(self._types)}"
        self._types[name] = dtype
        return loops.Access(name, ())
