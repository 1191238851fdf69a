"""Which indices do others tell? An element that is written at an index tells in which turn it was.

An index within a part tells the number of the part, as an index is in one part only; several that
go through something together tell the part that they are in together. `3 * i + j` tells both of
its indices where j stays below 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from linnet.loops.bases import part_in
from linnet.loops.linear import linear
from linnet.loops.nodes import (
    Access,
    Along,
    Dimension,
    Expr,
    Extent,
    Index,
    Literal,
    Loop,
    Name,
    Node,
    Parts,
    Place,
    Range,
)
from linnet.loops.rewrite import point_of, walk

Ranges = Mapping[str, Range | None]


def ranges_in(body: Node) -> dict[str, Range | None]:
    """What each loop goes through, by its index."""
    return {n.index: n.extent for n in walk(body) if isinstance(n, Loop)}


def told_by(
    exprs: Iterable[Expr], ranges: Ranges, changing: Collection[str] | None = None
) -> set[str]:
    """The indices that are known where the values of these expressions are.

    If it is said which indices are `changing`, others are known anyway.
    """
    exprs = tuple(exprs)
    found = {name for expr in exprs for name in _told(expr, ranges, changing)}
    places = [expr for expr in exprs if isinstance(expr, Place)]
    together = list(_together(ranges))
    before = None
    while before != found:
        before = set(found)
        for extent, own in together:
            if own <= found:
                found |= _behind(extent, found, ranges)
                places += [p for p in (point_of(extent),) if isinstance(p, Place)]
        for place in places:  # it tells an index of a range that is known
            if _is_fixed(place.of, found, changing):
                found |= {name for i in place.at for name in _told(i, ranges, changing)}
    return found


def _together(ranges: Ranges) -> Iterator[tuple[Range, set[str]]]:
    """What loops go through, and the indices of those that go through it together."""
    along = {index: extent for index, extent in ranges.items() if isinstance(extent, Along)}
    outer = {
        i: {n.name for e in along[i].outer for n in walk(e) if isinstance(n, Index)} for i in along
    }
    above = {name for names in outer.values() for name in names}
    for index, extent in ranges.items():
        if index in along:
            if index not in above:  # the innermost one
                yield along[index].of, {index} | outer[index]
        elif extent is not None:
            yield extent, {index}


def _behind(extent: Range, known: set[str], ranges: Ranges) -> set[str]:
    """The indices that an index in a range tells.

    They are those in the numbers of the parts that the range is, of what does not change, or in
    the only place that it has.
    """
    place = point_of(extent)
    if place is not None:
        return set(_told(place, ranges))
    part = part_in(extent)
    if part is None:
        return set()
    found = _behind(part.of, known, ranges)
    if _is_fixed(part.of, known | found) and _is_fixed(part.size, known | found):
        found |= set(_told(part.number, ranges))
    return found


def _is_fixed(node: Node | Range, known: set[str], changing: Collection[str] | None = None) -> bool:
    """Whether a value or a range is one, where these indices are known."""
    nodes = list(walk(node))
    names = {n.name for n in nodes if isinstance(n, Index | Name)}
    if changing is not None:
        names &= {*changing, *(n.name for n in nodes if isinstance(n, Name))}
    return names <= known and not any(isinstance(n, Access) for n in nodes)


def _told(expr: Expr, ranges: Ranges, changing: Collection[str] | None = None) -> Iterator[str]:
    """The indices that the value of an expression tells, if it tells all of those that change.

    Each must take longer steps than those before it can make up for.
    """
    if isinstance(expr, Index):
        yield expr.name
        return
    terms = linear(expr, None).terms
    if not all(isinstance(term, Index | Dimension) for term in terms):
        return
    steps = [
        (abs(n), term.name)
        for term, n in terms.items()
        if isinstance(term, Index) and (changing is None or term.name in changing)
    ]
    reach: int | None = 0
    for step, name in sorted(steps):
        if reach is None or step <= reach:
            return
        most = _most(ranges.get(name), ranges)
        reach = None if most is None else reach + step * most
    yield from (name for _, name in steps)


def _most(extent: Range | None, ranges: Ranges) -> int | None:
    """The largest index of a range from 0, if that is a number; 0 where there is none."""
    match None if extent is None else extent.whole:
        case Extent(Literal(0), Literal(int(stop))):
            return max(stop - 1, 0)
        case Extent(Literal(0), Parts(Extent(start, Literal(int(stop))), Literal(int(size)))):
            within = size > 0 and _is_natural(start, ranges)
            return max((stop + size - 1) // size - 1, 0) if within else None
        case _:
            return None


def _is_natural(expr: Expr, ranges: Ranges) -> bool:
    """Whether a value is 0 or more: a sum of indices from 0 on."""
    form = linear(expr, None)
    whole = [ranges.get(t.name) if isinstance(t, Index) else None for t in form.terms]
    return (
        form.number >= 0
        and all(n > 0 for n in form.terms.values())
        and all(r is not None and r.whole.start == Literal(0) for r in whole)
    )
