"""Where a graph is cut so that no kernel is too long.

An expression is written out in its kernel, and what it uses twice is written twice. After ten
steps of `x = x * c + x` that would be a thousand operations, after fifty more than a computer can
count. So what is long and used more than once is computed once, by a kernel of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from linnet.arrays.nodes import Map, Node, Reduce, Take, View

LONG = 64
"""Nodes, written out: of more, what is used twice is not merged into the kernels that use it."""


def cuts(nodes: Sequence[Node]) -> list[Node]:
    """The nodes to be computed on their own; of a graph in order, every node after its arguments.

    A node counts with all that is below it, as often as it is used.
    """
    uses = Counter(id(arg) for node in nodes for arg in arguments(node))
    written: dict[int, int] = {}
    found: dict[int, Node] = {}
    for node in nodes:
        length = 1 + sum([written[id(arg)] for arg in arguments(node)])
        if uses[id(node)] * length > LONG and uses[id(node)] > 1:
            whole = node.arg if isinstance(node, View) else node  # a view need not be stored
            found[id(whole)] = whole
            length = 1
        written[id(node)] = length
    return list(found.values())


def arguments(node: Node) -> tuple[Node, ...]:
    """The nodes that a node is made of."""
    match node:
        case Map(_, args):
            return args
        case Reduce(_, _, arg) | View(arg):
            return (arg,)
        case Take(arg, indices):
            return (arg, *indices)
        case _:
            return ()
