"""The powers of five from which decimal numbers are made, to 128 bits each.

The power 5**q, for q from LEAST to GREATEST, is about `(high << 64 | low) * 2**e`, with the first
bit of `high` set: truncated where it is a whole number, rounded up where it is a fraction.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

LEAST, GREATEST = -342, 308
_BITS = 128


@cache
def powers() -> NDArray[np.uint64]:
    """For each power the high and the low half, one after the other."""
    halves: list[int] = []
    for q in range(LEAST, GREATEST + 1):
        found = _power(q)
        halves += (found >> 64, found & 0xFFFFFFFFFFFFFFFF)
    return np.array(halves, np.uint64)


def _power(q: int) -> int:
    """The first 128 bits of 5**q."""
    if q >= 0:
        five = int(5**q)
        return five << _BITS >> five.bit_length()
    five = int(5**-q)
    bits = (five - 1).bit_length()  # the least with 2**bits >= five
    if q >= -27:
        return (1 << (bits + _BITS - 1)) // five + 1
    quotient = (1 << (2 * bits + _BITS)) // five + 1
    return quotient >> max(0, quotient.bit_length() - _BITS)
