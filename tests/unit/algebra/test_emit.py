"""The code of every function gives what NumPy gives, at every edge, for all types it takes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.unit.algebra.evaluator import evaluate
from tests.unit.algebra.samples import edges, grid

from linnet import imp
from linnet.algebra import exact, table
from linnet.algebra.dtypes import DTYPES
from linnet.algebra.function import Function
from linnet.algebra.table import FUNCTIONS
from linnet.errors import DTypeError

# Pairs that do not differ in kind add little.
PAIRS = (
    *((d, d) for d in DTYPES),
    *itertools.permutations(
        ("bool", "int8", "uint8", "int64", "uint64", "float32", "complex64"), 2
    ),
)
CHOICES = [table.choose(0), table.choose(float("inf")), table.choose(float("nan"))]
ALL = [*FUNCTIONS.values(), *CHOICES]
# Of two zeros with different signs, either may be the smaller.
SIGNLESS = {table.minimum, table.maximum, table.fmin, table.fmax, table.clip}


def accepted(function: Function) -> list[tuple[str, ...]]:
    """Types of converted arguments that a function takes."""
    given = {1: [(d,) for d in DTYPES], 2: PAIRS}.get(function.arity)
    if function is table.where:
        given = [("bool", d, d) for d in DTYPES]
    found = {}
    for dtypes in given or [(d,) * function.arity for d in DTYPES]:
        try:
            found[function.types(dtypes)[0]] = None
        except DTypeError:
            continue
    return list(found)


def run(function: Function, args: list[np.ndarray], dtypes: tuple[str, ...]) -> np.ndarray:
    names = tuple("xyz"[: len(args)])
    code = function.emit(
        tuple(imp.Var(n, d) for n, d in zip(names, dtypes, strict=True)), function.types(dtypes)[1]
    )
    result = evaluate(code, dict(zip(names, args, strict=True)))
    return np.broadcast_to(result, args[0].shape)


def assert_same(function: Function, mine: np.ndarray, theirs: np.ndarray, where: object) -> None:
    assert mine.dtype == theirs.dtype, where
    if mine.dtype.kind in "biu":
        np.testing.assert_array_equal(mine, theirs, err_msg=str(where))
        return
    tolerance = 100 * np.finfo(mine.dtype).eps
    size = np.abs(theirs[np.isfinite(theirs)]).max(initial=0) if mine.dtype.kind == "c" else 0
    tiny = max(np.finfo(mine.dtype).smallest_subnormal, size * tolerance)
    np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tiny, err_msg=str(where))
    if mine.dtype.kind == "f" and function not in SIGNLESS:
        mine, theirs = (x[~np.isnan(theirs)] for x in (mine, theirs))
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs), err_msg=str(where))


@pytest.mark.parametrize("function", ALL, ids=repr)
def test_code_agrees_with_numpy(function):
    assert accepted(function)
    for dtypes in accepted(function):
        args = grid(*dtypes)
        with np.errstate(all="raise"):  # the meaning of a function never warns
            theirs = np.asarray(function.numpy(*args))
        assert str(theirs.dtype) == function.types(dtypes)[1], dtypes
        assert_same(function, run(function, args, dtypes), theirs, dtypes)


# Ours differ from the ufunc of that name: negative powers, integer division, complex infinities.
DIFFERENT = {table.power, table.reciprocal, table.sign}
UFUNCS = [
    (function, ufunc)
    for function in FUNCTIONS.values()
    if isinstance(ufunc := getattr(np, function.name, None), np.ufunc) and function not in DIFFERENT
]


@pytest.mark.parametrize(("function", "ufunc"), UFUNCS, ids=repr)
def test_meaning_is_numpys(function, ufunc):
    for dtypes in accepted(function):
        args = grid(*dtypes, most=500)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(function.numpy(*args), ufunc(*args))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d[0] in "iu"])
@pytest.mark.parametrize(
    "function",
    [table.floor_divide, table.remainder, table.power, table.left_shift, table.right_shift],
    ids=repr,
)
def test_a_known_second_argument(function, dtype):
    x = edges(dtype)
    for value in edges(dtype):
        code = function.emit((imp.Var("x", dtype), imp.Const(int(value), dtype)), dtype)
        theirs = np.asarray(function.numpy(x, np.full_like(x, value)))
        mine = np.broadcast_to(evaluate(code, {"x": x}), x.shape)
        assert_same(function, mine, theirs, (dtype, value))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [table.floor_divide, table.remainder], ids=repr)
def test_division_of_random_floats(function, dtype):
    random = np.random.default_rng(7)
    for spread in (1, 8, 30):
        args = [
            (random.standard_normal(500) * np.exp(random.uniform(-spread, spread, 500))).astype(
                dtype
            )
            for _ in range(2)
        ]
        args[0][:100] = (args[1][:100] * random.integers(-50, 50, 100)).astype(dtype)
        theirs = np.asarray(function.numpy(*args))
        np.testing.assert_array_equal(run(function, args, (dtype, dtype)), theirs)


def test_division_by_a_power_of_two_is_a_shift():
    i = imp.Var("i")
    assert table.floor_divide.emit((i, imp.Const(4, "int64")), "int64") == imp.Binary(
        ">>", i, imp.Const(2, "int64"), "int64"
    )
    assert table.remainder.emit((i, imp.Const(4, "int64")), "int64") == imp.Binary(
        "&", i, imp.Const(3, "int64"), "int64"
    )


def test_negative_powers_of_integers():
    base = np.array([-2, -1, 0, 1, 2], "int8")
    for exponent, expected in ((-1, [0, -1, 0, 1, 0]), (-2, [0, 1, 0, 1, 0])):
        result = table.power.numpy(base, np.full(5, exponent, "int8"))
        assert list(result) == expected


def test_reciprocals_of_integers():
    assert list(table.reciprocal.numpy(np.array([-2, -1, 0, 1, 2]))) == [0, -1, 0, 1, 0]


def test_floats_out_of_range_become_the_limits():
    x = np.array([np.nan, np.inf, -np.inf, 1e300, -1.9, 300.7])
    assert list(table.astype["int8"].numpy(x)) == [0, 127, -128, 127, -1, 127]
    assert list(table.astype["uint64"].numpy(x)) == [0, 2**64 - 1, 0, 2**64 - 1, 0, 300]
    assert list(table.astype["int64"].numpy(x)) == [0, 2**63 - 1, -(2**63), 2**63 - 1, -1, 300]


def test_conversions_of_complex_numbers():
    z = np.array([0j, 2j, 1 + 2j])
    assert list(table.astype["float32"].numpy(z)) == [0, 0, 1]
    assert list(table.astype["bool"].numpy(z)) == [False, True, True]


def test_choose():
    assert table.choose(0) is table.choose(0)
    assert table.choose(0) is not table.choose(0.0)
    pick = table.choose(0).numpy
    assert list(pick(np.array([0, 1, 0]), np.array([5, 6, 0]))) == [5, 1, 0]


def test_constants_are_folded_with_their_types():
    assert exact.apply(table.add, (True, True), ("bool", "bool")) is True
    assert exact.apply(table.add, (100, 100), ("int8", "int8")) == -56
    assert exact.apply(table.divide, (1, 4), ("int8", "weak_int")) == 0.25
    assert exact.apply(table.floor_divide, (7, 0), ("weak_int", "weak_int")) == 0
    assert exact.apply(table.logical_and, (2.5, 1), ("float64", "weak_int")) is True
    assert exact.apply(table.minimum, (1, 2.0), ("weak_int", "float32")) == 1.0
    assert exact.apply(table.astype["uint64"], (2**64 - 1,), ("weak_int",)) == 2**64 - 1
    for function in (table.floor, table.ceil, table.trunc, table.rounded):
        assert exact.apply(function, (2**60 + 1,), ("int64",)) == 2**60 + 1
    with pytest.raises(DTypeError, match="the value 300 does not fit the dtype int8"):
        exact.apply(table.add, (1, 300), ("int8", "weak_int"))
