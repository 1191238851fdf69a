"""Where the loops of a schedule come from: the graph that its commands make (SCHED §3.2, §5.2).

    relation = Split(i, outer, inner, size, up) | Collapse(outer, inner, fused)
             | Pos(i, position, access) | Coord(position, i) | Bound(i, bounded, value, kind)
             | Precompute(expr, indices, early, workspace)

The relations are those commands of a schedule that derive indices, in the order in which they are
given. They say what an index is in terms of those that are derived from it (`recover_original`),
what these are in terms of it (`recover_derived`), and how far they run (`child_bounds`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

import numpy as np

from linnet import imp, loops
from linnet.algebra.function import Function
from linnet.algebra.table import add, floor_divide, minimum, multiply, remainder, subtract
from linnet.errors import InternalError, ScheduleError
from linnet.loops.bounds import MAX_EXACT, MIN_EXACT
from linnet.loops.commands import Bound, Collapse, Command, Coord, Pos, Precompute, Split

Relation: TypeAlias = Split | Collapse | Pos | Coord | Bound | Precompute
Bounds: TypeAlias = Mapping[str, loops.Extent]
"""How far indices run."""

_ZERO, _ONE = loops.Literal(0), loops.Literal(1)


def relations_of(commands: Sequence[Command]) -> tuple[Relation, ...]:
    """The commands that derive indices."""
    return tuple([c for c in commands if isinstance(c, Relation)])


def sources(relation: Relation) -> tuple[str, ...]:
    """The indices that others are derived from; what is computed early leaves its own as it is."""
    return relation.ends or relation.uses


def _copies(relation: Precompute) -> Iterator[tuple[str, str]]:
    """The indices that stand for the same as others, each after the one that it is derived from."""
    for index, early in zip(relation.indices, relation.early, strict=True):
        if index == early:
            yield from ((index, f"{index}:1"), (index, f"{index}:2"))
        else:
            yield index, early


def originals(index: str, relations: Sequence[Relation]) -> tuple[str, ...]:
    """The original indices that an index is derived from.

    >>> originals("p", (Collapse("i", "k", "f"), Pos("f", "p", A)))
    ('i', 'k')
    """
    for relation in relations:
        if index in relation.makes:
            found = (i for above in sources(relation) for i in originals(above, relations))
            return tuple(dict.fromkeys(found))
    return (index,)


# -- indices in terms of others --------------------------------------------------------------------


def recover_original(
    relation: Relation, bounds: Bounds, relations: Sequence[Relation] = ()
) -> dict[str, loops.Expr]:
    """The indices that others are derived from, in terms of these (SCHED Fig. 17).

    `bounds` are those of the original indices. `relations` are all of the schedule: what goes
    through positions of several dimensions stands for as many indices.
    """
    match relation:
        case Split(index, outer, inner):
            first = _times(loops.Index(outer), _size(relation, bounds[index]))
            return {index: _plus(_plus(bounds[index].start, first), loops.Index(inner))}
        case Collapse(outer, inner, fused):
            f = loops.Index(fused)
            if (pos := _leader(inner, relations)) is not None:
                found = dict(_coordinates(pos[1], originals(fused, relations), fused))
                return {i: found[i] for i in originals(outer, relations)} | {inner: f}
            length = _length(bounds[inner])
            return {
                outer: _plus(bounds[outer].start, loops.Call(floor_divide, (f, length))),
                inner: _plus(bounds[inner].start, loops.Call(remainder, (f, length))),
            }
        case Pos(index, position, access):
            return dict(_coordinates(str(access.tensor), originals(index, relations), position))
        case Coord(position, index):
            led, tensor = _led_by(position, relations)
            last = originals(position, relations)[-1]
            place = _places(index, originals(position, relations), bounds)
            return {led: _search(tensor, last, place[last])}
        case Bound(index, bounded):
            return {index: loops.Index(bounded)} if bounded else {}
        case Precompute():
            return {index: loops.Index(made) for index, made in _copies(relation)}
        case _:
            assert_never(relation)


def recover_derived(
    relation: Relation, bounds: Bounds, relations: Sequence[Relation] = ()
) -> dict[str, loops.Expr]:
    """The derived indices in terms of those that they are derived from (SCHED Fig. 18)."""
    match relation:
        case Split(index, outer, inner):
            size, past = _size(relation, bounds[index]), _minus(index, bounds)
            before = _times(loops.Index(outer), size)
            return {
                outer: loops.Call(floor_divide, (past, size)),
                inner: loops.Call(subtract, (past, before)),
            }
        case Collapse(outer, inner, fused):
            if _leader(inner, relations) is not None:
                return {fused: loops.Index(inner)}
            rows = _times(_minus(outer, bounds), _length(bounds[inner]))
            return {fused: _plus(rows, _minus(inner, bounds))}
        case Pos(index, position, access):
            last = originals(index, relations)[-1]
            tensor = str(access.tensor)
            return {position: _search(tensor, last, loops.Index(last))}
        case Coord(position, index):
            (led, tensor), found = _led_by(position, relations), originals(position, relations)
            places = _coordinates(tensor, found, led)
            return {index: _number(places, bounds)}
        case Bound(index, bounded):
            return {bounded: loops.Index(index)} if bounded else {}
        case Precompute():
            return {made: loops.Index(index) for index, made in _copies(relation)}
        case _:
            assert_never(relation)


def child_bounds(
    relation: Relation,
    bounds: Bounds,
    relations: Sequence[Relation] = (),
) -> dict[str, loops.Extent]:
    """How far derived indices run, where those that they are derived from run so far (Fig. 19)."""
    match relation:
        case Split(index, outer, inner):
            size = _size(relation, bounds[index])
            count = (
                loops.Literal(relation.size) if relation.up else loops.Parts(bounds[index], size)
            )
            return {outer: loops.Extent(_ZERO, count), inner: loops.Extent(_ZERO, size)}
        case Collapse(outer, inner, fused):
            if (pos := _leader(inner, relations)) is not None:
                return {fused: _fibers(pos[1], outer, originals(inner, relations)[-1], relations)}
            size = _times(_length(bounds[outer]), _length(bounds[inner]))
            return {fused: loops.Extent(_ZERO, size)}
        case Pos(index, position, access):
            tensor, found = str(access.tensor), originals(index, relations)
            if len(found) == 1:
                within = _coordinates_in(index, bounds, relations)
                return {position: _segment(tensor, found[-1], within)}
            return {position: _fibers(tensor, index, found[-1], relations)}
        case Coord(position, index):
            (led, tensor), found = _led_by(position, relations), originals(position, relations)
            if position == led and len(found) == 1:
                (above,) = (sources(r)[0] for r in relations if led in r.makes)
                return {index: _coordinates_in(above, bounds, relations)}
            ends = [_array(tensor, what, found[-1]) for what in ("from", "to")]
            return {index: loops.Extent(*ends)}
        case Bound(index, bounded):
            return {bounded or index: _said(relation, bounds[index])}
        case Precompute():
            return {made: bounds[index] for index, made in _copies(relation)}
        case _:
            assert_never(relation)


def parent_bounds(
    relation: Split, bounds: Bounds, known: Collection[str] = ()
) -> dict[str, loops.Extent]:
    """How far an index runs that has been split, once some of the derived ones are known.

    The part's number narrows it, as far as its whole goes; both of them make it a point. The place
    within a part alone says nothing.
    """
    whole = bounds[relation.index]
    if relation.outer not in known:
        return {relation.index: whole}
    size = _size(relation, whole)
    first = _plus(whole.start, _times(loops.Index(relation.outer), size))
    if relation.inner in known:
        first = _plus(first, loops.Index(relation.inner))
        return {relation.index: loops.Extent(first, _plus(first, _ONE))}
    stop = loops.Call(minimum, (whole.stop, _plus(first, size)))
    return {relation.index: loops.Extent(first, stop)}


def _coordinates_in(index: str, bounds: Bounds, relations: Sequence[Relation]) -> loops.Extent:
    """The coordinates that an index goes through: all, or those of the part that it is within."""
    for relation in relations:
        if isinstance(relation, Split) and index == relation.inner:
            whole = _coordinates_in(relation.index, bounds, relations)
            within = parent_bounds(relation, {relation.index: whole}, {relation.outer})
            return within[relation.index]
    return bounds[index]


def _size(split: Split, whole: loops.Extent) -> loops.Expr:
    """How many indices a part has."""
    size = loops.Literal(split.size)
    return loops.Parts(whole, size) if split.up else size


def _said(bound: Bound, whole: loops.Extent) -> loops.Extent:
    """A range, one end of which is said; constraints leave it as it is."""
    value = loops.Literal(bound.value)
    start = value if bound.kind == MIN_EXACT else whole.start
    return loops.Extent(start, value if bound.kind == MAX_EXACT else whole.stop)


def _length(whole: loops.Extent) -> loops.Expr:
    start, stop = whole.start, whole.stop
    return stop if start == _ZERO else loops.Call(subtract, (stop, start))


def _minus(index: str, bounds: Bounds) -> loops.Expr:
    """How far an index is from where it begins."""
    start = bounds[index].start
    found: loops.Expr = loops.Index(index)
    return found if start == _ZERO else loops.Call(subtract, (found, start))


def _plus(a: loops.Expr, b: loops.Expr) -> loops.Expr:
    return b if a == _ZERO else loops.Call(add, (a, b))


def _times(a: loops.Expr, b: loops.Expr) -> loops.Expr:
    return loops.Call(multiply, (a, b))


# -- coordinates of positions ----------------------------------------------------------------------


def _not_run(args: tuple[imp.Expr, ...], dtype: str) -> imp.Expr:
    raise InternalError("what positions stand for is looked up by the levels of a tensor")


def _index(dtypes: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    return dtypes, "int64"


def _first_at_least(coordinates: np.ndarray, begin: int, end: int, wanted: int) -> int:
    return int(begin + np.searchsorted(coordinates[begin:end], wanted))


def _last_at_most(pointers: np.ndarray, position: int) -> int:
    return int(np.searchsorted(pointers, position, "right")) - 1


SEARCH = Function("search", 4, _index, _not_run, _first_at_least)
"""The first position in a fiber, `begin` to `end`, whose coordinate is not less than one."""
PARENT = Function("parent", 2, _index, _not_run, _last_at_most)
"""The last fiber that begins at a position, or before it: found once, and then tracked."""


def _array(tensor: str, what: str, index: str) -> loops.Name:
    """What a tensor stores along an index: crd, pos, or where the fiber at hand begins and ends."""
    return loops.Name(f"{tensor}.{what}_{index}")


def _coordinates(
    tensor: str, indices: Sequence[str], position: str
) -> Iterator[tuple[str, loops.Expr]]:
    """The coordinates at a position: read along the last index, then those of the fibers above."""
    at: loops.Expr = loops.Index(position)
    for index in reversed(indices):
        yield index, loops.Access(_array(tensor, "crd", index).name, (at,))
        at = loops.Call(PARENT, (_array(tensor, "pos", index), at))


def _led_by(position: str, relations: Sequence[Relation]) -> tuple[str, str]:
    """The index that went through all of some positions, of which one has a part; their tensor."""
    found = _leader(position, relations)
    if found is None:
        hint = "go through them by `pos` before"
        raise ScheduleError(f"`{position}` goes through no positions", hint=hint)
    return found


def _leader(index: str, relations: Sequence[Relation]) -> tuple[str, str] | None:
    """The same; None if an index goes through coordinates."""
    relation = next((r for r in relations if index in r.makes), None)
    match relation:
        case None | Coord():
            return None
        case Pos(_, position, access):
            return position, str(access.tensor)
        case Collapse(_, inner, fused):
            found = _leader(inner, relations)
            return None if found is None else (fused, found[1])
    return _leader(sources(relation)[0], relations)


def _fibers(tensor: str, outer: str, last: str, relations: Sequence[Relation]) -> loops.Extent:
    """The positions of several fibers: all of a level, or those in a part of the coordinates."""
    if _is_within(outer, relations):
        return loops.Extent(*(_array(tensor, what, last) for what in ("first", "last")))
    return loops.Extent(_ZERO, _array(tensor, "count", last))


def _is_within(index: str, relations: Sequence[Relation]) -> bool:
    """Whether an index goes through a part of its range."""
    relation = next((r for r in relations if index in r.makes), None)
    if relation is None or isinstance(relation, Split):
        return relation is not None
    return any(_is_within(above, relations) for above in sources(relation))


def _places(index: str, found: Sequence[str], bounds: Bounds) -> dict[str, loops.Expr]:
    """The coordinates of which an index is one, or the number of several."""
    number, places = loops.Index(index), dict[str, loops.Expr]()
    rest: loops.Expr = number
    for original in reversed(found[1:]):
        length = _length(bounds[original])
        places[original] = loops.Call(remainder, (rest, length))
        rest = loops.Call(floor_divide, (rest, length))
    return {found[0]: rest, **places}


def _number(places: Iterator[tuple[str, loops.Expr]], bounds: Bounds) -> loops.Expr:
    """The number of a place, which is given from the innermost coordinate on."""
    found = dict(places)
    first, *others = reversed(found)
    number = found[first]
    for index in others:
        number = _plus(_times(number, _length(bounds[index])), found[index])
    return number


def _search(tensor: str, index: str, coordinate: loops.Expr) -> loops.Expr:
    ends = (_array(tensor, "begin", index), _array(tensor, "end", index))
    return loops.Call(SEARCH, (_array(tensor, "crd", index), *ends, coordinate))


def _segment(tensor: str, index: str, coordinates: loops.Extent) -> loops.Extent:
    """The positions of a range of coordinates; the ends of a dimension are not searched for."""
    begin, end = _array(tensor, "begin", index), _array(tensor, "end", index)
    start, stop = coordinates.start, coordinates.stop
    return loops.Extent(
        begin if start == _ZERO else _search(tensor, index, start),
        end if isinstance(stop, loops.Dimension) else _search(tensor, index, stop),
    )


# -- the order of loops ----------------------------------------------------------------------------


def original_order(
    order: Sequence[str], relations: Sequence[Relation], reduced: Collection[str]
) -> tuple[str, ...]:
    """The order of the loops with every derived index replaced by those that it stands for.

    Of an index that was split, the position of one loop counts. If it is reduced over, that is the
    outer one: there the reduction starts. Otherwise it is the inner one, since up to there the
    loops may agree with the result. `reduced` are the original indices that are reduced over (WORK
    §6.2, input order reconstruction).

    >>> relations = (Collapse("i", "k", "f"), Pos("f", "p", A), Split("p", "f0", "f1", 4))
    >>> original_order(("f0", "f1", "j"), relations, {"k"})
    ('i', 'k', 'j')
    """
    found = tuple(order)
    for relation in reversed(relations):
        found = _undo(found, relation, _is_reduced(relation, relations, reduced))
    return found


def _undo(order: tuple[str, ...], relation: Relation, reduced: bool) -> tuple[str, ...]:
    made, above = relation.makes, relation.ends
    if not made:  # a bound of a loop that keeps its name
        return order
    places = sorted(_with(order, i).index(i) for i in made)
    kept = places[0] if reduced else places[-1]
    dropped = {*places} - {kept}
    found = [(i,) if k != kept else above for k, i in enumerate(order) if k not in dropped]
    return tuple(i for part in found for i in part)


def _with(order: tuple[str, ...], index: str) -> tuple[str, ...]:
    if index not in order:
        problem = f"there is no loop over `{index}` among {', '.join(order)}"
        raise ScheduleError(problem, hint="name one of these")
    return order


def _is_reduced(
    relation: Relation, relations: Sequence[Relation], reduced: Collection[str]
) -> bool:
    """Whether the index of a split stands for nothing but reductions."""
    if not isinstance(relation, Split):
        return False
    return all(i in reduced for i in originals(relation.index, relations))
