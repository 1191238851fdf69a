"""Index notation as a graph: every access a view of its operand along all indices.

With an operator, the whole value is reduced over the indices that the target does not have. With a
plain `=` it is summed, and each term of a sum by itself, over the indices that it has: `y[i] =
A[i, j] * x[j] + b[i]` adds `b[i]` once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from linnet import loops
from linnet.algebra.dtypes import Number, concrete, weak_dtype
from linnet.algebra.function import Function
from linnet.algebra.table import add, multiply
from linnet.arrays.breakup import distributes, pairs
from linnet.arrays.check import check, index_sizes
from linnet.arrays.graph import broadcast, map_of, reduce_of, view_of
from linnet.arrays.maskable import mask_of
from linnet.arrays.nodes import Axis, Constant, Labels, Node, Notation, Position, Take
from linnet.arrays.subscripts import contracted
from linnet.errors import DTypeError, FormatError, InternalError
from linnet.loops.rewrite import accesses, walk
from linnet.records import dataclass

_TERMS = ("add", "subtract")


def graph_of(
    notation: Notation, operands: Mapping[str, Node], fill: Number | None = None
) -> tuple[Node, Labels]:
    """What an equation over operands computes, and its names."""
    shapes = {name: node.shape for name, node in operands.items()}
    check(notation, shapes)
    sizes = index_sizes(notation, shapes)
    free = list(notation.free)
    if notation.op is None:
        made = _summed(notation.value, free, sizes, operands, fill)
        reduced = reduced_in(notation.value, free)
    else:
        reduced = reduced_in(notation.value, free)
        made = _reduction(notation, notation.op, free, reduced, sizes, operands, fill)
    made = broadcast(made, tuple(sizes[i] for i in free))
    return made, Labels(notation.result, tuple(free), tuple(reduced), "einsum")


def summed_apart(expr: loops.Expr, free: Sequence[str]) -> bool:
    """Whether an expression is a sum of terms that are summed over different indices."""
    return len({frozenset(reduced_in(term, free)) for term in _terms(expr)}) > 1


def _terms(expr: loops.Expr) -> Iterator[loops.Expr]:
    """What a sum adds up, and takes away."""
    match expr:
        case loops.Call(function, (first, second)) if function.name in _TERMS:
            yield from _terms(first)
            yield from _terms(second)
        case _:
            yield expr


def reduced_in(expr: loops.Expr, free: Sequence[str]) -> list[str]:
    """The indices of an expression that the target does not have."""
    found = dict.fromkeys(n.name for n in walk(expr) if isinstance(n, loops.Index))
    return [i for i in found if i not in free]


def _summed(
    expr: loops.Expr,
    free: list[str],
    sizes: Mapping[str, int],
    operands: Mapping[str, Node],
    fill: Number | None,
) -> Node:
    """A sum of terms, each over its own indices."""
    match expr:
        case loops.Call(function, args) if summed_apart(expr, free):
            parts = [_summed(a, free, sizes, operands, None) for a in args]
            return _called(function, parts, expr)
    reduced = reduced_in(expr, free)
    broken = _broken_up(expr, add, free, sizes, operands) if fill is None else None
    if broken is not None:
        return broken
    value = _Reader((*free, *reduced), sizes, operands).node(expr)
    if not reduced:
        return value
    axes = range(len(free), len(free) + len(reduced))
    return _reduce(add, value, axes, fill)


def _reduction(
    notation: Notation,
    op: Function,
    free: list[str],
    reduced: list[str],
    sizes: Mapping[str, int],
    operands: Mapping[str, Node],
    fill: Number | None,
) -> Node:
    """The whole value, reduced by the operator of the equation."""
    letters = (*free, *reduced)
    broken = _broken_up(notation.value, op, free, sizes, operands) if fill is None else None
    if broken is not None:
        return broken
    value = _Reader(letters, sizes, operands).node(notation.value)
    value = broadcast(value, tuple(sizes[i] for i in letters))
    op.types((value.dtype, value.dtype))  # which refuses what it does not take
    if op.identity(concrete(value.dtype)) is None and fill is None:
        raise FormatError(
            f"`{op.name}` has no identity, so the result has no value to begin with",
            at=notation.at,
            hint="give fill_value=",
        )
    if not reduced:
        return value
    return _reduce(op, value, range(len(free), len(letters)), fill)


def _broken_up(
    expr: loops.Expr,
    op: Function,
    free: list[str],
    sizes: Mapping[str, int],
    operands: Mapping[str, Node],
) -> Node | None:
    """A product of three or more accesses, if it is better summed in parts.

    Of several dtypes, it is not: which products are made in which of them would be another matter.
    """
    factors = _factors(expr)
    plain = all(isinstance(i, loops.Index) for f in factors for i in f.indices)
    if len(factors) < 3 or not plain or not distributes(multiply, op):
        return None
    names = dict.fromkeys(i.name for f in factors for i in f.indices)  # type: ignore[union-attr]
    letters = {name: chr(ord("a") + k) for k, name in enumerate(names)}
    if len(letters) > 26 or not set(free) <= set(letters):
        return None
    terms = ["".join(letters[i.name] for i in f.indices) for f in factors]  # type: ignore[union-attr]
    nodes = [operands[str(f.tensor)] for f in factors]
    if len({node.dtype for node in nodes}) > 1:
        return None
    result = "".join(letters[i] for i in free)
    lengths = {letter: sizes[name] for name, letter in letters.items()}
    ring = (op, multiply)
    whole = pairs(terms, nodes, result, lengths) is None
    if whole and mask_of(terms, nodes, result, lengths, ring) is None:
        return None
    return contracted(terms, nodes, result, lengths, ring)


def _factors(expr: loops.Expr) -> list[loops.Access]:
    """The accesses of a product of nothing else."""
    match expr:
        case loops.Access():
            return [expr]
        case loops.Call(function, (a, b)) if function is multiply:
            left, right = _factors(a), _factors(b)
            return [*left, *right] if left and right else []
    return []


def _reduce(op: Function, value: Node, axes: range, fill: Number | None) -> Node:
    """A reduction in the dtype of its operands, as in NumPy's einsum."""
    dtype = concrete(value.dtype)
    own = dtype if op.types((dtype, dtype))[1] == dtype else None
    return reduce_of(op, value, tuple(axes), initial=fill, dtype=own)


