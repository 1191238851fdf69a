"""Long contractions, broken up: which products are summed first, if that makes fewer steps.

`A[i,j] * B[j,k] * C[k,l]` in one nest visits every path from i to l. To sum over j first visits
fewer if many paths meet, and has a matrix to store. How much operands hold says which is less, as
if it were spread evenly. The product over a tensor and two dense factors stays in one nest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from math import exp, inf, prod

from linnet.algebra.function import Function
from linnet.arrays.nodes import Constant, Leaf, Map, Node, Reduce, View
from linnet.records import dataclass

KEEP = 4.0  # steps for a value of an intermediate result, which is stored and read again
MANY = 7  # indices: more are not tried in all orders


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor: its indices, how much it holds, and which operands it is the product of."""

    letters: str
    stored: float
    parts: tuple[int, ...]


Sizes = Mapping[str, int]
Pairs = list[tuple[tuple[int, ...], tuple[int, ...]]]
"""Products in order, each of two sets of operands."""


def pairs(terms: Sequence[str], args: Sequence[Node], result: str, sizes: Sizes) -> Pairs | None:
    """The products to be summed one after the other; None if all are better summed at once."""
    if len(terms) < 3:
        return None
    factors = [
        Factor("".join(dict.fromkeys(t)), stored_in(a), (k,))
        for k, (t, a) in enumerate(zip(terms, args, strict=True))
    ]
    at_once = _steps(factors, sizes)
    found: Pairs = []
    total = 0.0
    while len(factors) > 1:
        cost, one, two, made = min(
            (_pair(a, b, factors, result, sizes) for a, b in combinations(factors, 2)),
            key=lambda choice: choice[0],
        )
        total += cost
        found.append((one.parts, two.parts))
        factors = [f for f in factors if f is not one and f is not two] + [made]
    return found if total < at_once else None


def _pair(
    one: Factor, two: Factor, factors: Sequence[Factor], result: str, sizes: Sizes
) -> tuple[float, Factor, Factor, Factor]:
    """What the product of two factors costs, and what it is."""
    others = {c for f in factors if f is not one and f is not two for c in f.letters} | set(result)
    letters = dict.fromkeys(one.letters + two.letters)
    kept = "".join(c for c in letters if c in others)
    room = prod([float(sizes[c]) for c in kept])
    products = _visited(letters, (one, two), sizes)
    held = room * (1 - exp(-products / room)) if room else 0.0
    steps = _steps((one, two), sizes)
    last = len(factors) == 2
    return steps + (0 if last else KEEP * held), one, two, Factor(kept, held, one.parts + two.parts)


def _steps(factors: Sequence[Factor], sizes: Sizes) -> float:
    """How many steps the loops of a product make, in their best order."""
    letters = list(dict.fromkeys("".join(f.letters for f in factors)))
    if len(letters) > MANY:
        return inf if len(factors) > 2 else _visited(letters, factors, sizes)
    best = inf
    for order in permutations(letters):
        best = min(best, sum(_visited(order[: k + 1], factors, sizes) for k in range(len(order))))
    return best


def _visited(letters: Sequence[str] | Mapping[str, None], factors: Sequence[Factor], sizes: Sizes
             ) -> float:  # fmt: skip
    """How many combinations of indices have something stored in all factors."""
    count = prod([float(sizes[c]) for c in letters])
    for factor in factors:
        own = [c for c in factor.letters if c in letters]
        room = prod([float(sizes[c]) for c in own])
        if own and room:
            count *= 1 - exp(-factor.stored / room) if factor.stored < 4 * room else 1.0
    return count


def stored_in(node: Node) -> float:
    """How many values of a node are not its fill value, as far as can be told."""
    room = float(prod(node.shape))
    match node:
        case Leaf(tensor):
            return min(room, float(tensor.nnz))
        case View(arg) | Map(_, (arg,)):
            return min(room, stored_in(arg))
        case Map(function, args):
            held = [stored_in(a) for a in args if not isinstance(a, Constant)]
            both = min(held) if function.name == "multiply" else sum(held)
            return min(room, both)
        case Reduce(_, _, arg):
            return min(room, stored_in(arg))
        case _:
            return room


def distributes(times: Function, plus: Function) -> bool:
    """Whether `x * (y + z)` is `x * y + x * z`, so that sums may be taken in any order."""
    return times.commutative and times.associative and times.distributes(plus)
