"""A node of a graph as loops over its elements: everything below it in one nest, if that can be.

Indices are pulled from the result down to the leaves: a map is a call, a view is arithmetic on
indices, and a reduction inside an expression is a scalar, computed as soon as the indices it
depends on are bound. Where the order of the loops does not allow that, the reduction has to be
computed first and kept (`Kept`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from linnet import loops
from linnet.algebra.table import add, logical_or, multiply, subtract
from linnet.arrays.nodes import Constant, Leaf, Map, Node, Position, Reduce, Take, View
from linnet.arrays.scalars import nowhere_stored
from linnet.arrays.trace import Trace, is_whole
from linnet.arrays.twins import Twins
from linnet.formats.level import INSIDE
from linnet.loops.rewrite import block
from linnet.names import Names
from linnet.records import dataclass

NUMBERS = "size"  # the tensor whose dimensions are the numbers that a kernel is given


@dataclass(frozen=True, slots=True)
class At:
    """An index into an array: `factor * name + shift`; without a name, `shift`."""

    name: str | None
    factor: int = 1
    shift: loops.Expr | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is an index as it is."""
        return self.factor == 1 and self.shift is None

    def expr(self) -> loops.Expr:
        """The index in the loop language."""
        if self.name is None:
            return loops.Literal(0) if self.shift is None else self.shift
        index: loops.Expr = loops.Index(self.name)
        if abs(self.factor) != 1:
            index = loops.Call(multiply, (loops.Literal(abs(self.factor)), index))
        if self.shift is None:
            return index
        return loops.Call(*((add, (index, self.shift)) if self.factor > 0 else
                            (subtract, (self.shift, index))))  # fmt: skip

    def read(self, start: loops.Expr | None, step: int) -> At:
        """The index of an argument that a view reads at `start + step * self`."""
        shift = self.shift
        if shift is not None and step != 1:
            shift = loops.Call(multiply, (loops.Literal(step), shift))
        if shift is None or start is None:
            shift = start if shift is None else shift
        else:
            shift = loops.Call(add, (start, shift))
        return At(self.name, self.factor * step, shift)


@dataclass(frozen=True, slots=True)
class Row:
    """The elements of a reduction along an index, all computed before any is read.

    Only those are of which `needed` is true, which is known before: `marks` and `some` are the
    names of temporaries for where it is, and for whether it is anywhere in the row.
    """

    index: str
    order: tuple[str, ...]
    needed: loops.Expr
    marks: str
    some: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """A reduction inside an expression: `temp` is its value once the indices `outer` are bound.

    It may be a row of values, of which one is read where its index is bound, too.
    """

    temp: str
    node: Reduce
    at: tuple[At, ...]
    outer: frozenset[str]
    indices: tuple[str, ...]
    value: loops.Expr
    scalars: tuple[Scalar, ...]  # those that the value reads
    row: Row | None = None


@dataclass(slots=True)
class Pull:
    """Makes expressions of nodes.

    `names` are those under which tensors are known, by node.
    """

    trace: Trace
    names: Mapping[int, str]
    twins: Twins
    fresh: Names = field(default_factory=lambda: Names({NUMBERS, "out"}))
    extents: dict[str, int] = field(default_factory=dict)  # numbers that say how far indices run
    bound: set[str] = field(default_factory=set)  # indices that run over a whole dimension
    _known: dict[tuple[int, tuple[At, ...]], Scalar] = field(default_factory=dict)

    def expr(
        self,
        node: Node,
        at: tuple[At, ...],
        scalars: list[Scalar],
        protocols: tuple[str, ...] = (),
    ) -> loops.Expr:
        """An element of a node; `scalars` gets the reductions that it reads."""
        name = self.names.get(id(node))
        if type(node) is Leaf and (fill := nowhere_stored(node)) is not None:
            return fill
        if name is not None:
            self.bound.update(a.name for a in at if a.name and a.is_plain)
            return loops.Access(name, tuple(a.expr() for a in at), protocols or _inside(at))
        match node:
            case Constant(value, dtype):
                return loops.Literal(value, None if dtype.startswith("weak") else dtype)
            case Map(function, args):
                values = [self.expr(a, at if a.shape else (), scalars) for a in args]
                return loops.Call(function, tuple(values))
            case View():
                return self.expr(node.arg, self._read(node, at), scalars)
            case Reduce():
                return self._scalar(node, at, scalars)
            case Position(axis):
                self._run(node, axis, at[axis])
                return at[axis].expr()
            case Take(arg, indices, asked):
                places = [
                    At(None, 1, self.expr(i, at if i.shape else (), scalars)) for i in indices
                ]
                return self.expr(arg, tuple(places), scalars, asked)
            case Leaf():
                raise AssertionError("a leaf without a name")

    def index(self, hint: str = "") -> str:
        """A new index, from i on."""
        if hint:
            return self.fresh.fresh(hint)
        taken = self.fresh._taken
        return self.fresh.fresh(next((c for c in "ijklmnopq" if c not in taken), "i"))

    def body(
        self,
        node: Reduce,
        at: tuple[At, ...],
        scalars: list[Scalar],
        labels: tuple[str, ...] = (),
    ) -> tuple[list[str], loops.Expr]:
        """New indices for the axes of a reduction, and what it combines."""
        outer, inner, indices = iter(at), [], []
        hints = iter(labels)
        for k in range(len(node.arg.shape)):
            if k in node.axes:
                indices.append(self.index(next(hints, "")))
                inner.append(At(indices[-1]))
            else:
                inner.append(next(outer))
        return indices, self.expr(node.arg, tuple(inner), scalars)

    def _scalar(self, node: Reduce, at: tuple[At, ...], scalars: list[Scalar]) -> loops.Expr:
        first = id(self.twins[id(node)][0])
        known = self._known.get((first, at))
        if known is None:
            below: list[Scalar] = []
            indices, value = self.body(node, at, below)
            outer = frozenset(a.name for a in at if a.name is not None)
            temp = self.fresh.fresh("t")
            known = Scalar(temp, node, at, outer, tuple(indices), value, tuple(below))
            self._known[first, at] = known
        if not any(s is known for s in scalars):
            scalars.append(known)
        return loops.Access(known.temp, ())

    def _read(self, view: View, at: tuple[At, ...]) -> tuple[At, ...]:
        """Where the argument of a view is read."""
        found = []
        for k, axis in enumerate(view.axes):
            if axis.out is None:
                number = self.trace.start(view, k)
                found.append(At(None, 1, None if number is None else self.number(number)))
            elif is_whole(view, k):
                found.append(at[axis.out])
            else:
                number = self.trace.start(view, k)
                assert number is not None
                start = self.number(number)
                found.append(at[axis.out].read(start, axis.step))
        for m, place in enumerate(at):
            self._run(view, m, place)
        return tuple(found)

    def _run(self, node: Node, axis: int, place: At) -> None:
        """An index runs as far as a node does along an axis."""
        size = self.trace.size(node, axis)
        if size is not None and place.name and place.is_plain:
            self.extents.setdefault(place.name, size)

    def number(self, number: int) -> loops.Expr:
        """A number that is given when the kernel is called; a dimension, so that it is known."""
        return loops.Dimension(NUMBERS, number)


