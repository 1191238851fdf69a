"""Programs that went wrong once: indices beyond the bounds, which nobody uses, or somebody does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.oracle.check import Subject, check
from tests.oracle.formats import stack
from tests.oracle.meaning import meaning

import linnet as ln
from linnet.errors import DiscordanceWarning, IndexBoundsError
from linnet.frontend.text import parse_text
from linnet.runtime.kernel import Kernel


def test_a_branch_that_is_not_taken_does_not_look():
    @ln.kernel
    def f(y, x, c):
        y[...] = 0
        for i in ...:
            y[i] = x[2 * i] if c[i] else 7.0
        return y

    x, y = np.array([1.0, 2.0, 3.0]), ln.empty_tensor(ln.DENSE(1))
    assert f(y, x, np.array([True, True, False])).to_numpy().tolist() == [1, 3, 7]
    with pytest.raises(IndexBoundsError, match=r"`x` leaves"):
        f(y, x, np.array([True, True, True]))


@pytest.mark.parametrize("stored", [0.0, -1.0])
def test_an_update_that_changes_nothing_does_not_use_its_index(stored):
    """Beyond the bounds, `min(0, 0)` may be left out; a value that is stored is refused."""

    @ln.kernel
    def least(y, A):
        w = ln.temp(ln.DENSE(2))
        y[...] = 0.0
        ln.declare(w, 0.0, (A.shape[0], A.shape[0]))
        for i in range(1, A.shape[0]):
            w[i, i + 1] = min(w[i, i + 1], A[i, i])
        for i in range(A.shape[0]):
            y[()] += w[i, i]
        return y

    A = ln.asarray(np.diag([0.0, stored])).to(ln.Dense(ln.SparseHash(ln.Element(0.0))))
    if stored:
        with pytest.raises(IndexBoundsError):
            least(ln.scalar(0.0), A)
    else:
        assert least(ln.scalar(0.0), A).item() == 0


@pytest.mark.parametrize("kind", [ln.SparseList, ln.SparseHash, ln.Dense])
def test_a_search_beyond_the_bounds_is_an_error_only_where_it_is_used(kind):
    @ln.kernel
    def f(y, I, A, B):
        y[...] = 0.0
        for i in ...:
            y[i] += ln.where(I[i] < 4, A[I[i]], 7.0) + ln.where(I[i] < 4, B[I[i]], 1.0)
        return y

    A = ln.asarray(np.array([1.0, 0.0, 2.0, 3.0]), format=kind(ln.Element(0.0)))
    right = f(ln.empty_tensor(ln.DENSE(1)), np.array([0, 1, 9]), A, A)
    ln.testing.assert_equal(right, np.array([2.0, 0.0, 8.0]))
    with pytest.raises(IndexBoundsError):
        f(ln.empty_tensor(ln.DENSE(1)), np.array([0, 1, -1]), A, A)


def test_a_place_beyond_the_bounds_is_not_asked_whether_it_is_settled():
    """Where K is not reached, the loop over l would be an error; it does not end early."""

    @ln.kernel
    def least(K, A):
        for j in range(A.shape[0]):
            if A.shape[0] > j + 1:
                for l in range(A.shape[0]):
                    K[j + 1] = min(K[j + 1], l)
        return K

    K = ln.asarray(np.full(3, 2), format=ln.SparseHash(ln.Element(7, "int64")))
    ln.testing.assert_equal(least(K, np.zeros(3)), np.array([2, 0, 0]))


def test_a_loop_whose_end_is_an_index_is_not_checked_beforehand():
    """How far `A[2 - k, 0]` reaches is known; whether it is read at all is up to the loops."""

    @ln.kernel
    def f(y, A):
        ln.declare(y, 0.0, (A.shape[0],))
        for j in range(A.shape[0]):
            for k in range(j):
                for l in range(k):
                    y[j] += A[2 - l, 0]
        return y

    A = ln.asarray(np.array([[1.0], [0.0], [3.0]]), format=ln.DCSR)
    ln.testing.assert_equal(f(ln.empty_tensor(ln.DENSE(1)), A), np.array([0.0, 0.0, 3.0]))


def test_an_index_behind_the_end_of_a_reduction_is_not_used():
    """A product of integers that is 0 stays 0: whether `x[2]` is looked at is left open."""

    @ln.kernel
    def product(y, x, n):
        y[...] = 1
        for i in range(n[()]):
            y[()] *= x[i]
        return y

    x, n = ln.asarray(np.array([3, 0])), ln.scalar(3)
    args = {"y": ln.scalar(0), "x": x, "n": n}
    assert meaning(product, args, strict=False)["y"].values == 0
    with pytest.raises(IndexBoundsError):
        meaning(product, args)
    with pytest.raises(IndexBoundsError):
        product(ln.scalar(0), ln.asarray(np.array([3, 2])), n)


def test_a_condition_of_an_update_that_changes_nothing_is_not_used():
    """The least of 1, and of 1 where a condition says so, is 1: nobody looks at `x[2 - i]`."""

    @ln.kernel
    def least(y, x, n):
        ln.declare(y, 1.0, (x.shape[0],))
        for i in range(n[()]):
            if x[2 - i] > 0:
                y[i] = min(y[i], 1.0)
        return y

    args = {"y": ln.empty_tensor(ln.DENSE(1)), "x": ln.asarray(np.ones(4)), "n": ln.scalar(4)}
    assert (meaning(least, args, strict=False)["y"].values == 1).all()
    with pytest.raises(IndexBoundsError):
        meaning(least, args)
    ln.testing.assert_equal(least(*args.values()), np.ones(4))


@pytest.mark.parametrize("format", [ln.DENSE(2), ln.Dense(ln.SparseList(ln.Element(0.0))), ln.CSC])
@pytest.mark.parametrize(("start", "stop"), [(-5, 4), (0, 9), (-(10**6), 4)])
def test_a_range_of_values_is_refused_whatever_the_order_of_loops(format, start, stop):
    """No loop walks the rows of A first, in which `k` lies: it is tested where A is looked up."""

    @ln.kernel
    def total(y, A, ends):
        y[...] = 0.0
        for k in range(ends[0], ends[1]):
            for j in range(A.shape[0]):
                y[()] = max(y[()], 1 + A[j, k])
        return y

    A = ln.asarray(np.ones((4, 4))).to(format)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscordanceWarning)
        assert total(ln.scalar(0.0), A, np.array([1, 4])).item() == 2
        with pytest.raises(IndexBoundsError):
            total(ln.scalar(0.0), A, np.array([start, stop]))


def test_what_is_settled_is_stored_nevertheless():
    """A product that is 0 stays so, whatever comes: it need not be looked at, and may be stored."""

    @ln.kernel
    def product(y, x):
        y[...] = 0
        for i in ...:
            y[i] *= x[i]
        return y

    args = {"y": ln.empty_tensor(ln.SparseList(ln.Element(0, "int64"))), "x": ln.asarray([2, 3])}
    assert product(*args.values()).nnz == 2
    reached = meaning(product, args, strict=False)["y"].reached
    assert reached is not None
    assert reached.all()


@pytest.mark.parametrize("format", [ln.DENSE(1), ln.SparseHash(ln.Element(True, "bool"))])
@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_a_tensor_that_no_update_changes_has_its_bounds(format, backend):
    """The least of True and True is True, so `w` is that wherever it may be read."""

    @ln.kernel
    def f(y, x, step):
        w = ln.temp(format)
        y[...] = False
        w[...] = True
        for i in range(x.shape[0]):
            w[i] = min(w[i], True)
        for i in range(x.shape[0]):
            y[i] = w[step[i]]
        return y

    y, x = ln.empty_tensor(ln.DENSE(1).with_dtype("bool")), np.ones(3)
    with ln.config(backend=backend):
        assert f(y, x, np.array([2, 0, 1])).to_numpy().all()
        with pytest.raises(IndexBoundsError):
            f(y, x, np.array([2, 4, 0]))


@pytest.mark.parametrize("format", [ln.DENSE(1), ln.CSF(1)])
@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_an_index_under_a_guard_is_not_looked_up_before_it(format, backend):
    """`I` is shorter than the loop over i: outside of the condition it has no such element."""

    @ln.kernel
    def f(y, B, I, A):
        y[...] = 0.0
        for i in range(B.shape[0]):
            for j in range(B.shape[1]):
                if B[i, j] > 0 and i < I.shape[0]:
                    y[j] += A[I[i]] * B[i, j]
                else:
                    y[j] += 100
        return y

    I = ln.asarray(np.array([1, 0, 2]), format=format)
    A = ln.asarray(np.array([1.0, 0.0, 3.0]), format=ln.CSF(1))
    B = np.ones((10, 2))
    B[1, 1] = 0
    with ln.config(backend=backend):
        y = f(ln.empty_tensor(ln.DENSE(1)), B, I, A)
    assert y.to_numpy().tolist() == [704, 803]


@pytest.mark.parametrize("n", [4, 3])
def test_a_size_that_is_a_value_bounds_a_tensor_that_no_update_changes(n):
    """That `w` has as many elements as the loop has indices is known only to the run."""
    text = """def f(y, A, n):
    w = ln.temp(ln.Dense(ln.Element(0.0)))
    ln.declare(w, 0.0, (n[()],))
    y[...] = 0.0
    w[0] += 0
    for i in range(A.shape[0]):
        y[i] = A[i] + w[i]
    return y"""
    kernel, args = Kernel(parse_text(text)), (ln.empty_tensor(ln.DENSE(1)), np.ones(4), np.array(n))
    if n == 4:
        assert kernel(*args).to_numpy().tolist() == [1, 1, 1, 1]
    else:
        with pytest.raises(IndexBoundsError, match="`w` leaves"):
            kernel(*args)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_what_nobody_reads_is_refused_beyond_the_bounds_as_well(backend):
    """An index that follows from that of a loop around was not looked at any more."""

    @ln.kernel
    def f(y, x):
        w = ln.temp(ln.DENSE(1))
        y[...] = 0.0
        for i in range(x.shape[0]):
            ln.declare(w, 0, (x.shape[0],))
            w[i - 1] = x[i]
            y[i] = 1.0
        return y

    with ln.config(backend=backend), pytest.raises(IndexBoundsError, match=r"`w` leaves"):
        f(ln.empty_tensor(ln.DENSE(1)), np.ones(3))


@pytest.mark.parametrize("places", [[(0, 0)], [(4, 1), (5, 0)], [], [(0, 1), (3, 0), (6, 2)]])
def test_fibers_before_a_block_are_not_looked_for_where_there_are_none(places):
    """One loop through all fibers between an entry and a block that begins far behind it."""

    @ln.kernel
    def both(y, A, B):
        y[...] = 0.0
        for i, j in ...:
            y[()] += max(A[i, j], B[i, j])
        return y

    a, b = np.zeros((9, 4)), np.zeros((9, 4))
    b[6:8, 1:3] = 2.0
    for place in places:
        a[place] = 1.0
    pair = ln.SparseList(ln.Element(0.0))
    blocks = ln.asarray(b, format=stack(ln.SparseBlockList(pair)))
    args = {"y": ln.scalar(0.0), "A": ln.asarray(a, format=stack(ln.SparseList(pair))), "B": blocks}
    check(Subject.of(both.program, args), args)


@pytest.mark.parametrize("rows", range(4))
def test_rows_that_are_not_there_are_not_looked_for(rows):
    """One loop through all rows but the first, of a matrix that may have none."""

    @ln.kernel
    def below(y, A):
        y[...] = 0.0
        for i in range(max(A.shape[0] - 1, 0)):
            for j in range(A.shape[1]):
                y[()] += A[i + 1, j]
        return y

    args = {"y": ln.scalar(0.0), "A": ln.asarray(np.ones((rows, 3)), format=ln.CSR)}
    check(Subject.of(below.program, args), args)
