"""Iteration algebra: which coordinates of an index an expression needs, as sets of coordinates.

    region = Leaf(name) | Union(regions) | Intersection(regions) | Complement(region)
           | Universe() | Empty()

A leaf is where an argument or a tensor is *defined*: differs from its fill value. Regions are
written with `|`, `&`, `~` and parentheses (ARRAY §5.1); ∪, ∩ and ¬ are read as well.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeAlias, assert_never

from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where an argument or a tensor is defined."""

    name: str


@dataclass(frozen=True, slots=True)
class Union:
    """Where one of them is; of two or more."""

    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Intersection:
    """Where all of them are; of two or more."""

    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Complement:
    """Everywhere else."""

    region: Region


@dataclass(frozen=True, slots=True)
class Universe:
    """Everywhere."""


@dataclass(frozen=True, slots=True)
class Empty:
    """Nowhere."""


Region: TypeAlias = Leaf | Union | Intersection | Complement | Universe | Empty

UNIVERSE, EMPTY = Universe(), Empty()


# -- making ----------------------------------------------------------------------------------------


def union(*regions: Region) -> Region:
    """The union, flat and without what adds nothing."""
    parts = _flat(Union, regions)
    if UNIVERSE in parts:
        return UNIVERSE
    return _joined(Union, [p for p in parts if p != EMPTY], EMPTY)


def intersection(*regions: Region) -> Region:
    """The intersection, flat and without what takes nothing away."""
    parts = _flat(Intersection, regions)
    if EMPTY in parts:
        return EMPTY
    return _joined(Intersection, [p for p in parts if p != UNIVERSE], UNIVERSE)


def complement(region: Region) -> Region:
    """Everywhere else, with complements only around leaves (De Morgan)."""
    match region:
        case Universe():
            return EMPTY
        case Empty():
            return UNIVERSE
        case Complement(inner):
            return inner
        case Union(parts):
            return intersection(*(complement(p) for p in parts))
        case Intersection(parts):
            return union(*(complement(p) for p in parts))
        case Leaf():
            return Complement(region)
        case _:
            assert_never(region)


def _flat(kind: type[Union] | type[Intersection], regions: tuple[Region, ...]) -> list[Region]:
    parts: list[Region] = []
    for region in regions:
        parts.extend(region.regions if isinstance(region, kind) else (region,))
    return list(dict.fromkeys(parts))


def _joined(kind: type[Union] | type[Intersection], parts: list[Region], nothing: Region) -> Region:
    if len(parts) > 1:
        return kind(tuple(parts))
    return parts[0] if parts else nothing


def normalize(region: Region) -> Region:
    """The same set: flat, complements only around leaves, constants gone."""
    match region:
        case Union(parts):
            return union(*(normalize(p) for p in parts))
        case Intersection(parts):
            return intersection(*(normalize(p) for p in parts))
        case Complement(inner):
            return complement(normalize(inner))
        case _:
            return region


def substitute(region: Region, values: Mapping[str, Region]) -> Region:
    """The region with other regions for its leaves."""
    match region:
        case Leaf(name):
            return values.get(name, region)
        case Union(parts):
            return union(*(substitute(p, values) for p in parts))
        case Intersection(parts):
            return intersection(*(substitute(p, values) for p in parts))
        case Complement(inner):
            return complement(substitute(inner, values))
        case _:
            return region


def augment(region: Region, names: tuple[str, ...]) -> Region:
    """Bring tensors back that are not in the region, as `R | (t & ~t)`: the same set."""
    absent = [n for n in names if n not in leaves(region)]
    extra = [Intersection((Leaf(n), Complement(Leaf(n)))) for n in absent]
    return Union((region, *extra)) if extra else region


# -- asking ----------------------------------------------------------------------------------------


def leaves(region: Region) -> tuple[str, ...]:
    """The names in a region, in order of appearance."""
    match region:
        case Leaf(name):
            return (name,)
        case Union(parts) | Intersection(parts):
            return tuple(dict.fromkeys(name for p in parts for name in leaves(p)))
        case Complement(inner):
            return leaves(inner)
        case _:
            return ()


def holds(region: Region, defined: Callable[[str], bool]) -> bool:
    """Whether a coordinate belongs to the region, given what is defined there."""
    match region:
        case Leaf(name):
            return defined(name)
        case Union(parts):
            return any(holds(p, defined) for p in parts)
        case Intersection(parts):
            return all(holds(p, defined) for p in parts)
        case Complement(inner):
            return not holds(inner, defined)
        case Universe():
            return True
        case Empty():
            return False
        case _:
            assert_never(region)


def possible(region: Region, known: Mapping[str, bool]) -> bool:
    """Whether a coordinate may belong to the region, if this much is known of what is defined."""
    free = [name for name in leaves(region) if name not in known]
    for chosen in product((True, False), repeat=len(free)):
        if holds(region, {**dict(known), **dict(zip(free, chosen, strict=True))}.__getitem__):
            return True
    return False


def equivalent(a: Region, b: Region) -> bool:
    """Whether two regions are the same set, whatever is defined where."""
    names = tuple(dict.fromkeys((*leaves(a), *leaves(b))))
    for chosen in product((True, False), repeat=len(names)):
        known = dict(zip(names, chosen, strict=True)).__getitem__
        if holds(a, known) != holds(b, known):
            return False
    return True


# -- text ------------------------------------------------------------------------------------------


def show(region: Region) -> str:
    """`(b | c) & d`: it can be read back, and printed where there are no signs of mathematics."""
    match region:
        case Leaf(name):
            return name
        case Union(parts):
            return " | ".join(_inside(p, Intersection) for p in parts)
        case Intersection(parts):
            return " & ".join(_inside(p, Union) for p in parts)
        case Complement(inner):
            return f"~{_inside(inner, Union, Intersection)}"
        case Universe():
            return "U"
        case Empty():
            return "~U"
        case _:
            assert_never(region)


def _inside(region: Region, *kinds: type) -> str:
    text = show(region)
    return f"({text})" if isinstance(region, kinds) else text


def parse(text: str) -> Region:
    """The region that `x | y & ~z` describes; raises ValueError, which says what is wrong."""
    for sign, plain in zip("∪∩¬", "|&~", strict=True):
        text = text.replace(sign, plain)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"it cannot be read: {error.msg}") from None
    return _region(tree.body)


def _region(node: ast.expr) -> Region:
    match node:
        case ast.Name(id="U"):
            return UNIVERSE
        case ast.Name(id=name):
            return Leaf(name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return union(_region(left), _region(right))
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return intersection(_region(left), _region(right))
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            inner = _region(operand)
            return inner.region if isinstance(inner, Complement) else Complement(inner)
        case _:
            raise ValueError(f"`{ast.unparse(node)}` is none of |, &, ~, ( ) and names")
