"""What is said of the ends of ranges by `bound`, and how far these lengths are known then."""

from __future__ import annotations

from linnet.loops.bases import unbound
from linnet.loops.nodes import Bounded, Extent, Literal, Part, Parts, Range
from linnet.loops.printer import show_range

MIN_EXACT, MAX_EXACT = "MinExact", "MaxExact"
MIN_CONSTRAINT, MAX_CONSTRAINT = "MinConstraint", "MaxConstraint"
DIVISIBLE = "Divisible"
_SAID = {
    MIN_EXACT: "begin at",
    MAX_EXACT: "end at",
    MIN_CONSTRAINT: "begin at least at",
    MAX_CONSTRAINT: "end at most at",
    DIVISIBLE: "have a length that can be divided by",
}
BOUNDS = tuple(_SAID)


def bound_holds(kind: str, value: int, start: int, stop: int) -> bool:
    """Whether what is said of a range is true."""
    match kind:
        case "MinExact":
            return start == value
        case "MaxExact":
            return stop == value
        case "MinConstraint":
            return start >= value
        case "MaxConstraint":
            return stop <= value
        case _:
            return max(0, stop - start) % value == 0


def broken(bound: Bounded) -> str:
    """What is wrong if it is not."""
    counted = "" if isinstance(unbound(bound.of), Extent) else ", counted from 0,"
    text = f"`{show_range(bound.of)}`{counted} does not {_SAID[bound.kind]} {bound.value}"
    return f"`{bound.command}` does not hold: {text}" if bound.command else text


def divides(size: int, extent: Range) -> bool:
    """Whether it is known that parts of this size leave no rest of a range."""
    match extent:
        case Bounded(_, "Divisible", value) if value % size == 0:
            return True
        case Bounded(Extent(Literal(int(start))), "MaxExact", value):
            return max(0, value - start) % size == 0
        case Bounded(Part() | Bounded(), "MaxExact", value) if value % size == 0:
            return True
        case Bounded(of):
            return divides(size, of)
        case Extent(Literal(int(start)), Literal(int(stop))):
            return max(0, stop - start) % size == 0
        case Part(of, _, Literal(int(length))) if length > 0 and divides(length, of):
            return length % size == 0  # those that there are; others are empty
        case _:
            return False


def counts_parts(extent: Range | None, of: Range, size: object) -> bool:
    """Whether a range counts all parts of another."""
    match unbound(extent):
        case Extent(Literal(0), Parts() as parts):
            return (parts.of, parts.size) == (of, size)
        case _:
            return False
