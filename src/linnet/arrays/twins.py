"""Which nodes of a graph compute the same? What is computed of one of them need not be again.

`Y.mean(0)` and `Y.var(0)` both begin with a sum, each with its own. Only what all graphs with the
same key have in common counts: where a view begins is a number, and another graph may have others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from linnet.arrays.nodes import Constant, Leaf, Map, Node, Reduce, Take, View
from linnet.arrays.trace import Trace, read_at

Twins: TypeAlias = Mapping[int, Sequence[Node]]
"""For every node, by identity, those that compute the same, in order; itself among them."""


def twins(trace: Trace) -> Twins:
    """The nodes of a graph that compute the same."""
    alike: dict[object, list[Node]] = {}
    found: dict[int, list[Node]] = {}
    for node in trace.nodes:
        same = alike.setdefault(_known_by(node, trace, found), [])
        same.append(node)
        found[id(node)] = same
    return found


def _known_by(node: Node, trace: Trace, found: Twins) -> object:
    """What tells a node from those that compute something else; all below it are found."""

    def below(*args: Node) -> tuple[int, ...]:
        return tuple([id(found[id(arg)][0]) for arg in args])

    match node:
        case Leaf():
            return ("leaf", trace.operand(node))
        case Constant(value, dtype):
            return ("constant", repr(value), dtype)  # which tells 0.0 from -0.0 and False
        case Map(function, args):
            return (function, node.dtype, below(*args))
        case Reduce(function, axes, arg, initial):
            return ("reduce", function, axes, repr(initial), node.dtype, below(arg))
        case View(arg) if id(node) not in trace.where:
            return ("view", len(node.shape), *read_at(node)[0], below(arg))
        case Take(arg, indices, protocols):
            return ("take", protocols, below(arg, *indices))
        case _:
            return id(node)
