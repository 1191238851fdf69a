"""Tensors that are updated at two places at once: `y[i] += …; y[i // 2] += …` in one loop over i.

A sparse level opens an element when a loop comes to it, and closes it afterwards. While an element
is open it must not be opened a second time, under another index. Such updates are to be opened one
by one, each around itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from linnet import loops
from linnet.formats.format import Format
from linnet.loops.rewrite import children, walk
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class _Place:
    """The target of an update: its indices in storage order, and the loops around it."""

    indices: tuple[loops.Expr, ...]
    sparse: tuple[bool, ...]
    path: tuple[str, ...]


def tangled(body: loops.Stmt, formats: dict[str, Format]) -> frozenset[str]:
    """The tensors of which one element may be open while another is opened. Needs: unique names."""
    places: dict[str, dict[_Place, None]] = {}
    for target, path in _targets(body, ()):
        assert isinstance(target.tensor, str)
        format = formats[target.tensor]
        indices = tuple([target.indices[m] for m in format.order])
        sparse = tuple(not level.full for level in format.levels for _ in range(level.width))
        if any(sparse[: format.ndim]):
            places.setdefault(target.tensor, {})[_Place(indices, sparse, path)] = None
    return frozenset(
        name for name, found in places.items() if any(_meet(*p) for p in combinations(found, 2))
    )


def _targets(
    stmt: loops.Node, path: tuple[str, ...]
) -> Iterator[tuple[loops.Access, tuple[str, ...]]]:
    """What is written, and the loops around it."""
    match stmt:
        case loops.Assign(target):
            yield target, path
        case loops.Loop(index, _, body):
            yield from _targets(body, (*path, index))
        case loops.Block() | loops.If() | loops.Let():
            for child in children(stmt):
                yield from _targets(child, path)


def _meet(a: _Place, b: _Place) -> bool:
    """Whether one of two places is open while the other is opened."""
    pairs = zip(a.indices, b.indices, strict=True)
    first = next((k for k, (x, y) in enumerate(pairs) if x != y), None)
    if first is None:
        return False  # one place, which both share
    shared = next(
        (k for k, (x, y) in enumerate(zip(a.path, b.path, strict=False)) if x != y),
        min(len(a.path), len(b.path)),
    )
    return any(
        sparse and _opened(place, k) <= shared
        for place in (a, b)
        for k, sparse in enumerate(place.sparse[: len(place.indices)])
        if k >= first
    )


def _opened(place: _Place, k: int) -> int:
    """The depth of the loop that opens a place along an index: those of outer ones come first."""
    bound = {n.name for i in place.indices[: k + 1] for n in walk(i) if isinstance(n, loops.Index)}
    return max((d for d, index in enumerate(place.path, 1) if index in bound), default=0)
