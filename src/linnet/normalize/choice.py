"""Which kind of workspace: a small model of what each costs, in nanoseconds.

A kernel is compiled for formats, not for sizes. Sizes count only through the few kinds of
workspaces that there are: which kinds a call wants is found out before it, in a moment, and is a
part of what its machine code is known by. What is known are shapes, stored counts, perhaps a sample
of the updates (`runtime.sampling`), and the caches.

To look for components that meet while they come (`Hash`, `Bucket`) pays only where they come soon
after each other: it is never chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.formats.insertion import CAPACITY, COORD, DENSE, MILLIONS, OPERAND, THOUSANDS
from linnet.normalize.caches import Caches, caches
from linnet.records import dataclass

Shapes = Mapping[str, tuple[int, ...]]
Counts = Mapping[str, int]
Fills = Mapping[str, Number]
Kinds = tuple[tuple[str, str], ...]
"""Workspaces by name, and the kind of each."""

MERGED, UNPACKED = "merged", "unpacked"
"""What becomes of a sparse vector that meets many rows."""

FAR = 1 << 28  # bytes of a dense workspace that is never too large,
_AMPLE = 3  # and how many times the result's it may have otherwise
_SOON = 1 << 14  # updates that are merged so fast that it does not matter how often
_ROOMY = 64  # a vector that is unpacked has at most so many elements for each that is looked up
_USED = 8  # a dense workspace of more dimensions has at most so many elements per update,
_OFTEN = 3  # and one beyond the last cache so many
_NEAR = 4  # operands that are as many times as large as the second cache are not far away
_AGAIN = 4 * CAPACITY[MILLIONS]  # updates that are merged several times
_CAUSED, _CAUSED_AGAIN, _CAUSED_AFAR = 2, 4, 12  # updates for each value that is put in order
_TINY = 64  # a dense workspace that takes less of the second cache is for nothing
_CROWDED = 10  # elements per place from which on places are sorted and not looked for

# Nanoseconds, about: only how they compare matters, which is much the same on many machines.
_BEGIN, _BEGIN_LIST = 16.0, 36.0  # for a workspace with few updates, dense or listed
_UPDATE = 2.0  # for each update
_SORTING = ((4, 0.5), (16, 1.5), (64, 8.5), (256, 11.0))  # by comparison, for each of so many
_BY_DIGITS, _DIGITS = 64, 6.0  # components are sorted by digits where there are more
_FLAG, _SET = 0.5, 3.0  # to look at a flag, and at one that is set
_FRESH, _PAGE = 0.15, 4096  # for a byte of new memory, which comes in pages
_LINES = 2  # of operands that are waited for


@dataclass(frozen=True, slots=True)
class Choice:
    """A workspace to be chosen: its dimensions, bytes per element, and the updates it takes.

    `extents` are those of the loops between the declaration of the workspace and the update, whose
    value is `value`. It is declared inside the loops over `outer`, as often as `around` says;
    `path` are those and the others, the outermost first, and `target` is where it is updated.
    """

    name: str
    dims: tuple[loops.Expr, ...]
    itemsize: int
    extents: tuple[loops.Extent, ...]
    value: loops.Expr
    outer: tuple[str, ...] = ()
    around: tuple[loops.Extent, ...] = ()
    path: tuple[str, ...] = ()
    target: tuple[loops.Expr, ...] = ()
    fills: tuple[tuple[str, Number], ...] = ()  # of tensors, if not 0
    operand: str | None = None  # whose values may be collected instead

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
class Group:
    """What becomes of a workspace between two declarations: so many updates of so many places.

    They lie in lines of memory of which `lines` are not touched the next time. There are `weight`
    workspaces like this one. All places, of the next time too, are among `reach` that follow each
    other.
    """

    updates: float
    places: float
    lines: float
    weight: float = 1.0
    reach: float = math.inf


@dataclass(frozen=True, slots=True)
class Sample:
    """Some of the times that a workspace is used in a call."""

    groups: tuple[Group, ...]

    @property
    def updates(self) -> float:
        """How many updates there are at a time: where most of them are made."""
        total = sum(g.updates * g.weight for g in self.groups)
        return sum(g.updates * g.updates * g.weight for g in self.groups) / max(total, 1.0)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The kind of a workspace, and why."""

    kind: str
    why: str


