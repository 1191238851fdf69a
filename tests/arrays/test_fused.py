"""Fused functions go to their kernels at once when they are called again, if they may."""

from __future__ import annotations

import gc
import math
import operator
import weakref
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.arrays.tracing import Traced, sparse

import linnet as ln
from linnet.errors import LinnetError
from linnet.options import current
from linnet.testing import dense

SCALE = 2.0
WINDOW = np.s_[1:4, ::2]


def scaled(X):
    return X * SCALE


def window(X, Y):
    return X[WINDOW] + Y[WINDOW]


def statistics(X):
    Y = ln.log1p(X * (10.0 / X.sum(axis=1, keepdims=True)))
    return Y.mean(axis=0), {"rows": X.shape[0], "variance": Y.var(axis=0)}


def by_number(X, k, c=1.0):
    return X[k : k + 2] * c + c


def with_numpy(X):
    return np.sqrt(X).sum() + math.pi


def doubled(x):
    return operator.add(x, x)


def calls_another(X):
    return doubled(X) * 0.5


REMEMBERED = {
    "a global number": (scaled, 1),
    "a global slice": (window, 2),
    "several results": (statistics, 1),
    "functions of NumPy": (with_numpy, 1),
    "another function": (calls_another, 1),
    "an equation": (lambda X, Y: ln.einsum("ij,ij->i", X, Y), 2),
    "a comprehension": (lambda X: sum([X * k for k in range(1, 4)]), 1),
    "a matrix product under a mask": (lambda X, Y: (X @ Y.T) * (X @ X.T), 2),
    "a fill value of its own": (lambda X: X * X + 3.5, 1),
    "a reduction of reductions": (lambda X: X.max(axis=1).min(), 1),
    "functions of a namespace": (lambda X: ln.sum(X, axis=0) + ln.mean(X) - ln.max(X * X), 1),
    "the argument": (lambda X: X, 1),
    "a view": (lambda X: X.T[::2], 1),
}


def parts(found):
    """What is in tuples and dictionaries, in order."""
    inside = found.values() if isinstance(found, dict) else found
    nested = isinstance(found, dict | tuple)
    return [p for part in inside for p in parts(part)] if nested else [found]


@pytest.mark.parametrize("name", REMEMBERED)
@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO, ln.DENSE], ids=repr)
def test_the_third_call_runs_no_python(name, format):
    function, arity = REMEMBERED[name]
    f = Traced(function)
    for call in range(4):
        given = [sparse(10 * call + k) for k in range(arity)]
        tensors = [ln.asarray(x, format=format) for x in given]
        found = f(*tensors)
        assert f.count == (call < 2), name
        pairs = zip(parts(found), parts(function(*map(ln.lazy, tensors))), strict=True)
        for ours, part in pairs:
            plain = ln.compute(part) if isinstance(part, ln.Lazy) else part
            assert repr(ours) == repr(plain)


def test_numbers_are_told_apart():
    f, X = Traced(by_number), ln.asarray(sparse(1), format=ln.CSR)
    given = [(0, 2.0), (1, 2.0), (1, 2), (1, True), (1, 0.0), (1, -0.0), (1, math.nan), (2, 1j)]
    for _ in range(3):
        for k, c in given:
            found, expected = f(X, k, c=c), ln.compute(by_number(ln.lazy(X), k, c))
            assert repr(found) == repr(expected)
            assert dense(found).tobytes() == dense(expected).tobytes()  # 0.0 is not -0.0
    assert f.count == 0
    np.testing.assert_array_equal(dense(f(X, 1)), dense(X)[1:3] + 1)


def test_sizes_formats_and_fill_values_are_told_apart():
    f = Traced(lambda X: X.sum(axis=0) / X.shape[0] + X.shape[1])
    others = [sparse(1), sparse(2, (5, 8)), sparse(3, (6, 7)), sparse(4, dtype="float32")]
    tensors = [ln.asarray(x, format=g) for x in others for g in (ln.CSR, ln.CSC)]
    tensors += [ln.asarray(others[0], format=ln.CSR, fill_value=v) for v in (2.0, -0.0)]
    for call in range(3):
        for X in tensors:
            x = dense(X)
            np.testing.assert_allclose(dense(f(X)), x.sum(0) / x.shape[0] + x.shape[1], rtol=1e-5)
            assert f.count == (call < 2)


def test_one_array_twice_is_not_two():
    f = Traced(lambda X, Y: X - Y)
    X, Y = (ln.asarray(sparse(k), format=ln.CSR) for k in (1, 2))
    for _ in range(3):
        assert not dense(f(X, X)).any()
        np.testing.assert_array_equal(dense(f(X, Y)), dense(X) - dense(Y))
        np.testing.assert_array_equal(dense(f(Y, X)), dense(Y) - dense(X))


def test_arrays_of_numpy_and_scipy():
    f, A = Traced(lambda A, x: A @ x), sp.csr_array(sparse(1))
    for k in range(4):
        x = np.arange(8.0) + k
        np.testing.assert_allclose(dense(f(A, x)), A @ x)
        np.testing.assert_allclose(dense(f(A, x[::-1])), A @ x[::-1])
    assert f.count == 0


