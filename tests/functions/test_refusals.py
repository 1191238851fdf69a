"""What is no function: the error shows the user's line, says why, and what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linnet as ln
from linnet.algebra import table
from linnet.errors import ArgumentError, KernelSyntaxError, LinnetError

TABLE = [1, 2, 3]


def used(function: ln.Function, *dtypes: str) -> LinnetError:
    """The error that comes when a function is compiled for these types."""
    with pytest.raises(LinnetError) as caught:
        function.types(dtypes or ("float64",) * function.arity)
    return caught.value


def line_of(error: LinnetError) -> str:
    assert error.at is not None
    assert error.at.file == __file__
    return error.at.text.strip()


def test_not_a_function():
    with pytest.raises(ArgumentError, match="wants a Python function"):
        ln.function(3)
    with pytest.raises(ArgumentError, match="wants a Python function"):
        ln.function(math.sqrt)


def test_parameters_are_plain():
    with pytest.raises(ArgumentError, match="must be plain names") as caught:
        ln.function(lambda x, y=1: x + y)
    assert "y=1" in line_of(caught.value)


def test_text_that_is_not_there():
    made = eval("lambda x: x + 1")
    with pytest.raises(KernelSyntaxError, match="is not available"):
        ln.function(made)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"identity": "zero"}, "not a number"),
        ({"identity": {0: "z"}}, "no argument 'z'"),
        ({"annihilator": {0: 7}}, "no argument 7"),
        ({"distributes_over": [len]}, "not a function that Linnet knows"),
        ({"iteration_space": "x + y"}, "is not one"),
        ({"iteration_space": "x | z"}, "no argument 'z'"),
        ({"iteration_space": "~x"}, "outside its iteration space"),
        ({"name": "no name"}, "is not a name"),
    ],
    ids=str,
)
def test_claims_that_are_none(claims, said):
    with pytest.raises(ArgumentError, match=said) as caught:
        ln.function(lambda x, y: x + y, **claims)
    assert "ln.function" in line_of(caught.value)


def test_identity_of_three_arguments():
    with pytest.raises(ArgumentError, match="two arguments"):
        ln.function(lambda x, y, z: x + y + z, identity=0)


def test_dtype_that_is_none():
    with pytest.raises(ln.errors.DTypeError):
        ln.function(lambda x: x, dtype="float7")


def test_cases_that_are_none():
    f = ln.function(lambda x, y: x + y)
    with pytest.raises(ArgumentError, match="takes 2 arguments"):
        f.case(y=0)(lambda x: x)
    with pytest.raises(ArgumentError, match="no argument 'z'"):
        f.case(z=0)(lambda x, y: x)
    with pytest.raises(ArgumentError, match="is for a value"):
        f.case()(lambda x, y: x)
    with pytest.raises(ArgumentError, match="built in"):
        table.add.case(y=0)(lambda x, y: x)


def comprehension(x):
    return sum([x for _ in range(3)])


def indexed(x):
    return TABLE[1] * x


def unknown_name(x):
    return x + nowhere  # noqa: F821


def text_inside(x):
    return x + "1"


def no_number(x):
    return x + TABLE


def by_keyword(x):
    return max(x, default=3)


def before_a_value(x):
    if x > 0:
        y = 1
    return x + y


def sometimes_nothing(x):  # noqa: RET503
    if x > 0:
        return x


def opened(x):
    with open("file"):  # noqa: PTH123
        return x


def ceased(x):
    try:
        return 1 / x
    finally:
        pass


def a_method(x):
    return x.sum()


def wrong_count(x):
    return math.hypot(x)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (comprehension, "return sum([x for _ in range(3)])"),
        (indexed, "return TABLE[1] * x"),
        (unknown_name, "return x + nowhere  # noqa: F821"),
        (text_inside, 'return x + "1"'),
        (no_number, "return x + TABLE"),
        (by_keyword, "return max(x, default=3)"),
        (before_a_value, "return x + y"),
        (sometimes_nothing, "def sometimes_nothing(x):  # noqa: RET503"),
        (opened, 'with open("file"):  # noqa: PTH123'),
        (ceased, "try:"),
        (a_method, "return x.sum()"),
        (wrong_count, "return math.hypot(x)"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_python_that_is_outside(text, line):
    assert line_of(used(ln.function(text))) == line


def test_nothing_is_returned():
    def idle(x):
        x = x + 1

    assert "returns no value" in str(used(ln.function(idle)))


@pytest.mark.parametrize(
    ("text", "dtypes", "said"),
    [
        (lambda x, y: x & y, ("float64", "float64"), "bitwise_and is not defined for float64"),
        (lambda x, y: x < y, ("complex128", "float64"), "less is not defined for complex128"),
        (lambda x, y: x + 300 + y, ("int8", "int8"), "does not fit"),
        (lambda x, y: math.floor(x) + y, ("complex64", "int8"), "floor is not defined"),
    ],
)
def test_types_that_are_outside(text, dtypes, said):
    error = used(ln.function(text), *dtypes)
    assert said in error.message
    assert "lambda x, y" in line_of(error)


def test_mutual_recursion():
    @ln.function
    def even(n):
        if n == 0:
            return True
        return odd(n - 1)

    @ln.function
    def odd(n):
        if n == 0:
            return False
        return even(n - 1)

    assert "call each other" in str(used(even, "int64"))


def test_error_in_a_kernel_is_at_the_line_of_the_function():
    f = ln.function(lambda x: x.nonsense)

    @ln.kernel
    def apply(r, a):
        r[...] = 0
        for i in ...:
            r[i] = f(a[i])

    with pytest.raises(KernelSyntaxError) as caught:
        apply(ln.empty_tensor(ln.DENSE(1)), np.ones(3))
    assert "x.nonsense" in line_of(caught.value)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        (lambda x: math.sqrt(x), -1.0, math.nan),
        (lambda x: math.exp(x), 1e5, math.inf),
        (lambda x: 1 / x, 0.0, math.inf),
        (lambda x: x // 0, np.int32(4), 0),
        (lambda x: int(x) + 1, math.nan, 1),
        (lambda x: x**-1, np.int64(5), 0),
        (lambda x: min(x, 1.0), math.nan, math.nan),
    ],
)
def test_what_python_refuses_has_a_value(text, value, expected):
    found = ln.function(text)(value)
    assert found == expected or (found != found and expected != expected)
