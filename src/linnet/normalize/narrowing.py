"""What conditions say of the indices of loops: how far does an index reach where an access counts?

`if i < n: A[i]` reads A up to n, however far the loop runs. A condition is taken apart into sums
that are not above zero; an index that occurs in one of them is bounded by the rest, and the other
indices in that by their own loops and conditions. What depends on values is known only to the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice, product
from typing import TypeAlias

from linnet.algebra.table import add, floor_divide, multiply
from linnet.loops.nodes import Call, Expr, Literal
from linnet.records import dataclass

Sum: TypeAlias = Counter["int | Expr"]
"""Multiples of indices, which are known by the stamps of their loops, and of other expressions."""

DECIDES = {"where": (True, False), "logical_and": (True,), "logical_or": (False,)}
"""Functions that look at their other arguments only where the first holds, or does not."""

ONE = Literal(1)
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


def linear(expr: Expr, meaning: Callable[[Expr], Sum | None]) -> Sum:
    """An expression as a sum; `meaning` knows what indices and names stand for."""
    known = meaning(expr)
    if known is not None:
        return known
    match expr:
        case Literal(int(value)):
            return Counter({ONE: int(value)})
        case Call(function, (a,)) if function.name == "negative":
            return _scaled(linear(a, meaning), -1)
        case Call(function, (Literal(int(n)), x) | (x, Literal(int(n)))) if (
            function.name == "multiply"
        ):
            return _scaled(linear(x, meaning), int(n))
        case Call(function, (a, b)) if function.name in ("add", "subtract"):
            sign = 1 if function.name == "add" else -1
            return _plus(linear(a, meaning), _scaled(linear(b, meaning), sign))
        case _:
            return Counter({expr: 1})


def said_by(cond: Expr, holds: bool, to_sum: Callable[[Expr], Sum]) -> Iterator[Sum]:
    """Sums that are not above zero where a condition holds, or where it does not."""
    match cond:
        case Call(function, (a,)) if function.name == "logical_not":
            yield from said_by(a, not holds, to_sum)
        case Call(function, args) if function.name == ("logical_and" if holds else "logical_or"):
            for part in args:
                yield from said_by(part, holds, to_sum)
        case Call(function, (a, b)) if function.name in _OPPOSITE:
            relation = function.name if holds else _OPPOSITE[function.name]
            yield from _compared(relation, a, b, to_sum)


def _compared(relation: str, a: Expr, b: Expr, to_sum: Callable[[Expr], Sum]) -> Iterator[Sum]:
    """The sums of one comparison of integers."""
    match relation:
        case "greater" | "greater_equal":
            mirrored = {"greater": "less", "greater_equal": "less_equal"}[relation]
            yield from _compared(mirrored, b, a, to_sum)
        case "equal":
            yield from _compared("less_equal", a, b, to_sum)
            yield from _compared("less_equal", b, a, to_sum)
        case "less" | "less_equal":
            rest = _scaled(to_sum(b), -1)
            if relation == "less":
                rest = _plus(rest, Counter({ONE: 1}))
            yield _plus(to_sum(a), rest)
            if isinstance(a, Call) and a.function.name == "abs":
                yield _plus(to_sum(a.args[0]), rest)
                yield _plus(_scaled(to_sum(a.args[0]), -1), rest)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far indices run: by their loops, and by the sums that are not above zero."""

    loops: Callable[[int], tuple[Sum, Sum]]  # the first index of a loop, and the last
    said: Sequence[Sum]

    def stops(self, stamp: int) -> list[Expr]:
        """Each of these is above every value of an index."""
        one: Sum = Counter({ONE: 1})
        return [as_expr(_plus(end, one)) for end in self._reached(stamp, 1, frozenset())]

    def starts(self, stamp: int) -> list[Expr]:
        """Each of these is at most every value of an index."""
        return [as_expr(end) for end in self._reached(stamp, -1, frozenset())]

    def _reached(self, stamp: int, side: int, seen: frozenset[int]) -> list[Sum]:
        """The ends of an index: the largest values it may have, or (side -1) the smallest."""
        if stamp in seen or len(seen) == DEEP:
            return []
        first, last = self.loops(stamp)
        found = self._largest(last if side > 0 else first, side, seen | {stamp})
        for total in self.said:
            factor = total[stamp] * side
            if factor > 0:
                rest = Counter({k: -n * side for k, n in total.items() if k != stamp})
                ends = self._largest(rest, side, seen | {stamp})
                found += [_divided(end, factor, side) for end in ends]
        return list({frozenset(f.items()): f for f in found}.values())[:MANY]

    def _largest(self, total: Sum, side: int, seen: frozenset[int]) -> list[Sum]:
        """The ends of a sum: all combinations of those of its indices."""
        plain: Sum = Counter({k: n for k, n in total.items() if not isinstance(k, int)})
        parts = []
        for stamp, factor in total.items():
            if isinstance(stamp, int) and factor:
                ends = self._reached(stamp, side if factor > 0 else -side, seen)
                parts.append([_scaled(end, factor) for end in ends])
        return [reduce(_plus, choice, plain) for choice in islice(product(*parts), MANY)]


def as_expr(total: Sum) -> Expr:
    """A sum that has no indices, as an expression."""
    result: Expr | None = None
    for term, n in sorted(total.items(), key=lambda item: item[0] == ONE):
        assert not isinstance(term, int)
        if not n:
            continue
        part = Literal(n) if term == ONE else term if n == 1 else Call(multiply, (Literal(n), term))
        result = part if result is None else Call(add, (result, part))
    return Literal(0) if result is None else result


def minus_one(total: Sum) -> Sum:
    """One less than a sum."""
    return _plus(total, Counter({ONE: -1}))


def _divided(total: Sum, factor: int, side: int) -> Sum:
    """What an index is at most (side -1: at least) of which a multiple is."""
    if factor == 1:
        return total
    quotient = Call(floor_divide, (as_expr(_scaled(total, side)), Literal(factor)))
    return Counter({quotient: side})


def _scaled(total: Sum, factor: int) -> Sum:
    return Counter({k: factor * n for k, n in total.items()})


def _plus(a: Sum, b: Sum) -> Sum:
    return Counter({k: a[k] + b[k] for k in (*a, *b)})
