"""Where derived index variables come from, and the order of the loops in terms of original ones.

    relation = Split(i, outer, inner, size) | Fuse(i, j, fused) | Pos(i, position)

Relations are listed in the order in which a schedule makes them. `original_order` undoes them, the
last one first (WORK §6.2, input order reconstruction).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias, assert_never

from linnet.errors import ScheduleError
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Split:
    """`index` is iterated by two loops: `outer` counts pieces of `size`, `inner` inside one."""

    index: str
    outer: str
    inner: str
    size: int


@dataclass(frozen=True, slots=True)
class Fuse:
    """`outer` and `inner`, directly nested, are iterated by one loop over `fused`."""

    outer: str
    inner: str
    fused: str


@dataclass(frozen=True, slots=True)
class Pos:
    """`index` is iterated over the stored positions of an access, counted by `position`."""

    index: str
    position: str


Relation: TypeAlias = Split | Fuse | Pos


def original_order(
    order: Sequence[str], relations: Sequence[Relation], reduced: Collection[str]
) -> tuple[str, ...]:
    """The order of the loops with every derived index replaced by those that it stands for.

    Of an index that was split, the position of one loop counts. If it is reduced over, that is the
    outer one: there the reduction starts. Otherwise it is the inner one, since up to there the
    loops may agree with the result. `reduced` are the original indices that are reduced over.

    >>> relations = (Fuse("i", "k", "f"), Pos("f", "p"), Split("p", "f0", "f1", 4))
    >>> original_order(("f0", "f1", "j"), relations, {"k"})
    ('i', 'k', 'j')
    """
    found = tuple(order)
    for relation in reversed(relations):
        found = _undo(found, relation, _is_reduced(relation, relations, reduced))
    return found


def _undo(order: tuple[str, ...], relation: Relation, reduced: bool) -> tuple[str, ...]:
    match relation:
        case Pos(index, position):
            return tuple(index if i == position else i for i in _with(order, position))
        case Fuse(outer, inner, fused):
            at = _with(order, fused).index(fused)
            return (*order[:at], outer, inner, *order[at + 1 :])
        case Split(index, outer, inner):
            first, second = sorted(order.index(i) for i in (outer, inner) if _with(order, i))
            kept, dropped = (first, second) if reduced else (second, first)
            named = tuple(index if k == kept else i for k, i in enumerate(order))
            return (*named[:dropped], *named[dropped + 1 :])
        case _:
            assert_never(relation)


def _with(order: tuple[str, ...], index: str) -> tuple[str, ...]:
    if index not in order:
        raise ScheduleError(f"there is no loop over `{index}` among {', '.join(order)}")
    return order


def _is_reduced(
    relation: Relation, relations: Sequence[Relation], reduced: Collection[str]
) -> bool:
    """Whether the index of a split stands for nothing but reductions."""
    if not isinstance(relation, Split):
        return False
    return all(i in reduced for i in originals(relation.index, relations))


def originals(index: str, relations: Sequence[Relation]) -> tuple[str, ...]:
    """The original indices that an index is derived from.

    >>> originals("p", (Fuse("i", "k", "f"), Pos("f", "p")))
    ('i', 'k')
    """
    for relation in relations:
        match relation:
            case Split(source, outer, inner) if index in (outer, inner):
                return originals(source, relations)
            case Fuse(outer, inner, fused) if index == fused:
                return originals(outer, relations) + originals(inner, relations)
            case Pos(source, position) if index == position:
                return originals(source, relations)
    return (index,)
