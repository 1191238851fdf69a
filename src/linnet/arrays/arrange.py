"""In what order do loops run, so that tensors are walked as they are stored?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from linnet import loops
from linnet.formats.format import Format
from linnet.formats.named import recognize, settle
from linnet.formats.result import result_format
from linnet.loops.rewrite import walk

Formats = Mapping[str, Format]
After = dict[str, set[str]]
"""For every index, those that must be bound before it."""


def arrange(
    indices: Sequence[str],
    accesses: Iterable[loops.Access],
    formats: Formats,
    stored: Mapping[str, int],
    first: After | None = None,
) -> tuple[list[str], list[loops.Access]]:
    """All indices in order, and the accesses against whose order of storage that goes.

    An index of a sparse dimension comes after all that are stored above it. Operands that hold much
    are heard first. `first` holds in any case.
    """
    after: After = {i: set(first.get(i, ())) if first else set() for i in indices}
    against: list[loops.Access] = []
    for access in sorted(accesses, key=lambda a: -stored.get(str(a.tensor), 0)):
        name = str(access.tensor)
        trial = with_edges(after, edges(access, formats[name]))
        if in_order(trial) is None:
            against.append(access)
        else:
            after = trial
    order = in_order(after)
    assert order is not None
    return order, list(dict.fromkeys(against))


def with_edges(after: After, pairs: Sequence[tuple[str, str]]) -> After:
    """The same demands, and those of an access."""
    return {i: above | {a for a, b in pairs if b == i and a in after} for i, above in after.items()}


def edges(access: loops.Access, format: Format) -> list[tuple[str, str]]:
    """Pairs of indices of which the first must be bound before the second."""
    above: list[str] = []
    pairs = []
    for number, level in enumerate(format.levels):
        for mode in format.modes_of(number):
            names = names_in(access.indices[mode])
            if not level.full:
                pairs += [(a, name) for name in names for a in above if a != name]
            above += names
    return pairs


def names_in(expr: loops.Expr) -> list[str]:
    """The loop indices of an expression."""
    return [n.name for n in walk(expr) if isinstance(n, loops.Index)]


def in_order(after: After) -> list[str] | None:
    """The indices in order of appearance, each after those it must follow; None in a circle."""
    order: list[str] = []
    left = list(after)
    while left:
        ready = next((i for i in left if not after[i] - set(order)), None)
        if ready is None:
            return None
        order.append(ready)
        left.remove(ready)
    return order


def reordered(format: Format, access: loops.Access, order: Sequence[str]) -> Format:
    """The format with its dimensions stored in the order of the loops.

    A level that holds a single thing in a fiber, or one half of a symmetric matrix, may not do that
    in another order: it becomes a list.
    """

    def place(mode: int) -> int:
        return max((order.index(name) for name in names_in(access.indices[mode])), default=-1)

    modes = tuple(sorted(range(format.ndim), key=place))
    if not any(level.limit or level.mirrored for level in format.levels):
        return recognize(format.with_order(*modes))
    sparse = (not level.full for level in format.levels for _ in range(level.width))
    of_mode = dict(zip(format.order, sparse, strict=True))
    plain = result_format([of_mode[m] for m in modes], modes)
    assert format.dtype is not None
    return settle(plain, format.dtype, format.fill_value)
