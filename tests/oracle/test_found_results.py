"""Programs that went wrong once for where a result begins, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import Subject, check
from tests.oracle.functions import both, larger, one_of

import linnet as ln
from linnet.errors import IndexBoundsError, ShapeError

SPARSE = (ln.SparseList, ln.SparseByteMap, ln.SparseHash)


def test_branches_that_agree_store_nothing():
    @ln.kernel
    def f(y, c, a, b):
        y[...] = 0
        for i in ...:
            y[i] = a[i] if c[i] else b[i]
        return y

    sparse = ln.SparseList(ln.Element(0.0))
    a, b = np.array([0, 0, 3.0, 0, 4.0]), np.array([0, 5.0, 0, 0, 6.0])
    c = np.array([True, False, True, True, False])
    y = f(ln.empty_tensor(sparse), c, ln.asarray(a, format=sparse), ln.asarray(b, format=sparse))
    ln.testing.assert_equal(y, np.where(c, a, b))
    assert y.nnz == 3


@pytest.mark.parametrize("level", [ln.Dense, *SPARSE])
def test_a_result_that_begins_in_a_loop(level):
    """It exists also if the loop never runs, and may be written in any order."""

    @ln.kernel
    def f(y, x, A):
        for _t in range(x.shape[0]):
            ln.declare(y, 0, (A.shape[1],))
            for i, j in ...:
                y[j] += A[i, j]
                y[j // 2] += x[_t]
        return y

    A, y = np.arange(6.0).reshape(2, 3), ln.empty_tensor(level(ln.Element(0.0)))
    ln.testing.assert_equal(f(y, np.zeros(0), A), np.zeros(3))
    ln.testing.assert_equal(f(y, np.array([7.0, 1.0]), A), A.sum(0) + np.array([4, 2, 0]))


def test_a_range_that_a_tensor_holds_gives_a_result_its_size():
    @ln.kernel
    def f(y, x, n):
        y[...] = 0
        for i in range(n[2]):
            y[i] = x[i]
        return y

    x, y = np.arange(5.0), ln.empty_tensor(ln.DENSE(1))
    assert f(y, x, np.array([1, 2, 3])).to_numpy().tolist() == [0, 1, 2]
    with pytest.raises(IndexBoundsError):
        f(y, x, np.array([1, 2, 7]))
    with pytest.raises(IndexBoundsError, match=r"n\[2\] is outside n"):
        f(y, x, np.array([1, 2]))


def test_a_result_declared_in_two_branches_has_one_size():
    @ln.kernel
    def f(y, a, b):
        if a[0] > 0:
            y[...] = 0
            for i in ...:
                y[i] = a[i]
        else:
            y[...] = 0
            for i in ...:
                y[i] = b[i]
        return y

    y = ln.empty_tensor(ln.DENSE(1))
    assert f(y, np.array([1.0, 2.0]), np.array([3.0, 4.0])).to_numpy().tolist() == [1, 2]
    assert f(y, np.array([-1.0, 2.0]), np.array([3.0, 4.0])).to_numpy().tolist() == [3, 4]
    with pytest.raises(ShapeError, match="mode 0 of y is 3 but mode 0 of y is 2"):
        f(y, np.ones(3), np.ones(2))


def test_a_result_declared_under_a_condition_is_kept_otherwise():
    @ln.kernel
    def f(y, x, c):
        if c[0]:
            x[...] = 0
            for i in ...:
                x[i] = c[i]
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        return y

    for c in ([0.0, 5.0], [1.0, 5.0]):
        x, y = ln.asarray(np.array([7.0, 8.0])), ln.empty_tensor(ln.DENSE(1))
        expected = c if c[0] else [7.0, 8.0]
        assert f(y, x, np.array(c)).to_numpy().tolist() == expected
        assert x.to_numpy().tolist() == expected


def test_a_tensor_that_is_first_written_after_it_was_read_keeps_it():
    """The first update vanishes, since A stores nothing; the second is not forgotten."""

    @ln.kernel
    def twice(y, A):
        w = ln.temp(ln.DENSE(1))
        y[...] = 0.0
        for i in ...:
            ln.declare(w, 0.0, (A.shape[0],))
            w[i] += A[i]
            y[i] += w[0]
            w[i] = 5.0
            y[i] += w[i]
        return y

    A = ln.asarray(np.zeros(2), format=ln.SparseByteMap(ln.Element(0.0)))
    ln.testing.assert_equal(twice(ln.empty_tensor(ln.DENSE(1)), A), np.full(2, 5.0))


@ln.kernel
def turned_sum(Y, B):
    Y[...] = 1.0
    for i, j in ...:
        Y[j, i] += B[i, j]
    return Y


@ln.kernel
def spread_scalar(Y, s, B):
    Y[...] = 1.0
    for i in range(B.shape[0]):
        for j in range(B.shape[0]):
            Y[j, i] += s[()]
    return Y


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
def test_what_an_update_leaves_as_it_is_does_not_count():
    """Entries are counted before they are written: nothing added to 1 is no entry."""
    dense = np.array([[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]])
    into = ln.Dense(ln.SparseList(ln.Element(1.0)))
    for format in (ln.CSR, ln.CSC, ln.COO, ln.DCSR, ln.DENSE, ln.RLE):
        B = ln.asarray(dense, format=format)
        found = turned_sum(ln.empty_tensor(into), B)
        ln.from_buffers(found.format, found.shape, dict(found.buffers))  # as it should be stored
        assert np.array_equal(found.to_numpy(), 1 + dense.T)
    for held in (0.0, 2.0):
        s = ln.asarray(np.array(held), format=ln.SparseScalar(0.0))
        found = spread_scalar(ln.empty_tensor(into), s, np.zeros((2, 2)))
        ln.from_buffers(found.format, found.shape, dict(found.buffers))
        assert np.array_equal(found.to_numpy(), np.full((2, 2), 1 + held))


@ln.kernel
def held_and_written(K, A, Y):
    w = ln.temp(ln.SparseHash(ln.SparseHash(ln.Element(False, "bool"))))
    Y[...] = False
    w[...] = False
    for i in range(A.shape[0] // 2):
        Y[i] = (A[i, i] + A[i, i] != w[i, i]) and i > 0
    for i in ...:
        w[i, i] = bool(A[i, i])
    for i in range(A.shape[0]):
        K[i] += w[i, i]
    return K, Y


def test_a_value_that_is_held_is_not_taken_for_its_tensor():
    """What is not stored of a held value is left alone; of the tensor of that name it is not."""
    A = ln.asarray(np.ones((3, 3), complex), format=ln.CSR, fill_value=1 + 0j)
    K, _ = held_and_written(
        ln.zeros(3, format=ln.SparseByteMap(ln.Element())), A, ln.empty_tensor(ln.CSF(1))
    )
    assert np.array_equal(K.to_numpy(), [1, 1, 1])


@pytest.mark.parametrize("level", SPARSE)
def test_both_passes_find_the_same_values_to_be_the_fill(level):
    """0 *= A[i] is 0: such entries were not counted, and written nevertheless, behind the end."""

    @ln.kernel
    def f(Y, A):
        Y[...] = 0
        for i in ...:
            for j in range(A.shape[0]):
                for k in range(A.shape[0]):
                    Y[i, k, j] *= A[i]
        return Y

    args = {"Y": ln.empty_tensor(ln.Dense(ln.Dense(level(ln.Element(0, "int64")))))}
    args["A"] = ln.asarray(np.array([2, 3]))
    check(Subject.of(f.program, args), args)


def test_fill_values_are_not_stored_in_either_version_of_a_loop():
    """A loop that is there for a sparse scalar that is its fill value, and for one that is not,
    writes the same places in both: its workspace was copied with all that it does not hold."""

    @ln.kernel
    def f(y, A):
        w = ln.temp(ln.SparseScalar(0))
        ln.declare(y, 0.0, (A.shape[0], A.shape[1], A.shape[0]))
        w[...] = 0
        for i in range(A.shape[0]):
            for j in range(A.shape[0]):
                _x = w[()]
                y[i, j, j] = 1.0
            w[()] += 1
        return y

    y = f(ln.empty_tensor(ln.SparseList(ln.SparseCOO(2, ln.Element(0.0)))), np.ones((3, 3)))
    assert y.nnz == 9


@pytest.mark.parametrize("first", [True, False])
def test_branches_that_write_each_others_places(first):
    """What one of them writes as fill value, the other has written before."""

    @ln.kernel
    def f(y, A, c):
        ln.declare(y, 0.0, (A.shape[0], A.shape[0]))
        for i in range(A.shape[0]):
            for j in range(A.shape[0]):
                if c[i, j]:
                    y[i, j] = A[i, j]
                else:
                    y[j, i] = A[i, j]
        return y

    A, c = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([[True, first], [not first, True]])
    right = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            right[(i, j) if c[i, j] else (j, i)] = A[i, j]
    y = f(ln.empty_tensor(ln.DENSE(2)), ln.asarray(A, format=ln.CSR), c)
    assert np.array_equal(y.to_numpy(), right)


@pytest.mark.parametrize("level", SPARSE)
def test_a_sum_stores_nothing_where_its_terms_are_outside_their_space(level):
    """That a loop runs does not say that it writes."""

    @ln.kernel
    def f(y, a, b, n):
        y[...] = 0
        for i in range(n.shape[0]):
            for k in ...:
                y[i] += ln.logical_xor(a[k], b[k])
        return y

    a, n = ln.asarray(np.array([7, 7])), ln.asarray(np.zeros(3))
    for other, count in ((a, 0), (ln.asarray(np.array([7, 0])), 3)):
        args = {"y": ln.empty_tensor(level(ln.Element(0, "int64"))), "a": a, "b": other, "n": n}
        check(Subject.of(f.program, args), args)
        assert f(*args.values()).nnz == count


@pytest.mark.parametrize("level", SPARSE)
def test_what_a_condition_leaves_unread_does_not_say_that_nothing_is_written(level):
    """Where d is 0 nobody looks at a and b, which would say that there is nothing to add."""

    @ln.kernel
    def f(y, a, b, d):
        y[...] = 7
        for i in ...:
            y[i] += d[i] and one_of(a[i], b[i])
        return y

    a, b, d = (ln.asarray(x.ravel()) for x in np.indices((2, 2, 2)))
    args = {"y": ln.empty_tensor(level(ln.Element(7, "int64"))), "a": a, "b": b, "d": d}
    check(Subject.of(f.program, args), args)
    assert f(*args.values()).nnz == 6


@pytest.mark.parametrize("level", SPARSE)
def test_what_is_known_by_where_an_index_leads_may_be_written(level):
    """That the index is out of bounds is told while the kernel runs: a fill value is stored."""

    @ln.kernel
    def f(y, a, b):
        ln.declare(y, True, (b.shape[0],))
        for i in range(2, b.shape[0]):
            y[i] = bool(larger(a[i, i - 2, i], ln.coalesce(b[~(i - i * 3)], 2)))
        return y

    a = np.zeros((5, 5, 5))
    a[:, :2] = 3
    sparse = ln.SparseList(ln.Element(0.0))
    args = {"y": ln.empty_tensor(level(ln.Element(True, "bool")))}
    args |= {"a": ln.asarray(a, format=ln.Dense(ln.Dense(sparse)))}
    args |= {"b": ln.asarray(np.zeros(5), format=sparse)}
    check(Subject.of(f.program, args), args)
    assert f(*args.values()).to_numpy().all()


@pytest.mark.parametrize("tiles", [(1, 2), (2, 1), (2, 3)])
def test_what_lies_beside_an_element_in_its_tile_is_stored_and_handed_on(tiles):
    """Tiles of rows are seen where these are the fibers of a dense level, as in BSR."""
    wide = ln.SparseTiles(*tiles, ln.Dense(ln.Element(0.0)))
    tall = ln.Dense(ln.SparseTiles(*tiles, ln.Element(0.0)))

    @ln.kernel
    def f(y, z, a):
        v = ln.temp(wide)
        w = ln.temp(tall)
        y[...] = False
        z[...] = False
        ln.declare(v, 0.0, (a.shape[0], a.shape[0]))
        ln.declare(w, 0.0, (a.shape[0], a.shape[0]))
        for i in range(1, a.shape[0] - 1):
            v[i, i] = a[i]
            w[i, i] = a[i]
        for i in ...:
            for j in ...:
                y[j, i] = bool(v[i, i])
                z[i, j] = bool(w[i, j])
        return y, z

    sparse = ln.SparseList(ln.SparseHash(ln.Element(False, "bool")))
    args = {"y": ln.empty_tensor(sparse), "z": ln.empty_tensor(sparse)}
    args |= {"a": ln.asarray(np.full(5, 7.0))}
    check(Subject.of(f.program, args), args)
    assert f(*args.values())[1].nnz > 3


@pytest.mark.parametrize("level", SPARSE)
def test_what_only_values_tell_may_be_written(level):
    """Where both are looked up first, the code asks whether they are stored, and not what for."""

    @ln.kernel
    def f(y, a):
        ln.declare(y, 0.0, (a.shape[0], a.shape[0]))
        for i in ...:
            for j in ...:
                y[j, i] = both(max(a[j, j], a[j, i]), ln.logical_xor(a[j, i], -np.inf))
        return y

    a = ln.asarray(
        np.array([[1.0, 0.0], [2.0, 3.0]]), format=ln.Dense(ln.SparseBand(ln.Element(0.0)))
    )
    args = {"y": ln.empty_tensor(ln.SparseList(level(ln.Element(0.0)))), "a": a}
    check(Subject.of(f.program, args), args)
    assert f(*args.values()).to_numpy().tolist() == [[0, 1], [0, 0]]
