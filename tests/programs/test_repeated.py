"""Rows that are all the same are reduced at once, however many there are, and however nested."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

HUGE = 2**40
REDUCTIONS = {"max": np.max, "sum": np.sum, "prod": np.prod}


@pytest.mark.parametrize("format", [ln.COO(2), ln.DCSR, ln.DCSC], ids=str)
@pytest.mark.parametrize(
    ("name", "fill", "expected"),
    [
        ("max", 0.0, 3.0),
        ("min", 0.0, -1.0),
        ("max", 5.0, 5.0),
        ("sum", 1.0, float(HUGE) * HUGE),
        ("prod", 0.0, 0.0),
        ("prod", 2.0, -np.inf),
        ("prod", 0.5, 0.0),
        ("prod", -1.0, 3.0),  # an odd number of times
        ("prod", -2.0, np.inf),
        ("prod", np.nextafter(1.0, 0.0), 0.0),
    ],
)
def test_nobody_goes_through_empty_rows(name, fill, expected, format):
    values = [1.0, 3.0, -1.0]
    a = ln.tensor([[0, 5, HUGE - 1], [7, 0, HUGE - 1]], values, (HUGE, HUGE), format, fill)
    lazy = getattr(ln.lazy(a), name)()
    assert "++)\n      if (0 < n_" not in ln.explain(lazy)["code"]  # or else it takes for ever
    assert lazy.compute().to_numpy() == expected


@pytest.mark.parametrize("shape", [(6, 4), (6, 0), (0, 5), (4, 3, 5)], ids=str)
@pytest.mark.parametrize("fill", [0.0, -2.0, np.nan])
@pytest.mark.parametrize("family", [ln.COO, ln.CSF], ids=str)
def test_rows_without_anything_take_part(shape, fill, family):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random(shape) < 0.2, rng.integers(0, 4, shape), fill)
    dense[1:3] = fill
    a = ln.lazy(ln.asarray(dense, format=family, fill_value=fill))
    for name, reduce in REDUCTIONS.items():
        if dense.size or name != "max":
            found = getattr(ln, name)(a).compute().to_numpy()
            np.testing.assert_allclose(found, reduce(dense), err_msg=name)


@ln.kernel
def product(s, A):
    s[...] = 1
    for i in ...:
        s[()] *= A[i]
    return s


@ln.kernel
def quotient(s, A):
    s[...] = 1
    for i in ...:
        s[()] = s[()] / A[i]
    return s


RUNS = [
    [(1e-300, 1), (1e10, 60)],  # the power is too large, and the product is not
    [(1e300, 1), (-1e-10, 59)],
    [(1e-300, 1), (1e10, 61), (1e-10, 31)],
    [(1e300, 1), (1e-200, 4)],
    [(2.0, 3), (-1e200, 1001)],
    [(2.0, 3), (-1e-310, 5), (-0.0, 3)],
    [(-np.inf, 3), (1e10, 100)],
    [(1.0000001, 10**6), (0.9999, 10**5)],
]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("runs", RUNS, ids=str)
def test_powers_that_are_too_large_where_products_are_not(runs, dtype, backend):
    if dtype == "float32":  # whose exponents are an eighth of these
        runs = [(np.sign(x) * abs(x) ** 0.125, n) for x, n in runs]
    dense = np.repeat(*zip(*runs, strict=True)).astype(dtype)
    a = ln.asarray(dense, format=ln.RunList(ln.Element()))
    assert a.nnz <= 4
    with np.errstate(all="ignore"), ln.config(backend=backend):
        for kernel, function in ((product, np.multiply), (quotient, np.divide)):
            expected = function.accumulate(np.concatenate([np.ones(1, dtype), dense]))[-1]
            found = kernel(ln.scalar(0, dtype=dtype), a).to_numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-9 if dtype == "float64" else 1e-4)
            assert np.signbit(found) == np.signbit(expected)


def test_signs_of_many_single_precision_factors():
    """2²⁴ + 1 of them: a count that single precision does not tell from the one before."""
    a = ln.tensor([[5]], np.float32([3]), (2**24 + 2,), ln.COO(1), -1.0)
    assert float(product(ln.scalar(0, dtype="float32"), a)) == -3


@pytest.mark.parametrize("dtype", ["int32", "uint64", "complex128"])
def test_integers_and_complex_numbers_to_high_powers(dtype):
    """Nested loops take logarithmically many steps each; integers wrap around."""
    a = ln.tensor([[0, 2], [1, 0]], np.array([7, 5], dtype), (2**33, 2**33), ln.COO(2), 3)
    if dtype == "complex128":
        a = ln.tensor([[0, 2], [1, 0]], np.array([7, 5], dtype), (2**33, 2**33), ln.COO(2), 1j)
    found = ln.lazy(a).prod().compute().to_numpy()
    if dtype == "complex128":
        np.testing.assert_allclose(found, 35 * 1j ** ((2**66 - 2) % 4))
    else:
        bits = {"int32": 64, "uint64": 64}[dtype]
        exact = 35 * pow(3, 2**66 - 2, 2**bits) % 2**bits
        assert int(found) % 2**bits == exact
