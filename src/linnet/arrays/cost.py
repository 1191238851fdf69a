"""Which order of loops is the cheapest, counting what is stored otherwise first?

For products, where a sparse operand decides what is visited: a nest is as expensive as its loops
make steps, estimated from how much operands hold as if it were spread evenly. An operand that is
stored against the order of the loops is converted, which costs as much for every value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import exp, prod

from linnet import loops
from linnet.arrays.arrange import After, edges, names_in, reordered
from linnet.formats.format import Format
from linnet.records import dataclass

CONVERT = 12.0  # steps per value of an operand that is stored otherwise first
ANOTHER = 10_000.0  # steps for a kernel more: it is called, and the first time compiled
SCATTER = 3.0  # times as much for a step that writes in any order along one dimension
SCATTER_ALL = 12.0  # along several
STRIDE = 4.0  # for a step that reads or writes dense memory far from the one before
MANY = 6  # indices: more are not tried in all orders


@dataclass(frozen=True, slots=True)
class Operand:
    """An access, the format of its tensor, how much that holds, and whether it decides."""

    access: loops.Access
    format: Format
    stored: int
    decides: bool

    @property
    def indices(self) -> set[str]:
        """The loop indices of the access."""
        return {name for index in self.access.indices for name in names_in(index)}

    @property
    def is_dense(self) -> bool:
        """Whether all elements are stored."""
        return all(level.full for level in self.format.levels[:-1])

    def distinct(self, some: set[str], sizes: Mapping[str, int]) -> float:
        """How many combinations of some of its indices have something stored."""
        room = prod([float(sizes[i]) for i in some])
        if self.is_dense or room == 0:
            return room
        return max(room * (1 - exp(-self.stored / room)), 1e-9)


def cheapest(
    indices: Sequence[str],
    free: Sequence[str],
    operands: Sequence[Operand],
    sizes: Mapping[str, int],
    first: After,
) -> tuple[list[str], list[loops.Access]] | None:
    """The order of loops, and the accesses to what is stored otherwise; None: this is no guide."""
    sparse = [o for o in operands if not o.is_dense]
    if len(indices) > MANY or not operands or not all(o.decides for o in sparse):
        return None
    best: tuple[float, tuple[str, ...], list[loops.Access]] | None = None
    for order in permutations(indices):
        place = {name: k for k, name in enumerate(order)}
        if any(place[a] > place[b] for b, above in first.items() for a in above):
            continue
        against = [o for o in sparse if _is_against(o, place)]
        turned = [_turned(o, order) if o in against else o for o in operands]
        cost = _nest(order, free, turned, sizes)
        cost += sum(CONVERT * o.stored + ANOTHER for o in against)
        if best is None or cost < best[0] * 0.999:
            best = cost, order, [o.access for o in against]
    assert best is not None
    return list(best[1]), list(dict.fromkeys(best[2]))


def _is_against(operand: Operand, place: Mapping[str, int]) -> bool:
    """Whether an operand is stored in another order than the loops run in."""
    return any(place[a] > place[b] for a, b in edges(operand.access, operand.format))


def _turned(operand: Operand, order: Sequence[str]) -> Operand:
    """An operand, stored in the order of the loops."""
    return replace(operand, format=reordered(operand.format, operand.access, order))


def _nest(
    order: Sequence[str], free: Sequence[str], operands: Sequence[Operand], sizes: Mapping[str, int]
) -> float:
    """The steps that the loops make."""
    bound: set[str] = set()
    total = 0.0
    for name in order:
        times = _visited(bound, operands, sizes)
        walking = [o for o in operands if name in o.indices and _walks(o, name)]
        if walking:
            each = sum(
                o.distinct((bound | {name}) & o.indices, sizes)
                / max(o.distinct(bound & o.indices, sizes), 1e-9)
                for o in walking
            )
        else:
            each = float(sizes[name])
        if name == order[-1]:
            each *= _weight(order, free, operands, bool(walking))
        total += times * (1 + each)
        bound.add(name)
    return total


def _visited(bound: set[str], operands: Sequence[Operand], sizes: Mapping[str, int]) -> float:
    """How often the loops over some indices come to a step inside."""
    count = prod([float(sizes[i]) for i in bound])
    for operand in operands:
        own = bound & operand.indices
        room = prod([float(sizes[i]) for i in own])
        if own and room:
            count *= operand.distinct(own, sizes) / room
    return count


def _walks(operand: Operand, name: str) -> bool:
    """Whether an operand stores a list along an index."""
    for number, level in enumerate(operand.format.levels[:-1]):
        for mode in operand.format.modes_of(number):
            if name in names_in(operand.access.indices[mode]) and not level.full:
                return True
    return False


def _weight(
    order: Sequence[str], free: Sequence[str], operands: Sequence[Operand], sparse: bool
) -> float:
    """How much more an innermost step costs than one that goes on where the last one was."""
    last = order[-1]
    weight = 1.0
    for o in operands:
        if o.is_dense and last in o.indices:
            near = o.access.indices[o.format.order[-1]] == loops.Index(last)
            weight += 0.0 if near else STRIDE
    plain = any(o.is_dense and name in o.indices for o in operands for name in free)
    if (plain or not sparse) and last in free and last != free[-1]:
        weight += STRIDE
    outer = next((k for k, name in enumerate(order) if name not in free), len(order))
    behind = [name for name in order[outer:] if name in free]
    if not behind or plain:
        return weight
    return weight * (SCATTER if len(behind) == 1 else SCATTER_ALL)
