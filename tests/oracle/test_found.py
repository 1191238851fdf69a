"""Programs that went wrong once: each is here so that it does not again."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet.errors import FormatError
from linnet.frontend.text import parse_text
from linnet.imp.rewrite import walk
from linnet.runtime.kernel import Kernel

SPARSE = (ln.SparseList, ln.SparseByteMap, ln.SparseHash)
E = ln.Element(0.0)


@pytest.mark.parametrize("level", SPARSE)
def test_two_elements_at_once(level):
    """While y[i] is being added up, y[i // 2] may be the same element."""

    @ln.kernel
    def f(y, x):
        y[...] = 0
        for i in ...:
            for j in ...:
                y[i] += x[j]
            y[i // 2] += x[i]
        return y

    x = np.array([1.0, 0.0, 2.0, 4.0, 0.0])
    expected = np.full(5, x.sum())
    np.add.at(expected, np.arange(5) // 2, x)
    ln.testing.assert_equal(f(ln.empty_tensor(level(ln.Element(0.0))), x), expected)


def test_nothing_times_infinity_is_nothing():
    @ln.kernel
    def f(y, A, B):
        y[...] = 0
        for i in ...:
            y[()] += A[i] * B[i] * (A[i] * 1)
        return y

    endless = ln.asarray(np.full(3, -np.inf), format=ln.SparseList(ln.Element(-np.inf)))
    nothing = ln.asarray(np.zeros(3), format=ln.SparseList(ln.Element(0.0)))
    assert f(ln.scalar(0.0), endless, nothing).to_numpy() == 0


def test_an_operator_with_an_argument_in_a_workspace():
    @ln.kernel
    def f(y, A):
        y[...] = 0
        for i, j in ...:
            y[j, i] = ln.choose(0)(y[j, i], A[i, j])
        return y

    A = np.array([[1.0, 0.0], [2.0, 3.0]])
    for level in (ln.SparseBlockList, ln.SparseList):
        y = ln.empty_tensor(level(level(ln.Element(0.0))))
        ln.testing.assert_equal(f(y, A), A.T)


@pytest.mark.parametrize("level", [ln.SparseList, ln.SparseHash])
def test_what_is_not_stored_takes_no_part_in_a_wide_merge(level):
    """Four fibers are merged at once; 0 times infinity is 0 where the 0 is not stored."""

    @ln.kernel
    def products(y, A, B, C, D):
        y[...] = 0.0
        for i in ...:
            y[i] += A[i] * B[i] + (C[i] + A[i]) * D[i]
        return y

    format = level(ln.Element(0.0))
    values = {"A": {0: 1.0}, "B": {1: np.inf}, "C": {1: 2.0}, "D": {1: 3.0, 2: np.nan}}
    args = [
        ln.tensor([np.array(list(v))], np.array(list(v.values())), (4,), format)
        for v in values.values()
    ]
    y = products(ln.empty_tensor(format), *args)
    ln.testing.assert_equal(y, np.array([0.0, 6.0, 0.0, 0.0]))
    assert y.nnz == 1


SEARCHED = {
    "sum": "if {A} > 3.0:\n            y[i] += 1.0",
    "and": "if {A_and}:\n            y[i] += 1.0\n        else:\n            y[i] += 0.5",
    "or": "if {A_or}:\n            y[i] += 1.0",
    "products": "y[i] += {Ax}",
    "let": "t = {A}\n        y[i] += t * x[i]",
}


@pytest.mark.parametrize("statement", SEARCHED.values(), ids=SEARCHED)
@pytest.mark.parametrize("kind", [ln.SparseList, ln.SparseHash, ln.SparseRunList, ln.Dense])
def test_many_searches_make_little_code(statement, kind):
    """Eight values are searched for, and what follows is not written 256 times."""
    names = [f"A{k}" for k in range(8)]
    parts = {
        "A": " + ".join(f"{n}[I[i]]" for n in names),
        "A_and": " and ".join(f"{n}[I[i]] >= {k % 2}.0" for k, n in enumerate(names)),
        "A_or": " or ".join(f"{n}[I[i]] > {k % 3}.5" for k, n in enumerate(names)),
        "Ax": " + ".join(f"{n}[I[i]] * x[i]" for n in names),
    }
    text = f"def f(y, I, x, {', '.join(names)}):\n    y[...] = 0.0\n    for i in ...:\n"
    kernel = Kernel(parse_text(f"{text}        {statement.format(**parts)}\n    return y"))
    rng = np.random.default_rng(0)
    operands = [
        ln.asarray(rng.integers(0, 3, 6) * 1.0, format=kind(ln.Element(0.0))) for _ in names
    ]
    x = np.array([np.inf, 1.0, np.nan, 2.0, 3.0, 0.0])
    args = [ln.asarray(np.array([5, 0, 3, 3, 1, 2])), ln.asarray(x), *operands]
    size = sum(1 for _ in walk(kernel.lowered(ln.empty_tensor(ln.DENSE(1)), *args).kernel.body))
    assert size < 1200
    y = kernel(ln.empty_tensor(ln.DENSE(1)), *args)
    expected = kernel.reference(ln.empty_tensor(ln.DENSE(1)), *args)["y"]
    ln.testing.assert_equal(y, expected)


@pytest.mark.parametrize("range", ["...", "range(A.shape[0])"])
def test_kernels_of_one_text_and_other_checks_are_two(range):
    """Once dimensions are known both loops have that range; for one of them two sizes are one."""
    text = "def f(y, A, x):\n    y[...] = 0.0\n    for j in range(x.shape[0]):\n"
    text += f"        for i in {range}:\n            y[()] += A[i] * x[j, i]\n    return y"
    kernel, x = Kernel(parse_text(text)), np.arange(10.0).reshape(2, 5)
    assert kernel(ln.scalar(0.0), np.ones(5), x).item() == 45
    if range != "...":
        assert kernel(ln.scalar(0.0), np.ones(3), x).item() == 21


@pytest.mark.parametrize("child", [ln.SparseHash, ln.SparseByteMap])
def test_runs_of_fibers_that_are_not_in_order_yet(child):
    """Whether two rows are alike is seen when they are sorted: that is when they become a run."""

    @ln.kernel
    def twice(C, A):
        C[...] = 0.0
        for j in ...:
            for i in ...:
                C[i, j] += 2 * A[i, j]
        return C

    A = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0], [1.0, 0.0, 2.0]])
    C = ln.empty_tensor(ln.SparseInterval(child(ln.Element(0.0))))
    assert twice(C, ln.asarray(A, format=ln.CSC)).to_numpy().tolist() == (2 * A).tolist()
    ln.testing.assert_equal(ln.asarray(A).to(C.format), A)
    with pytest.raises(FormatError, match="a second run"):
        twice(C, ln.asarray(np.eye(3)))


