"""Lattices are built by the rules of ARRAY §6.3, and are what the meaning of a region says."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from linnet.algebra import regions
from linnet.algebra.lattice import Point, U, build, lattice
from linnet.algebra.regions import (
    Complement,
    Empty,
    Intersection,
    Leaf,
    Union,
    Universe,
    holds,
    leaves,
    parse,
    show,
)

Tensors = frozenset[str]


def walked(region: regions.Region, left: Tensors) -> Tensors | None:
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
            found = [walked(p, left) for p in parts]
            sets = [s for s in found if s is not None]
            return frozenset().union(*sets) if len(sets) == len(found) else None
        case Union(parts):
            sets = [s for s in (walked(p, left) for p in parts) if s is not None]
            return frozenset().union(*sets) if sets else None
        case _:
            raise AssertionError(region)


def meant(region: regions.Region, extra: tuple[str, ...]) -> set[Point]:
    """The points, from what is left to be walked when tensors have run out."""
    region = regions.normalize(region)
    names = tuple(dict.fromkeys((*leaves(region), *extra)))
    subsets = [frozenset(c) for n in range(len(names) + 1) for c in combinations(names, n)]
    others = frozenset(names) - frozenset(leaves(region))
    found = {
        s | more
        for s in (walked(region, left) for left in subsets)
        if s is not None
        for more in subsets
        if more <= others
    }
    everywhere = frozenset((U,)) if holds(region, lambda name: False) else frozenset()
    made = {Point(s | everywhere, holds(region, s.__contains__)) for s in found}
    return {p for p in made if p.producer or any(p.dominates(q) for q in made if q.producer)}


def some_region(rng: random.Random, names: str, depth: int) -> regions.Region:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([*map(Leaf, names * 8), regions.UNIVERSE, regions.EMPTY])
    if rng.random() < 0.25:
        return Complement(some_region(rng, names, depth - 1))
    kind = rng.choice((Union, Intersection))
    return kind(tuple(some_region(rng, names, depth - 1) for _ in range(rng.choice((2, 2, 3)))))


@pytest.mark.parametrize("extra", [(), ("a", "e"), ("e", "f")], ids=str)
@pytest.mark.parametrize("names", ["ab", "abc", "abcd"])
def test_the_rules_give_what_is_meant(names, extra):
    """Point for point, tensors that occur several times included."""
    rng = random.Random(63)
    repeated = 0
    for _ in range(250):
        region = some_region(rng, names, 4)
        text = show(regions.normalize(region))
        repeated += any(text.count(name) > 1 for name in names)
        assert set(lattice(region, extra).points) == meant(region, extra), text
    assert repeated > 100


def test_a_larger_point_is_always_there():
    """Points are closed under joining, so that of those stored at a coordinate one is largest."""
    rng = random.Random(64)
    for _ in range(200):
        points = build(regions.normalize(some_region(rng, "abcd", 4)))
        for p, q in product(points, repeat=2):
            assert p | q in points
        assert all(U in p for p in points) or not any(U in p for p in points)


def filtered_as_printed(left: dict[Tensors, bool], right: dict[Tensors, bool]) -> set[Tensors]:
    """The product of Algorithm 2 as it is printed, for an intersection."""
    roots = frozenset().union(*left), frozenset().union(*right)
    return {
        p | q for p, q in product(left, right) if not (p & roots[1]) - q and not (q & roots[0]) - p
    }


def test_where_the_printed_filter_loses_a_point():
    """What is not in a point need not be missing at its coordinates: nobody asked for it."""
    left, right = build(parse("(a & b) | c")), build(parse("a"))
    lost = frozenset("ac")
    assert lost not in filtered_as_printed(left, right)
    found = lattice(parse("((a & b) | c) & a"))
    assert found.producers == {frozenset("abc"), frozenset("ab"), lost}


def test_many_tensors():
    """All that occur once: nothing is filtered, and 2 ** 12 points are found at once."""
    region = parse(" | ".join("abcdefghijkl"))
    assert len(lattice(region).points) == 2**12 - 1
    assert len(lattice(parse(" & ".join("abcdefghijkl"))).points) == 1
