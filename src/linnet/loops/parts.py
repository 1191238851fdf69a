"""Loops that count parts, and loops over those parts: together they go through a whole range.

    for t in range(ln.parts(range(n), 32)):
        for i in ln.part(range(n), t, 32):
            …

visits every i below n once, in order. What holds of a loop over the whole range holds of the two of
them, as long as nothing stands between: passes leave counters out of the path to a statement.
"""

from __future__ import annotations

from linnet.loops.nodes import Extent, Index, Literal, Loop, Part, Parts, Range, unbound
from linnet.loops.rewrite import is_left, walk


def counted(loop: Loop) -> Loop | None:
    """The loop directly inside over whose parts a loop goes in order; None if it is no counter.

    Between the two there may be counters of smaller parts.
    """
    inner = loop.body
    if not isinstance(inner, Loop) or is_left(loop) or is_left(inner):
        return None
    if _has_part_of(inner.extent, loop.index):
        return inner
    match unbound(inner.extent):
        case Extent(Literal(0), Parts(of)) if _has_part_of(of, loop.index):
            return counted(inner)
        case _:
            return None


def _has_part_of(extent: Range | None, counter: str) -> bool:
    """Whether a range is the part that a counter has come to."""
    extent = unbound(extent)
    if not isinstance(extent, Part) or extent.number != Index(counter):
        return False
    rest = (*walk(extent.of), *walk(extent.size))
    return not any(isinstance(n, Index) and n.name == counter for n in rest)


def covered(loop: Loop) -> Range | None:
    """The range of which a loop, with the loop that it counts for, visits every index once."""
    inner = loop.body
    if counted(loop) is None or not isinstance(inner, Loop):
        return loop.extent
    part = unbound(covered(inner))
    if not isinstance(part, Part) or part.number != Index(loop.index):
        return None
    match unbound(loop.extent):
        case Extent(Literal(0), Parts(of, size)) if (of, size) == (part.of, part.size):
            return part.of
        case Extent(Literal(0), count) if part.size == Parts(part.of, count):
            return part.of  # as many parts as are asked for, each as long as that takes
        case _:
            return None
