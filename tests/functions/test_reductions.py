"""Reductions in which what is not stored takes part (ARRAY §7.2), over all levels."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.arrays import reduce
from linnet.testing import dense

FORMATS = [
    ln.DENSE(2),
    ln.CSR,
    ln.CSC,
    ln.COO(2),
    ln.DCSR,
    ln.DCSC,
    ln.RLE,
    ln.SRLE,
    ln.BAND,
    ln.BLOCK,
    ln.BSR(2, 3),
    ln.Dense(ln.SparseByteMap(ln.Element())),
    ln.Dense(ln.SparseHash(ln.Element())),
    ln.SparseRunList(ln.RunList(ln.Element())),
    ln.RunList(ln.SparseList(ln.Element())),
    ln.SparseList(ln.SparseBand(ln.Element())),
]
CASES = [
    ("add", "float64", 1.0),  # the fill value is not what sums begin with
    ("maximum", "int32", 0),  # all that is stored is negative
    ("minimum", "int8", -7),
    ("multiply", "int64", -1),
    ("bitwise_xor", "uint8", 5),  # an even number of them is nothing
    ("logaddexp", "float64", -1.5),
]


def matrix(dtype: str, fill: float) -> np.ndarray:
    rng = np.random.default_rng(72)
    below = rng.integers(1 if dtype[0] == "u" else -5, 4 if dtype[0] == "u" else 0, (4, 6))
    return np.where(rng.random((4, 6)) < 0.4, below, fill).astype(dtype)


EVERYWHERE = [(format, *case) for format in FORMATS for case in CASES[:2]]
SOMEWHERE = [(format, *case) for format in FORMATS[1::4] for case in CASES[2:]]


@pytest.mark.parametrize(("format", "name", "dtype", "fill"), EVERYWHERE + SOMEWHERE, ids=str)
def test_what_is_not_stored_takes_part(format, name, dtype, fill):
    x = matrix(dtype, fill)
    A = ln.asarray(x, format=format, fill_value=fill)
    for axis in (None, 0, 1):
        want = getattr(np, name).reduce(x, axis=axis, dtype=dtype)
        got = dense(reduce(name, A, axis=axis, dtype=dtype))
        assert got.dtype == want.dtype
        if dtype[0] == "f":
            np.testing.assert_allclose(got, want, rtol=1e-13)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("fill", [0.0, 2.0, -1.0])
@pytest.mark.parametrize("format", [ln.CSF, ln.COO, ln.DENSE], ids=str)
def test_reductions_of_several_kinds(format, fill):
    """`max_i min_j max_k`, and sums and products of them, in one expression."""
    rng = np.random.default_rng(7)
    x = np.where(rng.random((3, 4, 5)) < 0.5, rng.integers(-4, 4, (3, 4, 5)), fill).astype(float)
    X = ln.lazy(ln.asarray(x, format=format, fill_value=fill))
    minimax = X.max(axis=2).min(axis=1).max(axis=0)
    assert minimax.compute().item() == x.max(2).min(1).max(0)
    mixed = X.sum(axis=2).prod(axis=1) - X.min(axis=0).max()
    np.testing.assert_array_equal(dense(mixed.compute()), x.sum(2).prod(1) - x.min(0).max())


@ln.function
def steep(a, b):
    return a - 2 * b


@pytest.mark.parametrize("fill", [0.0, 1.0, 0.5, -2.0])
@pytest.mark.parametrize("axis", [None, 0, 2, (0, 2), (1,), (0, 1, 2)], ids=str)
def test_any_function_over_any_axes(axis, fill):
    """An identity, an annihilator, and neither of them is what is not stored."""
    rng = np.random.default_rng(3)
    array = np.where(rng.random((3, 4, 5)) < 0.4, rng.integers(-1, 3, (3, 4, 5)) / 4, fill)
    either = ln.function(
        lambda x, y: x + y - x * y, commutative=True, associative=True, identity=0, annihilator=1
    )
    expected = 1 - np.prod(1 - array, axis=axis)
    for format in (ln.CSF(3), ln.COO(3), ln.DENSE(3)):
        x = ln.asarray(array, format=format, fill_value=fill)
        np.testing.assert_allclose(ln.reduce(either, x, axis=axis).to_numpy(), expected)
        lazily = ln.compute(ln.reduce(either, ln.lazy(x) * 0.5, axis=axis))
        np.testing.assert_allclose(lazily.to_numpy(), 1 - np.prod(1 - array / 2, axis=axis))


def test_an_order_that_matters_is_kept():
    """A function that is not said to be associative is applied from the first to the last."""
    x = matrix("float64", 3.0)
    want = np.zeros(4)
    for j in range(6):
        want = want - 2 * x[:, j]
    for format in (ln.CSR, ln.CSC, ln.DENSE(2), ln.RLE):
        A = ln.asarray(x, format=format, fill_value=3.0)
        np.testing.assert_array_equal(dense(reduce(steep, A, axis=1, initial=0.0)), want)
        got = ln.einsum("y[i] f= A[i,j]", A=A, f=steep, fill_value=0.0)
        np.testing.assert_array_equal(dense(got), want)


LARGE = ln.tensor([[0, 5], [1, 7]], [1.0, 2.0], (200_000, 200_000), format=ln.CSR)


@pytest.mark.parametrize(
    "made",
    [
        lambda: LARGE + np.ones(200_000),
        lambda: np.equal(LARGE, np.ones((200_000, 1))),
        lambda: LARGE + np.ones((1, 200_000)),
        lambda: (ln.lazy(LARGE) * 2 + np.ones(200_000)).compute(),
        lambda: ln.einsum("C[i,j] = A[i,j] + b[j]", A=LARGE, b=np.ones(200_000)),
        lambda: ln.einsum("C[i,j] = a[i] + b[j]", a=np.ones(200_000), b=np.ones(200_000)),
    ],
)
def test_large_dense_results_are_refused(made):
    for _ in range(2):  # the second time by the plan of the first
        with pytest.raises(ln.errors.OutOfMemoryError, match="40000000000 elements densely") as e:
            made()
        assert e.value.at.file == __file__


def test_large_sparse_results_are_not():
    assert (np.exp(LARGE).fill_value, np.exp(LARGE).nnz) == (1.0, 2)
    assert (LARGE + LARGE.T).nnz == 4
    assert ((LARGE + 1) * 3).fill_value == 3.0


def test_the_compiler_says_nothing(capfd, tmp_path):
    """What LLVM remarks about products of complex numbers is not for users."""
    x = (matrix("float64", 0.0) * 1j).astype(complex)
    with ln.config(cache_dir=str(tmp_path)):
        for format in (ln.CSR, ln.BAND):
            got = dense(reduce("multiply", ln.asarray(x, format=format, fill_value=0), axis=1))
            np.testing.assert_array_equal(got, x.prod(1))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_the_compiler_says_nothing_of_sums_that_are_nan(dtype, capfd, tmp_path):
    """What is not stored is NaN, and LLVM finds out that so is its sum with anything."""
    x = np.where(np.eye(3, 4) > 0, 2, np.nan).astype(dtype)
    with ln.config(cache_dir=str(tmp_path)):
        for format in (ln.COO, ln.SRLE):
            got = dense(ln.asarray(x, format=format, fill_value=np.nan) @ np.ones(4, dtype))
            np.testing.assert_array_equal(got, x @ np.ones(4, dtype))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("axis", [True, 1.0, np.array([1]), {1}, ([1],)], ids=repr)
def test_what_is_no_axis_is_refused_whatever_it_is_equal_to(axis):
    x = ln.asarray(matrix("float64", 0.0), format=ln.CSR)
    for _ in range(2):
        reduce("add", x, axis=1)
        with pytest.raises(ln.errors.ArgumentError, match="an axis is an integer") as caught:
            reduce("add", x, axis=axis)
        assert caught.value.at.file == __file__


def test_axes_that_are_not_there():
    x = ln.asarray(matrix("float64", 0.0), format=ln.CSR)
    for axis in (2, -3, (0, 0), (0, -2)):
        with pytest.raises(np.exceptions.AxisError) as caught:
            reduce("add", x, axis=axis)
        assert caught.value.at.file == __file__


def test_arguments_that_cannot_be_hashed():
    x = ln.asarray(matrix("float64", 0.0), format=ln.CSR)
    with pytest.raises(ln.errors.ArgumentError, match="is not a function"):
        reduce([], x)
    with pytest.raises(ln.errors.DTypeError):
        reduce("add", x, dtype=[])
    np.testing.assert_array_equal(dense(reduce("add", x, axis=np.array(1))), dense(x).sum(1))
