"""Is `a <= b`, whenever the code gets there? What is known of integers, and what follows from it.

Known are variables that are never negative, what bounds the indices of loops, definitions, what has
been made sure of, and pointers, which never decrease. Expressions are read as linear forms
(`imp.linear`, which says what is assumed of overflow); minima and maxima are taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from linnet.imp.linear import Linear, atom, linear
from linnet.imp.values import INT, ZERO, Binary, Cast, Const, Expr, Load, Var, binary
from linnet.records import dataclass

_MOST = 100  # comparisons of parts of minima and maxima, and forms, for one question
_DEEP = 3  # indices that are bounded by each other


class Order:
    """What is known of variables and pointers, where the code is at that is being made."""

    def __init__(self, nonnegative: set[str], pointers: frozenset[str] = frozenset()) -> None:
        self.nonnegative = nonnegative
        self.pointers = pointers
        self.above: dict[str, Expr] = {}  # what some are at least
        self.below: dict[str, Expr] = {}  # what some are less than
        self.entered: list[str] = []  # the indices of the loops whose bodies we are in
        self._definitions: dict[str, Expr] = {}
        self._assumed: list[Expr] = []  # what is never negative
        self._forms: dict[Expr, Linear] = {}
        self._used: set[str] = set()  # the variables whose definitions these rely on

    # -- what is known -----------------------------------------------------------------------------

    def enter(self, index: str, lo: Expr, hi: Expr) -> None:
        """Remember between what bounds the index of a loop runs."""
        self.above[index], self.below[index] = lo, hi
        if self.at_most(ZERO, lo):
            self.nonnegative.add(index)
        else:
            self.nonnegative.discard(index)

    def assume(self, a: Expr, b: Expr) -> None:
        """Remember that `a <= b` has been made sure of."""
        self._assumed.append(b - a)

    def define(self, name: str, value: Expr) -> None:
        """Remember the value of a variable, if it is made of what never changes.

        The same variable may have had another value in another part of a loop.
        """
        fixed = value.dtype == INT and self._is_fixed(value, but=name)
        self._set(name, value if fixed else None)

    def introduce(self, var: Var, value: Expr) -> None:
        """Remember the value of a variable for as long as there is one of this name."""
        self._set(var.name, value)

    @contextmanager
    def where(self, name: str, value: Expr) -> Iterator[None]:
        """A variable has a value for the time being."""
        before = self._definitions.get(name)
        if value != Var(name):
            self.define(name, value)
        yield
        self._set(name, before)

    def _set(self, name: str, value: Expr | None) -> None:
        if self._definitions.get(name) == value:
            return
        if value is None:
            del self._definitions[name]
        else:
            self._definitions[name] = value
        if name in self._used:
            self._forms.clear()
            self._used.clear()

    def _is_fixed(self, x: Expr, but: str) -> bool:
        match x:
            case Const():
                return True
            case Var(name):
                return name in self.nonnegative or (name in self._definitions and name != but)
            case Binary(_, a, b):
                return self._is_fixed(a, but) and self._is_fixed(b, but)
            case _:
                return False

    # -- questions ---------------------------------------------------------------------------------

    def at_most(self, a: Expr, b: Expr) -> bool:
        """Whether `a <= b` in every case; False also where nothing is known."""
        return _Question(self).at_most(a, b)

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether `a == b` in every case."""
        return a == b or (self.at_most(a, b) and self.at_most(b, a))

    def inside(self, lo: Expr, hi: Expr) -> tuple[Expr, Expr]:
        """The bounds of a range that is not empty: `min(hi, x)` is x then, as is `max(lo, x)`."""
        first, last = lo, hi
        match self.defined(lo):
            case Binary("min", x, y) if hi in (x, y):
                first = y if x == hi else x
        match self.defined(hi):
            case Binary("max", x, y) if lo in (x, y):
                last = y if x == lo else x
        return first, last

    def nonzero(self) -> set[str]:
        """Sizes that are at least 1, since a loop below them has been entered."""
        bounds = (self.below.get(i) for i in self.entered if i in self.nonnegative)
        return {bound.name for bound in bounds if isinstance(bound, Var)}

    def gaps(self) -> Iterator[Linear]:
        """Forms that are assumed never to be negative."""
        return map(self.form, self._assumed)

    def form(self, x: Expr) -> Linear:
        """An expression as a form, in which variables stand for the sums that they are."""
        if isinstance(x, Const | Var):
            return linear(x, self._meaning)
        found = self._forms.get(x)
        if found is None:
            found = self._forms[x] = linear(x, self._meaning)
        return found

    def _meaning(self, x: Expr) -> Linear | None:
        """What a variable stands for."""
        if not isinstance(x, Var):
            return None
        self._used.add(x.name)
        match self._definitions.get(x.name):
            case Binary("+" | "-" | "*") | Var() | Const() as known:
                return linear(known, self._meaning)
        return atom(x.name)

    def defined(self, x: Expr) -> Expr:
        """What a variable stands for; of `min(a, b) + 1`, the least of `a + 1` and `b + 1`."""
        while isinstance(x, Var) and x.name in self._definitions:
            x = self._definitions[x.name]
        match x:
            case Binary("+" | "-" as op, inner, Const() as c):
                match self.defined(inner):
                    case Binary("min" | "max" as choice, a, b, dtype):
                        return Binary(choice, binary(op, a, c), binary(op, b, c), dtype)
        return x


