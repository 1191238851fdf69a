"""`coord(p1, i)`: a loop over positions goes through all coordinates from these to the next part.

    for p0 in range(ln.parts(ln.stored(x[:]), 32)):
        for i in ln.part(ln.stored(x[:]), p0, 32):
            y[i] += x[i]

    for p0 in range(max(ln.parts(ln.stored(x[:]), 32), 1)):
        for i in ln.coordinates(ln.part(ln.stored(x[:]), p0, 32)):
            y[i] += x[i]

These ranges follow one another without gaps, so that something may be done at every coordinate.
Where nothing is stored there is one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linnet import loops
from linnet.loops.bases import (
    coordinates,
    coordinates_of,
    gone_through,
    one_at_least,
    parts_counted,
    positions_in,
)
from linnet.loops.commands import Coord
from linnet.loops.nodes import base_of
from linnet.loops.rewrite import rewrite_stmt, walk
from linnet.scheduling.nest import Nest


def coord(nest: Nest, command: Coord) -> None:
    """Go through all coordinates from some positions on."""
    found = nest.named(command.position)
    extent = found[0].extent
    assert extent is not None
    if not isinstance(base_of(extent), loops.Positions):
        if _counts_tiles(found[0]):
            hint = "`coord` of the loop within a tile"
            nest.refuse(f"`{command.position}` counts tiles, which have no coordinates", hint=hint)
        hint = "`coord` of a loop that goes through positions"
        nest.refuse(f"`{command.position}` goes through coordinates already", hint=hint)
    if found[0].how.flat and len(found) > 1:
        nest.refuse(
            f"`{found[0].how.command}` has made one loop of those over positions",
            hint="leave out `flat`: loops over several coordinates stand in one another",
        )
    of = gone_through(extent)
    for place in walk(found[-1].body):
        if isinstance(place, loops.Place) and positions_in(place.of) == positions_in(of):
            nest.refuse(
                "a workspace has an element for each of these positions",
                hint="`coord` before `precompute`",
            )
    stmt = found[-1].body
    extents = _coordinates(of, [loop.index for loop in found])
    for loop, inside in reversed(list(zip(found, extents, strict=True))):
        stmt = replace(loop, extent=inside, body=stmt, how=replace(loop.how, flat=False))
    nest.introduce(command.index, *nest.forget(command.position))
    nest.replaced(found[0], stmt)
    _count_one_at_least(nest, of)


def _counts_tiles(loop: loops.Loop) -> bool:
    """Whether a loop counts parts of positions."""
    parts = (n for n in walk(loop.body) if isinstance(n, loops.Part) and positions_in(n))
    return any(part.number == loops.Index(loop.index) for part in parts)


def _coordinates(of: loops.Range, indices: list[str]) -> Iterator[loops.Range]:
    """What the loops over the coordinates of some positions go through."""
    if len(indices) == 1:
        yield coordinates_of(of)
        return
    several: loops.Range = loops.Coordinates(of)
    count = len(indices)
    if isinstance(of, loops.Positions):  # all that there may be
        yield from _whole(of, indices)
        return
    for depth in range(count):
        yield loops.Along(several, tuple(map(loops.Index, indices[:depth])))


def _whole(positions: loops.Positions, indices: list[str]) -> Iterator[loops.Range]:
    """The coordinates that positions may have: dimensions, or a range of the first of them."""
    within = positions.within
    count = 0 if within is None else coordinates(within)
    if within is not None and count == 1:
        yield within
    elif within is not None:
        outer = tuple(map(loops.Index, indices))
        yield from (loops.Along(within, outer[:depth]) for depth in range(count))
    yield from map(positions.along, range(count, len(indices)))


def _count_one_at_least(nest: Nest, of: loops.Range) -> None:
    """Let the loops that count parts of positions have a turn where there are none.

    Whatever else goes by that number does so, too: such loops may have been split themselves, and
    workspaces may have an element for each part.
    """
    once: dict[loops.Node | None, loops.Expr] = {}
    while isinstance(of, loops.Part | loops.Bounded):
        if isinstance(of, loops.Part):
            parts = loops.Parts(of.of, of.size)
            once[parts] = one_at_least(parts)
        of = of.of
    for loop in (n for n in walk(nest.program.body) if isinstance(n, loops.Loop)):
        ranges = [] if loop.extent is None else walk(loop.extent)
        if any(isinstance(r, loops.Bounded) and parts_counted(r) in once for r in ranges):
            nest.refuse(
                f"`{nest.name_of(loop)}` is bounded, and has one turn more where nothing is stored",
                hint="`bound` it after `coord`",
            )
    twice = {one_at_least(many): many for many in once.values()}
    body = rewrite_stmt(nest.program.body, on_expr=lambda e: twice.get(e) or once.get(e))
    nest.program = replace(nest.program, body=body)
