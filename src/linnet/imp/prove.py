"""Comparisons of integers that can be decided while compiling: which phases of a loop are empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import TypeAlias

from linnet import imp
from linnet.records import dataclass

_MOST = 100  # comparisons of parts of minima and maxima for one question

Sum: TypeAlias = Mapping[str | imp.Expr, int]
"""Terms with factors: variables by their names, anything else as it is, the constant as ""."""


class Facts:
    """What is known of variables: definitions, which are never negative, what some are below."""

    def __init__(self, nonnegative: set[str]) -> None:
        self.nonnegative = nonnegative
        self.below: dict[str, imp.Expr] = {}
        self.entered: list[str] = []  # the indices of the loops whose bodies we are in
        self._definitions: dict[str, imp.Expr] = {}
        self._assumed: list[imp.Expr] = []  # what is never negative
        self._sums: dict[imp.Expr, Sum] = {}
        self._used: set[str] = set()  # the variables whose definitions these rely on

    def enter(self, index: str, lo: imp.Expr, hi: imp.Expr) -> None:
        """Remember between what bounds the index of a loop runs."""
        self.below[index] = hi
        if self.at_most(imp.ZERO, lo):
            self.nonnegative.add(index)
        else:
            self.nonnegative.discard(index)

    def assume(self, a: imp.Expr, b: imp.Expr) -> None:
        """Remember that `a <= b` has been made sure of."""
        self._assumed.append(b - a)

    def define(self, name: str, value: imp.Expr) -> None:
        """Remember the value of a variable, if it is made of what never changes.

        The same variable may have had another value in another part of a loop.
        """
        fixed = value.dtype == imp.INT and self._is_fixed(value, but=name)
        self._set(name, value if fixed else None)

    def introduce(self, var: imp.Var, value: imp.Expr) -> None:
        """Remember the value of a variable for as long as there is one of this name."""
        self._set(var.name, value)

    @contextmanager
    def where(self, name: str, value: imp.Expr) -> Iterator[None]:
        """A variable has a value for the time being."""
        before = self._definitions.get(name)
        if value != imp.Var(name):
            self.define(name, value)
        yield
        self._set(name, before)

    def _set(self, name: str, value: imp.Expr | None) -> None:
        if self._definitions.get(name) == value:
            return
        if value is None:
            del self._definitions[name]
        else:
            self._definitions[name] = value
        if name in self._used:
            self._sums.clear()
            self._used.clear()

    def _is_fixed(self, x: imp.Expr, but: str) -> bool:
        match x:
            case imp.Const():
                return True
            case imp.Var(name):
                return name in self.nonnegative or (name in self._definitions and name != but)
            case imp.Binary(_, a, b):
                return self._is_fixed(a, but) and self._is_fixed(b, but)
            case _:
                return False

    def at_most(self, a: imp.Expr, b: imp.Expr) -> bool:
        """Whether `a <= b` in every case; False also where nothing is known."""
        return _Question(self).at_most(a, b)

    def inside(self, lo: imp.Expr, hi: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
        """The bounds of a range that is not empty: `min(hi, x)` is x then, as is `max(lo, x)`."""
        first, last = lo, hi
        match self.defined(lo):
            case imp.Binary("min", x, y) if hi in (x, y):
                first = y if x == hi else x
        match self.defined(hi):
            case imp.Binary("max", x, y) if lo in (x, y):
                last = y if x == lo else x
        return first, last

    def nonzero(self) -> set[str]:
        """Sizes that are at least 1, since a loop below them has been entered."""
        bounds = (self.below.get(i) for i in self.entered if i in self.nonnegative)
        return {bound.name for bound in bounds if isinstance(bound, imp.Var)}

    def gaps(self) -> Iterator[Sum]:
        """Sums that are assumed never to be negative."""
        return map(self.sum_of, self._assumed)

    def sum_of(self, x: imp.Expr) -> Sum:
        """An expression as a sum of terms with factors."""
        match x:
            case imp.Const(value):
                return {"": int(value)}  # type: ignore[arg-type]
            case imp.Var(name):
                self._used.add(name)
                known = self._definitions.get(name)
                is_sum = isinstance(known, imp.Binary) and known.op in ("+", "-")
                is_sum = is_sum or isinstance(known, imp.Var | imp.Const)
                return self.sum_of(known) if known is not None and is_sum else {name: 1}
            case imp.Binary("+" | "-" as op, a, b):
                found = self._sums.get(x)
                if found is None:
                    found = plus(self.sum_of(a), self.sum_of(b), 1 if op == "+" else -1)
                    self._sums[x] = found
                return found
            case _:
                return {x: 1}

    def defined(self, x: imp.Expr) -> imp.Expr:
        """What a variable stands for; of `min(a, b) + 1`, the least of `a + 1` and `b + 1`."""
        while isinstance(x, imp.Var) and x.name in self._definitions:
            x = self._definitions[x.name]
        match x:
            case imp.Binary("+" | "-" as op, inner, imp.Const() as c):
                match self.defined(inner):
                    case imp.Binary("min" | "max" as choice, a, b, dtype):
                        return imp.Binary(choice, imp.binary(op, a, c), imp.binary(op, b, c), dtype)
        return x


def plus(a: Sum, b: Sum, factor: int = 1) -> dict[str | imp.Expr, int]:
    """`a + factor * b`."""
    total = dict(a)
    for term, n in b.items():
        total[term] = total.get(term, 0) + factor * n
    return total


@dataclass(slots=True)
class _Question:
    """One comparison, and what its parts have come to: the same ones come up again and again."""

    facts: Facts
    nonzero: set[str] = field(init=False)
    answers: dict[tuple[imp.Expr, imp.Expr], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nonzero = self.facts.nonzero()

    def at_most(self, a: imp.Expr, b: imp.Expr) -> bool:
        """Whether `a <= b`, as far as can be told in a bounded number of steps."""
        known = self.answers.get((a, b))
        if known is None and len(self.answers) < _MOST:
            self.answers[a, b] = False
            known = self.answers[a, b] = self._by_terms(a, b) or self._by_parts(a, b)
        return bool(known)

    def _by_terms(self, a: imp.Expr, b: imp.Expr) -> bool:
        """Whether the terms of the difference say so."""
        facts, low = self.facts, self.facts.sum_of(a)
        difference = plus(facts.sum_of(b), low, -1)
        if self._is_never_negative(difference):
            return True
        for name, n in low.items():
            if n == 1 and name in facts.below:  # a variable is at most what it is below, less 1
                more = plus(difference, {name: 1, "": 1})
                if self._is_never_negative(plus(more, facts.sum_of(facts.below[name]), -1)):
                    return True
        return False

    def _is_never_negative(self, terms: Sum) -> bool:
        """Whether a sum is at least 0, or at least something that is assumed to be."""
        return self._is_positive(terms) or any(
            self._is_positive(plus(terms, gap, -1)) for gap in self.facts.gaps()
        )

    def _is_positive(self, terms: Sum) -> bool:
        """Whether no term of a sum is ever negative."""
        least = terms.get("", 0)
        for term, n in terms.items():
            if n != 0 and term != "":
                if n < 0 or term not in self.facts.nonnegative:
                    return False
                least += n if term in self.nonzero else 0
        return least >= 0

    def _by_parts(self, a: imp.Expr, b: imp.Expr) -> bool:
        """Whether what they are made of says so; first where it must be said of both sides."""
        a, b = self.facts.defined(a), self.facts.defined(b)
        match a, b:
            case _, imp.Binary("min", x, y):
                return self.at_most(a, x) and self.at_most(a, y)
            case imp.Binary("max", x, y), _:
                return self.at_most(x, b) and self.at_most(y, b)
        match a:
            case imp.Binary("min", x, y):
                if self.at_most(x, b) or self.at_most(y, b):
                    return True
        match b:
            case imp.Binary("max", x, y):
                return self.at_most(a, x) or self.at_most(a, y)
        return False
