"""Iteration lattices: the steps in which the tensors of an iteration space are walked together.

A point is a set of tensors that are walked together, until one of them runs out; what is left to be
walked is a point below. Of the points whose tensors are all stored at a coordinate the largest says
what to do there: at a *producer* there is something to compute, at an *omitter* there is not. Built
by the rules of ARRAY §6.3: a segment, a complement, an intersection, a union.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from typing import assert_never

from linnet.algebra.regions import (
    Complement,
    Empty,
    Intersection,
    Leaf,
    Region,
    Union,
    Universe,
    augment,
    leaves,
    normalize,
)
from linnet.records import dataclass

Tensors = frozenset[str]
Points = dict[Tensors, bool]
"""Sets of tensors, and whether there is something to compute. Of two points both, there is a third
that has the tensors of both: so one of those that are stored at a coordinate is the largest."""
U = "U"
"""Among the tensors of a point: all coordinates are visited. It is stored everywhere."""


@dataclass(frozen=True, slots=True)
class Point:
    """A region: the tensors that are defined there, and whether there is something to compute."""

    tensors: Tensors
    producer: bool

    def dominates(self, other: Point) -> bool:
        """Whether all tensors of the other point are among this one's."""
        return other.tensors < self.tensors


@dataclass(frozen=True, slots=True)
class Lattice:
    """The points that matter, those of most tensors first, and the space they make up."""

    region: Region
    points: tuple[Point, ...]

    @property
    def producers(self) -> frozenset[Tensors]:
        """The tensors of the points at which something is computed."""
        return frozenset(p.tensors for p in self.points if p.producer)

    @property
    def omitters(self) -> frozenset[Tensors]:
        """The tensors of the points that are passed over."""
        return frozenset(p.tensors for p in self.points if not p.producer)

    def __str__(self) -> str:
        return draw(self)


def lattice(region: Region, tensors: tuple[str, ...] = ()) -> Lattice:
    """The lattice of a region; `tensors` are those that are read, in the region or not."""
    region = normalize(region)  # complements are only of tensors: De Morgan
    points = [Point(t, producer) for t, producer in build(augment(region, tensors)).items()]
    # an omitter above nothing is passed over anyway
    kept = [p for p in points if p.producer or any(p.dominates(q) for q in points if q.producer)]
    names = tuple(dict.fromkeys((*leaves(region), *tensors)))
    kept.sort(key=lambda p: (-len(p.tensors), [n not in p.tensors for n in names]))
    return Lattice(region, tuple(kept))


# -- construction ----------------------------------------------------------------------------------


def build(region: Region) -> Points:
    """The points of a region whose complements are only of tensors (Algorithm 2 of ARRAY)."""
    match region:
        case Leaf(name):
            return {frozenset((name,)): True}
        case Complement(Leaf(name)):
            return {frozenset((name, U)): False, frozenset((U,)): True}
        case Universe():
            return {frozenset((U,)): True}
        case Empty():
            return {}
        case Intersection(parts):
            return reduce(_intersection, (build(p) for p in parts))
        case Union(parts):
            return reduce(_union, (build(p) for p in parts))
        case Complement(inner):
            return build(normalize(Complement(inner)))
        case _:
            assert_never(region)


def _intersection(left: Points, right: Points) -> Points:
    """Points of both together; all coordinates are visited if both visit all."""
    found = {}
    for p, q in _overlapping(left, right):
        everywhere = p & q & {U}
        found[(p | q) - {U} | everywhere] = left[p] and right[q]
    return found


def _union(left: Points, right: Points) -> Points:
    """Points of both together, and those of one where the other has none."""
    found = {p | q: left[p] or right[q] for p, q in _overlapping(left, right)}
    for one, other in ((left, right), (right, left)):
        found |= {p: one[p] for p in one if _largest(other, p) is None}
    return found


def _overlapping(left: Points, right: Points) -> Iterator[tuple[Tensors, Tensors]]:
    """The product of points, filtered: those pairs that say what to do at the same coordinates.

    Where a tensor is in both lattices it may be that one of them has a larger point where the
    tensors of both are stored, and then that point is the one to be paired. The paper asks only
    whether a tensor of one point is in the other lattice but not in the other point, and so loses
    `{a, c}` in `((a & b) | c) & a`, where the other lattice has no point of both.
    """
    shared = frozenset().union(*left) & frozenset().union(*right) - {U}
    for p, q in product(left, right):
        both = p | q
        if not shared or (_largest(left, both) == p and _largest(right, both) == q):
            yield p, q


def _largest(points: Points, stored: Tensors) -> Tensors | None:
    """Of the points whose tensors are all stored the one that has most."""
    return max((p for p in points if p - {U} <= stored), key=len, default=None)


# -- text ------------------------------------------------------------------------------------------


def draw(found: Lattice) -> str:
    """One line for the points of as many tensors; an omitter has a cross."""
    if not found.points:
        return "(nowhere)"
    names = (*leaves(found.region), *sorted({n for p in found.points for n in p.tensors}))
    order = {name: k for k, name in reversed(list(enumerate(names)))}
    lines: dict[int, list[str]] = {}
    for p in found.points:
        inside = ", ".join(sorted(p.tensors, key=lambda n: (n == U, order[n])))
        lines.setdefault(len(p.tensors), []).append(f"{'' if p.producer else '×'}{{{inside}}}")
    texts = ["   ".join(line) for line in lines.values()]
    width = max(map(len, texts))
    return "\n".join(text.center(width).rstrip() for text in texts)
