"""Which dimensions are one size, and which loops stay inside one, whenever a kernel is called?

The checks of a program say so. What is read only under a condition may have none: `A[i]` where
`i < A.shape[0]` in a longer loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from linnet.formats.format import Format
from linnet.loops.nodes import Dimension, Expr, Extent, Literal, Range
from linnet.normalize.shape_checks import Check
from linnet.records import dataclass

Mode = tuple[str, int]
"""A tensor and one of its dimensions."""
Equal = Mapping[Mode, Mode]
"""For dimensions that are known to equal others, the first of them."""


def equal_modes(checks: Iterable[Check], formats: Mapping[str, Format]) -> dict[Mode, Mode]:
    """For each dimension that is checked, or by its format known, to equal others, the first."""
    leader: dict[Mode, Mode] = {}

    def find(mode: Mode) -> Mode:
        while leader.get(mode, mode) != mode:
            mode = leader[mode]
        return mode

    for check in checks:
        match check.relation, check.a, check.b:
            case "==", Dimension(a, m), Dimension(b, n):
                leader[find((b, n))] = find((a, m))
    for name, m, n in _squares(formats):
        leader[find((name, n))] = find((name, m))
    return {mode: find(mode) for mode in leader}


def _squares(formats: Mapping[str, Format]) -> Iterator[tuple[str, int, int]]:
    """The two dimensions of what is stored for one half, and read for both."""
    for name, format in formats.items():
        for k, level in enumerate(format.levels):
            if level.mirrored:
                m, n = format.modes_of(k)
                yield name, m, n


def first(size: Expr, equal: Equal) -> Expr:
    """One name for dimensions that are equal."""
    if not isinstance(size, Dimension):
        return size
    mode = (size.tensor, size.mode)
    return Dimension(*equal.get(mode, mode))


def runs_within(extent: Extent | None, size: Expr) -> bool:
    """Whether a loop runs from 0, or above it, to the end of a dimension."""
    match extent:
        case Extent(Literal(int(start)), stop):
            return start >= 0 and stop == size
        case _:
            return False


def is_whole(extent: Range | None, size: Dimension, equal: Equal) -> bool:
    """Whether a range is a whole dimension."""
    match extent:
        case Extent(Literal(0), stop):
            return first(stop, equal) == first(size, equal)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the checks of a program say of the sizes of its arguments."""

    equal: Equal
    ends: frozenset[tuple[Expr, Expr]]  # the first is at most the second

    @staticmethod
    def by(checks: Iterable[Check], formats: Mapping[str, Format]) -> Agreed:
        """All that is checked."""
        checks = tuple(checks)
        ends = {(c.a, c.b) for c in checks if type(c) is Check and c.relation == "<="}
        return Agreed(equal_modes(checks, formats), frozenset(ends))

    def stays(self, extent: Extent, size: Dimension) -> bool:
        """Whether a loop stays inside a dimension of an argument."""
        if (extent.stop, size) in self.ends:
            return runs_within(extent, extent.stop)
        one = Extent(extent.start, first(extent.stop, self.equal))
        return runs_within(one, first(size, self.equal))
