"""One tensor and numbers: one kernel for all numbers and fill values, and the right fill value."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import backend
from linnet.arrays.evaluate import run
from linnet.testing import dense

FORMATS = [ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.RLE, ln.SRLE, ln.BAND, ln.BLOCK, ln.BSR(2, 2)]
ORDINARY = [k / 4 + 0.125 for k in range(-20, 20)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0, 1, -1, True, np.float32(2.5)]


@pytest.fixture
def built(monkeypatch):
    """The kernels that are compiled or loaded, by name."""
    found: list[str] = []

    def noting(kernel, *rest):
        found.append(kernel.name)
        return build(kernel, *rest)

    build = backend.build
    monkeypatch.setattr(backend, "build", noting)
    return found


def matrix(dtype="float64", fill=0):
    rng = np.random.default_rng(4)
    values = rng.integers(-3 if dtype[0] != "u" else 1, 5, (8, 10)).astype(dtype)
    return np.where(rng.random((8, 10)) < 0.3, values, np.asarray(fill, dtype))


@pytest.mark.parametrize("format", FORMATS, ids=str)
@pytest.mark.parametrize("op", [np.add, np.subtract, np.maximum, np.less, np.hypot], ids=repr)
def test_one_kernel_for_all_numbers(op, format, built):
    x = matrix()
    A = ln.asarray(x, format=format)
    for c in ORDINARY:
        for args in ((x, c), (c, x)):
            want = op(*args)
            got = op(*[A if a is x else a for a in args])
            np.testing.assert_array_equal(dense(got), want)
            assert got.dtype == want.dtype
            assert got.fill_value == op(*[0.0 if a is x else a for a in args])
            assert got.nnz <= A.nnz
    assert len(built) <= 2  # c on the right, and on the left


def test_one_kernel_for_all_fill_values(built):
    for fill in ORDINARY:
        x = matrix(fill=fill)
        A = ln.asarray(x, format=ln.CSR, fill_value=fill)
        np.testing.assert_array_equal(dense(np.exp2(A)), np.exp2(x))
        np.testing.assert_array_equal(dense(A * 3.0), x * 3.0)
        assert (A * 3.0).nnz == np.exp2(A).nnz == A.nnz
    assert len(built) <= 3  # A itself may be sorted


@pytest.mark.parametrize("c", SPECIAL, ids=repr)
@pytest.mark.parametrize("op", "add subtract multiply divide maximum less equal power".split())
def test_special_numbers(op, c):
    """What is not stored takes no part where one argument decides: 0 times NaN is 0."""
    for fill in (0.0, 1.0, -2.0):
        x = matrix(fill=fill)
        A = ln.asarray(x, format=ln.CSR, fill_value=fill)
        ufunc = getattr(np, op)
        with np.errstate(all="ignore"):
            for args in ((x, c), (c, x)):
                want = ufunc(*args)
                got = ufunc(*[A if a is x else a for a in args])
                values = dense(got)
                here = x != fill
                np.testing.assert_array_equal(values[here], want[here])
                lost = ~np.isfinite(want) & ~here
                np.testing.assert_array_equal(values[~here & ~lost], want[~here & ~lost])
                assert got.dtype == want.dtype


def test_signs_of_zero():
    x = matrix()
    A = ln.asarray(x, format=ln.CSR)
    assert np.signbit((-A).fill_value)
    np.testing.assert_array_equal(dense(np.signbit(-A)), np.signbit(-x))
    np.testing.assert_array_equal(dense(np.copysign(1.0, -A)), np.copysign(1.0, -x))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "complex64", "float32"])
def test_types(dtype):
    x = matrix(dtype)
    A = ln.asarray(x, format=ln.COO)
    for c in (1, 2, np.int16(3), np.float32(0.5), 2.5, 1j, True):
        for op in (np.add, np.multiply, np.equal):
            want = op(x, c)
            got = op(A, c)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(dense(got), want)


def test_numbers_that_do_not_fit():
    A = ln.asarray(matrix("int8"), format=ln.CSR)
    with pytest.raises(ln.LinnetError, match="300 does not fit the dtype int8"):
        A + 300
    assert (A + 100).dtype == np.int8


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 2.0, True, np.int64(2), np.int8(2)], ids=repr)
def test_powers_of_truth_values_have_the_dtypes_of_numpy(exponent):
    x = matrix() > 0
    # a square of 2.0 or of np.int64(2) was int8 as well, before NumPy 2.3
    want = x**exponent if type(exponent) is int else np.power(x, exponent)
    for X in (ln.asarray(x, format=ln.CSR), ln.lazy(ln.asarray(x, format=ln.CSR))):
        got = ln.compute(X**exponent)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(dense(got), want)
        named = ln.compute(ln.pow(X, exponent))
        assert named.dtype == np.power(x, exponent).dtype


def test_small_powers_are_products_still():
    x = matrix()
    A = ln.asarray(x, format=ln.CSR)
    for n in (0, 1, 2, 3, -1, 0.5):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(dense(A**n), x**n)
    assert (A**0).fill_value == 1
    assert (ln.asarray(matrix("int64"), format=ln.CSR) ** 0).nnz == 0


def test_several_numbers(built):
    x = matrix() > 1
    A = ln.asarray(x, format=ln.CSR)
    for c in ORDINARY:
        got = ln.where.function(A, c, 7.0)
        np.testing.assert_array_equal(dense(got), np.where(x, c, 7.0))
    assert len(built) <= 1


def test_functions_of_users(built):
    """Whatever is claimed of a function, it is computed where something is stored."""
    f = ln.function(lambda x, c: x * c + 1, iteration_space="x & c", outside=1)
    x = matrix()
    A = ln.asarray(x, format=ln.CSR)
    for c in ORDINARY:
        got = f(A, c)
        np.testing.assert_array_equal(dense(got), x * c + 1)
        assert got.fill_value == 1
    assert len(built) <= 1


def test_numbers_in_fused_functions(built):
    """A number that decides nothing of the fill value is an argument, however deep it stands."""
    x = matrix()
    A = ln.asarray(x, format=ln.CSR)

    @ln.fuse
    def above(X, c):
        return ((np.exp2(X) * 2 > c) * X).sum(axis=0), np.sqrt(np.abs(X)) * X * c

    for c in ORDINARY:
        sums, scaled = above(A, c)
        np.testing.assert_array_equal(dense(sums), ((np.exp2(x) * 2 > c) * x).sum(0))
        np.testing.assert_allclose(dense(scaled), np.sqrt(np.abs(x)) * x * c)
        assert scaled.nnz <= A.nnz
    assert len(built) <= 2  # where nothing is stored, 2 is above c or not


def test_long_expressions_are_not_looked_into():
    """Numbers stay numbers there; what is computed is the same."""
    x = matrix()
    found = ln.lazy(ln.asarray(x, format=ln.CSR))
    want = x
    for k in range(80):
        found, want = (found * 0.5, want * 0.5) if k % 2 else (found + found, want + want)
    np.testing.assert_allclose(dense((found * 3).compute()), want * 3)


def test_numbers_that_decide_stay_in_the_code():
    X = ln.lazy(ln.asarray(matrix("int64"), format=ln.CSR))
    assert ((X + X) * 0).compute().nnz == 0
    assert ((X * X) & 0).compute().nnz == 0


@ln.kernel
def put(B, A):
    B[...] = 5
    for i, j in ...:
        B[i, j] = A[i, j]
    return B


def test_an_operand_may_be_written_meanwhile(monkeypatch: pytest.MonkeyPatch):
    """With a fill value that is not 0, the kernel reads a tensor that shares its memory."""
    rows = np.arange(100)
    ones, twos = (
        ln.tensor([rows, rows], np.full(100, v), (100, 100), format=ln.CSR, fill_value=5.0)
        for v in (1.0, 2.0)
    )
    B = put(ln.empty_tensor(ln.CSR), ones)

    def late(plan, tensors):
        put(B, twos)  # as another thread might, when the operand has been looked at
        return run(plan, tensors)

    monkeypatch.setattr("linnet.arrays.alone.run", late)
    found = ln.add(B, 1.0)
    np.testing.assert_array_equal(found.buffers["val"], np.full(100, 2.0))
    np.testing.assert_array_equal(B.buffers["val"], np.full(100, 2.0))
    assert found.fill_value == 6


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_where_slices_begin_is_told_apart_whichever_is_looked_at_first(format):
    x, y = matrix(), matrix()[::-1].copy()
    A, B = ln.lazy(ln.asarray(x, format=format)), ln.lazy(ln.asarray(y, format=format))
    for s, t, c in ((1, 4, 2.0), (3, 0, 4.0), (4, 2, -1.5)):
        got = ln.compute((A[s : s + 4] + c) + B[t : t + 4, ::-1] * c)
        np.testing.assert_array_equal(dense(got), (x[s : s + 4] + c) + y[t : t + 4, ::-1] * c)
        got = ln.compute(B[t : t + 4] - (A[s : s + 4, 1:6] + c).sum(1, keepdims=True))
        want = y[t : t + 4] - (x[s : s + 4, 1:6] + c).sum(1, keepdims=True)
        np.testing.assert_allclose(dense(got), want)


# -- numbers that are too large --------------------------------------------------------------------

BEYOND = [1e300, -1e300, 10**40, 2.0**128 - 2.0**103]
OPERATIONS = {
    "sum": lambda x, c: x + c,
    "difference": lambda x, c: c - x,
    "quotient": lambda x, c: x / c,
    "power": lambda x, c: abs(x) ** c,
    "order": lambda x, c: x < c,
    "order or equal": lambda x, c: c <= x,
    "maximum": lambda x, c: np.maximum(c, x),
    "hypotenuse": lambda x, c: np.hypot(x, c),
}


@pytest.mark.parametrize("format", [*FORMATS, ln.DENSE], ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_numbers_beyond_single_precision_are_infinite_as_in_numpy(name, format):
    op, x = OPERATIONS[name], matrix("float32")
    A = ln.asarray(x, format=format)
    for c in BEYOND:
        with pytest.warns(RuntimeWarning, match="overflow"):
            want = op(x, c)
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast: .*float32") as told:
            got = op(A, c)
        assert [w.filename for w in told] == [__file__]
        np.testing.assert_array_equal(dense(got), want)
        assert got.dtype == want.dtype
        with pytest.warns(RuntimeWarning, match="overflow"):
            lazily = op(ln.lazy(A), c)
        np.testing.assert_array_equal(dense(lazily.compute()), want)


def test_numbers_are_infinite_from_where_they_are_rounded_so():
    x = np.ones(2, "float32")
    most = np.nextafter(2.0**128 - 2.0**103, 0)
    np.testing.assert_array_equal(dense(ln.asarray(x) * most), x * most)
    with np.errstate(over="ignore"):
        assert np.isinf(dense(ln.asarray(x) * 1e39)).all()
        assert np.isinf(dense(ln.full(3, 1e39, dtype="float32"))).all()
        assert dense(ln.asarray(x) * (1e39 + 1j)).real.tolist() == [np.inf, np.inf]
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        ln.asarray(x) + 1e39
    assert (ln.asarray(x) * np.float64(1e39)).dtype == "float64"
    with pytest.raises(ln.LinnetError, match="does not fit the dtype float32"):
        ln.asarray(x) * 10**400
