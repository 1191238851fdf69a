"""What is a range made of: how many indices has it, and of which part of a range are they?"""

from __future__ import annotations

from linnet.loops.nodes import Along, Bounded, Part, Positions, Product, Range, base_of


def coordinates(extent: Range) -> int:
    """How many indices a range has; 0 where that depends on how many modes a tensor has."""
    match extent if isinstance(extent, Along) else base_of(extent):
        case Positions(_, modes):
            return len(modes)
        case Product(ranges):
            return len(ranges)
        case _:
            return 1


def unbound(extent: Range | None) -> Range | None:
    """A range without what is known of it."""
    while isinstance(extent, Bounded):
        extent = extent.of
    return extent


def part_in(extent: Range | None) -> Part | None:
    """The part of a range that the indices of a range are in, if that is what it says."""
    extent = unbound(extent)
    if isinstance(extent, Positions):
        return part_in(extent.within)
    return extent if isinstance(extent, Part) else None
