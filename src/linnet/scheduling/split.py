"""`split(i, i0, i1, 32)`: a loop becomes one over parts of its range, and one within a part.

    for i in range(n):            for i0 in range(ln.parts(range(n), 32)):
        …                             for i in ln.part(range(n), i0, 32):
                                          …

The inner loop keeps the index, so that what is inside it is left as it is. Loops that have been
collapsed are split together: a part has so many of their pairs, or of the positions. What leaves a
loop by `break` leaves all its parts: it says so to the loop that counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linnet import loops
from linnet.formats.named import SCALAR
from linnet.loops.bases import coordinates
from linnet.loops.commands import Split
from linnet.loops.rewrite import before_leaving, block, is_left, walk
from linnet.scheduling.nest import Nest

LARGEST = 2**62
"""Sizes below this can be added to an index."""


def split(nest: Nest, command: Split) -> None:
    """Split a loop, or those that have been collapsed."""
    size = command.size
    if type(size) is not int or size <= 0:
        hint = f"`{replace(command, size=32)}`"
        nest.refuse(f"the size of a part is a positive integer, not {size!r}", hint=hint)
    if size >= LARGEST:
        hint = "no range is longer than that: any size that is as long makes one part"
        nest.refuse(f"the size of a part is less than {LARGEST}, not {size}", hint=hint)
    together = nest.named(command.index)
    nest.refuse_left(command.index, "split each of the loops by itself")
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
    counted = loops.Extent(loops.Literal(0), stop)
    counter = loops.Loop(outer, counted, inner, found[0].at)
    nest.replaced(together[0], _leaving_all(nest, counter) if is_left(together[0]) else counter)


def _leaving_all(nest: Nest, counter: loops.Loop) -> loops.Stmt:
    """The loops over a counter and its parts, of which the first is left where the second is.

    A scalar says that: `break` is for the loop directly around it.
    """
    left = nest.temporary("left", SCALAR.with_dtype("bool").with_fill(False))
    target = loops.Access(left, ())
    begin = loops.Declare(left, loops.Literal(False), ())
    tell = loops.Assign(target, None, loops.Literal(True))
    part = counter.body
    assert isinstance(part, loops.Loop)
    part = replace(part, body=before_leaving(part.body, tell))
    leave = loops.If(target, loops.Break(), loops.NOTHING)
    return block([begin, replace(counter, body=block([part, leave]))])


def _whole(nest: Nest, found: Sequence[loops.Loop]) -> tuple[loops.Range, Sequence[loops.Loop]]:
    """What loops go through together, and the loops as they say so."""
    extents = [loop.extent for loop in found]
    if isinstance(extents[0], loops.Along) and coordinates(extents[0].of) == len(found):
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
