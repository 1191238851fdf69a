"""A kernel that is called again and again, while operands, options and dtypes change."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linnet as ln
from linnet.formats.away import TAKEN
from linnet.formats.contents import let_go

VECTOR = ln.Dense(ln.Element(0.0))
ANY = ln.Dense(ln.Element())


def by_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


def sums(r, c, A):
    r[...] = 0
    c[...] = 0
    for i, j in ...:
        r[i] += A[i, j]
        c[j] += A[i, j]
    return r, c


def added(y, x):
    for i in ...:
        y[i] += x[i]
    return y


def chosen(B, A, x):
    B[...] = 0
    for i, j in ...:
        B[i, j] = A[i, j] * x[j]
    return B


def matrix(n=6, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, n)) < 0.5, rng.integers(1, 9, (n, n)), 0).astype(float)


@pytest.fixture
def spmv():
    """A kernel that has been called a few times, its tensors, and what they hold."""
    a, x = matrix(), np.arange(6.0)
    kernel = ln.kernel(by_rows)
    tensors = ln.empty_tensor(VECTOR), ln.asarray(a, format=ln.CSR), ln.asarray(x)
    for _ in range(5):
        kernel(*tensors)
    return kernel, tensors, a, x


def test_a_result_finds_room_where_the_last_one_was(spmv):
    kernel, (y, A, x), a, b = spmv
    contents = y._contents
    assert kernel(y, A, x) is y
    assert y._contents is contents
    np.testing.assert_array_equal(y.to_numpy(), a @ b)


def test_options_of_a_run_compile_nothing(spmv, monkeypatch):
    kernel, (y, A, x), a, b = spmv
    operations = (lambda: A @ x, lambda: A + A, lambda: A * 2, lambda: ln.exp(A), lambda: A.sum(0))
    found = [operation().to_numpy() for operation in operations]

    def refuse(*given, **named):
        raise AssertionError("something is compiled, or looked for on disk")

    monkeypatch.setattr("linnet.runtime.specialize.specialize", refuse)
    monkeypatch.setattr("linnet.runtime.kept.load", refuse)
    with ln.config(threads=3, cache_limit=1 << 20):
        np.testing.assert_array_equal(kernel(y, A, x).to_numpy(), a @ b)
        for operation, expected in zip(operations, found, strict=True):
            np.testing.assert_array_equal(operation().to_numpy(), expected)


def test_what_an_operand_holds_changes(spmv):
    kernel, (y, A, x), a, b = spmv
    copy = ln.kernel(added)
    w = ln.empty_tensor(VECTOR)
    for _ in range(4):  # `w` is written where it was, and then somewhere else
        kernel(w, A, x)
        kernel(y, A, w)
        np.testing.assert_array_equal(ln.asarray(y).to_numpy(), a @ (a @ b))
    copy(x, ln.asarray(np.ones(6)))
    for _ in range(4):
        kernel(y, A, x)
        np.testing.assert_array_equal(y.to_numpy(), a @ (b + 1))


def test_results_that_were_seen_stay_as_they_are(spmv):
    kernel, (y, A, x), a, b = spmv
    seen = y.to_numpy()
    add, ones = ln.kernel(added), ln.asarray(np.ones(6))
    for k in range(1, 8):
        add(x, ones)
        kernel(y, A, x)
        np.testing.assert_array_equal(seen, a @ b)
        np.testing.assert_array_equal(y.copy().to_numpy(), a @ (b + k))


def test_results_that_somebody_reads_are_written_elsewhere(spmv):
    kernel, (y, A, x), _, _ = spmv
    contents, held = y.contents(), []
    y.pin(held, sys._getframe())
    kernel(y, A, x)
    assert y._contents is not contents
    assert not contents.lent
    let_go(held, sys._getframe())


def test_loops_that_swap_tensors():
    a, x = matrix(), np.arange(6.0)
    kernel, A = ln.kernel(by_rows), ln.asarray(a, format=ln.CSR)
    p, q = (ln.kernel(added)(ln.asarray(x), ln.asarray(x)) for _ in range(2))
    expected = 2 * x
    for _ in range(12):
        kernel(q, A, p)
        expected = a @ expected
        p, q = q, p
    np.testing.assert_allclose(p.to_numpy(), expected)


def test_several_results():
    a = matrix()
    kernel, A = ln.kernel(sums), ln.asarray(a, format=ln.CSR)
    r, c = ln.empty_tensor(VECTOR), ln.empty_tensor(VECTOR)
    for _ in range(5):
        found = kernel(r, c, A)
        assert found[0] is r
        assert found[1] is c
    np.testing.assert_array_equal(r.to_numpy(), a.sum(1))
    np.testing.assert_array_equal(c.to_numpy(), a.sum(0))
    with pytest.raises(ln.errors.ArgumentError, match="one tensor"):
        kernel(r, r, A)


def test_updates_in_place():
    y, x = ln.asarray(np.zeros(5)), ln.asarray(np.arange(5.0))
    kernel = ln.kernel(added)
    for _ in range(5):
        kernel(y, x)
    where = y._contents
    for _ in range(6):
        kernel(y, x)
    assert y._contents is where
    np.testing.assert_array_equal(y.to_numpy(), 11 * np.arange(5.0))


def test_an_operand_that_is_the_result():
    y = ln.kernel(added)(ln.asarray(np.zeros(5)), ln.asarray(np.ones(5)))
    kernel = ln.kernel(added)
    for k in range(1, 8):
        kernel(y, y)
        np.testing.assert_array_equal(y.copy().to_numpy(), np.full(5, 2.0**k))


@pytest.mark.parametrize("x", [np.ones(6), np.zeros(6)], ids=["some", "none"])
def test_sparse_results(x):
    """What they store may be nothing, in no memory."""
    a = matrix()
    kernel, A, B = ln.kernel(chosen), ln.asarray(a, format=ln.CSR), ln.empty_tensor(ln.CSR)
    given = ln.asarray(x, format=ln.SparseList(ln.Element(0.0)))
    for _ in range(6):
        kernel(B, A, given)
        np.testing.assert_array_equal(B.to_numpy(), a * x)


def test_no_memory_of_a_user_is_kept(spmv):
    kernel, (y, A, _), _, _ = spmv
    values = np.arange(6.0)
    given = ln.asarray(values)
    for _ in range(5):
        kernel(y, A, given)
    gone = [weakref.ref(values), weakref.ref(given)]
    del values, given
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_references_are_given_back(spmv):
    kernel, (y, A, x), _, _ = spmv
    parts = [part for t in (y, A, x) for part in (t, t._contents)]
    before = [*map(sys.getrefcount, parts)]
    for _ in range(100):
        assert kernel(y, A, x) is y
    assert [*map(sys.getrefcount, parts)] == before
    assert [t._contents.pins for t in (y, A, x)] == [{}, {}, {}]
    assert not TAKEN


def test_threads_with_one_result_and_with_their_own(spmv):
    kernel, (y, A, x), a, b = spmv

    def work(k):
        mine = ln.empty_tensor(VECTOR)
        for _ in range(300):
            kernel(y, A, x)
            kernel(mine, A, x)
        return np.array_equal(mine.to_numpy(), a @ b) and np.array_equal(y.to_numpy(), a @ b)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert not TAKEN


# -- whatever changes between two calls ------------------------------------------------------------


DTYPES = "float64", "float32", "int64"
OPTIONS = {}, {"check": True}, {"cache_limit": 1 << 20}
CALLS = 4000


def _operands(number, rng):
    """A matrix and a vector, of one of the dtypes, and the matrix as a tensor."""
    dtype = DTYPES[number % len(DTYPES)]
    n = int(rng.integers(0, 7))
    a = np.where(rng.random((n, n)) < 0.5, rng.integers(1, 9, (n, n)), 0).astype(dtype)
    format = (ln.CSR, ln.CSC, ln.DENSE, ln.COO)[number % 4]
    return a, rng.integers(1, 9, n).astype(dtype), ln.asarray(a, format=format)


def _stress(seed, calls):
    """Random calls of kernels and operators: each result is what NumPy says, seen now or later."""
    rng = np.random.default_rng(seed)
    product, add = ln.kernel(by_rows), ln.kernel(added)
    pool = [_operands(k, rng) for k in range(12)]
    results = {d: ln.empty_tensor(ANY) for d in DTYPES}
    seen = []
    for number in range(calls):
        a, x, A = pool[rng.integers(len(pool))]
        with ln.config(**OPTIONS[int(rng.integers(30)) % 3 if rng.random() < 0.1 else 0]):
            match int(rng.integers(6)):
                case 0 | 1:
                    y = product(results[str(a.dtype)], A, ln.asarray(x))
                    found, expected = y, a @ x
                case 2:
                    found, expected = A @ x, a @ x
                case 3:
                    found, expected = A + A, a + a
                case 4:
                    found, expected = A * 3, a * 3
                case _:
                    found, expected = add(ln.asarray(x.copy()), ln.asarray(x)), x + x
        seen.append((found.to_numpy() if rng.random() < 0.5 else found.copy(), expected))
        if number % 7 == 0:
            pool[rng.integers(len(pool))] = _operands(number, rng)
        if len(seen) > 20:
            given, expected = seen.pop(int(rng.integers(len(seen))))
            given = given if isinstance(given, np.ndarray) else given.to_numpy()
            np.testing.assert_array_equal(given, expected)


def test_whatever_changes_between_calls():
    _stress(0, CALLS)
    assert not TAKEN


def test_whatever_changes_between_calls_in_threads():
    """None hangs, and none sees what is another's."""
    failed = []

    def work(seed):
        try:
            _stress(seed, CALLS // 4)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
    assert not any(thread.is_alive() for thread in threads)
    assert not failed
    assert not TAKEN
