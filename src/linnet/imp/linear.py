"""Linear forms of integers: a sum of atoms, each taken a whole number of times, and a constant.

Whatever asks how far an index reaches asks it of these: indices and masks (`loops.linear`), ranges
and guards (`imp.order`). An atom is what is not looked into: a variable, a size, a value that is
read. Forms are compared and solved as integers without end, the code computes with 64 bits, and
one rule keeps the two together. What a program counts (indices, sizes, positions) is below 2^61, so
that sums of a few of them do not wrap. What is read from data may be any number: before it is
added to or compared with an index, it is brought to within `FAR` of zero, beyond which no index
lies (`lower.masks`, `lower.unfurl`). Where a form is written as code again, its sums are those of
the program, perhaps in another order: modulo 2^64 they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeAlias, cast

from linnet.imp.values import INT, Binary, Cast, Const, Expr, Unary, maximum, minimum
from linnet.records import dataclass

FAR = 1 << 61  # no index is that large, and the sum of three of that size fits

Atom: TypeAlias = Hashable
"""What a form does not look into: a variable by its name, anything else as it is."""


@dataclass(frozen=True, slots=True)
class Linear:
    """The sum of all atoms, each times its factor, and of a number; no factor is 0."""

    terms: Mapping[Atom, int]
    number: int = 0

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """`self + factor * other`."""
        total = dict(self.terms)
        for atom, n in other.terms.items():
            n = total.get(atom, 0) + factor * n
            if n:
                total[atom] = n
            else:
                total.pop(atom, None)
        return Linear(total, self.number + factor * other.number)

    def more(self, number: int) -> Linear:
        """The form plus a number."""
        return Linear(self.terms, self.number + number)

    def times(self, factor: int) -> Linear:
        """The form, so many times."""
        terms = {atom: factor * n for atom, n in self.terms.items()} if factor else {}
        return Linear(terms, factor * self.number)

    def without(self, atom: Atom) -> Linear:
        """The rest of the form beside an atom."""
        return Linear({a: n for a, n in self.terms.items() if a != atom}, self.number)

    def replace(self, atom: Atom, by: Linear) -> Linear:
        """The form with something else in the place of an atom."""
        return self.without(atom).plus(by, self.terms.get(atom, 0))

    @property
    def key(self) -> tuple[frozenset[tuple[Atom, int]], int]:
        """Two forms are one if their keys are."""
        return frozenset(self.terms.items()), self.number


ZERO = Linear({})


def atom(x: Atom) -> Linear:
    """An atom as a form."""
    return Linear({x: 1})


def product(a: Linear, b: Linear) -> Linear | None:
    """The product of two forms, if one of them is a number."""
    if not b.terms:
        return a.times(b.number)
    return None if a.terms else b.times(a.number)


def within_reach(x: Expr) -> Expr:
    """A number that may be any, brought to where sums with it fit; no index lies beyond."""
    return minimum(maximum(x, -FAR), FAR)


def linear(x: Expr, meaning: Callable[[Expr], Linear | None] = lambda _: None) -> Linear:
    """An expression of 64-bit integers as a form; `meaning` knows what some of them stand for."""
    known = meaning(x)
    if known is not None:
        return known
    match x:
        case Const(int(value), dtype) if dtype[0] in "iu":
            return Linear({}, int(value))
        case Binary("+", a, b, "int64"):
            return linear(a, meaning).plus(linear(b, meaning))
        case Binary("-", a, b, "int64"):
            return linear(a, meaning).plus(linear(b, meaning), -1)
        case Binary("*", a, b, "int64"):
            return product(linear(a, meaning), linear(b, meaning)) or atom(x)
        case Unary("-", a, "int64"):
            return linear(a, meaning).times(-1)
        case Cast(Const() as value, dtype) if dtype == INT and value.dtype[0] in "iu":
            return linear(value, meaning)
    return atom(x)


def as_code(form: Linear) -> Expr:
    """A form whose atoms are expressions, as an expression: what is taken away comes last."""
    parts = sorted(cast("Iterable[tuple[Expr, int]]", form.terms.items()), key=lambda p: p[1] < 0)
    code: Expr = Const(form.number, INT)
    for term, n in parts:
        part = term if abs(n) == 1 else term * abs(n)
        code = part if code == Const(0, INT) and n > 0 else code + part if n > 0 else code - part
    return code
