"""Semirings: pairs of functions that take the places of + and × in products of tensors."""

from __future__ import annotations

from linnet.algebra import table
from linnet.algebra.dtypes import Number
from linnet.algebra.function import Function
from linnet.algebra.lookup import lookup
from linnet.errors import ArgumentError, Location
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Semiring:
    """`add` combines what `multiply` gives; `zero(dtype)` is what nothing amounts to."""

    add: Function
    multiply: Function

    def zero(self, dtype: str) -> Number | None:
        """The identity of `add`, which annihilates in `multiply`; None if there is none."""
        return self.add.identity(dtype)

    def __repr__(self) -> str:
        return f"semiring({self.add.label}, {self.multiply.label})"


def semiring(add: object, multiply: object) -> Semiring:
    """A pair of functions: `ln.semiring(ln.minimum, ln.add)` for shortest paths.

    They may be functions of Linnet, NumPy or `operator`, or their names. The first must be
    associative and commutative, or the order of a reduction would matter.

    >>> ln.semiring("minimum", "add")
    semiring(minimum, add)
    """
    found = []
    for given in (add, multiply):
        function = lookup(given)
        if function is None or function.arity != 2:
            raise ArgumentError(
                f"{given!r} is not a function of two values",
                at=Location.of_caller(),
                hint="such as ln.minimum, np.add, or one made by ln.function",
            )
        found.append(function)
    if not found[0].associative:
        raise ArgumentError(
            f"`{found[0].name}` cannot add up the elements of a product",
            at=Location.of_caller(),
            why="it is not said to be associative",
        )
    return Semiring(found[0], found[1])


@dataclass(frozen=True, slots=True)
class Semirings:
    """The semirings that are built in, by the names of their functions."""

    plus_times: Semiring = Semiring(table.add, table.multiply)
    min_plus: Semiring = Semiring(table.minimum, table.add)
    max_plus: Semiring = Semiring(table.maximum, table.add)
    or_and: Semiring = Semiring(table.logical_or, table.logical_and)
    min_max: Semiring = Semiring(table.minimum, table.maximum)
    max_min: Semiring = Semiring(table.maximum, table.minimum)
    max_times: Semiring = Semiring(table.maximum, table.multiply)
    any_pair: Semiring = Semiring(table.choose(0), table.pair)
    xor_and: Semiring = Semiring(table.logical_xor, table.logical_and)


semirings = Semirings()
