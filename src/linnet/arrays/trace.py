"""What of a graph its kernels depend on, and what they are given when they are called.

Two graphs with equal keys are computed by the same kernels, given the tensors of the one or the
other and its numbers: where views begin, how large they are, and what elements are combined with.
Numbers are not compiled in, so that `A[k : k + 10] * c` is one kernel for all k and c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linnet.algebra.function import Function, typed
from linnet.arrays.nodes import Constant, Leaf, Map, Node, Position, Reduce, Take, View
from linnet.arrays.scalars import is_passed, scalar, settled
from linnet.errors import ShapeError
from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor
from linnet.records import dataclass
from linnet.runtime.measure import measure, scale


@dataclass(frozen=True, slots=True)
class Passed:
    """A call, and the tensors that stand for numbers among its arguments in a call of `function`.

    That is the function of the call, with what it makes of a fill value if that is worth knowing.
    """

    node: Map
    function: Function
    numbers: Mapping[int, Tensor]


class Trace:
    """A graph in order: every node once, after its arguments. This is made at every call.

    With `passing`, numbers that need not be known to the compiler become tensors, and have places
    in the order: `passed` says where.
    """

    __slots__ = ("_in_index", "_is_index", "_leaves", "_passing", "entries", "nodes", "numbers",
                 "passed", "places", "reduces", "tensors", "texts", "where")  # fmt: skip

    def __init__(self, passing: bool = False) -> None:
        self.nodes: list[Node] = []
        self.places: dict[int, int] = {}  # of nodes, by identity
        self.tensors: list[Tensor] = []
        self.numbers: list[int] = []
        self.where: dict[int, int] = {}  # the first number of a node, by identity
        self.passed: list[Passed] = []
        self.texts: list[str] = []  # of the numbers that are passed, which tell 0.0 from -0.0
        self.reduces = False
        self.entries: list[object] = []
        self._leaves: dict[int, int] = {}
        self._passing = passing
        self._is_index: set[int] = set()  # places of positions and what is computed of them alone
        self._in_index = 0

    def place(self, node: Node) -> int:
        """The number of a node, which is added with all below it if it is new."""
        known = self.places.get(id(node))
        if known is not None:
            return known
        kind = type(node)
        if kind is Leaf:
            entry = self._leaf(node)  # type: ignore[arg-type]
        elif kind is View:
            entry = self._view(node)  # type: ignore[arg-type]
        elif kind is Map:
            entry = self._map(node)  # type: ignore[arg-type]
        else:
            entry = self._other(node)
        return self._add(node, entry)

    def _add(self, node: Node, entry: object) -> int:
        place = len(self.nodes)
        self.places[id(node)] = place
        self.nodes.append(node)
        self.entries.append(entry)
        return place

    def like(self, outputs: Sequence[Node], origins: Mapping[int, int]) -> Trace:
        """The trace of a graph that has the same tensors and numbers, if in another order.

        `origins` are the places that its nodes, by identity, have in this one: where a number is
        given stays as it is, whichever view comes first.
        """
        made = Trace()
        made.tensors = list(self.tensors)
        made._leaves = {id(tensor): k for k, tensor in enumerate(self.tensors)}
        for node in outputs:
            made.place(node)
        made.numbers = list(self.numbers)
        made.where = {id_: self.where[id(self.nodes[origins[id_]])] for id_ in made.where}
        return made

    def operand(self, leaf: Leaf) -> int:
        """The number of a leaf's tensor."""
        return self._leaves[id(leaf.tensor)]

    def key(self, roots: tuple[int, ...], *more: object) -> tuple[object, ...]:
        """What the kernels of the graph depend on."""
        if not self.reduces or len(self.tensors) < 2:
            return (*self.entries, roots, *more)
        held = [tensor.contents() for tensor in self.tensors]
        scales = [scale(contents.nnz, contents.shape) for contents in held]
        return (*self.entries, *scales, roots, *more)

    # -- entries: what tells a node from others ----------------------------------------------------

    def _leaf(self, leaf: Leaf) -> object:
        tensor = leaf.tensor
        number = self._leaves.setdefault(id(tensor), len(self.tensors))
        if number == len(self.tensors):
            self.tensors.append(tensor)
        held = tensor.contents()
        if held.shape != leaf.shape or held.format.dtype != leaf.dtype:
            raise _changed(leaf, held)
        filled = (held._measure or measure(held))[0]
        return (number, held._signature or held.signature, filled, leaf.name)

    def _view(self, view: View) -> object:
        below = self.place(view.arg)
        parts, numbers = read_at(view)
        if numbers:
            self.where[id(view)] = len(self.numbers)
            self.numbers += numbers
        return ("view", below, len(view.shape), *parts)

    def _map(self, node: Map) -> object:
        function, args = node.function, node.args
        entry: list[object] = [function]
        given: tuple[str, ...] | None = None
        for arg in args:
            if type(arg) is Constant:
                if given is None and self._passing:
                    given = typed(function, tuple([a.dtype for a in args]))[0]
                entry.append(arg)  # decided when the others are known
            else:
                entry.append(self.place(arg))
        if given is not None or Constant in map(type, args):
            self._constants(node, entry, given)
        elif self._is_index and all(self.places[id(a)] in self._is_index for a in args):
            self._is_index.add(len(self.nodes))
        return tuple(entry)

    def _constants(self, node: Map, entry: list[object], given: tuple[str, ...] | None) -> None:
        """Which numbers of a call are passed, and what is said of them in its entry."""
        others = [p for p in entry[1:] if type(p) is int]
        index = all(p in self._is_index for p in others)
        numbers: dict[int, Tensor] = {}
        for k, arg in enumerate(node.args):
            if type(arg) is not Constant:
                continue
            free = given is not None and others and not index and not self._in_index
            if free and is_passed(node.function, k, arg.value, given[k]):  # type: ignore[index]
                numbers[k] = scalar(arg.value, given[k])  # type: ignore[index]
                entry[k + 1] = self._pass(arg, numbers[k], given[k])  # type: ignore[index]
            else:
                entry[k + 1] = self.place(arg)
        if numbers:
            function, told = settled(node, given, numbers)  # type: ignore[arg-type]
            entry.append(told)
            self.passed.append(Passed(node, function, numbers))
        if index and others:
            self._is_index.add(len(self.nodes))

    def _pass(self, number: Constant, tensor: Tensor, dtype: str) -> int:
        """The place of a number that has become a tensor."""
        self.tensors.append(tensor)
        self.texts.append(repr(number.value))
        self.nodes.append(number)
        self.entries.append((dtype,))
        return len(self.nodes) - 1

    def _other(self, node: Node) -> object:
        match node:
            case Constant(value, dtype):
                return ("constant", repr(value), dtype)  # which tells 0.0 from -0.0 and False
            case Reduce(function, axes, arg, initial):
                self.reduces = True
                return ("reduce", function, axes, self.place(arg), repr(initial))
            case Position(axis, shape):
                self.where[id(node)] = len(self.numbers)
                self.numbers.append(shape[axis])
                self._is_index.add(len(self.nodes))
                return ("position", axis)
            case Take(arg, indices, protocols):
                below = self.place(arg)
                self._in_index += 1
                read = [self.place(i) for i in indices]
                self._in_index -= 1
                return ("take", protocols, below, *read)
            case _:
                raise AssertionError(node)

    # -- where numbers are -------------------------------------------------------------------------

    def start(self, view: View, k: int) -> int | None:
        """Which number says where axis k of a view's argument is read; None: from its begin."""
        return self._among(view, ("start", k))

    def size(self, node: Node, axis: int) -> int | None:
        """Which number says how far a node goes along an axis; None: as far as an operand."""
        if isinstance(node, Position):
            return self.where[id(node)] if axis == node.axis else None
        return self._among(node, ("size", axis)) if isinstance(node, View) else None

    def _among(self, view: View, what: tuple[str, int]) -> int | None:
        said = numbers_of(view)
        return self.where[id(view)] + said.index(what) if what in said else None