@pytest.mark.parametrize("a", [0.0, 2.0])
def test_a_name_around_versions_for_a_sparse_scalar(a):
    """What is written twice for `A` speaks of a name whose type was found outside of it."""

    @ln.kernel
    def f(y, z, A):
        y[...] = 1.0
        z[...] = 0.0
        y[()] += A[()]
        x = y[()]
        z[()] += 1
        if x > A[()]:
            z[()] += x * A[()]
        return z

    A = ln.asarray(np.array(a), format=ln.SparseScalar(0.0))
    assert f(ln.scalar(0.0), ln.scalar(0.0), A).item() == 1 + (1 + a) * a


@pytest.mark.parametrize("inner", [ln.SparseByteMap, ln.SparseHash])
@pytest.mark.parametrize("middle", [ln.Dense, ln.SparseHash])
@pytest.mark.parametrize("outer", [ln.SparseList, ln.RunList, ln.SparseBlockList])
def test_two_places_at_once_below_a_list(outer, middle, inner):
    """Each is opened by itself in a row that is written once: the row was written for each."""
    text = """def f(Y, A):
    Y[...] = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(A.shape[0]):
                Y[i, j, k] += A[i] * A[k]
            Y[i, i, i] = min(Y[i, i, i], A[j] * A[i])
    return Y"""
    Y, subject = ln.empty_tensor(outer(middle(inner(ln.Element(0.0))))), None
    for values in ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, -2.0, 3.0]):
        args = {"Y": Y, "A": ln.asarray(np.array(values), format=ln.CSF(1))}
        subject = subject or Subject.of(parse_text(text), args)
        check(subject, args, BACKENDS[:1])


@pytest.mark.parametrize("level", [ln.SparseHash, ln.SparseByteMap])
def test_what_is_not_chosen_is_not_considered(level):
    """Beyond the bounds there is a number, not the fill value of a row that is not stored."""

    @ln.kernel
    def f(y, A):
        y[...] = 0.0
        for i in range(A.shape[0]):
            y[i] = max(ln.coalesce(A[i, ~(i + 1)], math.inf), A[i, i])
        return y

    A = np.full((3, 3), math.nan)
    A[1, 1] = 1.0
    args = {"y": ln.empty_tensor(ln.DENSE(1))}
    args["A"] = ln.asarray(A, format=level(ln.Dense(ln.Element(math.nan))))
    check(Subject.of(f.program, args), args)
    assert np.isnan(f(args["y"], args["A"]).to_numpy()).tolist() == [True, True, True]


