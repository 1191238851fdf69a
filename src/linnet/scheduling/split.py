"""`split(i, i0, i1, 32)`: a loop becomes one over parts of its range, and one within a part.

    for i in range(n):            for i0 in range(ln.parts(range(n), 32)):
        …                             for i in ln.part(range(n), i0, 32):
                                          …

The inner loop keeps the index, so that what is inside it is left as it is. Loops that have been
collapsed are split together: a part has so many of their pairs, or of the positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.loops.commands import Split
from linnet.loops.rewrite import is_left, walk
from linnet.scheduling.nest import Nest

LARGEST = 2**62
"""Sizes below this can be added to an index."""


def split(nest: Nest, command: Split) -> None:
    """Split a loop, or those that have been collapsed."""
    size = command.size
    if type(size) is not int or not 0 < size < LARGEST:
        nest.refuse(f"the size of a part is a positive integer, not {size!r}")
    together = nest.named(command.index)
    if any(map(is_left, together)):
        nest.refuse(
            f"the loop over `{command.index}` may be left by `break`",
            why="it would leave one part, and the others would be run",
            hint="split a loop inside it",
        )
    whole, found = _whole(nest, together)
    indices = nest.forget(command.index)
    outer = nest.introduce(command.outer)
    nest.introduce(command.inner, *indices)
    size_of: loops.Expr = loops.Literal(size)
    stop: loops.Expr = loops.Parts(whole, size_of)
    if command.up:
        size_of, stop = loops.Parts(whole, size_of), size_of
    part = loops.Part(whole, loops.Index(outer), size_of)
    inner: loops.Stmt = found[-1].body
    for loop in reversed(found):
        of = replace(loop.extent, of=part) if isinstance(loop.extent, loops.Along) else part
        inner = replace(loop, extent=of, body=inner)
    above = found[0].at
    nest.replaced(
        together[0], loops.Loop(outer, loops.Extent(loops.Literal(0), stop), inner, above)
    )


def _whole(nest: Nest, found: Sequence[loops.Loop]) -> tuple[loops.Range, Sequence[loops.Loop]]:
    """What loops go through together, and the loops as they say so."""
    extents = [loop.extent for loop in found]
    if isinstance(extents[0], loops.Along):
        return extents[0].of, found
    if len(found) == 1:
        assert extents[0] is not None
        return extents[0], found
    ranges = tuple([extent for extent in extents if isinstance(extent, loops.Extent)])
    indices = {loop.index for loop in found}
    depends = any(indices & {n.name for n in walk(r) if isinstance(n, loops.Index)} for r in ranges)
    if len(ranges) < len(found) or depends:
        nest.refuse(
            "the loops that were collapsed run as far as the outer one has come",
            hint="collapse loops over whole ranges, or split each by itself",
        )
    whole = loops.Product(ranges)
    outer = tuple([loops.Index(loop.index) for loop in found])
    loops_of = enumerate(found)
    return whole, [replace(loop, extent=loops.Along(whole, outer[:k])) for k, loop in loops_of]
