"""What the loops around a workspace will do, told from some of their steps.

Sizes say how many values operands store, but not which of them meet. So a few steps are taken
(`runtime.steps`), and what they have updated is counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from linnet import loops
from linnet.formats.contents import Contents
from linnet.normalize.choice import Choice, Fills, is_product, sizes_of
from linnet.normalize.costs import Group, Sample
from linnet.runtime.steps import Ints, Operand, Walk

_UNEVEN = 16  # times the mean, and so many more: what no fiber has by chance
_LINE = 64  # bytes that come from memory together
_NEAR = 4  # places that lie in one of so many parts of all are near each other
_FARTHER = 2048  # times as many, of which less and less is known
_FAR = 32  # times as many updates as were seen: what meets beyond that is not told by them
_MET = 32  # steps that update a place at most, as far as neighbours can tell
_LARGEST = 2**62


def sample(choice: Choice, held: Mapping[str, Contents]) -> Sample | None:
    """Some of the updates of a workspace; None if they cannot be foreseen."""
    shape = sizes_of(choice.dims, {name: contents.shape for name, contents in held.items()})
    found = operands_of(choice.value, dict(choice.fills))
    names = [i.name for i in choice.target if isinstance(i, loops.Index)]
    if not found or shape is None or len(names) < len(choice.target):
        return None
    known = [(a, held[str(a.tensor)]) for a in found if str(a.tensor) in held]
    walk = Walk([Operand.of(access, contents) for access, contents in known])
    if len(known) < len(found) or not all(o.plain for o in walk.operands):
        return None
    return _told(walk, choice, shape) if walk.run(choice.path) else None


def is_uneven(contents: Contents) -> bool:
    """Whether some fibers of a tensor hold many times as much as others."""
    for arrays in contents.levels():
        ptr = arrays.get("ptr")
        if ptr is not None and len(ptr) > 2:
            lengths = np.diff(ptr)
            if (int(lengths.max()) - _UNEVEN) * len(lengths) > _UNEVEN * int(ptr[-1]):
                return True
    return False


def operands_of(expr: loops.Expr, fills: Fills) -> list[loops.Access] | None:
    """The operands of a product, which is nothing where one of them is nothing."""
    match expr:
        case loops.Access():
            return [expr]
        case loops.Literal():
            return []
        case loops.Call(_, args):
            parts = [operands_of(a, fills) for a in args]
            known = [p for p in parts if p is not None]
            if len(args) == 1 or is_product(expr, fills):
                return [*chain(*known)] if len(known) == len(parts) else None
    return None


def _told(walk: Walk, choice: Choice, shape: Sequence[int]) -> Sample | None:
    """The updates of each workspace that was begun in the steps that were taken."""
    size, line = math.prod(shape), max(_LINE // choice.itemsize, 1)
    group, count = _groups(walk, choice.outer)
    if (size + line) * (count + 1) >= _LARGEST or not count:
        return None
    place = np.zeros(len(group), np.int64)
    for index, n in zip(choice.target, shape, strict=True):
        assert isinstance(index, loops.Index)
        place = place * n + walk.bound[index.name]
    weight = np.zeros(count)
    np.maximum.at(weight, group, walk.weight)
    if not choice.outer:  # one workspace for all: it is updated by what the steps stand for
        return Sample((_all(walk, place, size, shape[0]),))
    lines = size // line + 1
    places = np.unique(group * size + place) // size
    touched = np.unique(group * lines + place // line)
    kept = touched[np.isin(touched + lines, touched)]  # the next one has them, too
    seen = [np.bincount(x, minlength=count) for x in (group, places)]
    seen += [np.bincount(x // lines, minlength=count) for x in (touched, kept)]
    seen.append(_reach(group, place, count))
    numbers = zip(*(x.tolist() for x in seen), weight.tolist(), strict=True)
    return Sample(
        tuple(_group(t, d, n, k, r, w, walk.every) for t, d, n, k, r, w in numbers if w > 0)
    )


def _reach(group: Ints, place: Ints, count: int) -> Ints:
    """How far the places of each workspace and of the next one lie apart."""
    first, last = np.full(count, _LARGEST, np.int64), np.zeros(count, np.int64)
    np.minimum.at(first, group, place)
    np.maximum.at(last, group, place)
    first[:-1] = np.minimum(first[:-1], first[1:])
    last[:-1] = np.maximum(last[:-1], last[1:])
    apart: Ints = last - first + 1
    return apart


def _groups(walk: Walk, outer: tuple[str, ...]) -> tuple[Ints, int]:
    """To which workspace each step belongs, in their order; and how many there are."""
    group = np.zeros(len(walk.weight), np.int64)
    for index in outer:
        _, rank = np.unique(walk.bound[index], return_inverse=True)
        _, group = np.unique(group * (int(rank.max(initial=0)) + 1) + rank, return_inverse=True)
    return group, int(group.max(initial=-1)) + 1


def _group(
    taken: int, distinct: int, lines: int, kept: int, reach: int, weight: float, every: int
) -> Group:
    """What a workspace does of which one in `every` update was looked at."""
    updates = float(taken * every)
    places = _distinct(taken, distinct, updates)
    touched = _distinct(distinct, lines, places)
    # a line that two workspaces touch was seen in the other as often as any place was
    again = min(kept / lines * places / distinct, 1.0)
    return Group(updates, places, touched * (1 - again), weight, reach)


def _all(walk: Walk, place: Ints, size: int, rows: int) -> Group:
    """The one workspace that takes all updates."""
    counted = walk.weight > 0
    updates = float(walk.weight.sum()) * walk.every
    taken, distinct = int(counted.sum()), len(np.unique(place[counted]))
    places = _places(taken, distinct, updates, size)
    places *= 1 - _met_before(walk, place)
    reach = _nearby(walk.pair, place, size // max(rows, 1), size)
    return Group(updates, places, places, 1.0, reach)


def _met_before(walk: Walk, place: Ints) -> float:
    """Which share of what a step updates the step before it has updated, too.

    Of both, one in `every` update was looked at. Nothing is told of steps further away.
    """
    _, rank = np.unique(place, return_inverse=True)
    number, first = walk.pair * (len(place) + 1) + rank, walk.weight > 0
    one, next_one = np.unique(number[first]), np.unique(number[~first])
    if not len(next_one):
        return 0.0
    return min(float(np.isin(next_one, one).mean()) * walk.every, 1 - 1 / _MET)


def _nearby(pair: Ints, place: Ints, row: int, size: int) -> float:
    """Among how many places those of neighbouring steps lie, by rows of so many: most of them.

    Half of what lies evenly in a stretch is within a quarter of it from its middle, which is one of
    the rows and not counted. What is not near may be anywhere: of a few steps, that is not told
    any better.
    """
    rows, rank = np.unique(place // max(row, 1), return_inverse=True)  # of 2**60, a few
    pair, rank = np.divmod(np.unique(pair * len(rows) + rank), max(len(rows), 1))
    rows = rows[rank]
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    lengths = np.diff(starts, append=len(pair))
    middle = starts + lengths // 2
    apart = np.delete(np.abs(rows - np.repeat(rows[middle], lengths)), middle)
    reach = float(4 * np.median(apart) + 1) * row if len(apart) else math.inf
    return reach if reach * _NEAR < size else math.inf


def _places(taken: int, distinct: int, updates: float, size: int) -> float:
    """How many of `size` places the updates have of which a few, perhaps thousandths, were taken.

    Places that are updated more often than others meet first, so that of a few updates far too few
    places are expected for hundreds of times as many. Of many thousands of times as many, nobody
    knows how alike their places are: between the two.
    """
    near = min(updates, float(_FAR * taken))
    most = min(_distinct(taken, distinct, near) * (updates / max(near, 1.0)), size)
    beyond = math.log(max(updates / (_FARTHER * max(taken, 1)), 1.0)) / math.log(_FAR)
    share = max(1 - beyond, 0.0)
    least = min(_distinct(taken, distinct, updates), size)
    return math.pow(most, share) * math.pow(least, 1 - share)


def _distinct(taken: int, distinct: int, updates: float) -> float:
    """How many of the updates have a place of their own, if so many of those taken had one.

    As if they fell on a number of places at random: the number that explains what was seen.
    """
    if distinct >= taken or updates <= taken:
        return updates * distinct / max(taken, 1)
    low, high = float(distinct), float(distinct) * taken
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _hit(middle, taken) < distinct else (low, middle)
    return _hit(high, updates)


def _hit(places: float, updates: float) -> float:
    """How many of some places are hit by updates that fall at random."""
    return -places * math.expm1(-updates / places)
