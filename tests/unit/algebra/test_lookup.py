"""Functions are found by operator, by name, and by the functions of Python and NumPy."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np
import pytest

from linnet.algebra import table
from linnet.algebra.lookup import by_name, by_symbol, by_update, lookup, on


def test_operators():
    assert by_symbol["+"] is table.add
    assert by_symbol["-"] is table.subtract
    assert by_symbol["unary -"] is table.negative
    assert by_symbol["~"] is table.bitwise_invert
    assert by_symbol["not"] is table.logical_not
    binary = "+ - * / // % ** << >> & | ^ and or == != < <= > >="
    assert set(by_symbol) == {*binary.split(), "unary -", "unary +", "~", "not"}


def test_updates():
    assert by_update["+="] is table.add
    assert by_update["|="] is table.bitwise_or
    assert by_update["min="] is table.minimum
    assert table.bitwise_or.types(("bool", "bool")) == (("bool", "bool"), "bool")


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (builtins, "min max abs pow float int bool complex round"),
        (
            math,
            """sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh
            tanh asinh acosh atanh atan2 hypot copysign nextafter floor ceil trunc isnan isinf
            isfinite gcd lcm ldexp fmod fabs""",
        ),
        (
            operator,
            """add sub mul truediv floordiv mod pow and_ or_ xor invert lshift rshift eq ne lt le
            gt ge neg pos abs not_""",
        ),
        (
            np,
            """add subtract multiply divide floor_divide mod power minimum maximum fmin fmax
            logical_and logical_or logical_not logical_xor bitwise_and invert left_shift equal
            negative absolute sign sqrt arcsin arctan2 rint round signbit real imag conj where clip
            square reciprocal gcd lcm ldexp logaddexp heaviside float32 int8 bool""",
        ),
    ],
)
def test_functions_of_python_and_numpy(module, names):
    for name in names.split():
        assert lookup(getattr(module, name)) is by_name[name], name


def test_what_differs():
    assert lookup(math.pow) is table.float_power
    assert lookup(math.remainder) is None
    assert lookup(np.min) is None
    assert lookup(sum) is None
    assert lookup("no_such_function") is None
    assert lookup([]) is None
    assert lookup(3) is None


def test_other_ways():
    assert lookup(table.add) is table.add
    assert lookup("minimum") is lookup("min") is table.minimum
    assert lookup(np.longlong) is table.astype["int64"]
    assert lookup(np.float16) is None


def test_on_booleans_another_row_says_more():
    assert on(table.add, "bool") is table.logical_or
    assert on(table.add, "int8") is table.add
    for function in (table.add, table.multiply, table.maximum, table.bitwise_xor, table.not_equal):
        other = on(function, "bool")
        a, b = (m.ravel() for m in np.meshgrid([False, True], [False, True]))
        assert (other.numpy(a, b) == function.numpy(a, b)).all()


def test_every_row_is_named_once():
    assert all(by_name[name] is row for name, row in table.FUNCTIONS.items())
    symbols = [(f.symbol, f.arity) for f in table.FUNCTIONS.values() if f.symbol]
    assert len(symbols) == len(set(symbols))