def trace(outputs: Sequence[Node]) -> Trace:
    """A graph in order, with all its numbers known to the compiler."""
    found = Trace()
    for node in outputs:
        found.place(node)
    return found


# -- views -----------------------------------------------------------------------------------------


def _changed(leaf: Leaf, held: Contents) -> ShapeError:
    """An operand is not what it was when it was noted, and all that was said of it is wrong."""
    what = f"`{leaf.name}`" if leaf.name else "a tensor"
    return ShapeError(
        f"{what} of {leaf.dtype} had the shape {leaf.shape} in an expression, and is now of "
        f"{held.format.dtype} and {held.shape}",
        why="what is lazy is computed from the tensors themselves, and this one was written to",
        hint="compute it before, or begin with a copy: ln.lazy(x.copy())",
    )


def read_at(view: View) -> tuple[list[object], list[int]]:
    """How each axis of a view's argument is read, and the numbers of that."""
    shape, whole = view.shape, view.arg.shape
    parts: list[object] = []
    starts: list[int] = []
    bound = 0
    for k, axis in enumerate(view.axes):
        out = axis.out
        if out is None:
            if whole[k] == 1:
                parts.append("first")
                continue
        elif shape[out] == whole[k] and axis.step == 1 and axis.start == 0:
            parts.append(out)
            bound |= 1 << out
            continue
        starts.append(axis.start)
        parts.append((out, axis.step))
    if bound + 1 == 1 << len(shape):
        return parts, starts
    return parts, [*starts, *[n for m, n in enumerate(shape) if not bound >> m & 1]]


def numbers_of(view: View) -> list[tuple[str, int]]:
    """What the numbers of `read_at` say: where an axis of the argument starts, the size of one."""
    axes = range(len(view.axes))
    starts = [k for k in axes if not is_whole(view, k)]
    starts = [k for k in starts if view.axes[k].out is not None or view.arg.shape[k] != 1]
    bound = {view.axes[k].out for k in axes if is_whole(view, k)}
    sizes = [m for m in range(len(view.shape)) if m not in bound]
    return [*[("start", k) for k in starts], *[("size", m) for m in sizes]]


def is_whole(view: View, k: int) -> bool:
    """Whether an axis of a view's argument is read from end to end."""
    axis = view.axes[k]
    return (
        axis.out is not None
        and view.shape[axis.out] == view.arg.shape[k]
        and axis.step == 1
        and axis.start == 0
    )
