"""Numbers in lazy graphs are given to kernels: one kernel for all of them, and right results."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import linnet as ln
from linnet import backend
from linnet.testing import dense

CONSTANTS = (2.5, 3.5, -4.25, 7.0)


@pytest.fixture
def built(monkeypatch):
    """The kernels that are compiled, by name."""
    found: list[str] = []

    def noting(kernel, *rest):
        found.append(kernel.name)
        return build(kernel, *rest)

    build = backend.build
    monkeypatch.setattr(backend, "build", noting)
    return found


def sparse(seed: int, dtype: str = "float64", fill: float = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 5, (6, 8)).astype(dtype)
    return np.where(rng.random((6, 8)) < 0.4, values, np.asarray(fill, dtype))


X, Y, V = sparse(0), sparse(1), np.random.default_rng(2).random(8)

EXPRESSIONS = {
    "product": (lambda c, x, y, v: x * x + c, 1),
    "twice": (lambda c, x, y, v: x * c + c, 1),
    "intersection": (lambda c, x, y, v: x * y + c, 1),
    "both filled": (lambda c, x, y, v: (x + c) * (y + 2 * c), 1),
    "filled inside": (lambda c, x, y, v: (x + c) * y, 1),
    "total": (lambda c, x, y, v: (x + c).sum(), 1),
    "columns": (lambda c, x, y, v: (x + c).sum(0), 1),
    "rows": (lambda c, x, y, v: (x * c + c).sum(1), 1),
    "window": (lambda c, x, y, v: x[1:4, ::2] * x[:3, ::2] + c, 1),
    "power of two": (lambda c, x, y, v: np.exp2(x + c) - c, 1),
    "above": (lambda c, x, y, v: x * x > c, 2),
    "where": (lambda c, x, y, v: np.where(x > c, x, c), 2),
    "where, of several": (lambda c, x, y, v: np.where(y > 2, x, c), 1),
    "where in where": (lambda c, x, y, v: np.where(y > 2, np.where(x > 1, x, c), c + 1), 1),
    "above, times": (lambda c, x, y, v: (x > c) @ v, 2),
    "bounded, times": (lambda c, x, y, v: np.minimum(x, c) @ v, 2),
    "clipped": (lambda c, x, y, v: np.minimum(np.maximum(x, -c), c), 2),
    "larger": (lambda c, x, y, v: np.maximum(x + c, y * c), 1),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_one_kernel_for_all_numbers(name, built):
    expression, most = EXPRESSIONS[name]
    for c in CONSTANTS:
        want = np.asarray(expression(c, X, Y, V))
        x, y = (ln.lazy(ln.asarray(a, format=ln.CSR)) for a in (X, Y))
        lazy = expression(c, x, y, ln.asarray(V))
        got = ln.compute(lazy)
        np.testing.assert_allclose(dense(got), want, rtol=1e-12)
        assert got.dtype == want.dtype
        assert got.fill_value == lazy.fill_value
    assert len(built) <= most


@pytest.mark.parametrize("format", [ln.CSR, ln.COO, ln.DCSR, ln.RLE, ln.SRLE, ln.BAND], ids=str)
@pytest.mark.parametrize("fill", [0, 3])
def test_results_are_as_sparse_as_with_the_number_in_the_code(format, fill):
    x = sparse(0, fill=fill)
    A = ln.asarray(x, format=format, fill_value=float(fill))
    for c in CONSTANTS:
        got = ln.compute(ln.lazy(A) * ln.lazy(A) + c)
        np.testing.assert_array_equal(dense(got), x * x + c)
        assert got.fill_value == fill * fill + c
        assert got.format.levels[:-1] == (A * A).format.levels[:-1]
        assert got.nnz == (A * A).nnz


PAIRS = [ln.CSR, ln.COO, ln.RLE, ln.SRLE, ln.BAND, ln.BLOCK, ln.BSR(2, 2), ln.DENSE]


@pytest.mark.parametrize("other", PAIRS, ids=str)
@pytest.mark.parametrize("format", [ln.CSR, ln.BAND, ln.SRLE], ids=str)
def test_what_lies_between_stored_values(format, other):
    """A result may store places where neither operand does: there it is the number, too."""
    A, B = ln.asarray(X, format=format), ln.asarray(Y, format=other)
    for c in (2.5, 3.5):
        got = ln.compute(ln.maximum(ln.lazy(A), ln.lazy(B) * 0.5) + c)
        np.testing.assert_array_equal(dense(got), np.maximum(X, Y * 0.5) + c)


def test_sparse_rows_and_columns():
    x, y = ln.asarray(X[:, 0], format=ln.CSF), ln.asarray(X[0], format=ln.CSF)
    for c in (2.5, 3.5):
        got = ln.compute(ln.lazy(x)[:, None] + ln.lazy(y)[None, :] + c)
        np.testing.assert_array_equal(dense(got), X[:, :1] + X[:1] + c)
        got = ln.compute(ln.lazy(x)[:, None] * ln.lazy(ln.asarray(X)) + c)
        np.testing.assert_array_equal(dense(got), X[:, :1] * X + c)


def test_numbers_alone():
    got = ln.compute(ln.lazy(np.float32(2.5)) + np.float32(3.5))
    assert got.item() == 6
    assert got.dtype == np.float32


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float32", "complex64"])
def test_types(dtype):
    x = sparse(3, dtype)
    A = ln.lazy(ln.asarray(x, format=ln.CSR))
    for c in (2, 3, np.int16(5), np.float32(2.5), 2.5, 3j):
        want = x * x + c
        got = ln.compute(A * A + c)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(dense(got), want)


def test_numbers_that_do_not_fit_are_refused():
    A = ln.lazy(ln.asarray(sparse(3, "int8"), format=ln.CSR))
    with pytest.raises(ln.LinnetError, match="300 does not fit the dtype int8"):
        ln.compute(A * A + 300)


def test_what_is_kept_has_its_number_in_the_code():
    """A part that is long and used twice is a sparse tensor, whose fill value kernels know."""
    for c in (0.5, 0.25):
        x, found = X, ln.lazy(ln.asarray(X, format=ln.CSR))
        for _ in range(12):
            x, found = x * x * 1e-3 + c, found * found * 1e-3 + c
        got = ln.compute(found)
        np.testing.assert_allclose(dense(got), x)
        assert got.nnz == np.count_nonzero(X)


def test_a_format_that_is_asked_for():
    for c in CONSTANTS:
        found = (ln.lazy(ln.asarray(X, format=ln.CSR)) * 2.0 + c).compute(format=ln.DCSR)
        np.testing.assert_array_equal(dense(found), X * 2.0 + c)
        assert found.format.levels[0] == ln.DCSR.levels[0]


def test_index_arithmetic_is_not_passed():
    A = ln.asarray(X, format=ln.CSR)
    for shift in (2, 3):
        got = ln.einsum(f"B[i,j] = A[i,j] * (j >= i + {shift})", A=A)
        i, j = np.indices(X.shape)
        np.testing.assert_array_equal(dense(got), X * (j >= i + shift))


def test_numbers_in_values_that_are_indices_too():
    I, A = ln.asarray(np.array([0, 2, 1])), ln.asarray(np.arange(10.0) ** 2)
    for shift in (2, 3, 5):
        L = ln.lazy(I) + shift
        for text in ("y[i] = A[L[i]] * L[i]", "y[i] = L[i] * A[L[i]]"):
            want = (np.array([0, 2, 1]) + shift) ** 3.0
            np.testing.assert_array_equal(dense(ln.compute(ln.einsum(text, A=A, L=L))), want)


def test_equations_with_numbers(built):
    A = ln.asarray(X, format=ln.CSR)
    for c in CONSTANTS:
        got = ln.einsum(f"B[i,j] = {c} * A[i,j] * A[i,j] + {c}", A=A)
        np.testing.assert_allclose(dense(got), c * X * X + c)
    assert len(built) <= 1


# -- comparisons with numbers beyond a type ------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE], ids=str)
def test_numbers_beyond_the_type_are_compared(dtype, format):
    x = np.tile(sparse(4, dtype), (4, 4))
    A = ln.asarray(x, format=format)
    for number in (2**63, 2**64, -(2**63) - 1, -1, 10**30, 10**400):
        for op in "eq ne lt le gt ge".split():
            compare = getattr(operator, op)
            for args in ((x, number), (number, x)):
                want = compare(*args)
                eager = compare(*[A if a is x else a for a in args])
                lazy = compare(*[ln.lazy(A) if a is x else a for a in args])
                np.testing.assert_array_equal(dense(eager), want)
                np.testing.assert_array_equal(dense(ln.compute(lazy)), want)
    np.testing.assert_array_equal(dense(A == 3), x == 3)  # as ever


# -- powers of integers ----------------------------------------------------------------------------


def test_negative_powers_of_integers_are_refused():
    x = sparse(5, "int64")
    A = ln.asarray(x, format=ln.CSR)
    below = x.copy()
    below[2, 3] = -2
    B = ln.asarray(below, format=ln.CSR)
    filled = ln.asarray(np.where(x, x, -1), format=ln.CSR, fill_value=-1)
    wrong = {
        "the exponent is -1": lambda: A**-1,
        "the exponent is -3": lambda: ln.lazy(A) ** -3,
        r"the exponent is -2 at \[2, 3\]": lambda: A**B,
        r"is -2 at \[2, 3\]": lambda: 2**B,
        "is -1 where nothing is stored": lambda: A**filled,
    }
    for words, call in wrong.items():
        for _ in range(2):
            with pytest.raises(ValueError, match=words):
                call()
    np.testing.assert_array_equal(dense(A**A), x**x)
    np.testing.assert_array_equal(dense(2**A), 2**x)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(dense(A.astype(float) ** -1), x.astype(float) ** -1)


@pytest.mark.parametrize("format", [ln.CSF(1), ln.COO(1), ln.SparseHash(ln.Element())], ids=repr)
@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_a_choice_passes_on_what_is_not_stored(format, dtype):
    """It was taken for the fill value, which stands for the number where nothing is stored."""
    condition, x = np.array([1, 0, 1, 0], bool), np.array([0, 0, 3, 5], dtype)
    C, X = (ln.asarray(a, format=format) for a in (condition, x))
    for number in (2, np.uint16(7), ln.asarray(np.array(2, dtype))):
        value = number.to_numpy() if isinstance(number, ln.Tensor) else number
        np.testing.assert_array_equal(
            ln.where(C, X, number).to_numpy(), np.where(condition, x, value)
        )
        np.testing.assert_array_equal(
            ln.where(C, number, X).to_numpy(), np.where(condition, value, x)
        )
        both = ln.fuse(lambda c, x, n: ln.where(c, x, n) * 3 + n)(C, X, number)
        np.testing.assert_array_equal(both.to_numpy(), np.where(condition, x, value) * 3 + value)
