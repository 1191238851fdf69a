"""Iteration lattices: the steps in which the tensors of an iteration space are walked together.

A point is a set of tensors that are walked together, until one of them runs out; what is left to be
walked is a point below. Of the points whose tensors are all stored at a coordinate the largest says
what to do there: at a *producer* there is something to compute, at an *omitter* there is not (ARRAY
§6). Points are found from the meaning of the space: a tensor that occurs twice needs no care.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import assert_never

from linnet.algebra.regions import (
    Complement,
    Empty,
    Intersection,
    Leaf,
    Region,
    Union,
    Universe,
    holds,
    leaves,
    normalize,
)

Tensors = frozenset[str]
U = "U"
"""Among the tensors of a point: all coordinates are visited."""


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
    region = normalize(region)
    names = tuple(dict.fromkeys((*leaves(region), *tensors)))
    subsets = [frozenset(c) for n in range(len(names), -1, -1) for c in combinations(names, n)]
    found = dict.fromkeys(_walked(region, left) for left in subsets)
    others = frozenset(names) - frozenset(leaves(region))  # read only for their values
    sets = [s | extra for s in found if s is not None for extra in _subsets(others)]
    points = [Point(s, holds(region, s.__contains__)) for s in sets]
    kept = [p for p in points if p.producer or any(p.dominates(q) for q in points if q.producer)]
    everywhere = frozenset((U,)) if holds(region, lambda name: False) else frozenset[str]()
    kept.sort(key=lambda p: (-len(p.tensors), [n not in p.tensors for n in names]))
    return Lattice(region, tuple(Point(p.tensors | everywhere, p.producer) for p in kept))


def _subsets(names: Tensors) -> list[Tensors]:
    return [frozenset(c) for n in range(len(names) + 1) for c in combinations(sorted(names), n)]


def _walked(region: Region, left: Tensors) -> Tensors | None:
    """The tensors that are walked together when only these are left; None if there is no need."""
    match region:
        case Leaf(name):
            return frozenset((name,)) if name in left else None
        case Complement(Leaf(name)):
            return frozenset((name,)) & left
        case Universe():
            return frozenset()
        case Empty():
            return None
        case Intersection(parts):
            found = [_walked(p, left) for p in parts]
            sets = [s for s in found if s is not None]
            return frozenset[str]().union(*sets) if len(sets) == len(found) else None
        case Union(parts):
            sets = [s for s in (_walked(p, left) for p in parts) if s is not None]
            return frozenset[str]().union(*sets) if sets else None
        case Complement(inner):
            return _walked(normalize(Complement(inner)), left)
        case _:
            assert_never(region)


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
