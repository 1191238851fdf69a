"""`Function`: an operator as the compiler knows it — its types, its code, its laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from linnet import imp
from linnet.algebra.dtypes import Number
from linnet.algebra.regions import Region
from linnet.errors import ArgumentError, Location
from linnet.guards import Guard
from linnet.handed import Above
from linnet.records import dataclass
from linnet.shortage import RAISED, imported, retold

if TYPE_CHECKING:
    from linnet.algebra.body import Body

Types = Callable[[tuple[str, ...]], tuple[tuple[str, ...], str]]
"""From the arguments' dtypes: the dtypes to which they are converted, and the result's."""
Emit = Callable[[tuple[imp.Expr, ...], str], imp.Expr]
"""From converted arguments and the result's dtype: the code."""
Constant = Callable[[str], Number | None]
"""A value that depends on the dtype, or None."""

_above = Above("functions")
_GUARD = Guard()  # for cases that are added


def no_constant(dtype: str) -> Number | None:
    """For a law that does not hold."""
    return None


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """An operator on values.

    `identity` and `annihilator` hold on both sides; the `left_…` ones only as first argument (`0 /
    x = 0`), the `right_…` ones only as last (`x - 0 = x`). `constants` are further values that
    decide the result: the value, the position of the argument (None: any), the result (`x ** 0 =
    1`, `inf + x = inf`). `repeat` is what `n` updates with one value amount to: "times" (`n * x`),
    "power" (`x ** n`), "once" (idempotent), or "" where nothing better than a loop is known.
    `distributes_over` are functions, or names of functions, `g` with `f(x, g(y, z)) = g(f(x, y),
    f(x, z))`.

    A function of a user has a `body`, names for its `params`, perhaps an iteration `space` over
    them: where arguments differ from `fills`; `outside` it the result is known (None: that of
    `fills`). It may have `cases`.
    """

    name: str
    arity: int
    types: Types
    emit: Emit
    numpy: Callable[..., object]
    symbol: str = ""
    commutative: bool = False
    associative: bool = False
    idempotent: bool = False
    identity: Constant = no_constant
    annihilator: Constant = no_constant
    left_identity: Constant = no_constant
    right_identity: Constant = no_constant
    left_annihilator: Constant = no_constant
    decisive: bool = False  # a first argument that is not the identity is the result
    asks_storage: bool = False  # only whether its argument is stored: a constant while running
    constants: tuple[tuple[Number, int | None, Number], ...] = ()
    repeat: str = ""
    distributes_over: tuple[Function | str, ...] = ()
    body: Body | None = None
    params: tuple[str, ...] = ()
    space: Region | None = None
    fills: tuple[Number, ...] = ()
    outside: Number | None = None
    cases: tuple[Case, ...] = ()
    make_case: Callable[[Function, Callable[..., object], dict[str, Number]], Function] | None = (
        field(default=None, repr=False)
    )

    def __repr__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        """What its author calls it; names are all different from those of the table."""
        return self.name if self.body is None else self.body.name

    def __call__(self, x: object, /, *others: object) -> Any:
        """The value for numbers; for tensors and arrays, element by element."""
        args = (x, *others)
        try:
            number = imported("linnet.algebra.exact").of_numbers(self, args)
            if number is not None:
                return number
            if others or not self._is_built_in():
                return self._of_arrays(self.name, *args)
            return _above.unary(self._of_arrays, self.name, x)
        except RAISED as error:
            retold(error)

    def _of_arrays(self, name: str, *args: object) -> object:
        return _above.apply(self, *args)

    def _is_built_in(self) -> bool:
        """Whether this is what its name stands for in every process."""
        return imported("linnet.algebra.lookup").by_name.get(self.name) is self

    def __reduce__(self) -> tuple[object, ...]:
        """By name where that is known elsewhere, as those of the table are; else by its text."""
        if self._is_built_in():
            return _of_name, (self.name,)
        return _above.reduced(self)  # type: ignore[no-any-return]

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Function:
        return self

    def distributes(self, over: Function) -> bool:
        """Whether `f(x, over(y, z))` is `over(f(x, y), f(x, z))`."""
        return over in self.distributes_over or over.name in self.distributes_over

    def case(self, **values: Number) -> Callable[[Callable[..., object]], Function]:
        """`@f.case(y=0)`: a body for the case that arguments have these values.

        It is used where that is known while compiling: where a tensor with this fill value stores
        nothing. It must give what the function gives, and is there to be faster.
        """

        def add(text: Callable[..., object]) -> Function:
            if self.make_case is None:
                raise ArgumentError(
                    f"`{self.name}` is built in and takes no cases", at=Location.of_caller()
                )
            return self.make_case(self, text, values)

        return add


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """Another function to call where arguments, by position, have these values.

    It gets the arguments in this order.
    """

    values: tuple[tuple[int, Number], ...]
    function: Function
    order: tuple[int, ...]


@lru_cache(maxsize=4096)
def typed(function: Function, dtypes: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The types that a function takes arguments of these in, and that of its result."""
    return function.types(dtypes)


def add_cases(function: Function, cases: tuple[Case, ...]) -> None:
    """Give a function more cases. What it means is not changed by them."""
    with _GUARD:
        object.__setattr__(function, "cases", (*function.cases, *cases))


def _of_name(name: str) -> Function:
    found: Function = imported("linnet.algebra.lookup").by_name[name]
    return found
