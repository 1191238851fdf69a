"""`split(i, i0, i1, 32)`: a loop becomes one over parts of its range, and one within a part.

    for i in range(n):            for i0 in range(ln.parts(range(n), 32)):
        …                             for i in ln.part(range(n), i0, 32):
                                          …

The inner loop keeps the index, so that what is inside it is left as it is.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import loops
from linnet.loops.commands import Split
from linnet.schedule.nest import Nest

LARGEST = 2**62
"""Sizes below this can be added to an index."""


def split(nest: Nest, command: Split) -> None:
    """Split a loop."""
    size = command.size
    if type(size) is not int or not 0 < size < LARGEST:
        nest.refuse(f"the size of a part is a positive integer, not {size!r}")
    loop = nest.loop(command.index)
    assert loop.extent is not None
    index = nest.forget(command.index)
    outer = nest.introduce(command.outer)
    nest.introduce(command.inner, index)
    size_of: loops.Expr = loops.Literal(size)
    stop: loops.Expr = loops.Parts(loop.extent, size_of)
    if command.up:
        size_of, stop = loops.Parts(loop.extent, size_of), size_of
    part = loops.Part(loop.extent, loops.Index(outer), size_of)
    inner = replace(loop, extent=part)
    nest.replaced(loop, loops.Loop(outer, loops.Extent(loops.Literal(0), stop), inner, loop.at))