def choose(
    choice: Choice | Unpacking,
    shapes: Shapes,
    counts: Counts,
    sample: Sample | None = None,
    at_hand: Caches | None = None,
    counted: float | None = None,
) -> Chosen:
    """The kind of workspace for operands of these shapes, which store so many values.

    A `sample` says more of them than that; or updates have been `counted`. What is `at_hand` are
    the caches of this machine.
    """
    if isinstance(choice, Unpacking):
        return _unpacked_or_merged(choice, shapes, counts)
    sizes = sizes_of(choice.dims, shapes)
    if sizes is None:
        return Chosen(choice.usual, "its size is known only while it runs")
    operands = sum(counts.values()) * (choice.itemsize + 4)
    memory = _Memory(math.prod(sizes), choice.itemsize, operands, at_hand or caches())
    if sizes and sizes[0] <= always_dense(choice, memory.at_hand):
        return Chosen(DENSE, f"{memory.space} bytes are always at hand")
    found = sample or _expected(choice, memory.elements, shapes, counts, counted)
    if found is None:
        return Chosen(choice.usual, "the number of updates is not known")
    stored = counts.get(choice.operand) if choice.operand else None
    if stored is not None and memory.is_less(stored, found.updates, sizes[0]):
        return Chosen(OPERAND, f"about {found.updates:.3g} updates come of {stored} values")
    about = f"about {found.updates:.3g} updates in {memory.space} bytes"
    if len(sizes) > 1:
        if memory.is_worth(found):
            return Chosen(DENSE, f"{about}, much of which is used")
        return Chosen(_listed(found.updates), f"{about}, most of which would stay empty")
    dense, listed = (
        sum(cost(group) * group.weight for group in found.groups)
        for cost in (memory.dense_cost, memory.listed_cost)
    )
    dense += memory.fresh_cost(found)
    if dense <= listed and memory.space <= FAR:
        return Chosen(DENSE, f"{about}, where they are found faster than sorted")
    return Chosen(_listed(found.updates), f"{about}, where they are sorted faster than found")


def always_dense(choice: Choice | Unpacking, at_hand: Caches | None = None) -> int:
    """Up to how many elements a workspace is dense, whatever the operands hold; 0: it depends."""
    if isinstance(choice, Unpacking) or len(choice.dims) != 1:
        return 0
    return (at_hand or caches()).second // _TINY // (choice.itemsize + 1)


@dataclass(frozen=True, slots=True)
class _Memory:
    """The elements of a dense workspace, the bytes of the operands, and what holds them."""

    elements: int
    itemsize: int
    operands: int
    at_hand: Caches

    @property
    def space(self) -> int:
        """The bytes of a dense workspace: values and flags."""
        return self.elements * (self.itemsize + 1)

    def dense_cost(self, group: Group) -> float:
        """Nanoseconds for updates, for waiting, and for the sorting of places."""
        if group.places * _CROWDED > self.elements:
            sorting = _FLAG * self.elements + _SET * group.places
        else:
            sorting = group.places * _between(_SORTING, group.places)
        left = self.at_hand.beside(self.operands)
        used = min(group.reach, self.elements) * (self.itemsize + 1)
        waiting = group.lines * left.wait(int(used))
        return _BEGIN + group.updates * _UPDATE + waiting + sorting

    def fresh_cost(self, found: Sample) -> float:
        """Nanoseconds for memory that nobody had before: what is touched of it, page by page."""
        touched = sum(group.lines * group.weight for group in found.groups) * _PAGE
        return _FRESH * min(self.space, self.elements + touched)

    def listed_cost(self, group: Group) -> float:
        """Nanoseconds for updates, and for the sorting of all of them.

        How it goes on depends on them, so that their operands are waited for.
        """
        each = _between(_SORTING, group.updates) if group.updates <= _BY_DIGITS else _DIGITS
        waiting = _LINES * self.at_hand.wait(self.operands)
        return _BEGIN_LIST + waiting + group.updates * (_UPDATE + each)

    def is_worth(self, found: Sample) -> bool:
        """Whether one of many dimensions is used so much, and not much larger than the result."""
        result = max(g.places for g in found.groups) * (self.itemsize + 4)
        used = _USED if self.space <= self.at_hand.last else _OFTEN
        return self.space <= max(FAR, _AMPLE * result) and self.elements <= used * found.updates

    def is_less(self, values: int, updates: float, rows: int) -> bool:
        """Whether values of an operand are put in so many rows sooner than the updates they cause.

        By rows, the other operands are met in any order. If they are far away, that is waited for;
        but then many updates are merged again and again.
        """
        near, many = self.operands <= _NEAR * self.at_hand.second, updates > _AGAIN
        caused = _CAUSED if near else _CAUSED_AGAIN if many else _CAUSED_AFAR
        return updates >= max(caused * values, rows / 2, _SOON)