def test_a_choice_of_two_nothings_that_are_not_told_apart():
    """Where neither is stored it is False or 0j: what is left of it was looked at for ever."""

    @ln.kernel
    def f(Y, C, B):
        Y[...] = np.float64(1.0)
        for j, k, l in ...:
            Y[j, l, k] += (B[k, j, k] if l // 2 != l // 3 else C[k, j, l]) and True * (
                abs(j - l) < l - 2
            )
        return Y

    B = ln.asarray(np.eye(3)[:, :, None] * np.full(3, 1j), format=ln.CSF(3))
    lists = ln.SparseByteMap(ln.Dense(ln.SparseCOO(1, ln.Element(False, "bool"))))
    C = ln.asarray(np.eye(3, dtype=bool)[:, :, None] & np.ones(5, bool), format=lists)
    runs = ln.SparseHash(ln.SparseRunList(ln.SparseCOO(1, ln.Element(-3.0))))
    args = {"Y": ln.empty_tensor(runs), "C": C, "B": B}
    check(Subject.of(f.program, args), args)


def test_what_meets_is_counted_of_matrices_only():
    """A level of two dimensions below a dense one has three levels, and is no matrix."""

    @ln.kernel
    def f(Y, A):
        Y[...] = 0.0
        for i, j in ...:
            for k in range(A.shape[0]):
                Y[j, i, k] += A[i, j, A.shape[0] - 1 - i]
        return Y

    pairs, lists = (ln.SparseCOO(2, ln.Element(0.0)), ln.SparseList(ln.Dense(ln.Element(0.0))))
    A = ln.asarray(np.arange(8.0).reshape(2, 2, 2), format=ln.Dense(pairs))
    args = {"Y": ln.empty_tensor(ln.Dense(lists)), "A": A}
    check(Subject.of(f.program, args), args)


@pytest.mark.parametrize("level", [ln.SparseList, ln.RunList, ln.SparseRunList, ln.Dense])
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_of_two_may_be_there(level, backend):
    """Of `coalesce(A[~i], B[~(i - 4)], 9)`, `A` is there where `B` is not."""

    @ln.kernel
    def f(y, A, B, C):
        y[...] = 0
        for i in range(C.shape[0]):
            y[i] = ln.coalesce(A[~i], B[~(i - 4)], 9)
        return y

    a, b = np.array([0.0, 2.0, 2.0, 0.0, 5.0]), np.array([1.0, 1.0, 0.0])
    format = level(ln.Element(0.0))
    given = [ln.asarray(x, format=format) for x in (a, b)]
    with ln.config(backend=backend):
        found = f(ln.empty_tensor(format), *given, ln.asarray(np.zeros(9)))
    ln.testing.assert_equal(found, np.array([*a, 1.0, 0.0, 9.0, 9.0]))


@pytest.mark.parametrize("outer", [ln.SparseInterval, ln.RunList, ln.SparseRunList])
def test_the_diagonal_of_equal_rows_at_an_index_that_is_simplified(outer):
    """What was walked for `A[i, i * 1]` was looked for as `A[i, i]`, and not found."""

    @ln.kernel
    def f(y, A):
        y[...] = 0.0
        for i in ...:
            y[i] += A[i, i * 1]
        return y

    array = np.array([[0, 2.0, 3], [0, 2, 3], [0, 2, 3]])
    A = ln.asarray(array, format=outer(ln.SparseList(ln.Element(0.0))))
    assert f(ln.empty_tensor(ln.DENSE(1)), A).to_numpy().tolist() == [0, 2, 3]


@pytest.mark.parametrize("runs", [ln.RunList, ln.SparseRunList, ln.SparseList])
def test_a_tile_that_reaches_beyond_its_dimension_is_not_walked_from_there(runs):
    """Behind an interval that ends with the dimension, what it is walked with has ended, too."""

    @ln.kernel
    def f(s, x, y, z):
        s[...] = 0
        for i in ...:
            s[()] += x[i] * y[i] + z[i]
        return s

    for size, begin in ((1, 0), (5, 4), (5, 0), (6, 3), (7, 2)):
        x = ln.asarray(np.arange(size) + 1.0)
        args = {"s": ln.empty_tensor(ln.Element(0.0)), "x": x.to(ln.SparseTiles(3, 2, E))}
        behind = ln.asarray(np.arange(size) >= begin).astype("float64")
        args |= {"y": x.to(runs(E)), "z": behind.to(ln.SparseInterval(E))}
        check(Subject.of(f.program, args), args)
