"""Comparisons of integers that can be decided while compiling: which phases of a loop are empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from linnet import imp

_PARTS = 8  # of minima and maxima inside each other, which are compared in all combinations


class Facts:
    """What is known of variables: definitions, which are never negative, what some are below.

    `assumed` are pairs of which the first is never more than the second.
    """

    def __init__(self, nonnegative: set[str]) -> None:
        self.nonnegative = nonnegative
        self.definitions: dict[str, imp.Expr] = {}
        self.below: dict[str, imp.Expr] = {}
        self.entered: list[str] = []  # the indices of the loops whose bodies we are in
        self.assumed: list[tuple[imp.Expr, imp.Expr]] = []

    def enter(self, index: str, lo: imp.Expr, hi: imp.Expr) -> None:
        """Remember between what bounds the index of a loop runs."""
        self.below[index] = hi
        if self.at_most(imp.ZERO, lo):
            self.nonnegative.add(index)
        else:
            self.nonnegative.discard(index)

    def define(self, name: str, value: imp.Expr) -> None:
        """Remember the value of a variable, if it is made of what never changes.

        The same variable may have had another value in another part of a loop.
        """
        self.definitions.pop(name, None)
        if value.dtype == imp.INT and self._is_fixed(value):
            self.definitions[name] = value

    @contextmanager
    def where(self, name: str, value: imp.Expr) -> Iterator[None]:
        """A variable has a value for the time being."""
        before = self.definitions.get(name)
        if value != imp.Var(name):
            self.define(name, value)
        yield
        self.definitions.pop(name, None)
        if before is not None:
            self.definitions[name] = before

    def _is_fixed(self, x: imp.Expr) -> bool:
        match x:
            case imp.Const():
                return True
            case imp.Var(name):
                return name in self.nonnegative or name in self.definitions
            case imp.Binary(_, a, b):
                return self._is_fixed(a) and self._is_fixed(b)
            case _:
                return False

    def at_most(self, a: imp.Expr, b: imp.Expr, parts: int = _PARTS) -> bool:
        """Whether `a <= b` in every case; False also where nothing is known.

        Minima and maxima are taken apart so many times.
        """
        terms = self._linear(a)
        if self._is_within(terms, b):
            return True
        for name in terms.keys() & self.below.keys():
            if terms[name] == 1:  # a variable is at most what it is below, less 1
                most = Counter({k: n for k, n in terms.items() if k != name})
                most.update(self._linear(self.below[name]))
                most.subtract({"": 1})
                if self._is_within(most, b):
                    return True
        return parts > 0 and self._by_parts(a, b, parts - 1)

    def _is_within(self, terms: Mapping[str, int], b: imp.Expr) -> bool:
        difference = Counter(self._linear(b))
        difference.subtract(terms)
        if self._is_positive(difference):
            return True
        for low, high in self.assumed:
            rest = difference.copy()
            rest.update(self._linear(low))
            rest.subtract(self._linear(high))
            if self._is_positive(rest):
                return True
        return False

    def _is_positive(self, terms: Counter[str]) -> bool:
        """Whether a sum is never negative."""
        constant = terms[""] + sum(terms[name] for name in self._nonzero())
        return constant >= 0 and all(n >= 0 and self._positive(v, n) for v, n in terms.items() if v)

    def _nonzero(self) -> set[str]:
        """Sizes that are at least 1, since a loop below them has been entered."""
        bounds = (self.below.get(i) for i in self.entered if i in self.nonnegative)
        return {bound.name for bound in bounds if isinstance(bound, imp.Var)}

    def inside(self, lo: imp.Expr, hi: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
        """The bounds of a range that is not empty: `min(hi, x)` is x then, as is `max(lo, x)`."""
        first, last = lo, hi
        match self._defined(lo):
            case imp.Binary("min", x, y) if hi in (x, y):
                first = y if x == hi else x
        match self._defined(hi):
            case imp.Binary("max", x, y) if lo in (x, y):
                last = y if x == lo else x
        return first, last

    def _positive(self, name: str, count: int) -> bool:
        return count == 0 or name in self.nonnegative

    def _by_parts(self, a: imp.Expr, b: imp.Expr, parts: int) -> bool:
        """Whether what they are made of says so; first where it must be said of both sides."""
        a, b = self._defined(a), self._defined(b)
        match a, b:
            case _, imp.Binary("min", x, y):
                return self.at_most(a, x, parts) and self.at_most(a, y, parts)
            case imp.Binary("max", x, y), _:
                return self.at_most(x, b, parts) and self.at_most(y, b, parts)
        match a:
            case imp.Binary("min", x, y):
                if self.at_most(x, b, parts) or self.at_most(y, b, parts):
                    return True
        match b:
            case imp.Binary("max", x, y):
                return self.at_most(a, x, parts) or self.at_most(a, y, parts)
        return False

    def _linear(self, x: imp.Expr) -> Mapping[str, int]:
        """An expression as a sum of terms with factors; the constant has the empty name."""
        match x:
            case imp.Const(value):
                return {"": int(value)}  # type: ignore[arg-type]
            case imp.Binary("+" | "-" as op, a, b):
                total = Counter(self._linear(a))
                (total.update if op == "+" else total.subtract)(self._linear(b))
                return total
            case imp.Var(name):
                known = self.definitions.get(name)
                is_sum = isinstance(known, imp.Binary) and known.op in ("+", "-")
                is_sum = is_sum or isinstance(known, imp.Var | imp.Const)
                return self._linear(known) if known is not None and is_sum else {name: 1}
            case _:
                return {repr(x): 1}

    def _defined(self, x: imp.Expr) -> imp.Expr:
        """What a variable stands for; of `min(a, b) + 1`, the least of `a + 1` and `b + 1`."""
        while isinstance(x, imp.Var) and x.name in self.definitions:
            x = self.definitions[x.name]
        match x:
            case imp.Binary("+" | "-" as op, inner, imp.Const() as c):
                match self._defined(inner):
                    case imp.Binary("min" | "max" as choice, a, b, dtype):
                        return imp.Binary(choice, imp.binary(op, a, c), imp.binary(op, b, c), dtype)
        return x
