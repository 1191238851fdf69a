"""Operations with numbers by the short way are what the general way gives, for every number."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.api.calls import operator as generally
from linnet.runtime import recall
from linnet.runtime.bound import Operation

OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
NUMBERS = [2, 3, -3, 0, 2.5, -2.5, -0.0, 1.0, 300, 1e300, float("inf"), float("nan"), True]
MIRRORED = {"less": "greater", "greater": "less"}
MIRRORED |= {"less_equal": "greater_equal", "greater_equal": "less_equal"}
FEW = ["add", "multiply", "divide", "remainder", "bitwise_and", "less"]
FORMATS = {
    "csr": lambda fill: ln.CSR.with_fill(fill),
    "dense": lambda fill: ln.DENSE(2),
    "coo": lambda fill: ln.COO(2).with_fill(fill),
}


def told(run: Any) -> Any:
    """Everything about a result, or about the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = run()
        except (ln.LinnetError, OverflowError, TypeError) as error:
            return type(error), str(error).splitlines()[0]
    contents = found.contents()
    buffers = [(str(b.dtype), b.array.tobytes()) for b in contents.buffers]
    return contents.format, repr(contents.format.fill_value), found.shape, buffers


def operand(name, fill, dtype):
    shape = (4, 3)
    rng = np.random.default_rng(3)
    values = np.where(rng.random(shape) < 0.5, rng.integers(1, 9, shape), fill).astype(dtype)
    return ln.asarray(values, format=FORMATS[name](np.dtype(dtype).type(fill).item()))


@pytest.mark.parametrize(
    ("name", "fill", "dtype"),
    [
        ("csr", 0, "float64"),
        ("csr", 5, "float32"),
        ("csr", 0, "int8"),
        ("coo", 1, "uint8"),
        ("csr", 0, "bool"),
        ("dense", 0, "float64"),
    ],
)
def test_every_number_as_by_the_general_way(name, fill, dtype):
    x = operand(name, fill, dtype)
    for function in OPERATORS if dtype == "float64" else FEW:
        symbol = OPERATORS[function]
        for number in NUMBERS:
            for _ in range(2):  # the second time as the first, whatever was called in between
                found = told(lambda s=symbol, n=number: s(x, n))
                assert found == told(lambda f=function, n=number: generally(f, x, n))
            mirrored = (function, number, x)
            if function in MIRRORED:  # as Python does
                mirrored = (MIRRORED[function], x, number)
            found = told(lambda s=symbol, n=number: s(n, x))
            assert found == told(lambda m=mirrored: generally(*m))


def test_one_kernel_for_all_numbers():
    x = operand("csr", 0, "float64")
    (x * 2.5).to_numpy()
    before = len(recall.KNOWN._known)
    for number in np.linspace(2, 3, 50).tolist():
        np.testing.assert_array_equal((x * number).to_numpy(), x.to_numpy() * number)
        np.testing.assert_array_equal((number * x).to_numpy(), x.to_numpy() * number)
    assert len(recall.KNOWN._known) <= before + 1
    assert any(type(r) is Operation and r.number for r in recall.KNOWN._known.values())


def test_fill_values_follow_the_number():
    x = operand("csr", 0, "float64")
    for number in (2.5, 3.5, -4.5):
        found = x + number
        assert found.fill_value == number
        assert found.nnz == x.nnz
        np.testing.assert_array_equal(found.to_numpy(), x.to_numpy() + number)
    assert {(x * number).fill_value for number in (2.5, 3.5, -4.5)} == {0.0}


def test_numbers_that_do_not_fit_are_refused_the_second_time_too():
    x = operand("csr", 0, "int8")
    assert (x * 2).dtype == x.dtype
    for _ in range(2):
        with pytest.raises((ln.LinnetError, OverflowError)):
            x * 300
