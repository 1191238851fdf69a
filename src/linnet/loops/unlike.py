"""Whether a value is not a number, to the last bit: `differs` of NumPy arrays as an expression."""

from __future__ import annotations

import math

from linnet.algebra import table
from linnet.loops.nodes import Call, Expr, Literal


def unlike(value: Expr, number: Literal) -> Expr:
    """`value != number`, where NaN is NaN, and 0.0 is not -0.0."""
    known = number.value
    if isinstance(known, complex):
        parts = (table.real, known.real), (table.imag, known.imag)
        found = [unlike(Call(of, (value,)), Literal(part)) for of, part in parts]
        return Call(table.logical_or, tuple(found))
    if known != known:
        return Call(table.logical_not, (Call(table.isnan, (value,)),))
    unequal = Call(table.not_equal, (value, number))
    if known != 0 or not isinstance(known, float):
        return unequal
    negative = Call(table.signbit, (Call(table.real, (value,)),))
    signed = negative if math.copysign(1, known) > 0 else Call(table.logical_not, (negative,))
    return Call(table.logical_or, (unequal, signed))
