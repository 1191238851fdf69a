"""Integers that a fused function is given, and for which others its calls go the same way.

The function is run with a `Moving` in the place of each. Sums and products of them say how they
come of the arguments; whatever asks what a number is gets its answer, and the answer is noted. The
`Law` is all that was noted: where it holds, the function does the same, with other numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from linnet.records import dataclass

Terms: TypeAlias = tuple[tuple[int, int], ...]  # places of numbers, with factors that are not 0
Form: TypeAlias = tuple[int, Terms]
"""A number as a sum: a constant, and multiples of other numbers."""


def amount(form: Form, numbers: Sequence[int]) -> int:
    """What a sum comes to."""
    total, terms = form
    for place, factor in terms:
        total += factor * numbers[place]
    return total


@dataclass(frozen=True, slots=True)
class Law:
    """What holds of integers: sums that are not negative, that are 0, and that are not.

    Quotients, which are numbers as the arguments are and come after them, are rounded down.
    """

    count: int  # of arguments
    quotients: tuple[tuple[Form, int], ...]
    positive: tuple[Form, ...]  # or 0
    zero: tuple[Form, ...]
    other: tuple[Form, ...]

    def numbers(self, given: Sequence[int]) -> Sequence[int] | None:
        """The arguments and all quotients, if the law holds for them."""
        if self.quotients:
            given = list(given)
            for form, divisor in self.quotients:
                given.append(amount(form, given) // divisor)
        for form in self.positive:
            if amount(form, given) < 0:
                return None
        for form in self.zero:
            if amount(form, given):
                return None
        for form in self.other:
            if not amount(form, given):
                return None
        return given

    @property
    def moves(self) -> bool:
        """Whether it may hold for more than one value of some argument."""
        fixed = {terms[0][0] for _, terms in self.zero if len(terms) == 1}
        return not {*range(self.count)} <= fixed


def only(given: Sequence[int]) -> Law:
    """The law that holds for these numbers alone."""
    return Law(len(given), (), (), tuple([(-n, ((k, 1),)) for k, n in enumerate(given)]), ())


class Notes:
    """What is noted while a function is run, and the numbers that it is run with."""

    def __init__(self, given: Sequence[int]) -> None:
        self.values, self._count = list(given), len(given)
        self._quotients: dict[tuple[Form, int], int] = {}  # with their places
        self._least: dict[Terms, int] = {}  # the constant with which these terms are not negative
        self._zero: dict[Form, None] = {}
        self._other: dict[Form, None] = {}

    def arguments(self) -> list[Moving]:
        """The numbers that the function is to be given."""
        return [Moving(self, (0, ((k, 1),))) for k in range(self._count)]

    def is_negative(self, form: Form) -> bool:
        """Whether a sum is below 0."""
        base, terms = form
        if amount(form, self.values) < 0:  # and its negative, less 1, is not
            base, terms = -base - 1, tuple([(place, -factor) for place, factor in terms])
            self._least[terms] = min(base, self._least.get(terms, base))
            return True
        self._least[terms] = min(base, self._least.get(terms, base))
        return False

    def is_zero(self, form: Form) -> bool:
        """Whether a sum is 0."""
        found = not amount(form, self.values)
        (self._zero if found else self._other)[form] = None
        return found

    def quotient(self, form: Form, divisor: int) -> Form:
        """The quotient, rounded down, by a number above 0."""
        place = self._quotients.get((form, divisor))
        if place is None:
            place = self._quotients[form, divisor] = len(self.values)
            self.values.append(amount(form, self.values) // divisor)
        return 0, ((place, 1),)

    def law(self) -> Law:
        """All that was noted."""
        known = tuple([(base, terms) for terms, base in self._least.items()])
        zero, other = tuple(self._zero), tuple(self._other)
        return Law(self._count, tuple(self._quotients), known, zero, other)


class Moving:
    """An integer that may be another one in the next call.

    It is taken for an `int` by Python, and by C for something that can become one (`__index__`):
    then it is known to the function, and noted to be what it is.
    """

    __slots__ = ("_notes", "form")

    def __init__(self, notes: Notes, form: Form) -> None:
        self._notes, self.form = notes, form

    @property  # type: ignore[misc]
    def __class__(self) -> type[int]:  # type: ignore[override]
        return int

    def __index__(self) -> int:
        value = amount(self.form, self._notes.values)
        self._notes.is_zero((self.form[0] - value, self.form[1]))
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__index__(), name)

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __bool__(self) -> bool:
        return not self._notes.is_zero(self.form)

    # -- sums, which are followed ------------------------------------------------------------------

    def _sum(self, other: object, factor: int, own: int = 1) -> Any:
        """`own * self + factor * other`; None if that is no sum of integers."""
        if type(other) is not int and type(other) is not Moving:
            return None
        base, terms = other.form if type(other) is Moving else (other, ())
        found = {place: own * times for place, times in self.form[1]}
        for place, times in terms:
            found[place] = found.get(place, 0) + factor * times
        base = own * self.form[0] + factor * base
        left = tuple(sorted([term for term in found.items() if term[1]]))
        return Moving(self._notes, (base, left)) if left else base

    def __add__(self, other: object) -> Any:
        found = self._sum(other, 1)
        return self.__index__() + other if found is None else found  # type: ignore[operator]

    def __radd__(self, other: object) -> Any:
        found = self._sum(other, 1)
        return other + self.__index__() if found is None else found  # type: ignore[operator]

    def __sub__(self, other: object) -> Any:
        found = self._sum(other, -1)
        return self.__index__() - other if found is None else found  # type: ignore[operator]

    def __rsub__(self, other: object) -> Any:
        found = self._sum(other, 1, -1)
        return other - self.__index__() if found is None else found  # type: ignore[operator]

    def __mul__(self, other: object) -> Any:
        return self._sum(0, 0, other) if type(other) is int else self.__index__() * other  # type: ignore[operator]

    def __rmul__(self, other: object) -> Any:
        return self._sum(0, 0, other) if type(other) is int else other * self.__index__()  # type: ignore[operator]

    def __floordiv__(self, other: object) -> Any:
        if type(other) is int and other > 0:
            return Moving(self._notes, self._notes.quotient(self.form, other))
        return self.__index__() // other  # type: ignore[operator]

    def __mod__(self, other: object) -> Any:
        if type(other) is int and other > 0:
            return self - self // other * other
        return self.__index__() % other  # type: ignore[operator]

    def __neg__(self) -> Any:
        return self._sum(0, 0, -1)

    def __pos__(self) -> Moving:
        return self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    # -- comparisons, which are noted --------------------------------------------------------------

    def _compared(self, other: object, how: Callable[[Any, Any], bool], strict: int) -> Any:
        """Whether a difference is below 0 (`strict`), or not above it."""
        less = how is operator.lt or how is operator.le
        found = self._sum(other, -1) if less else self._sum(other, 1, -1)
        if found is None:
            return how(self.__index__(), other)
        if type(found) is int:
            return found < strict
        base, terms = found.form
        return self._notes.is_negative((base - strict, terms))

    def __lt__(self, other: object) -> Any:
        return self._compared(other, operator.lt, 0)

    def __le__(self, other: object) -> Any:
        return self._compared(other, operator.le, 1)

    def __gt__(self, other: object) -> Any:
        return self._compared(other, operator.gt, 0)

    def __ge__(self, other: object) -> Any:
        return self._compared(other, operator.ge, 1)

    def __eq__(self, other: object) -> Any:
        found = self._sum(other, -1)
        if found is None:
            return self.__index__() == other
        return not found if type(found) is int else self._notes.is_zero(found.form)


def is_moving(value: object) -> bool:
    """Whether an integer may be another one in the next call."""
    return type(value) is Moving


def form_of(number: object) -> Form:
    """How an integer comes of arguments."""
    return number.form if type(number) is Moving else (operator.index(number), ())  # type: ignore[arg-type]


# -- what else there is is computed of the number as it is -----------------------------------------

_UNARY: dict[str, Callable[..., Any]] = {"repr": repr, "str": str, "invert": operator.invert}
_BINARY: dict[str, Callable[..., Any]] = {
    "truediv": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
    "divmod": divmod, "pow": pow, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "lshift": operator.lshift, "rshift": operator.rshift, "round": round, "format": format,
}  # fmt: skip


def _complete() -> None:
    """Give `Moving` the rest of the methods of `int`, in both orders if there are two."""

    def forward(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *others: function(self.__index__(), *others)

    def backward(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: function(other, self.__index__())

    for name, function in (_UNARY | _BINARY).items():
        if f"__{name}__" not in vars(Moving):
            setattr(Moving, f"__{name}__", forward(function))
        if hasattr(int, f"__r{name}__"):
            setattr(Moving, f"__r{name}__", backward(function))


_complete()
