"""Which kind of workspace: that which costs least, as far as it is known before a call.

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

from linnet import loops
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.formats.insertion import CAPACITY, COORD, DENSE, MILLIONS, OPERAND, THOUSANDS
from linnet.formats.level import WORD
from linnet.loops.rewrite import walk
from linnet.normalize.caches import Caches, caches
from linnet.normalize.costs import FAR, Costs, Group, Sample
from linnet.records import dataclass

Shapes = Mapping[str, tuple[int, ...]]
Counts = Mapping[str, int]
Fills = Mapping[str, Number]
Kinds = tuple[tuple[str, str], ...]
"""Workspaces by name, and the kind of each."""

MERGED, UNPACKED = "merged", "unpacked"
"""What becomes of a sparse vector that meets many rows."""

_SOON = 1 << 14  # updates that are merged so fast that it does not matter how often
_MOSTLY = 0.75  # elements for each update, where all of them accumulate before they are sorted;
_OF_MANY = 0.5  # the same of three or more dimensions: with more coordinates they take more memory,
_MANY_TIMES = 1.5  # and for each component, where millions accumulate again and again
_ROOMY = 64  # a vector that is unpacked has at most so many elements for each that is looked up
_HARDLY, _SMALL = 0.1, 1 << 16  # updates that cost nothing; bytes that are good for many more
_TINY = 64  # a dense workspace that takes less of the second cache is for nothing


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
    named: bool = False  # its policy is, and only how many components are to accumulate is open

    @property
    def usual(self) -> str:
        """The kind where sizes are not known: dense for a vector, else sparse (WORK §6.2)."""
        return DENSE if len(self.dims) == 1 and not self.named else COORD


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


def choose(
    choice: Choice | Unpacking,
    shapes: Shapes,
    counts: Counts,
    sample: Sample | None = None,
    at_hand: Caches | None = None,
    counted: float | None = None,
) -> Chosen:
    """The kind of workspace for operands of these shapes, which store so many values.

    A `sample` says more of them than that, and updates may have been `counted`. What is `at_hand`
    are the caches of this machine.
    """
    if isinstance(choice, Unpacking):
        return _unpacked_or_merged(choice, shapes, counts)
    sizes = sizes_of(choice.dims, shapes)
    if sizes is None:
        return Chosen(choice.usual, "its size is known only while it runs")
    operands = sum(counts.values()) * (choice.itemsize + 4)
    costs = Costs(tuple(sizes), choice.itemsize, operands, at_hand or caches())
    if sizes and not choice.named and sizes[0] <= always_dense(choice, costs.at_hand):
        return Chosen(DENSE, f"{costs.space} bytes are always at hand")
    found = sample.scaled(counted) if sample else None
    found = found or _expected(choice, costs.elements, shapes, counts, counted)
    if found is None:
        return Chosen(choice.usual, "the number of updates is not known")
    if choice.named:
        about = f"about {found.updates:.3g} updates of {found.places:.3g} elements"
        return Chosen(_listed(found, len(sizes)), about)
    if len(sizes) == 1 and found.updates < _HARDLY and costs.space <= _SMALL:
        return Chosen(DENSE, f"hardly an update is expected, and {costs.space} bytes take any")
    return _cheapest(costs, found, counts.get(choice.operand) if choice.operand else None)


def _cheapest(costs: Costs, found: Sample, stored: int | None) -> Chosen:
    """The kind that costs least; so many values are `stored` that may be collected instead."""
    dense = costs.dense(found) if costs.has_room(found) else math.inf
    listed = costs.listed(found)
    if stored is not None and costs.in_order(found, stored) < min(dense, listed):
        return Chosen(OPERAND, f"about {found.updates:.3g} updates come of {stored} values")
    about = f"about {found.updates:.3g} updates in {costs.space} bytes"
    if dense <= listed:
        return Chosen(DENSE, f"{about}, where they are found faster than sorted")
    kind = _listed(found, len(costs.dims))
    return Chosen(kind, f"{about}, where they are sorted faster than found")


def always_dense(choice: Choice | Unpacking, at_hand: Caches | None = None) -> int:
    """Up to how many elements a workspace is dense, whatever the operands hold; 0: it depends."""
    if isinstance(choice, Unpacking) or len(choice.dims) != 1:
        return 0
    return (at_hand or caches()).second // _TINY // (choice.itemsize + 1)


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


def _listed(found: Sample, ndim: int) -> str:
    """The kind of workspace that lists components, with room for as many as come.

    Those that come at once need not be merged, and memory that is not written to costs nothing, so
    that there may be too much of it. But where many of them meet, there would be more of them than
    of the elements that come of them; and where not all fit, little is gained: room is made by and
    by.
    """
    fits = found.updates <= CAPACITY[MILLIONS]
    share = _MOSTLY if ndim <= 2 else _OF_MANY
    least = share * found.updates if fits else _MANY_TIMES * CAPACITY[MILLIONS]
    if found.updates <= _SOON or found.places < least:
        return COORD
    return THOUSANDS if found.updates <= CAPACITY[THOUSANDS] else MILLIONS


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
    words = [n for n in walk(choice.value) if isinstance(n, loops.Access) and WORD in n.protocols]
    steps = _of_words(choice, words, shapes, counts) if words else _steps(choice.extents, shapes)
    return None if share is None else steps * share


def _of_words(choice: Choice, words: list[loops.Access], shapes: Shapes, counts: Counts) -> float:
    """How many steps are taken inside a walk along lists, in which each entry has two places."""
    along = {n.name for a in words for n in walk(a) if isinstance(n, loops.Index)}
    inner = zip(choice.path[len(choice.outer) :], choice.extents, strict=False)
    stored = sum(counts.get(name, 0) for name in {str(a.tensor) for a in words})
    return 2.0 * stored * _steps([extent for name, extent in inner if name not in along], shapes)


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
        case loops.Access(_, _, protocols) if WORD in protocols:
            return 1.0
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
