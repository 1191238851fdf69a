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
from linnet.loops.nodes import Bounded, Expr, Extent, Part, Positions, Product, Range

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
        return [place for place in stored if place in found]
    count = len(within[0]) if isinstance(within[0], tuple) else 0
    return [place for place in stored if (place[:count] if count else place[0]) in found]


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
