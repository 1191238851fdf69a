"""`split(i, i0, i1, 32)`: a loop becomes one over parts of its range, and one within a part.

    for i in range(n):            for i0 in range(ln.parts(range(n), 32)):
        …                             for i in ln.part(range(n), i0, 32):
                                          …

The inner loop keeps the index, so that what is inside it is left as it is. Loops that have been
collapsed, and go through positions, are split together.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.loops.commands import Split
from linnet.schedule.nest import Nest

LARGEST = 2**62
"""Sizes below this can be added to an index."""


def split(nest: Nest, command: Split) -> None:
    """Split a loop, or those that have been collapsed."""
    size = command.size
    if type(size) is not int or not 0 < size < LARGEST:
        nest.refuse(f"the size of a part is a positive integer, not {size!r}")
    found = nest.named(command.index)
    extent = found[0].extent
    whole = extent.of if isinstance(extent, loops.Along) else extent
    assert whole is not None
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
    nest.replaced(found[0], loops.Loop(outer, loops.Extent(loops.Literal(0), stop), inner, above))