def sizes_of(dims: Sequence[loops.Expr], shapes: Shapes) -> list[int] | None:
    """The sizes of dimensions; None if one is not known."""
    sizes = [_size(d, shapes) for d in dims]
    known = [s for s in sizes if s is not None]
    return known if len(known) == len(sizes) else None


def _expected(
    choice: Choice, elements: int, shapes: Shapes, counts: Counts, counted: float | None
) -> Sample | None:
    """What values that are stored in random places give; None if that cannot be told."""
    updates = _updates(choice, shapes, counts) if counted is None else counted
    if updates is None:
        return None
    places = -elements * math.expm1(-updates / max(elements, 1))
    return Sample((Group(updates, places, places, max(_steps(choice.around, shapes), 1.0)),))


def _between(table: Sequence[tuple[int, float]], x: float) -> float:
    """The value of a table at x; it rises evenly with the logarithm."""
    for (a, low), (b, high) in pairwise(table):
        if x <= b:
            return low + (high - low) * math.log(max(x, a) / a) / math.log(b / a)
    return table[-1][1]


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
    rows = int(_steps(choice.extents, shapes))
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
    share = _share(choice.value, shapes, counts, dict(choice.fills))
    return None if share is None else _steps(choice.extents, shapes) * share


def _steps(extents: Sequence[loops.Extent], shapes: Shapes) -> float:
    """How many steps the loops over these extents take, as far as it is known."""
    steps = 1.0
    for extent in extents:
        start, stop = _size(extent.start, shapes), _size(extent.stop, shapes)
        if stop is not None:
            steps *= max(stop - (start or 0), 0)
    return steps


def _share(expr: loops.Expr, shapes: Shapes, counts: Counts, fills: Fills) -> float | None:
    """In which share of all places an expression is not its fill value."""
    match expr:
        case loops.Access(str() as tensor) if tensor in shapes and tensor in counts:
            return min(counts[tensor] / max(math.prod(shapes[tensor]), 1), 1.0)
        case loops.Access():
            return None
        case loops.Call(_, args):
            rest = [a for a in args if not isinstance(a, loops.Literal)]
            parts = [_share(a, shapes, counts, fills) for a in rest]
            known = [p for p in parts if p is not None]
            if len(known) < len(parts):
                return None
            return math.prod(known) if is_product(expr, fills) else min(sum(known), 1.0)
        case _:
            return 1.0


def is_product(call: loops.Call, fills: Fills) -> bool:
    """Whether a call is nothing where one of its arguments is: 0 * x, and inf + x."""
    return _nothing(call, fills) is not None


def _nothing(expr: loops.Expr, fills: Fills) -> Number | None:
    """What an expression is where any part of it is a fill value; None if it takes more to say."""
    match expr:
        case loops.Access(str() as tensor):
            return fills.get(tensor, 0)
        case loops.Call(function, args):
            rest = [(k, _nothing(a, fills)) for k, a in enumerate(args) if not _is_literal(a)]
            found = [None if x is None else _decided(function, k, x) for k, x in rest]
            return found[0] if found and all(x == found[0] for x in found) else None
        case _:
            return None


def _is_literal(expr: loops.Expr) -> bool:
    return isinstance(expr, loops.Literal)


def _decided(function: Function, k: int, value: Number) -> Number | None:
    """The result of a function whose k-th argument is this, whatever the others are."""
    if value == function.annihilator("float64"):
        return value
    if k == 0 and value == function.left_annihilator("float64"):
        return value
    for given, place, result in function.constants:
        if given == value and place in (None, k):
            return result
    return None
