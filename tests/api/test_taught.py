"""What the Array API's own test suite found here, kept as tests of our own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.api.operands import matrix, same
from tests.unit.algebra.samples import is_open

import linnet as ln

INF, NAN = np.inf, np.nan
PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 30.0, 1e200, INF, -INF, NAN]
NUMBERS = np.array([complex(x, y) for x, y in itertools.product(PARTS, PARTS)])
NAMES = "acos acosh asin asinh atan atanh sinh cosh tanh".split()


@pytest.mark.parametrize("name", NAMES)
def test_complex_functions_know_the_special_cases_of_c(name: str):
    with np.errstate(all="ignore"):
        theirs = getattr(np, name)(NUMBERS)
    ours = getattr(ln, name)(ln.asarray(NUMBERS)).to_numpy()
    here = ~is_open(name, NUMBERS)
    for mine, other in ((ours.real, theirs.real), (ours.imag, theirs.imag)):
        mine, other = mine[here], other[here]
        np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize(
    ("name", "z", "expected"),
    [
        ("exp", complex(-INF, INF), 0j),
        ("exp", complex(INF, NAN), complex(INF, NAN)),
        ("expm1", complex(INF, 0.0), complex(INF, 0.0)),
        ("expm1", complex(-INF, NAN), complex(-1.0, 0.0)),
        ("expm1", complex(-0.0, 0.0), 0j),
        ("log1p", complex(-1.0, 0.0), complex(-INF, 0.0)),
        ("log1p", complex(1e-8, 0.0), complex(9.99999995e-09, 0.0)),
        ("log1p", complex(NAN, INF), complex(INF, NAN)),
        ("sign", complex(-0.0, 0.0), 0j),
        ("tanh", complex(INF, 1.0), complex(1.0, 0.0)),
        ("tanh", complex(INF, 2.0), complex(1.0, 0.0)),
        ("tanh", complex(-INF, INF), complex(-1.0, 0.0)),
        ("tan", complex(2.0, INF), complex(0.0, 1.0)),
    ],
)
def test_where_numpy_knows_less(name: str, z: complex, expected: complex):
    found = complex(getattr(ln, name)(ln.asarray([z]))[0])
    np.testing.assert_allclose([found.real, found.imag], [expected.real, expected.imag])
    if expected.imag == 0:
        assert not np.signbit(found.imag)


@pytest.mark.parametrize("format", ["dense", "coo", "csr"])
def test_a_mask_without_elements_selects_nothing(format: str):
    x, a = matrix(format)
    same(x[np.zeros((0, 6), bool)], a[np.zeros((0, 6), bool)])
    same(x[np.zeros((4, 0), bool)], a[np.zeros((4, 0), bool)])


@pytest.mark.parametrize("format", ["dense", "coo"])
def test_a_mask_without_dimensions(format: str):
    x, a = matrix(format)
    same(x[ln.asarray(True)], a[np.asarray(True)])
    same(x[np.asarray(False)], a[np.asarray(False)])


def test_devices_are_a_tuple_and_limits_are_python_numbers():
    assert ln.__array_namespace_info__().devices() == ("cpu",)
    assert type(ln.finfo(ln.complex64).max) is float
    assert type(ln.iinfo(ln.uint64).max) is int


@pytest.mark.parametrize("shape", [(0, 1, 0), (2, 1, 3), (0,), (1, 3)])
def test_a_choice_of_arrays_that_store_nothing(shape: tuple[int, ...]):
    mask = np.eye(3, dtype=bool)[: shape[-1], : shape[-1]]
    none = ln.zeros(shape, dtype="float32", format="coo")
    one = ln.ones(shape, dtype="float32", format="coo")
    for x, y in itertools.product((none, one), (none, one)):
        found = ln.where(ln.asarray(mask, format="coo"), x, y)
        same(found, np.where(mask, x.to_numpy(), y.to_numpy()))


def test_single_precision_stays():
    z = ln.asarray(np.array([1 + 2j], np.complex64))
    assert all(getattr(ln, name)(z).dtype == np.complex64 for name in NAMES)
