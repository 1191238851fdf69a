"""Names, limits and promotion of value types."""

from __future__ import annotations

import numpy as np
import pytest

from linnet.algebra.dtypes import (
    DTYPES,
    as_python,
    canonical,
    highest,
    lowest,
    promote,
    weak_dtype,
)
from linnet.errors import DTypeError


@pytest.mark.parametrize("dtype", DTYPES)
def test_names(dtype):
    for given in (dtype, np.dtype(dtype), np.dtype(dtype).type, np.dtype(dtype).newbyteorder()):
        assert canonical(given) == dtype


@pytest.mark.parametrize(
    "given", ["float16", "i3", "f8,(", [("a", "i4")], {}, object, "datetime64"]
)
def test_what_is_not_held(given):
    with pytest.raises(DTypeError):
        canonical(given)


def test_promotion():
    assert promote("int8", "uint8") == "int16"
    assert promote("int64", "uint64") == "float64"
    assert promote("float32", "weak_float") == "float32"
    assert promote("int8", "weak_float") == "float64"
    assert promote("bool", "weak_int") == "int64"
    assert promote("weak_int", "weak_float") == "weak_float"


def test_weak_types():
    assert [weak_dtype(v) for v in (True, 1, 1.0, 1j)] == [
        "weak_bool",
        "weak_int",
        "weak_float",
        "weak_complex",
    ]
    assert weak_dtype(np.float64(1)) == "weak_float"


def test_limits():
    assert (lowest("int8"), highest("int8")) == (-128, 127)
    assert (lowest("bool"), highest("bool")) == (False, True)
    assert highest("uint64") == 2**64 - 1
    assert lowest("float32") == -np.inf


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1, "float64", 1.0),
        (2.0, "int8", 2),
        (True, "int8", 1),
        (1 + 0j, "float64", 1.0),
        (3, "complex64", 3 + 0j),
        (2**64 - 1, "uint64", 2**64 - 1),
        (np.int64(5), "uint8", 5),
        (float("inf"), "float32", float("inf")),
    ],
)
def test_values_that_fit(value, dtype, expected):
    result = as_python(value, dtype)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, "int8"),
        (np.int64(300), "int8"),
        (-1, "uint64"),
        (2**64, "uint64"),
        (2, "bool"),
        (1.5, "int64"),
        (float("nan"), "int64"),
        (1e300, "float32"),
        (1 + 2j, "float64"),
        ([1, 2], "int64"),
        ("x", "float64"),
        (None, "bool"),
        (object(), "float64"),
    ],
)
def test_values_that_do_not_fit(value, dtype):
    with pytest.raises(DTypeError, match="does not fit"):
        as_python(value, dtype)
