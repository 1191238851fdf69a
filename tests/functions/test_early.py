"""Reductions end at an annihilator: where, how soon, and where they must not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.visits import work

import linnet as ln
from linnet.arrays import reduce
from linnet.testing import dense

capped = ln.function(lambda x, y: min(x + y, 50), commutative=True, annihilator=50, identity=0)

# the function, the type, where to begin, the value that ends it, values that do not
REDUCTIONS = [
    (np.multiply, "int64", 1, 0, (1, 2)),
    (np.multiply, "uint8", 1, 0, (1, 3)),
    (np.bitwise_and, "int32", -1, 0, (-1, -2)),
    (np.bitwise_or, "int16", 0, -1, (1, 2)),
    (np.bitwise_or, "uint32", 0, 2**32 - 1, (1, 2)),
    (np.minimum, "int8", 127, -128, (3, 4)),
    (np.maximum, "uint16", 0, 65535, (3, 4)),
    (np.logical_or, "bool", False, True, (False, False)),
    (np.logical_and, "bool", True, False, (True, True)),
    (np.gcd, "uint32", 0, 1, (6, 9)),
    (np.lcm, "int64", 1, 0, (2, 3)),
    (capped, "int64", 0, 50, (0, 1)),
]
IDS = [f"{getattr(f, '__name__', f)}-{d}" for f, d, *_ in REDUCTIONS]


def numbers(dtype, values, count, at, final):
    rng = np.random.default_rng(count)
    found = np.array(values, dtype)[rng.integers(0, 2, count)]
    found[at] = final
    return found


def folded(function, start, values):
    total = np.asarray(start, values.dtype)
    for v in values.ravel():
        total = np.asarray(function(total[()], v), values.dtype)
    return total.item()


@pytest.mark.parametrize(("function", "dtype", "start", "final", "values"), REDUCTIONS, ids=IDS)
def test_merges_end_at_once(function, dtype, start, final, values):
    """Where two fibers are walked together nothing is visited after the value is known."""

    @ln.kernel
    def fold(s, a, b):
        s[...] = start
        for i in ...:
            s[()] = function(s[()], max(a[i], b[i]))

    count, at = 200, 37
    x = numbers(dtype, values, count, at, final)
    if function in (np.maximum, np.bitwise_or) and final != np.iinfo(dtype).max:
        y = np.full_like(x, np.iinfo(dtype).min)
    else:
        y = np.full_like(x, False if dtype == "bool" else np.iinfo(dtype).min)
    # what is not stored is a value that both lists have none of, so that all is stored
    other = {"bool": not x[0]}.get(dtype, 77)
    a, b = (_stored(v, other) for v in (x, y))
    found = fold.visits(ln.scalar(start, dtype=dtype), a, b)
    own = sum(found.get(name, 0) for name in ("gcd", "lcm"))  # which have loops of their own
    assert found.total - own == at + 1
    got = fold(ln.scalar(start, dtype=dtype), a, b)
    assert got.item() == folded(function, start, np.maximum(x, y)) == final


def _stored(values, fill):
    """A list that stores every value."""
    where = np.arange(len(values))
    return ln.tensor([where], values, values.shape, format=ln.CSF(1), fill_value=fill)


@pytest.mark.parametrize(("function", "dtype", "start", "final", "values"), REDUCTIONS, ids=IDS)
@pytest.mark.parametrize(
    "format",
    [ln.DENSE(2), ln.CSR, ln.DCSR, ln.COO(2), ln.RLE, ln.BAND, ln.BLOCK],
    ids=str,
)
def test_all_formats_agree(function, dtype, start, final, values, format):
    @ln.kernel
    def rows(r, A):
        r[...] = start
        for i, j in ...:
            r[i] = function(r[i], A[i, j])

    @ln.kernel
    def whole(s, A):
        s[...] = start
        for i, j in ...:
            s[()] = function(s[()], A[i, j])

    x = numbers(dtype, values, 60, [13, 14, 44], final).reshape(6, 10)
    A = ln.asarray(x, format=format, fill_value=np.dtype(dtype).type(values[0]).item())
    want = [folded(function, start, row) for row in x]
    got = rows(ln.empty_tensor(ln.Dense(ln.Element(start, dtype))), A)
    assert dense(got).tolist() == want
    assert whole(ln.scalar(start, dtype=dtype), A).item() == folded(function, start, x)


def test_long_loops_are_looked_at_now_and_then():
    """A test for each value would keep the loop from using vectors."""

    @ln.kernel
    def fold(s, a):
        s[...] = -1
        for i in ...:
            s[()] &= a[i]

    x = np.full(10_000, -1)
    x[1500] = 0
    assert fold.visits(ln.scalar(-1), ln.asarray(x)) == {"strip": 2, "i": 2 * 1024}
    assert fold(ln.scalar(-1), ln.asarray(x)).item() == 0
    x[1500] = -1
    assert fold.visits(ln.scalar(-1), ln.asarray(x)) == {"strip": 10, "i": 10_000}
    assert fold(ln.scalar(-1), ln.asarray(x)).item() == -1


def test_rows_end_a_nest():
    @ln.kernel
    def fold(s, A):
        s[...] = 1
        for i, j in ...:
            s[()] *= A[i, j]

    x = np.ones((50, 20), int)
    x[3, 7] = 0
    assert fold.visits(ln.scalar(1), ln.asarray(x)) == {"i": 4, "j": 4 * 20}


def test_the_order_of_loops_must_allow_it():
    """ARRAY §7.2: with `i` inside, other elements of the result are still to be computed."""

    @ln.kernel
    def columns(r, A):
        r[...] = 1
        for j, i in ...:
            r[i] = np.lcm(r[i], A[i, j])

    x = np.random.default_rng(0).integers(0, 5, (6, 7))
    A = ln.asarray(x, format=ln.CSC)
    found = columns.visits(ln.empty_tensor(ln.DENSE(1)), A)
    assert found["i in A[i, j]"] + found["i"] == 42  # the second, where nothing is stored
    got = columns(ln.empty_tensor(ln.DENSE(1)), A)
    assert dense(got).tolist() == np.lcm.reduce(x, axis=1).tolist()


@pytest.mark.parametrize(
    ("function", "start"), [(np.multiply, 1.0), (np.minimum, np.inf), (np.maximum, -np.inf)]
)
def test_nan_comes_through(function, start):
    """0 times NaN is NaN, and so is the least of minus infinity and NaN."""

    @ln.kernel
    def fold(s, a, b):
        s[...] = start
        for i in ...:
            s[()] = function(s[()], a[i] + b[i])

    x = np.array([1.0, 0.0, -np.inf, np.inf, 2.0, np.nan])
    for values in (x, x[[1, 4, 5]], x[[2, 5]], x[[3, 5]]):
        a, b = _stored(values, 9.0), _stored(np.zeros(len(values)), 9.0)
        assert np.isnan(fold(ln.scalar(start), a, b).item())
        assert np.isnan(dense(reduce(function, ln.asarray(values))))


def test_nan_is_passed_over_by_what_ignores_it():
    @ln.kernel
    def fold(s, a, b):
        s[...] = np.inf
        for i in ...:
            s[()] = np.fmin(s[()], a[i] + b[i])

    values = np.array([1.0, -np.inf, np.nan, 3.0])
    a, b = _stored(values, 9.0), _stored(np.zeros(4), 9.0)
    assert fold(ln.scalar(np.inf), a, b).item() == -np.inf
    assert work(fold, ln.scalar(np.inf), a, b) == 2


def test_two_operators_of_one_scalar():
    """What is final for the one is not for the other."""

    @ln.kernel
    def fold(s, a):
        s[...] = 1
        for i in ...:
            s[()] = np.lcm(s[()], a[i])
            s[()] = np.gcd(s[()], a[i])

    x = np.array([0, 0, 1, 6, 4])
    total = 1
    for v in x:
        total = np.gcd(np.lcm(total, v), v)
    assert fold(ln.scalar(1), ln.asarray(x)).item() == total


def test_several_results_end_together():
    """A loop ends when all that it computes is known."""

    @ln.kernel
    def both(p, q, a):
        p[...] = 1
        q[...] = 0
        for i in ...:
            p[()] = np.lcm(p[()], a[i])
            q[()] = np.gcd(q[()], a[i])

    x = np.array([4, 0, 6, 9, 2, 2, 2], "uint32")
    args = ln.scalar(1, dtype="uint32"), ln.scalar(0, dtype="uint32"), ln.asarray(x)
    assert both.visits(*args)["i"] == 4
    p, q = args[:2]
    both(*args)
    assert (p.item(), q.item()) == (0, 1)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions_of_arrays_and_equations(axis):
    x = np.random.default_rng(1).integers(0, 4, (30, 40)).astype("uint8")
    for format in (ln.CSR, ln.DENSE(2), ln.COO(2)):
        A = ln.asarray(x, format=format)
        for name in ("multiply", "bitwise_and", "minimum", "gcd"):
            ufunc = getattr(np, name)
            want = ufunc.reduce(x, axis=axis, dtype="uint8")
            got = dense(reduce(ufunc, A, axis=axis, dtype="uint8", initial=_begin(name)))
            np.testing.assert_array_equal(got, want)
    f = capped
    got = ln.einsum("y[i] f= A[i,j] * B[i,j]", A=x.astype(int), B=x.astype(int), f=f)
    np.testing.assert_array_equal(dense(got), np.minimum((x.astype(int) ** 2).sum(1), 50))


def _begin(name):
    return {"multiply": 1, "bitwise_and": 255, "minimum": 255, "gcd": 0}[name]
