"""What ranges are, in the reference interpreter: their indices, or coordinates of positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar

from linnet.errors import InternalError, ScheduleError
from linnet.loops.bases import unbound
from linnet.loops.bounds import bound_holds, broken
from linnet.loops.cells import Cell
from linnet.loops.evaluate import Env
from linnet.loops.nodes import (
    Bounded,
    Coordinates,
    Expr,
    Extent,
    Part,
    Positions,
    Product,
    Range,
)
from linnet.records import dataclass

Items = TypeVar("Items", range, list[Any])
Number = Callable[[Env], int]


def items(
    extent: Range, cells: Mapping[str, Cell], integer: Callable[[Expr], Number]
) -> Callable[[Env], Any]:
    """The indices of a range, or the coordinates of positions, one after the other."""
    match extent:
        case Extent():
            start, stop = integer(extent.start), integer(extent.stop)
            return lambda env: range(start(env), stop(env))
        case Positions(tensor, modes):
            cell = cells[tensor]
            given = [(mode, integer(value)) for mode, value in extent.given]
            if extent.within is not None:
                within = items(extent.within, cells, integer)
                whole = items(replace(extent, within=None), cells, integer)
                return lambda env: _among(whole(env), within(env))
            return lambda env: cell.coordinates(modes, {m: value(env) for m, value in given})
        case Coordinates():
            between = points(extent.of, cells, integer)
            return lambda env: between(env).all()
        case Product():
            found = [items(r, cells, integer) for r in extent.ranges]
            return lambda env: list(product(*(r(env) for r in found)))
        case Bounded():
            of = items(extent.of, cells, integer)
            return lambda env: _checked(extent, of(env))
        case Part():
            whole, number = items(extent.of, cells, integer), integer(extent.number)
            size = integer(extent.size)
            return lambda env: part_of(whole(env), number(env), size(env))
        case _:
            raise InternalError(f"{extent} is one coordinate of several")


def _among(stored: list[Any], within: Sequence[Any]) -> list[Any]:
    """The coordinates, of those that are stored, the first of which lie in a range."""
    found = within if isinstance(within, range) else set(within)
    if not (stored and within and isinstance(stored[0], tuple)):
        return [point for point in stored if point in found]
    count = len(within[0]) if isinstance(within[0], tuple) else 0
    return [point for point in stored if (point[:count] if count else point[0]) in found]


def _checked(bound: Bounded, found: Items) -> Items:
    """A range, if what is said of it holds."""
    absolute = isinstance(unbound(bound.of), Extent)
    ends = (found.start, found.stop) if isinstance(found, range) and absolute else (0, len(found))
    if not bound_holds(bound.kind, bound.value, *ends):
        raise ScheduleError(f"{broken(bound)}: {found}", at=bound.at)
    return found


def part_of(whole: Items, number: int, size: int) -> Items:
    """The part of a range with this number; there is none before the first and behind the last."""
    if number < 0 or size <= 0:
        return whole[:0]
    return whole[number * size : (number + 1) * size]


def parts_in(whole: Sequence[object], size: int) -> int:
    """How many parts of this size a range has."""
    return -(-len(whole) // size) if size > 0 else 0


def place_in(whole: Sequence[object], at: Sequence[int]) -> int:
    """Which element of a range an index is, or coordinates are."""
    return whole.index(at[0] if len(at) == 1 else tuple(at))


# -- coordinates between positions -----------------------------------------------------------------

Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The points from one to another, those of them at which something is stored, and the sizes."""

    first: Point
    last: Point
    stored: list[Point]
    sizes: Point

    def part(self, number: int, size: int) -> Between:
        """The points from those of a part of what is stored to those of the next."""
        count = len(self.stored)
        inside = size > 0 and 0 <= number < -(-count // size)
        lo, hi = (number * size, min((number + 1) * size, count)) if inside else (count, count)
        ends = [*self.stored, self.last]
        first = self.first if number == 0 else ends[lo]
        return Between(first, ends[hi], self.stored[lo:hi], self.sizes)

    def all(self) -> range | list[Point]:
        """All of them."""
        if len(self.sizes) == 1:
            return range(self.first[0], self.last[0])
        found = product(*map(range, self.sizes))
        return [point for point in found if self.first <= point < self.last]


def points(
    extent: Range, cells: Mapping[str, Cell], integer: Callable[[Expr], Number]
) -> Callable[[Env], Between]:
    """The points from the first of some positions on."""
    match extent:
        case Positions(tensor, modes, _, within):
            found = items(extent, cells, integer)
            inside = None if within is None else items(within, cells, integer)
            return lambda env: _from_end_to_end(
                found(env),
                None if inside is None else inside(env),
                tuple([cells[tensor].values.shape[m] for m in modes]),
            )
        case Bounded(of):
            checked, between = items(extent, cells, integer), points(of, cells, integer)
            return lambda env: (checked(env), between(env))[1]
        case Part(of):
            number, size = integer(extent.number), integer(extent.size)
            whole = points(of, cells, integer)
            return lambda env: whole(env).part(number(env), size(env))
        case _:
            raise InternalError(f"{extent} has no positions")


def _from_end_to_end(stored: list[Any], within: Any, sizes: Point) -> Between:
    """All points, or those the first coordinates of which lie within a range."""
    found = [point if isinstance(point, tuple) else (point,) for point in stored]
    first: Point = (0,)
    last: Point = (sizes[0],)
    if isinstance(within, range):
        first, last = (within.start,), (within.stop,)
    elif within is not None:  # several of them, in order
        first = within[0] if within else first
        last = (*within[-1][:-1], within[-1][-1] + 1) if within else first
    rest = len(sizes)
    first, last = ((*end, *(0,) * (rest - len(end))) for end in (first, last))
    return Between(first, last, found, sizes)
