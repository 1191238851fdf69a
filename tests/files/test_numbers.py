"""Numbers in text: the compiled reader gives what Python's `float` gives, to the last bit."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet.files.numbers import nearest, read_real, read_whole
from linnet.files.powers import GREATEST, LEAST, powers
from linnet.files.stream import PADDING
from linnet.runtime.routine import Routine

real, whole = Routine(read_real), Routine(read_whole)


def read(text: str, reader: Routine = real) -> float | int | None:
    """The number in a text; None if it is left to Python."""
    line = np.frombuffer(text.encode() + b"\n" + bytes(PADDING), np.uint8)
    value = np.zeros(1, np.uint64)
    if reader is real:
        end = real(line, 0, value, 0, powers())
        found: float | int = value.view(np.float64)[0].item()
    else:
        end = whole(line, 0, value, 0)
        found = value.view(np.int64)[0].item()
    if end < 0:
        return None
    assert end == len(text)
    return found


def same(text: str) -> bool:
    """Whether the reader gave the bits that Python gives; it always knows short numbers."""
    found = read(text)
    return found is None or struct.pack("d", found) == struct.pack("d", float(text))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_shortest_forms(x: float):
    assert same(repr(x))
    if abs(x) > 1e-300 and abs(x) < 1e300:
        assert read(repr(x)) is not None


@given(st.integers(0, 10**19 - 1), st.integers(LEAST - 5, GREATEST + 5))
def test_any_digits_and_exponent(w: int, q: int):
    assert same(f"{w}e{q}")
    assert same(f"-{w}E{q:+}")


@given(st.integers(2**52, 2**53 - 1), st.integers(-30, 30), st.sampled_from([-1, 0, 1]))
def test_next_to_halfway(mantissa: int, power: int, off: int):
    """Exactly between two doubles, and the last digit off that."""
    exact = (2 * mantissa + 1) * 2**power if power >= 0 else 2 * mantissa + 1
    if exact < 10**19:
        assert same(str(exact + off))
        assert same(f"{exact + off}.0")


@given(st.floats(-1e9, 1e9), st.integers(0, 17), st.sampled_from("feg"))
def test_printed_forms(x: float, digits: int, form: str):
    assert same(f"{x:.{digits}{form}}")


@pytest.mark.parametrize(
    "text",
    ["0", "-0", "0.0", "-0.0", "1", "+3.5", ".5", "5.", "-.25e1", "0e999", "00012.500", "1e22",
     "1e23", "9007199254740993", "9007199254740992.5", "8.5e-9", "0.000000000000000000000012",
     "1.7976931348623157e308", "2.2250738585072014e-308"],
)  # fmt: skip
def test_read_here(text: str):
    assert read(text) is not None
    assert same(text)


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "e5", "1e", "1e+", "1x", "nan", "inf", "1.5.2", "--1", "12345678901234567890",
     "1e400", "4.9e-324", "1e9999999999"],
)  # fmt: skip
def test_left_to_python(text: str):
    assert read(text) is None


def test_fortran_exponents():
    assert read("1.5d3") == read("1.5D+03") == 1500.0


@given(st.integers(-(10**18) + 1, 10**18 - 1))
def test_integers(w: int):
    assert read(str(w), whole) == w


@pytest.mark.parametrize("text", ["", "-", "1.0", "1e3", "x", "1000000000000000000000"])
def test_integers_left_to_python(text: str):
    assert read(text, whole) is None


def test_the_same_in_plain_python():
    """The codelet means what its text says."""
    with np.errstate(over="ignore"):
        bits = nearest(np.uint64(15), -1, list(powers()))
    assert struct.unpack("d", struct.pack("Q", int(bits)))[0] == 1.5


def test_powers_have_their_first_bit_set():
    high = powers()[::2]
    assert len(high) == GREATEST - LEAST + 1
    assert (high >> np.uint64(63)).all()
    ten = powers()[2 * (1 - LEAST)]  # 5 is 0b101
    assert int(ten) == 5 << 61