@dataclass(slots=True)
class _Question:
    """One comparison, and what its parts have come to: the same ones come up again and again."""

    order: Order
    nonzero: set[str] = field(init=False)
    answers: dict[tuple[Expr, Expr], bool] = field(default_factory=dict)
    left: int = _MOST  # forms of which smaller ones may be looked for

    def __post_init__(self) -> None:
        self.nonzero = self.order.nonzero()

    def at_most(self, a: Expr, b: Expr) -> bool:
        """Whether `a <= b`, as far as can be told in a bounded number of steps."""
        known = self.answers.get((a, b))
        if known is None and len(self.answers) < _MOST:
            self.answers[a, b] = False
            difference = self.order.form(b).plus(self.order.form(a), -1)
            known = self._reaches_zero(difference, _DEEP) or self._by_parts(a, b)
            self.answers[a, b] = known
        return bool(known)

    def _by_parts(self, a: Expr, b: Expr) -> bool:
        """Whether what they are made of says so; first where it must be said of both sides."""
        a, b = self.order.defined(a), self.order.defined(b)
        match a, b:
            case _, Binary("min", x, y):
                return self.at_most(a, x) and self.at_most(a, y)
            case Binary("max", x, y), _:
                return self.at_most(x, b) and self.at_most(y, b)
        match a:
            case Binary("min", x, y):
                if self.at_most(x, b) or self.at_most(y, b):
                    return True
        match b:
            case Binary("max", x, y):
                return self.at_most(a, x) or self.at_most(a, y)
        return False

    # -- forms -------------------------------------------------------------------------------------

    def _reaches_zero(self, form: Linear, depth: int) -> bool:
        """Whether a form is at least 0, or at least something that is assumed to be."""
        if self._is_positive(form):
            return True
        if any(self._is_positive(form.plus(gap, -1)) for gap in self.order.gaps()):
            return True
        if depth == 0 or self.left == 0:
            return False
        self.left -= 1
        return any(self._reaches_zero(x, depth - 1) for x in self._smaller(form))

    def _is_positive(self, form: Linear) -> bool:
        """Whether no term of a form is ever negative."""
        least = form.number
        for term, n in form.terms.items():
            if n < 0 or not self._is_nonnegative(term):
                return False
            least += n if term in self.nonzero else 0
        return least >= 0

    def _is_nonnegative(self, term: object) -> bool:
        """Whether an atom is never below zero."""
        match term:
            case str():
                return term in self.order.nonnegative
            case Var(name):
                return name in self.order.nonnegative
            case Const(int(value)):
                return value >= 0
            case Load(buffer):
                return buffer.name in self.order.pointers
            case Cast(x, dtype) if dtype == INT and x.dtype[0] in "iub" and x.dtype != "uint64":
                return x.dtype[0] in "ub" or self._is_nonnegative(x)
            case Binary("*" | "div" | ">>" | "min", a, b):
                return self._is_nonnegative(a) and self._is_nonnegative(b)
            case Binary("max", a, b):
                return self._is_nonnegative(a) or self._is_nonnegative(b)
            case Binary("rem", a):
                return self._is_nonnegative(a)
        return False

    def _smaller(self, form: Linear) -> Iterator[Linear]:
        """Forms that are at most this one: an atom in it is replaced by what bounds it.

        All that is taken away has to go: it is enough to begin with one of them, or with what is at
        least so much. What is made of others comes first: with its bounds, they may cancel.
        """
        away = [term for term, n in form.terms.items() if n < 0]
        away.sort(key=lambda term: isinstance(term, str))
        for term in [x for x in form.terms if x not in away]:
            for bound in self._bounds(term, upper=False):
                if not away or any(x in bound.terms for x in away):
                    yield form.replace(term, bound)
        for term in away:
            found = [form.replace(term, bound) for bound in self._bounds(term, upper=True)]
            if not isinstance(term, str):
                found += self._with_quotient(form, term, form.terms[term])
                found += self._with_pointers(form, term)
            if found:
                yield from found
                return

    def _bounds(self, term: object, upper: bool) -> Iterator[Linear]:
        """What an atom is at most, or at least."""
        order, here = self.order, term
        if isinstance(term, str):
            here = order.defined(Var(term))
            bound = (order.below if upper else order.above).get(term)
            if bound is not None and bound != ZERO:  # what is below a bound is at most one less
                yield order.form(bound).more(-1 if upper else 0)
        match here:
            case Binary("min" | "max" as choice, a, b) if (choice == "min") == upper:
                yield order.form(a)
                yield order.form(b)

    def _with_quotient(self, form: Linear, term: object, n: int) -> Iterator[Linear]:
        """`c * (x div c)` is at most x, if that is at least 0; of a shift, in any case."""
        match term:
            case Binary(">>", x, Const(int(k))) if 0 <= k < 32 and n % (1 << int(k)) == 0:
                yield form.without(term).plus(self.order.form(x), n >> int(k))
            case Binary("div", x, Const(int(c))) if c > 0 and n % c == 0:
                if self.at_most(ZERO, x):
                    yield form.without(term).plus(self.order.form(x), n // int(c))

    def _with_pointers(self, form: Linear, term: object) -> Iterator[Linear]:
        """A pointer less an earlier one is not negative."""
        here = _pointed(term)
        if here is None or here.buffer.name not in self.order.pointers:
            return
        for other, n in form.terms.items():
            there = _pointed(other)
            if there is None or n < 1 or there.buffer != here.buffer:
                continue
            if self.at_most(here.index, there.index):
                both = min(n, -form.terms[term])
                yield form.plus(atom(term), both).plus(atom(other), -both)


def _pointed(term: object) -> Load | None:
    """What is loaded, perhaps widened, where it stands in a form."""
    if isinstance(term, Cast) and term.dtype == INT:
        term = term.x
    return term if isinstance(term, Load) else None
