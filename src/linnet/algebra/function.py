"""`Function`: an operator as the compiler knows it — its types, its code, its laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from linnet import imp
from linnet.algebra.dtypes import Number

Types = Callable[[tuple[str, ...]], tuple[tuple[str, ...], str]]
"""From the arguments' dtypes: the dtypes to which they are converted, and the result's."""
Emit = Callable[[tuple[imp.Expr, ...], str], imp.Expr]
"""From converted arguments and the result's dtype: the code."""
Constant = Callable[[str], Number | None]
"""A value that depends on the dtype, or None."""


def no_constant(dtype: str) -> Number | None:
    """For a law that does not hold."""
    return None


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    """An operator on values.

    `identity` and `annihilator` hold on both sides; the `right_…` ones only as last argument (`x -
    0 = x`). `constants` are further values that decide the result: the value, the position of the
    argument (None: any), the result (`x ** 0 = 1`, `inf + x = inf`). `repeat` is what `n` updates
    with one value amount to: "times" (`n * x`), "power" (`x ** n`), "once" (idempotent), or ""
    where nothing better than a loop is known.
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
    right_identity: Constant = no_constant
    left_annihilator: Constant = no_constant
    decisive: bool = False  # a first argument that is not the identity is the result
    constants: tuple[tuple[Number, int | None, Number], ...] = ()
    repeat: str = ""

    def __repr__(self) -> str:
        return self.name