def test_backward_slices_of_lists_follow_the_argument():
    f = Traced(lambda X: X[:, ::-1] * 2)
    for k in range(5):
        X = ln.asarray(sparse(k), format=ln.CSR)
        np.testing.assert_array_equal(dense(f(X)), dense(X)[:, ::-1] * 2)


def test_arguments_are_not_kept():
    f = Traced(lambda X, Y: X * Y + 1)
    Y = ln.asarray(sparse(2), format=ln.CSR)
    held = []
    for k in range(4):
        matrix = sp.csr_array(sparse(k))
        held.append(weakref.ref(matrix.data))
        f(ln.asarray(matrix), Y)
    assert f.count == 0
    del matrix
    gc.collect()
    assert [data() for data in held] == [None] * 4


def test_a_kernel_reads_what_was_looked_at():
    """Another thread writes to the argument, in another type, before the kernel is called."""
    f = Traced(lambda X, Y: X * 2 + Y)
    X, Y = (ln.asarray(sparse(k), format=ln.CSR) for k in (1, 2))
    for _ in range(3):
        f(X, Y)
    expected = dense(X) * 2 + dense(Y)
    other = ln.asarray(sparse(3, dtype="float32"), format=ln.CSR)
    run = f.fused._run
    calls = run.__self__
    ((key, (known,)),) = calls._known.items()
    bound, X = known.bound, ln.asarray(sparse(1), format=ln.CSR)
    assert bound is not None
    values = weakref.ref(X.contents().arrays()[-1])

    class Late:
        def run(self, given, held):
            X._contents = other.contents()
            gc.collect()
            assert values() is not None
            return bound.operation.run(given, held)

    calls._known = {key: (replace(known, bound=replace(bound, operation=Late())),)}
    np.testing.assert_array_equal(dense(f(X, Y)), expected)
    assert f.count == 0


def test_results_are_new_each_time():
    f = Traced(lambda X: (X, [X * 2], {"a": X + 0}))
    X = ln.asarray(sparse(1), format=ln.CSR)
    found = [f(X) for _ in range(4)]
    assert f.count == 0
    assert len({id(part) for a, (b,), c in found for part in (a, b, c["a"])}) == 12
    assert len({id(b) for _, b, _ in found}) == 4
    assert all(a is not X for a, _, _ in found)


def test_errors_are_told_as_by_the_function():
    f = Traced(lambda X, Y: X @ Y)
    X = ln.asarray(sparse(1), format=ln.CSR)
    for _ in range(3):
        f(X, X.T)
    with pytest.raises(LinnetError, match="8") as raised:
        f(X, X)
    assert raised.value.at is not None
    assert raised.value.at.file == __file__


def test_other_options_are_other_kernels():
    f, X = Traced(lambda X: X * 2 + X), ln.asarray(sparse(1), format=ln.CSR)
    for _ in range(3):
        f(X)
    with ln.config(check=not current().check):
        np.testing.assert_array_equal(dense(f(X)), dense(X) * 3)
        assert f.count == 1
    f(X)
    assert f.count == 0


def test_many_numbers_are_not_remembered_for_ever():
    f, X = ln.fuse(by_number), ln.asarray(sparse(1), format=ln.CSR)
    for k in range(600):
        np.testing.assert_array_equal(dense(f(X, 1, k / 7)), dense(X)[1:3] * (k / 7) + k / 7)
    run = f._run
    calls = run.__self__
    assert len(calls._known) <= 256


# -- what is said of it ----------------------------------------------------------------------------


def test_a_fused_function_is_explained():
    X = ln.asarray(sparse(1), format=ln.CSR)
    f = ln.fuse(lambda X, scale=1.0: {"sums": (X * scale).sum(axis=0), "most": X.max(axis=1)})
    plan = ln.explain(f, X, 2.0)["plan"]
    assert "kernel 2" not in plan
    assert plan.endswith("gives R2, R3")
    assert f.explain(X, scale=2.0)["plan"] == plan
    with pytest.raises(LinnetError, match="no lazy array"):
        ln.explain(ln.fuse(lambda X: 3), X)


def test_arrays_that_are_computed_together_are_explained():
    X = ln.lazy(ln.asarray(sparse(1), format=ln.CSR))
    plan = ln.explain(X.sum(axis=0), X.sum(axis=1), X.T[::2])["plan"]
    assert plan.count("add-reduce") == 2
    assert "apart, since no kernel before has the same loops" in plan


@pytest.mark.parametrize("fill", [0.0, 1.0, -2.0])
@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO, ln.DCSR], ids=repr)
def test_what_is_not_stored_takes_part_in_several_results_of_one_pass(format, fill):
    """Columns of a matrix by rows: what is stored is counted for each result."""
    a = np.where(sparse(1) == 0, fill, sparse(1))
    X = ln.asarray(a, format=format, fill_value=fill)
    f = ln.fuse(lambda X: (X.min(axis=0), X.max(axis=0), X.sum(axis=0), X.prod(axis=0)))
    expected = (a.min(axis=0), a.max(axis=0), a.sum(axis=0), a.prod(axis=0))
    for found, value in zip(f(X), expected, strict=True):
        np.testing.assert_array_equal(found.to_numpy(), value)
    assert "kernel 2" not in ln.explain(f, X)["plan"]
