"""Types of results: those of NumPy, but for the differences that are listed here."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linnet.algebra import table
from linnet.algebra.dtypes import DTYPES, canonical
from linnet.algebra.lookup import lookup
from linnet.algebra.table import FUNCTIONS
from linnet.errors import DTypeError

UFUNCS = {
    name: ufunc
    for name in sorted(dir(np))
    if isinstance(ufunc := getattr(np, name), np.ufunc) and lookup(ufunc) and ufunc.__name__ == name
}
# NumPy resolves these with Python numbers by way of float16.
HALF = set("ldexp heaviside logaddexp copysign nextafter hypot arctan2".split())
PYTHON = {"weak_bool": bool, "weak_int": int, "weak_float": float, "weak_complex": complex}

# Complex numbers have no order, and some functions of them are left out.
UNORDERED = set("minimum maximum fmin fmax less less_equal greater greater_equal".split())
NOT_COMPLEX = UNORDERED | set("expm1 log1p arcsin arccos arctan arcsinh arccosh arctanh".split())


def numpys(ufunc: np.ufunc, dtypes: tuple[str, ...]) -> tuple[str, ...] | None:
    given = tuple(PYTHON.get(d) or np.dtype(d) for d in dtypes)
    try:
        found = ufunc.resolve_dtypes((*given, None))
    except TypeError:
        return None
    return tuple(str(d) for d in found)


def ours(ufunc: np.ufunc, dtypes: tuple[str, ...]) -> tuple[str, ...] | None:
    try:
        args, result = lookup(ufunc).types(dtypes)
    except DTypeError:
        return None
    return (*args, result)


def excused(name: str, dtypes: tuple[str, ...], theirs, mine) -> bool:
    """Is this one of the differences from NumPy that are meant?"""
    kinds = {d.removeprefix("weak_")[0] for d in dtypes}
    if mine is None:
        return name in NOT_COMPLEX and "c" in kinds
    if name in ("floor", "ceil", "trunc") and not kinds & {"f", "c"}:
        return mine == dtypes * 2  # NumPy before 2.1 makes floats of integers
    if theirs is not None and not kinds & {"f", "c"} and name != "ldexp":
        # NumPy computes functions of small integers in float16 and float32
        return theirs[-1] in ("float16", "float32") and mine[-1] == "float64"
    if theirs is not None and name == "ldexp":
        return mine[0] in (theirs[0], "float64") and theirs[1] in ("int32", "int64")
    return False


@pytest.mark.parametrize("name", UFUNCS)
def test_types_are_numpys(name):
    ufunc = UFUNCS[name]
    for dtypes in itertools.product(DTYPES, repeat=ufunc.nin):
        theirs, mine = numpys(ufunc, dtypes), ours(ufunc, dtypes)
        if name.startswith("logical_"):  # NumPy has a loop per type; the result is the same
            mine = theirs and (*theirs[:-1], mine[-1])
        if name.startswith(("is", "signbit")):
            mine = theirs and mine and (*theirs[:-1], mine[-1])
        if name == "absolute" or theirs is None or mine is None:
            theirs, mine = theirs and theirs[-1:], mine and mine[-1:]
        assert mine == theirs or excused(name, dtypes, theirs, mine), (dtypes, mine, theirs)


@pytest.mark.parametrize("name", [n for n, u in UFUNCS.items() if u.nin == 2 and n not in HALF])
def test_python_numbers_are_weak(name):
    ufunc = UFUNCS[name]
    for dtype, weak in itertools.product(DTYPES, ("weak_int", "weak_float", "weak_complex")):
        for dtypes in ((dtype, weak), (weak, dtype)):
            theirs, mine = numpys(ufunc, dtypes), ours(ufunc, dtypes)
            theirs, mine = theirs and theirs[-1:], mine and mine[-1:]
            assert mine == theirs or excused(name, dtypes, theirs, mine), (dtypes, mine, theirs)


def test_python_numbers_alone_stay_weak():
    assert table.add.types(("weak_int", "weak_int")) == (("weak_int",) * 2, "weak_int")
    assert table.divide.types(("weak_int", "weak_int")) == (("weak_float",) * 2, "weak_float")
    assert table.sqrt.types(("weak_bool",)) == (("weak_float",), "weak_float")
    assert table.power.types(("weak_bool", "weak_bool"))[1] == "weak_int"
    assert table.absolute.types(("weak_complex",)) == (("weak_complex",), "weak_float")
    assert table.where.types(("bool", "weak_int", "float32"))[1] == "float32"


def test_a_comparison_with_a_number_that_does_not_fit():
    assert table.less.types(("int8", "weak_int")) == (("int64", "int64"), "bool")
    assert table.less.types(("uint64", "weak_int")) == (("uint64", "uint64"), "bool")
    assert table.less.types(("float32", "weak_int")) == (("float32", "float32"), "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions(dtype):
    function = FUNCTIONS[f"astype_{dtype}"]
    for source in DTYPES:
        assert function.types((source,)) == ((source,), dtype)
    for weak in PYTHON:
        (arg,), result = function.types((weak,))
        assert result == dtype
        assert canonical(arg) == arg


def test_functions_of_other_shapes():
    assert table.where.types(("int8", "int8", "float32")) == (
        ("bool", "float32", "float32"),
        "float32",
    )
    assert table.clip.types(("int8", "int16", "weak_int")) == (("int16",) * 3, "int16")
    assert table.first.types(("int8", "float64")) == (("int8", "float64"), "int8")
    assert table.last.types(("int8", "float64")) == (("int8", "float64"), "float64")
    assert table.choose(0).types(("int8", "float64")) == (("float64",) * 2, "float64")
    assert table.real.types(("complex64",)) == (("complex64",), "float32")
    assert table.rounded.types(("int8",)) == (("int8",), "int8")
    assert table.logical_and.types(("float64", "int8")) == (("bool", "bool"), "bool")


def test_a_refusal_says_what_and_why():
    with pytest.raises(DTypeError) as caught:
        table.subtract.types(("bool", "bool"))
    assert caught.value.message == "subtract is not defined for bool and bool"
    assert caught.value.why == "it takes integers, floats, complex numbers"
    with pytest.raises(DTypeError) as caught:
        table.bitwise_and.types(("int64", "uint64"))
    assert caught.value.why == "it takes booleans, integers, and these meet in float64"
    with pytest.raises(DTypeError, match="less is not defined for complex128 and int64"):
        table.less.types(("complex128", "weak_int"))
    with pytest.raises(DTypeError, match="ldexp is not defined for float64 and float64"):
        table.ldexp.types(("float64", "float64"))
