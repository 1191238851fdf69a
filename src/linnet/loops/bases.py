"""What is a range made of: how many indices has it, and of which part of a range are they?"""

from __future__ import annotations

from linnet.algebra.table import add, maximum, minimum, multiply
from linnet.loops.nodes import (
    Along,
    Bounded,
    Call,
    Coordinates,
    Expr,
    Extent,
    Literal,
    Part,
    Parts,
    Positions,
    Product,
    Range,
    base_of,
)


def coordinates(extent: Range) -> int:
    """How many indices a range has; 0 where that depends on how many modes a tensor has."""
    match extent if isinstance(extent, Along) else base_of(extent):
        case Positions(_, modes):
            return len(modes)
        case Product(ranges):
            return len(ranges)
        case Coordinates(of):
            return coordinates(base_of(of))
        case _:
            return 1


def unbound(extent: Range | None) -> Range | None:
    """A range without what is known of it."""
    while isinstance(extent, Bounded):
        extent = extent.of
    return extent


def gone_through(extent: Range) -> Range:
    """What a loop goes through: also if it has one of the coordinates, and other loops the rest."""
    return extent.of if isinstance(extent, Along) else extent


def part_in(extent: Range | None) -> Part | None:
    """The part of a range that the indices of a range are in, if that is what it says."""
    extent = unbound(extent)
    if isinstance(extent, Positions):
        return part_in(extent.within)
    if isinstance(extent, Coordinates):
        return part_in(extent.of)
    return extent if isinstance(extent, Part) else None


def positions_in(extent: Range) -> Positions | None:
    """The positions that a range goes through, or whose coordinates it has."""
    base = base_of(extent)
    if isinstance(base, Coordinates):
        return positions_in(base.of)
    return base if isinstance(base, Positions) else None


def coordinates_of(positions: Range) -> Range:
    """The coordinates from a part of positions on to the next: a range, if they go through one."""
    if isinstance(positions, Positions) and coordinates(positions) == 1:
        return positions.along(0) if positions.within is None else positions.within
    return Coordinates(positions)


def one_at_least(parts: Expr) -> Expr:
    """How many ranges of coordinates parts of positions are: where there are none, one has all."""
    return Call(maximum, (parts, Literal(1)))


def parts_counted(extent: Range | None) -> Parts | None:
    """The parts that a range counts, of which it may count one where there are none."""
    match unbound(extent):
        case Extent(Literal(0), Parts() as parts):
            return parts
        case Extent(Literal(0), Call(function, (Parts() as parts, Literal(1)))):
            return parts if function is maximum else None
        case _:
            return None


def ends_of(extent: Range) -> tuple[Expr, Expr]:
    """Where a range, or a part of one, begins and ends."""
    if isinstance(extent, Bounded):
        return ends_of(extent.of)
    if isinstance(extent, Extent):
        return extent.start, extent.stop
    assert isinstance(extent, Part)
    start, stop = ends_of(extent.of)
    behind = Call(add, (extent.number, Literal(1)))
    first, last = (
        Call(minimum, (Call(add, (start, Call(multiply, (k, extent.size)))), stop))
        for k in (extent.number, behind)
    )
    return Call(maximum, (start, first)), Call(maximum, (start, last))