def _inside(at: tuple[At, ...]) -> tuple[str, ...]:
    """Slices lie inside their arrays, and so does the only element that is seen at every index.

    That they do is tested once: otherwise there are loops for where it is not, in each dimension.
    """
    sliced = [(a.shift is not None) == (a.name is not None) and a.factor > 0 for a in at]
    return tuple(INSIDE if s else "" for s in sliced) if any(sliced) else ()


# -- statements ------------------------------------------------------------------------------------

Extents = Mapping[str, loops.Extent | None]
Ordered = Callable[[Scalar, tuple[str, ...]], tuple[str, ...]]
"""The loops of a scalar, in order, inside those of a path."""
Computed = tuple[int, str, tuple[loops.Stmt, ...]]
"""How many loops are around the statements that compute a scalar, and its name."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Assignments in a nest: their loops in order, inside those of `path`."""

    path: tuple[str, ...]
    order: tuple[str, ...]
    body: tuple[loops.Stmt, ...]


def nest(
    reading: Reading, scalars: tuple[Scalar, ...], extents: Extents, ordered: Ordered
) -> tuple[tuple[loops.Stmt, ...], list[Computed]]:
    """The loops of a reading, with its scalars computed where their indices are bound.

    Also returns what has to be computed before, in loops of the path: others may read it, too.
    """
    path = (*reading.path, *reading.order)
    found: dict[str, Computed] = {}
    for scalar in scalars:
        for computed in _compute(scalar, path[: len(scalar.outer)], extents, ordered):
            found.setdefault(computed[1], computed)
    stmts = reading.body
    for d in range(len(path), len(reading.path), -1):
        before = [s for depth, _, each in found.values() if depth == d for s in each]
        stmts = (loops.Loop(path[d - 1], extents[path[d - 1]], block((*before, *stmts))),)
    return stmts, [c for c in found.values() if c[0] <= len(reading.path)]


def _compute(
    scalar: Scalar, path: tuple[str, ...], extents: Extents, ordered: Ordered
) -> list[Computed]:
    """The statements that compute a scalar, and those that it needs, in order."""
    assert set(path) == scalar.outer
    node = scalar.node
    begin = loops.Declare(scalar.temp, loops.Literal(node.initial, node.dtype))
    if scalar.row is not None:
        return [(len(path), scalar.temp, (begin, *_row(scalar, scalar.row, extents)))]
    update = loops.Assign(loops.Access(scalar.temp, ()), node.function, scalar.value)
    reading = Reading(path, ordered(scalar, path), (update,))
    inner, outside = nest(reading, scalar.scalars, extents, ordered)
    return [*outside, (len(path), scalar.temp, (begin, *inner))]


def _row(scalar: Scalar, row: Row, extents: Extents) -> list[loops.Stmt]:
    """Mark the elements of a row that are needed, and compute them."""
    here = (loops.Index(row.index),)
    mark = loops.Assign(loops.Access(row.marks, here), None, row.needed)
    note = loops.Assign(loops.Access(row.some, ()), logical_or, row.needed)
    update = loops.Assign(loops.Access(scalar.temp, here), scalar.node.function, scalar.value)
    looked_up = loops.Access(row.marks, here, ("follow",))
    stmt: loops.Stmt = loops.If(looked_up, update, loops.NOTHING)
    for index in reversed(row.order):
        stmt = loops.Loop(index, extents[index], stmt)
    return [
        loops.Declare(row.marks, loops.Literal(False, "bool")),
        loops.Declare(row.some, loops.Literal(False, "bool")),
        loops.Loop(row.index, extents[row.index], loops.Block((mark, note))),
        loops.If(loops.Access(row.some, ()), stmt, loops.NOTHING),
    ]


def all_scalars(scalars: Iterable[Scalar]) -> Iterator[Scalar]:
    """The scalars, and those inside them."""
    for scalar in scalars:
        yield from all_scalars(scalar.scalars)
        yield scalar
