"""Which temporaries may list what they hold in any order? A level that would sort it need not.

Those that are only looked up, or gone through by loops whose iterations may be run in any order:
the frontiers of a search. What is gone through beside another sparse tensor, or copied into one
that is written in order, is not among them.
"""

from __future__ import annotations

from collections.abc import Mapping

from linnet.formats.format import Format
from linnet.loops.nodes import (
    NOTHING,
    Access,
    Assign,
    Declare,
    Expr,
    Extent,
    Freeze,
    Index,
    Literal,
    Loop,
    Node,
    Program,
    Swap,
    Thaw,
)
from linnet.loops.rewrite import accesses, children, is_left, walk
from linnet.normalize.agreed import Equal, first
from linnet.normalize.facts import Facts, facts_of
from linnet.normalize.simplify import replace_reads, simplify
from linnet.normalize.swaps import with_swapped

Formats = Mapping[str, Format]

_EXACT = frozenset(("minimum", "maximum", "logical_or", "logical_and", "bitwise_or", "bitwise_and"))


def unordered(program: Program, formats: Formats, equal: Equal) -> frozenset[str]:
    """The temporaries of one dimension whose entries nobody needs in order.

    Needs: life cycles. A temporary among them is looked up without a search (`Level.located`).
    """
    found = {name for name, _ in program.temporaries if _is_listed(formats[name])}
    if not found:
        return frozenset()
    facts = facts_of(program, {name: str(format.dtype) for name, format in formats.items()})
    loops = {n.index: n for n in walk(program.body) if isinstance(n, Loop)}
    judge = _Judge(program, formats, equal, facts)
    for access, is_target in accesses(program.body):
        name = str(access.tensor)
        if is_target or name not in found or access.protocols == ("follow",):
            continue
        (index,) = access.indices
        loop = loops.get(index.name) if isinstance(index, Index) else None
        if loop is None or any(access.protocols) or not judge.in_any_order(loop, name):
            found.discard(name)
    in_order = {name for name, _ in program.temporaries} - found
    return frozenset(found - with_swapped(program, in_order))


def _is_listed(format: Format) -> bool:
    level = format.levels[0]
    return format.ndim == 1 and level.located and not level.full


class _Judge:
    """What is known of the program that loops are judged by."""

    def __init__(self, program: Program, formats: Formats, equal: Equal, facts: Facts) -> None:
        self.formats, self.equal, self.facts = formats, equal, facts
        self.sizes: dict[str, set[Expr]] = {}
        for node in walk(program.body):
            if isinstance(node, Declare) and node.dims:
                self.sizes.setdefault(node.tensor, set()).add(first(node.dims[0], equal))

    def in_any_order(self, loop: Loop, tensor: str) -> bool:
        """Whether a loop goes through all of a tensor, and each entry may come first."""
        extent = loop.extent
        if not isinstance(extent, Extent) or extent.start != Literal(0) or is_left(loop):
            return False
        if {first(extent.stop, self.equal)} != self.sizes.get(tensor):
            return False
        fill = self.formats[tensor].fill_value
        assert fill is not None
        nothing = Literal(fill, self.formats[tensor].dtype, structural=True)
        if simplify(replace_reads(loop.body, {tensor: nothing}), self.facts) != NOTHING:
            return False
        return (
            all(_is_plain(node, loop.index) for node in walk(loop.body))
            and all(self.is_open(a, t, loop.index, tensor) for a, t in accesses(loop.body))
            and self.is_apart(loop)
        )

    def is_open(self, access: Access, is_target: bool, index: str, tensor: str) -> bool:
        """Whether a tensor can be accessed at any index, or is not accessed at that of the loop."""
        name = str(access.tensor)
        if Index(index) not in access.indices or (name == tensor and not is_target):
            return True
        format = self.formats[name]
        levels = (format.levels[k] for k in range(len(format.levels)) for _ in format.modes_of(k))
        for mode, level in zip(format.order, levels, strict=False):
            if access.indices[mode] == Index(index):
                looked_up = level.located and (is_target or "follow" in access.protocols[mode:][:1])
                if not (level.full or looked_up) or level.sequential:
                    return False
        return True

    def is_apart(self, loop: Loop) -> bool:
        """Whether iterations leave the same in any order, and none sees what others have left."""
        own = {n.tensor for n in walk(loop.body) if isinstance(n, Declare)}
        written = {str(a.tensor) for a, is_target in accesses(loop.body) if is_target} - own
        if any(str(a.tensor) in written for a, is_target in accesses(loop.body) if not is_target):
            return False
        for node in walk(loop.body):
            match node:
                case Swap():
                    return False
                case Freeze(tensor) | Thaw(tensor) if tensor not in own:
                    return False
                case Assign(target) if str(target.tensor) not in own:
                    if not self.commutes(node, loop.index):
                        return False
        return True

    def commutes(self, stmt: Assign, index: str) -> bool:
        """Whether updates in any order give the same bits."""
        op = stmt.op
        if op is None:
            return Index(index) in stmt.target.indices
        whole = str(self.formats[str(stmt.target.tensor)].dtype).startswith(("bool", "int", "uint"))
        return op.commutative and op.associative and (whole or op.name in _EXACT)


def _is_plain(node: Node, index: str) -> bool:
    """Whether a node has the index of a loop as an index or as a value, and compares it to none."""
    if Index(index) not in children(node):
        return True
    return isinstance(node, Access) or (isinstance(node, Assign) and node.value == Index(index))
