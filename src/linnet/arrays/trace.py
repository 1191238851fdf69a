"""What of a graph its kernels depend on, and what they are given when they are called.

Two graphs with equal keys are computed by the same kernels, given the tensors of the one or the
other and its numbers: where views begin, and how large they are. Numbers are not compiled in, so
that `A[k : k + 10]` is one kernel for all k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from linnet.arrays.nodes import Axis, Constant, Leaf, Map, Node, Position, Reduce, Take, View
from linnet.formats.contents import Contents
from linnet.formats.tensor import Tensor


@dataclass(slots=True)
class Trace:
    """A graph in order: every node once, after its arguments."""

    nodes: list[Node] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  # of nodes, by identity
    tensors: list[Tensor] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    starts: dict[tuple[int, int], int] = field(default_factory=dict)  # of (node, its axis)
    sizes: dict[tuple[int, int], int] = field(default_factory=dict)  # of (node, axis of the view)
    entries: list[tuple[object, ...]] = field(default_factory=list)
    _leaves: dict[int, int] = field(default_factory=dict)

    def place(self, node: Node) -> int:
        """The number of a node, which is added with all below it if it is new."""
        known = self.places.get(id(node))
        if known is not None:
            return known
        entry = self._entry(node)
        self.places[id(node)] = len(self.nodes)
        self.nodes.append(node)
        self.entries.append(entry)
        return len(self.nodes) - 1

    def operand(self, leaf: Leaf) -> int:
        """The number of a leaf's tensor."""
        return self._leaves[id(leaf.tensor)]

    def _entry(self, node: Node) -> tuple[object, ...]:
        match node:  # the most frequent first: this is run at every call
            case Leaf(tensor, _, _, name):
                number = self._leaves.setdefault(id(tensor), len(self.tensors))
                if number == len(self.tensors):
                    self.tensors.append(tensor)
                held = tensor.contents()
                return ("leaf", number, held.signature, well_filled(held), name)
            case Map(function, args):
                return ("map", function, *[self.place(a) for a in args])
            case View(arg, axes, shape):
                below = self.place(arg)
                return ("view", below, len(shape), *self._axes(node, axes))
            case Constant(value, dtype):
                return ("constant", repr(value), dtype)  # which tells 0.0 from -0.0 and False
            case Reduce(function, axes, arg, initial):
                return ("reduce", function, axes, self.place(arg), repr(initial))
            case Position(axis, shape):
                self.sizes[id(node), axis] = self._number(shape[axis])
                return ("position", axis)
            case Take(arg, indices, protocols):
                return ("take", protocols, self.place(arg), *[self.place(i) for i in indices])

    def _axes(self, view: View, axes: Sequence[Axis]) -> list[object]:
        """How each axis of a view's argument is read; numbers are noted."""
        parts: list[object] = []
        bound = set()
        for k, axis in enumerate(axes):
            if is_whole(view, k):
                parts.append(axis.out)
                bound.add(axis.out)
            elif axis.out is None and view.arg.shape[k] == 1:
                parts.append("first")
            else:
                self.starts[id(view), k] = self._number(axis.start)
                parts.append((axis.out, axis.step))
        for m, size in enumerate(view.shape):
            if m not in bound:
                self.sizes[id(view), m] = self._number(size)
        return parts

    def _number(self, value: int) -> int:
        self.numbers.append(value)
        return len(self.numbers) - 1


def trace(outputs: Sequence[Node]) -> tuple[Trace, tuple[object, ...]]:
    """A graph in order, and its key."""
    found = Trace()
    roots = tuple([found.place(node) for node in outputs])
    scales: tuple[object, ...] = ()
    if len(found.tensors) > 1 and any(isinstance(node, Reduce) for node in found.nodes):
        held = [tensor.contents() for tensor in found.tensors]
        scales = tuple([scale(contents.nnz, contents.shape) for contents in held])
    return found, (*found.entries, roots, scales)


def pattern_of(
    contents: Contents, parts: Sequence[object]
) -> tuple[tuple[object, ...], list[int]] | None:
    """What the kernel of slices of a tensor depends on, and the numbers that it is given.

    That is what `Trace` would find, without a graph; None for what is not as simple.
    """
    pattern: list[object] = ["view", contents.signature]
    starts: list[int] = []
    sizes: list[int] = []
    for part, size in zip(parts, contents.shape, strict=True):
        if type(part) is int and 0 <= part < size:
            starts.append(part)
            pattern.append(None)
        elif type(part) is slice:
            start, stop, step = part.indices(size)
            if step < 0:
                return None
            count = len(range(start, stop, step))
            pattern.append(step if count != size else 0)
            if count != size:
                starts.append(start if count else 0)
                sizes.append(count)
        else:
            return None
    return tuple(pattern), starts + sizes


@lru_cache(maxsize=4096)
def scale(count: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """How large a tensor is and how much it holds, roughly: a plan may be another one for more."""
    return (count.bit_length() // 3, *[n.bit_length() // 3 for n in shape])


def well_filled(contents: Contents) -> bool:
    """Whether there is a value for every few indices of every dimension."""
    return max(contents.shape, default=0) <= 8 * contents.nnz + 64


def is_whole(view: View, k: int) -> bool:
    """Whether an axis of a view's argument is read from end to end."""
    axis = view.axes[k]
    return (
        axis.out is not None
        and axis.start == 0
        and axis.step == 1
        and view.shape[axis.out] == view.arg.shape[k]
    )