def _called(function: Function, args: Sequence[Node], call: loops.Call) -> Node:
    """A function of nodes; what it does not take is told at the first of them."""
    try:
        return map_of(function, args)
    except DTypeError as error:
        error.at = error.at or next((access.at for access, _ in accesses(call)), None)
        raise


@dataclass(frozen=True, slots=True)
class _Reader:
    """Expressions as nodes with one dimension for every letter."""

    letters: tuple[str, ...]
    sizes: Mapping[str, int]
    operands: Mapping[str, Node]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all indices."""
        return tuple(self.sizes[i] for i in self.letters)

    def node(self, expr: loops.Expr) -> Node:
        """The node of an expression."""
        match expr:
            case loops.Literal(value, dtype):
                return Constant(value, weak_dtype(value) if dtype is None else dtype)
            case loops.Index(name):
                return Position(self.letters.index(name), self.shape)
            case loops.Dimension(tensor, mode):
                return Constant(self.operands[tensor].shape[mode], "int64")
            case loops.Call(function, args):
                return _called(function, [self.node(a) for a in args], expr)
            case loops.Access(str(tensor), indices, protocols):
                return self._access(self.operands[tensor], indices, protocols)
            case _:
                raise InternalError(f"{expr} does not belong in index notation")

    def _access(self, arg: Node, indices: Sequence[loops.Expr], protocols: tuple[str, ...]) -> Node:
        if all(isinstance(i, loops.Index) for i in indices) and not any(protocols):
            axes = [Axis(self.letters.index(i.name)) for i in indices]  # type: ignore[union-attr]
            return view_of(arg, axes, self.shape) if indices else arg
        places = tuple(self.node(i) for i in indices)
        return Take(arg, places, protocols, self.shape, arg.dtype)
