"""What a kernel assigns must fit what it is assigned to: nothing is cut off without a word."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import DTypeError


@ln.kernel
def halved(y, x):
    for i in ...:
        y[i] = x[i] / 2
    return y


@ln.kernel
def added(y, x):
    for i in ...:
        y[i] += x[i] / 2
    return y


@ln.kernel
def cut(y, x):
    for i in ...:
        y[i] = int(x[i] / 2)
    return y


@ln.kernel
def narrow(y, x):
    for i in ...:
        y[i] = np.int16(ln.floor(x[i] / 2))
    return y


@ln.kernel
def same(y, x):
    for i in ...:
        y[i] = x[i]
    return y


def held(dtype):
    return ln.asarray(np.zeros(4, dtype))


X = np.array([1.0, 3.0, -3.0, 4.0])


@pytest.mark.parametrize("kernel", [halved, added])
@pytest.mark.parametrize("dtype", ["int64", "int16", "uint8", "bool"])
def test_floats_in_integers(kernel, dtype):
    y = held(dtype)
    with pytest.raises(DTypeError, match=f"`y` has dtype {dtype}, and .* float64") as error:
        kernel(y, X)
    assert error.value.at is not None
    assert "/ 2" in error.value.at.text
    assert error.value.why == "digits would be lost without a word"
    assert not y.to_numpy().any()


def test_what_the_error_says_can_be_written():
    with pytest.raises(DTypeError) as error:
        halved(held("int64"), X)
    assert "int(…) cuts off, int(ln.floor(…)) rounds down" in str(error.value)
    assert cut(held("int64"), X).to_numpy().tolist() == [0, 1, -1, 2]
    with pytest.raises(DTypeError) as error:
        halved(held("int16"), X)
    assert "np.int16(…) cuts off, np.int16(ln.floor(…))" in str(error.value)
    assert narrow(held("int16"), X).to_numpy().tolist() == [0, 1, -2, 2]


@pytest.mark.parametrize(
    ("target", "source"),
    [("float64", "complex128"), ("int64", "float32"), ("uint8", "int64"), ("bool", "int8")],
)
def test_other_kinds(target, source):
    with pytest.raises(DTypeError, match=f"what is assigned here is {source}"):
        same(held(target), held(source))


@pytest.mark.parametrize(
    ("target", "source"),
    [("float32", "float64"), ("int8", "int64"), ("complex64", "float64"), ("int32", "bool")],
)
def test_one_kind_takes_another_width(target, source):
    assert same(held(target), held(source)).dtype == target


@pytest.mark.parametrize(("dtype", "number"), [("int64", 0.5), ("uint8", 300), ("uint8", -1)])
def test_numbers_that_do_not_fit(dtype, number):
    @ln.kernel
    def written(y):
        for i in ...:
            y[i] = number
        return y

    with pytest.raises(DTypeError):
        written(held(dtype))


@pytest.mark.parametrize(
    ("dtype", "number"), [("int64", 2.0), ("uint8", 255), ("bool", 1), ("float32", 0.1)]
)
def test_numbers_that_fit(dtype, number):
    @ln.kernel
    def written(y):
        for i in ...:
            y[i] = number
        return y

    assert written(held(dtype)).to_numpy().tolist() == np.full(4, number, dtype).tolist()


@pytest.mark.parametrize("equation", ["y[i] = x[i] / 2", "y[i] += x[i] / 2"])
def test_equations(equation):
    whole = ln.DENSE(1).with_dtype("int64")
    with pytest.raises(DTypeError, match="int64"):
        ln.einsum(equation, x=X, format=whole)
    found = ln.einsum("y[i] = int(x[i] / 2)", x=X, format=whole)
    assert found.to_numpy().tolist() == [0, 1, -1, 2]
