"""What conditions say of the indices of loops: how far does an index reach where an access counts?

`if i < n: A[i]` reads A up to n, however far the loop runs. A condition is taken apart into sums
that are not above zero; an index that occurs in one of them is bounded by the rest, and the other
indices in that by their own loops and conditions. What depends on values is known only to the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice, product

from linnet.algebra.table import floor_divide
from linnet.imp.linear import Linear
from linnet.loops.linear import as_expr
from linnet.loops.nodes import Call, Expr, Literal
from linnet.records import dataclass

DECIDES = {"where": (True, False), "logical_and": (True,), "logical_or": (False,)}
"""Functions that look at their other arguments only where the first holds, or does not."""

MANY = 8  # bounds of one index: more of them are not looked at
DEEP = 4  # indices that depend on each other

_OPPOSITE = {
    "less": "greater_equal",
    "less_equal": "greater",
    "greater": "less_equal",
    "greater_equal": "less",
    "equal": "not_equal",
    "not_equal": "equal",
}


def said_by(cond: Expr, holds: bool, to_form: Callable[[Expr], Linear]) -> Iterator[Linear]:
    """Sums that are not above zero where a condition holds, or where it does not."""
    match cond:
        case Call(function, (a,)) if function.name == "logical_not":
            yield from said_by(a, not holds, to_form)
        case Call(function, args) if function.name == ("logical_and" if holds else "logical_or"):
            for part in args:
                yield from said_by(part, holds, to_form)
        case Call(function, (a, b)) if function.name in _OPPOSITE:
            relation = function.name if holds else _OPPOSITE[function.name]
            yield from _compared(relation, a, b, to_form)


def _compared(
    relation: str, a: Expr, b: Expr, to_form: Callable[[Expr], Linear]
) -> Iterator[Linear]:
    """The sums of one comparison of integers."""
    match relation:
        case "greater" | "greater_equal":
            mirrored = {"greater": "less", "greater_equal": "less_equal"}[relation]
            yield from _compared(mirrored, b, a, to_form)
        case "equal":
            yield from _compared("less_equal", a, b, to_form)
            yield from _compared("less_equal", b, a, to_form)
        case "less" | "less_equal":
            rest = to_form(b).times(-1).more(1 if relation == "less" else 0)
            yield to_form(a).plus(rest)
            if isinstance(a, Call) and a.function.name == "abs":
                yield rest.plus(to_form(a.args[0]))
                yield rest.plus(to_form(a.args[0]), -1)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far indices run: by their loops, and by the sums that are not above zero."""

    loops: Callable[[int], tuple[Linear, Linear]]  # the first index of a loop, and the last
    said: Sequence[Linear]

    def stops(self, stamp: int) -> list[Expr]:
        """Each of these is above every value of an index."""
        return [as_expr(end.more(1)) for end in self._reached(stamp, 1, frozenset())]

    def starts(self, stamp: int) -> list[Expr]:
        """Each of these is at most every value of an index."""
        return [as_expr(end) for end in self._reached(stamp, -1, frozenset())]

    def _reached(self, stamp: int, side: int, seen: frozenset[int]) -> list[Linear]:
        """The ends of an index: the largest values it may have, or (side -1) the smallest."""
        if stamp in seen or len(seen) == DEEP:
            return []
        first, last = self.loops(stamp)
        found = self._largest(last if side > 0 else first, side, seen | {stamp})
        for total in self.said:
            factor = total.terms.get(stamp, 0) * side
            if factor > 0:
                rest = total.without(stamp).times(-side)
                ends = self._largest(rest, side, seen | {stamp})
                found += [_divided(end, factor, side) for end in ends]
        return list({f.key: f for f in found}.values())[:MANY]

    def _largest(self, total: Linear, side: int, seen: frozenset[int]) -> list[Linear]:
        """The ends of a sum: all combinations of those of its indices."""
        parts, plain = [], total
        for stamp, factor in total.terms.items():
            if isinstance(stamp, int):
                plain = plain.without(stamp)
                ends = self._reached(stamp, side if factor > 0 else -side, seen)
                parts.append([end.times(factor) for end in ends])
        return [reduce(Linear.plus, choice, plain) for choice in islice(product(*parts), MANY)]


def _divided(form: Linear, factor: int, side: int) -> Linear:
    """What an index is at most (side -1: at least) of which a multiple is."""
    if factor == 1:
        return form
    quotient = Call(floor_divide, (as_expr(form.times(side)), Literal(factor)))
    return Linear({quotient: side})
