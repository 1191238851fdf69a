"""Is a factor of a contraction a mask, under which the others are better summed first?

`M[i,j] * A[i,k] * B[k,j]` is M times a sum over k, which is wanted only where M stores something.
To walk a row and a column for each of these, B has to be stored by columns. Stored by rows, it
gives a row of A @ B at a time (`masked`). How much is stored says which of them takes fewer steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, prod

from linnet.algebra.derive import decides
from linnet.algebra.exact import same
from linnet.algebra.function import Function
from linnet.arrays.breakup import stored_in
from linnet.arrays.cost import ANOTHER, CONVERT
from linnet.arrays.nodes import Leaf, Node, View
from linnet.arrays.trace import is_whole
from linnet.formats.level import Level
from linnet.runtime.measure import well_filled

MARK = 4.0  # steps for a value of a mask: it is marked, looked up and unmarked

Sizes = Mapping[str, int]
Ring = tuple[Function, Function]
Named = tuple[str, Node]
"""A factor, and what its indices are called."""


def mask_of(
    terms: Sequence[str], args: Sequence[Node], result: str, sizes: Sizes, ring: Ring
) -> int | None:
    """Which factor is a mask; None if there is none, or all are better summed at once."""
    if len(terms) < 3 or not all(_leads(node, ring) for node in args):
        return None
    factors = list(zip(terms, args, strict=True))
    for mask in sorted(range(len(factors)), key=lambda k: stored_in(args[k])):
        others = [*factors[:mask], *factors[mask + 1 :]]
        if _is_mask(factors[mask], others, result):
            return mask if _is_cheaper(factors[mask], others, sizes) else None
    return None


def _is_mask(mask: Named, others: Sequence[Named], result: str) -> bool:
    """Whether the others give a row at a time, and the mask says where in it."""
    own = set(mask[0])
    below = {c for term, _ in others for c in term}
    if len(own) < len(mask[0]) or not below & set(result) <= own or below <= own:
        return False
    rows = {letter for other in others for letter in _behind(other, own)}
    stored = [(c, level) for c, level in _levels(*mask) if c in below]
    if len(rows) != 1 or len(stored) < 2:
        return False
    letter, level = stored[-1]
    return letter in rows and not level.full and not level.covers


def _is_cheaper(mask: Named, others: Sequence[Named], sizes: Sizes) -> bool:
    """Whether all products in the rows of a mask take fewer steps than sums one by one."""
    own, wanted = set(mask[0]), stored_in(mask[1])
    turned = [node for term, node in others if _behind((term, node), own)]
    *outer, _ = [c for c, _ in _levels(*mask) if any(c in term for term, _ in others)]
    rows = _visited(others, sizes) * _part("".join(outer), mask[1], sizes) + MARK * wanted
    dots = wanted * _walked(others, own, sizes)
    return rows < dots + sum(CONVERT * stored_in(node) + ANOTHER for node in turned)


def _behind(factor: Named, own: set[str]) -> set[str]:
    """What a tensor lists of the indices of a mask inside of what is summed over."""
    found: set[str] = set()
    summed = False
    for letter, level in _levels(*factor):
        if letter in own and summed and not level.full:
            found.add(letter)
        summed = summed or letter not in own
    return found


def _leads(node: Node, ring: Ring) -> bool:
    """Whether a tensor, or a whole view of one, adds nothing where it stores nothing.

    One that is much longer than it holds values is not looked up row by row.
    """
    whole = not isinstance(node, View) or all(is_whole(node, k) for k in range(len(node.axes)))
    base = node.arg if isinstance(node, View) else node
    if not whole or not isinstance(base, Leaf) or not well_filled(base.tensor.contents()):
        return False
    format = base.tensor.contents().format
    if all(level.full for level in format.levels[:-1]):
        return True
    assert format.fill_value is not None
    made = decides(ring[1], 0, format.fill_value, node.dtype)
    nothing = ring[0].identity(node.dtype)
    return made is not None and nothing is not None and same(made, nothing)


def _levels(term: str, node: Node) -> list[tuple[str, Level]]:
    """The letters of a tensor, or of a view of one, as it is stored, each with its level."""
    base = node.arg if isinstance(node, View) else node
    if not isinstance(base, Leaf):
        return []
    format = base.tensor.contents().format
    axes = [a.out for a in node.axes] if isinstance(node, View) else range(len(term))
    return [
        (term[out], level)
        for number, level in enumerate(format.levels[:-1])
        for mode in format.modes_of(number)
        if (out := axes[mode]) is not None
    ]


def _visited(factors: Sequence[Named], sizes: Sizes) -> float:
    """How many products of factors there are."""
    letters = set("".join(term for term, _ in factors))
    parts = [_part(term, node, sizes) for term, node in factors]
    return prod([float(sizes[c]) for c in letters]) * prod(parts)


def _walked(factors: Sequence[Named], own: set[str], sizes: Sizes) -> float:
    """How many steps it takes to sum over what a mask does not know, for one of its values."""
    room = prod([float(sizes[c]) for c in {c for term, _ in factors for c in term} - own])
    lists = [
        prod([float(sizes[c]) for c in term if c not in own]) * _part(term, node, sizes)
        for term, node in factors
        if not set(term) <= own and not all(level.full for _, level in _levels(term, node))
    ]
    return sum(lists) if lists else room


def _part(letters: str, node: Node, sizes: Sizes) -> float:
    """In which part of the combinations of some of its indices a node has something stored."""
    room = prod([float(sizes[c]) for c in set(letters)])
    stored = stored_in(node)
    return 1 - exp(-stored / room) if stored < 4 * room else 1.0
