"""What codelets do to numbers beyond arithmetic: multiply and add at once, look at the bits.

Called in a codelet, these are instructions of the machine; called from Python, they are exact.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction


def fma(a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # though the product may be out of range
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c  # for its sign
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def bits(x: float) -> int:
    """The 64 bits of a float, as a signed integer."""
    found: int = struct.unpack("q", struct.pack("d", x))[0]
    return found


def from_bits(n: int) -> float:
    """The float that has these 64 bits."""
    found: float = struct.unpack("d", struct.pack("Q", int(n) & 0xFFFFFFFFFFFFFFFF))[0]
    return found


def lowest_bit(n: int) -> int:
    """The number of the lowest bit of an integer that is set; of 0, there is none."""
    return (int(n) & -int(n)).bit_length() - 1


def count_bits(n: int) -> int:
    """How many of the 64 bits of an integer are set."""
    return (int(n) & 0xFFFFFFFFFFFFFFFF).bit_count()
