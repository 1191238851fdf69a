"""Which kind of workspace: a small model of what each costs, from shapes and stored counts.

A kernel is compiled for formats, not for sizes. Sizes count only through the few kinds of
workspaces that there are: which kinds a call wants is found out before it, in a moment, and is a
part of what its machine code is known by.

Dense memory is as fast as the cache that it fits in. Beyond, it is worth having where much of it is
used; otherwise components that are sorted by the thousands touch less. To look for those that meet
while they come (`Hash`, `Bucket`) pays only where they come soon after each other, which nobody can
tell from sizes: it is never chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from linnet import loops
from linnet.formats.insertion import CAPACITY, COORD, DENSE, MILLIONS, THOUSANDS

Shapes = Mapping[str, tuple[int, ...]]
Counts = Mapping[str, int]
Kinds = tuple[tuple[str, str], ...]
"""Workspaces by name, and the kind of each."""

MERGED, UNPACKED = "merged", "unpacked"
"""What becomes of a sparse vector that meets many rows."""

NEAR = 1 << 20  # bytes of a dense workspace that are always at hand: a second cache
CLOSE = 1 << 18  # the same where there are some updates, which other things are pushed out by
FAR = 1 << 28  # bytes of one that is never made for the sake of speed
_FEW = 8  # updates that are not worth sorting
_SOME = 64  # updates from which on it takes long to wait for memory each time
_MANY = 320  # updates from which on they are sorted by digits, faster than a list of places is
_WIDE = 8  # elements per update from which on few updates meet
_SOON = 1 << 14  # updates that are merged so fast that it does not matter how often
_ROOMY = 64  # a vector that is unpacked has at most so many elements for each that is looked up
_USED = 8  # a dense workspace beyond the cache has at most so many elements per update,
_OFTEN = 3  # and one beyond the last cache, of LAST bytes, so many
LAST = 1 << 25


@dataclass(frozen=True, slots=True)
class Choice:
    """A workspace to be chosen: its dimensions, bytes per element, and the updates it takes.

    `extents` are those of the loops between the declaration of the workspace and the update, whose
    value is `value`.
    """

    name: str
    dims: tuple[loops.Expr, ...]
    itemsize: int
    extents: tuple[loops.Extent, ...]
    value: loops.Expr

    @property
    def usual(self) -> str:
        """The kind where sizes are not known: dense for a vector, else sparse (WORK §6.2)."""
        return DENSE if len(self.dims) == 1 else COORD


@dataclass(frozen=True, slots=True)
class Unpacking:
    """A sparse vector to be merged with every row of a leader, or unpacked and looked up.

    `extents` are those of the loops over rows.
    """

    name: str  # of the temporary
    vector: str
    leader: str
    itemsize: int
    extents: tuple[loops.Extent, ...]

    @property
    def usual(self) -> str:
        """As the loops say, where sizes are not known."""
        return MERGED


@dataclass(frozen=True, slots=True)
class Chosen:
    """The kind of a workspace, and why."""

    kind: str
    why: str


def choose(choice: Choice | Unpacking, shapes: Shapes, counts: Counts) -> Chosen:
    """The kind of workspace for operands of these shapes, which store so many values."""
    if isinstance(choice, Unpacking):
        return _unpacked_or_merged(choice, shapes, counts)
    sizes = [_size(d, shapes) for d in choice.dims]
    known = [s for s in sizes if s is not None]
    if len(known) < len(sizes):
        return Chosen(choice.usual, "its size is known only while it runs")
    elements = math.prod(known)
    space = elements * (choice.itemsize + 1)
    updates = _updates(choice, shapes, counts)
    if len(sizes) == 1 and space <= NEAR and not _worth_sorting(updates, elements, space):
        return Chosen(DENSE, f"{space} bytes are always at hand")
    if updates is None:
        return Chosen(choice.usual, "the number of updates is not known")
    about = f"about {updates:.3g} updates in {space} bytes"
    if space <= FAR and updates < _FEW and len(sizes) == 1:
        return Chosen(DENSE, f"{about} at a time are too few to be sorted")
    if space <= FAR and elements <= (_USED if space <= LAST else _OFTEN) * updates:
        return Chosen(DENSE, f"{about}, much of which is used")
    return Chosen(_listed(updates), f"{about}, most of which would stay empty")


def _worth_sorting(updates: float | None, elements: int, space: int) -> bool:
    """Whether a vector that fits a cache is still better listed."""
    if updates is None:
        return False
    return (updates >= _MANY and elements >= _WIDE * updates) or (
        updates >= _SOME and space > CLOSE and elements >= _WIDE * updates
    )


def _listed(updates: float) -> str:
    """The kind of workspace that lists components, with room for about so many at once.

    Memory that is not written to costs nothing, so there may be too much of it.
    """
    if updates <= _SOON:
        return COORD
    return THOUSANDS if updates <= CAPACITY[THOUSANDS] else MILLIONS


def _unpacked_or_merged(choice: Unpacking, shapes: Shapes, counts: Counts) -> Chosen:
    """Steps of all merges, against look-ups and flags that are cleared, eight at a time."""
    entries, looked_up = counts.get(choice.vector, 0), counts.get(choice.leader, 0)
    elements = math.prod(shapes.get(choice.vector, ()))
    rows = 1
    for extent in choice.extents:
        start, stop = _size(extent.start, shapes), _size(extent.stop, shapes)
        rows *= max(stop - (start or 0), 0) if stop is not None else 1
    steps = min(rows, looked_up) * entries  # a row without entries takes none
    work = looked_up + elements // 8 + 4 * entries
    about = f"{steps} steps to merge it with rows, {work} to look it up"
    fits = elements * (choice.itemsize + 1) <= FAR and elements <= _ROOMY * (looked_up + entries)
    return Chosen(UNPACKED if fits and steps > 2 * work else MERGED, about)


def _size(expr: loops.Expr, shapes: Shapes) -> int | None:
    match expr:
        case loops.Dimension(tensor, mode) if tensor in shapes and mode < len(shapes[tensor]):
            return shapes[tensor][mode]
        case loops.Literal(int() as value):
            return value
        case _:
            return None


def _updates(choice: Choice, shapes: Shapes, counts: Counts) -> float | None:
    """How often the workspace is updated, if values are stored in random places."""
    visits = 1.0
    for extent in choice.extents:
        start, stop = _size(extent.start, shapes), _size(extent.stop, shapes)
        if stop is not None:
            visits *= max(stop - (start or 0), 0)
    share = _share(choice.value, shapes, counts)
    return None if share is None else visits * share


def _share(expr: loops.Expr, shapes: Shapes, counts: Counts) -> float | None:
    """In which share of all places an expression is not its fill value."""
    match expr:
        case loops.Access(str() as tensor) if tensor in shapes and tensor in counts:
            return min(counts[tensor] / max(math.prod(shapes[tensor]), 1), 1.0)
        case loops.Access():
            return None
        case loops.Call(function, args):
            parts = [_share(a, shapes, counts) for a in args if not isinstance(a, loops.Literal)]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts):
                return None
            both = function.annihilator("float64") == 0  # nothing, where one of them is nothing
            return math.prod(known) if both else min(sum(known), 1.0)
        case _:
            return 1.0
