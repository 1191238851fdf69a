"""Every ufunc of NumPy is built in, or there is a reason why not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.algebra.samples import grid
from tests.unit.algebra.test_emit import accepted

import linnet as ln
from linnet.algebra.lookup import lookup
from linnet.algebra.table import PAIRS
from linnet.testing import dense

UFUNCS = {n: u for n in sorted(dir(np)) if isinstance(u := getattr(np, n), np.ufunc)}
REASONS = {
    "isnat": "there are no dates",
    "matmul": "a function of arrays, not of elements: ln.matmul",
    "vecdot": "a function of arrays, not of elements: ln.vecdot",
    "matvec": "a function of arrays, not of elements: A @ x",
    "vecmat": "a function of arrays, not of elements: x @ A",
}
# These differ from the ufunc on purpose: NumPy raises or depends on the machine.
DIFFERENT = {
    "power": "negative powers of integers are refused by NumPy",
    "pow": "negative powers of integers are refused by NumPy",
    "reciprocal": "that of an integer 0 depends on the machine",
    "sign": "of complex infinities",
}
ELEMENTS = [n for n in UFUNCS if n not in REASONS and n not in PAIRS]


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_is_there(name):
    if name in REASONS:
        assert lookup(UFUNCS[name]) is None
    else:
        assert name in PAIRS or lookup(UFUNCS[name]) is lookup(name)
        assert hasattr(ln, name)


def test_no_reason_is_out_of_date():
    assert set(REASONS) <= {*UFUNCS, "matvec", "vecmat"}  # which older versions of NumPy have not
    assert set(DIFFERENT) - {"pow"} <= set(UFUNCS)


@pytest.mark.parametrize("name", [n for n in ELEMENTS if n not in DIFFERENT])
def test_functions_mean_what_ufuncs_mean(name):
    function = lookup(name)
    for dtypes in accepted(function):
        args = grid(*dtypes, most=300)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(function.numpy(*args), UFUNCS[name](*args))


NUMBERS = {
    "float64": [0.0, -0.0, 1.0, 0.5, -2.75, 1e300, -5e-324, 3e-310, np.inf, -np.inf, np.nan],
    "float32": [0.0, -0.0, 1.0, 0.5, -2.75, 1e30, -1e-45, 1e-40, np.inf, -np.inf, np.nan],
    "int64": [0, 1, -1, 7, -8, 2**62, -(2**62) - 5],
    "uint8": [0, 1, 2, 255],
    "bool": [False, True],
}


@pytest.mark.parametrize("format", [ln.CSF(1), ln.DENSE(1), ln.COO(1), ln.RunList(ln.Element())])
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["modf", "frexp"])
def test_two_results_of_one_argument(name, dtype, format):
    values = np.array(NUMBERS[dtype], dtype)
    got = getattr(ln, name)(ln.asarray(values, format=format))
    wide = values if dtype[0] == "f" else values.astype("float64")  # there is no float16
    compare(got, getattr(np, name)(wide))


@pytest.mark.parametrize("dtype", [d for d in NUMBERS if d != "bool"])
def test_quotient_and_remainder(dtype):
    a, b = (v.ravel() for v in np.meshgrid(*[np.array(NUMBERS[dtype], dtype)] * 2))
    with np.errstate(all="ignore"):
        want = np.divmod(a, b)
    compare(ln.divmod(ln.asarray(a, format=ln.DENSE(1)), ln.asarray(b, format=ln.CSF(1))), want)
    meant = (a != 0) | (dtype[0] in "iu")  # what is not stored is an exact 0, and 0 // 0 is 0
    got = np.divmod(ln.asarray(a, format=ln.COO(1)), b)
    compare(tuple(dense(x)[meant] for x in got), tuple(x[meant] for x in want))


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_quotients_of_complex_edges(dtype, backend):
    """A divisor is zero if both parts are: one that is NaN beside a zero gives NaN."""
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    numbers = np.array([complex(x, y) for x in parts for y in parts], dtype)
    a, b = (v.ravel() for v in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        want = a / b
    with ln.config(backend=backend):
        got = dense(ln.asarray(a) / ln.asarray(b))
    for x, y in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_allclose(x, y, rtol=1e-6)
        signed = ~np.isnan(y) & (np.abs(b) > 0)
        np.testing.assert_array_equal(np.signbit(x)[signed], np.signbit(y)[signed])


@pytest.mark.parametrize("fill", [0, 3])
@pytest.mark.parametrize("other", [3, -2, 2.5])
def test_quotient_and_remainder_of_numbers(other, fill):
    a = np.array([[3, -7, 0], [5, 3, 12]])
    A = ln.asarray(a, format=ln.CSR, fill_value=fill)
    with np.errstate(all="ignore"):
        compare(divmod(A, other), divmod(a, other))
        compare(divmod(other, A), divmod(other, a))
    first, second = divmod(A, other)
    assert (first.nnz, second.nnz) == (A.nnz, A.nnz)  # the fill value has changed
    assert (first.fill_value, second.fill_value) == divmod(fill, other)


def test_both_results_come_from_one_kernel():
    A = ln.lazy(ln.asarray(np.array([[0.0, 2.5], [-1.25, 0.0]]), format=ln.CSR))
    both = ln.modf(A)
    assert all(isinstance(x, ln.Lazy) for x in both)
    compare(ln.compute(*both), np.modf(A.compute().to_numpy()))
    assert ln.divmod(-7, 2) == (-4, 1)
    assert ln.modf(-2.75) == (-0.75, -2.0)


def test_results_in_places_that_are_given():
    a = np.array([0.0, 2.5, -1.25])
    first, second = np.empty(3), np.empty(3)
    found = np.modf(ln.asarray(a, format=ln.CSF(1)), out=(first, second))
    assert found[0] is first
    compare(found, np.modf(a))


def compare(got, want) -> None:
    assert isinstance(got, tuple)
    for mine, theirs in zip(got, want, strict=True):
        assert mine.dtype == theirs.dtype
        mine = dense(mine) if isinstance(mine, ln.Tensor) else mine
        np.testing.assert_array_equal(mine, theirs)
        if theirs.dtype.kind == "f":
            plain = ~np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(mine)[plain], np.signbit(theirs)[plain])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_powers_of_floats(dtype, backend):
    """A square is rounded once; other powers are those of the C library."""
    numbers = [0.0, 1.5, 3.1, 1e-30, 1e30, 7e-46, np.inf, np.nan]
    bases = np.array([sign * x for x in numbers for sign in (1, -1)], dtype)
    exponents = np.array([2, 3, -2, 0.5, -1, 0, 1, 1.7, np.inf, -np.inf, np.nan], dtype)
    x, n = (part.ravel() for part in np.meshgrid(bases, exponents))
    with ln.config(backend=backend):
        found = dense(ln.asarray(x, format=ln.COO) ** ln.asarray(n, format=ln.COO))
    with np.errstate(all="ignore"):
        expected = np.power(np.stack([x, x]), np.stack([n, n]))[0]
        squares = x * x
    tiny = np.finfo(dtype).smallest_subnormal
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=tiny)
    np.testing.assert_array_equal(found[n == 2], squares[n == 2])
