"""Numbers that kernels are given: the graph in which they are tensors, and what they decide.

Where nothing is stored, `X * X + c` is c: the fill value of the result is not known while its
kernel is compiled. It is computed as if it were 0, only where something is stored, and gets its own
when that is known (`filled`). So a loop over a thousand numbers compiles once.

A choice passes on what it chooses: where one tensor is stored it may be the 0 that another does not
store, which is no fill value of the result. So another number stands in for that, an odd one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce

from linnet.algebra.dtypes import Number, as_python, concrete
from linnet.algebra.function import Function
from linnet.algebra.stored import stored
from linnet.algebra.table import logical_or, where
from linnet.arrays.cuts import cuts
from linnet.arrays.graph import leaf
from linnet.arrays.nodes import Constant, Leaf, Map, Node, Reduce, Take, View
from linnet.arrays.scalars import known_fill
from linnet.arrays.trace import Passed, Trace
from linnet.formats.format import Format
from linnet.formats.tensor import Tensor
from linnet.records import dataclass

# Numbers that no fill value is, and that nothing gives that is computed of fill values. Of smaller
# types any number may be one.
_ODD = {
    "float64": float.fromhex("0x1.5bd1e9955bd1ep-777"),
    "float32": float.fromhex("0x1.5bd1e8p-99"),
    "int64": -0x5BD1_E995_5BD1_E995,
    "uint64": 0x5BD1_E995_5BD1_E995,
    "int32": -0x5BD1_E995,
    "uint32": 0x5BD1_E995,
}


@dataclass(frozen=True, slots=True)
class Passing:
    """A graph whose numbers are tensors. `filled` are outputs whose fill value depends on them."""

    outputs: tuple[Node, ...]
    trace: Trace
    filled: tuple[int, ...]
    origins: dict[int, int]  # the places that its nodes have in the graph as it was


def passing(outputs: Sequence[Node], found: Trace) -> Passing | None:
    """The graph with the numbers that its trace passes as tensors; None if they must be known.

    That is so where something is kept for other kernels, and a number is its fill value.
    """
    change = _Change({id(passed.node): passed for passed in found.passed})
    nodes = [node for node in found.nodes if type(node) is not Constant]
    origins = {id(change.node(node)): found.places[id(node)] for node in nodes}
    unknown = {
        id(change.node(node))
        for node in nodes  # in order, so that all below is known
        if (known_fill(change.node(node)) is None) > (known_fill(node) is None)
    }
    made = [change.node(node) for node in outputs]
    filled_later = tuple([k for k, node in enumerate(made) if id(node) in unknown])
    for k in filled_later:
        parts = _parts(made[k], unknown)
        instead = None if parts is None else _stand_in(made[k], parts)
        if parts is None or instead is None:
            return None
        made[k] = _where_stored(made[k], parts, instead)
        origins[id(made[k])] = found.places[id(outputs[k])]
    trace = found.like(made, origins)
    if any(id(node) in unknown for node in cuts(trace.nodes)):
        return None
    return Passing(tuple(made), trace, filled_later, origins)


def holds_only(format: Format, node: Node) -> bool:
    """Whether a result in a format stores nothing but what is computed: no fill values between.

    Of one tensor, as it lies, the result is stored where that is.
    """
    inner = format.levels[-2]
    if not (inner.full or inner.covers or inner.spans or inner.pads):
        return True
    below, alone = [node], 0
    while below:
        match below.pop():
            case Map(_, args):
                below += args
            case Leaf() as leaf:
                alone += len(leaf.shape) > 0
            case Constant():
                pass
            case _:
                return False
    return alone == 1


def filled(tensor: Tensor, node: Node) -> Format:
    """The format of a result with its own fill value, on which nothing that is stored depends."""
    found = known_fill(node)
    assert found is not None
    fill = as_python(found[0], concrete(node.dtype))
    return tensor.contents().format.with_fill(fill)


def _parts(node: Node, unknown: set[int]) -> list[Node] | None:
    """The largest parts of a node with a fill value that is known; None if they lie elsewhere."""
    found: dict[int, Node] = {}
    seen: set[int] = set()
    left = [node]
    while left:
        whole = left.pop()
        if not isinstance(whole, Map):
            return None
        for arg in whole.args:
            if id(arg) in seen:
                continue
            seen.add(id(arg))
            if id(arg) in unknown:
                left.append(arg)
            elif not isinstance(arg, Constant) and known_fill(arg) is not None:
                found[id(arg)] = arg
    return list(found.values())


def _stand_in(node: Node, parts: Sequence[Node]) -> Number | None:
    """What stands in for a fill value: 0, or what no choice among tensors passes on, if there is.

    Code asks of no value that it computes whether it is a fill value, only of those it knows.
    """
    dtype = concrete(node.dtype)
    if len(_tensors(parts)) < 2 or not any(f is where for f in _functions(node, parts)):
        return as_python(0, dtype)
    odd = _ODD.get(dtype)
    known = [fill[0] for part in parts if (fill := known_fill(part)) is not None]
    return None if odd is None or odd in known else as_python(odd, dtype)


def _functions(node: Node, parts: Sequence[Node]) -> Iterator[Function]:
    """The functions between a node and its parts."""
    seen = set(map(id, parts))
    left = [node]
    while left:
        whole = left.pop()
        if isinstance(whole, Map) and id(whole) not in seen:
            seen.add(id(whole))
            yield whole.function
            left += whole.args


def _tensors(parts: Sequence[Node]) -> set[int]:
    """What some nodes are computed of, element by element; each may store something elsewhere."""
    found: set[int] = set()
    seen: set[int] = set()
    left = list(parts)
    while left:
        node = left.pop()
        if id(node) in seen or isinstance(node, Constant) or not node.shape:
            continue
        seen.add(id(node))
        if isinstance(node, Map):
            left += node.args
        else:
            found.add(id(node))
    return found


def _where_stored(node: Node, parts: Sequence[Node], instead: Number) -> Node:
    """The node where one of its parts is stored; what stands in for its fill value elsewhere."""
    tests: list[Node] = []
    for part in parts:
        fill = known_fill(part)
        assert fill is not None
        tests.append(Map(stored(fill[0]), (part,), part.shape, "bool"))
    cond = reduce(lambda a, b: Map(logical_or, (a, b), node.shape, "bool"), tests)
    constant = Constant(instead, concrete(node.dtype))
    return Map(where, (cond, node, constant), node.shape, node.dtype)


@dataclass(slots=True)
class _Change:
    """A graph with tensors in the place of some numbers, by the identity of calls."""

    passed: Mapping[int, Passed]
    _made: dict[int, Node] = field(default_factory=dict)

    def node(self, node: Node) -> Node:
        """The node that stands for another, which is itself if nothing in it changes."""
        made = self._made.get(id(node))
        if made is None:
            made = self._made[id(node)] = self._changed(node)
        return made

    def _changed(self, node: Node) -> Node:
        match node:
            case Map() if id(node) in self.passed:
                return self._call(node, self.passed[id(node)])
            case Map(_, args):
                new = tuple([self.node(arg) for arg in args])
                same = all(a is b for a, b in zip(new, args, strict=True))
                return node if same else replace(node, args=new, fill=())
            case Reduce(_, _, arg) | View(arg):
                new_arg = self.node(arg)
                return node if new_arg is arg else replace(node, arg=new_arg)
            case Take(arg, indices):  # which may be values elsewhere
                return replace(node, arg=self.node(arg), indices=tuple(map(self.node, indices)))
            case _:
                return node

    def _call(self, node: Map, passed: Passed) -> Map:
        args = []
        for k, arg in enumerate(node.args):
            tensor = passed.numbers.get(k)
            args.append(self.node(arg) if tensor is None else leaf(tensor))
        return replace(node, function=passed.function, args=tuple(args), fill=())
