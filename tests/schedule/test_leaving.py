"""Loops that are left early, in parts: by `break`, or since a value is final."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.errors import ScheduleError
from linnet.formats.named import stack

FORMATS = (ln.CSR, ln.DCSR, ln.COO, ln.DENSE(2))


@ln.kernel
def first_above(c, A, t):
    c[...] = -1
    for i in ...:
        for j in ...:
            if A[i, j] > t[()]:
                c[i] = j
                break
    return c


@ln.kernel
def sums_until(y, s, A, t):
    y[...] = 0
    s[...] = 0
    for i in ...:
        row = ln.scalar(0.0)
        for j in ...:
            row[()] += A[i, j]
        if row[()] > t[()]:
            y[i] = -1
            break
        if row[()] == 3:
            s[()] += 1
        y[i] = row
    return y, s


@ln.kernel
def named(k, x):
    k[...] = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            d = x[j] - i
            if d > 2:
                if d > 4:
                    k[()] += 1
                else:
                    break
            k[()] += j
    return k


@pytest.fixture
def A():
    rng = np.random.default_rng(1)
    return (rng.integers(1, 9, (20, 30)) * (rng.random((20, 30)) < 0.2)).astype(float)


LEFT = [
    "split(j, j0, j1, 4)",
    "split(j, j0, j1, 4, up)",
    "split(i, i0, i1, 6) split(j, j0, j1, 100)",
    "split(j, j0, j1, 7) split(j1, a, b, 3)",
    "split(j, j0, j1, 2) split(j0, a, b, 3, up) split(j1, c, d, 1)",
]


@pytest.mark.parametrize("text", LEFT)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_a_break_leaves_all_parts(A, format, text):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=format), ln.scalar(6.0)
    scheduled = first_above.schedule().apply(text)
    found = A > 6
    first = np.where(found.any(axis=1), found.argmax(axis=1), -1)
    assert np.array_equal(scheduled(*given).to_numpy(), first)
    assert scheduled.visits(*given)["j"] == first_above.visits(*given)["j"]


@pytest.mark.parametrize("size", [1, 4, 10, 25])
def test_parts_behind_the_one_that_is_left_are_not_begun(A, size):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A), ln.scalar(6.0)
    visits = first_above.schedule().split("j", "j0", "j1", size).visits(*given)
    found = A > 6
    turns = np.where(found.any(axis=1), found.argmax(axis=1), 29) + 1
    assert (visits["i"], visits["j"]) == (20, turns.sum())
    assert visits["j0"] == (-(-turns // size)).sum()


@pytest.mark.parametrize("result", [ln.DENSE(1), ln.SparseList(ln.Element(0.0))], ids=str)
@pytest.mark.parametrize("text", ["split(i, a, b, 3)", "split(i, a, b, 3, up) split(b, c, d, 2)"])
def test_a_break_beside_other_statements(A, result, text):
    most = A.sum(axis=1)[:9].max()
    A[9] = 2
    given = ln.asarray(A, format=ln.CSR), ln.scalar(most)
    scheduled, results = sums_until.schedule().apply(text), []
    for kernel in (sums_until, scheduled):
        results.append(kernel(ln.empty_tensor(result), ln.scalar(0.0), *given))
        visits = kernel.visits(ln.empty_tensor(result), ln.scalar(0.0), *given)
        assert visits["i"] == 10
    (y, s), (tiled_y, tiled_s) = results
    assert np.array_equal(y.to_numpy(), tiled_y.to_numpy())
    assert s.item() == tiled_s.item()


def test_a_break_under_names_and_conditions():
    given = np.arange(9) % 5
    for text in ("split(j, j0, j1, 2)", "split(i, i0, i1, 2) split(j, j0, j1, 4, up)"):
        scheduled = named.schedule().apply(text)
        assert scheduled(ln.scalar(0), given).item() == named(ln.scalar(0), given).item()


REFUSED = [
    ("reorder(j, i)", "a loop that may be left by `break` keeps its order"),
    ("split(j, j0, j1, 4) reorder(j1, j0)", "a loop that may be left by `break` keeps its order"),
    ("collapse(i, j, f) split(f, f0, f1, 4)", "the innermost of `f` may be left by `break`"),
    ("pos(j, p, A)", "is to be done where `A` stores nothing"),
    ("collapse(i, j, f) pos(f, p, A)", "the innermost of `f` may be left by `break`"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_refused_of_loops_that_are_left(A, text, message):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR), ln.scalar(6.0)
    with pytest.raises(ScheduleError, match=message):
        first_above.schedule().apply(text)(*given)


# -- values that no update changes any more --------------------------------------------------------

ASKED = stack(ln.ShortCircuit(False))


@ln.kernel
def some_above(s, A):
    s[...] = False
    for i in ...:
        for j in ...:
            s[()] |= A[i, j] > 7
    return s


TILED = [
    ("split(i, i0, i1, 4)", "i0", 2),
    ("split(i, i0, i1, 4, up)", "i0", 2),
    ("split(i, a, b, 8) split(b, c, d, 2)", "a", 1),
    ("split(j, j0, j1, 5)", "j0", 6 * 6 + 1),
    ("split(i, i0, i1, 4) split(j, j0, j1, 5) reorder(i0, j0, i1, j1)", "j0", 6 + 1),
]


@pytest.mark.parametrize(("text", "counter", "turns"), TILED)
@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_a_value_that_is_final_ends_all_parts(format, text, counter, turns):
    B = np.minimum(np.indices((20, 30)).sum(axis=0) % 3, 2.0)
    B[6, 2] = 8
    for result in (ln.scalar(False), ln.empty_tensor(ASKED)):
        given = result, ln.asarray(B, format=format)
        scheduled = some_above.schedule().apply(text)
        assert scheduled(*given).item()
        assert scheduled.visits(*given)[counter] == turns


@ln.kernel
def any_above(s, x):
    s[...] = False
    for i in ...:
        s[()] |= x[i] > 7
    return s


@ln.kernel
def any_row_above(s, A):
    s[...] = False
    for i in ...:
        for j in ...:
            s[()] |= A[i, j] > 7
    return s


def test_long_parts_end_where_the_whole_would():
    x = np.where(np.arange(5000) == 50, 9.0, 1.0)
    for kernel, given in ((any_above, x), (any_row_above, x.reshape(100, 50))):
        plain = kernel.visits(ln.scalar(False), given)
        halves = kernel.schedule().split("i", "i0", "i1", 2, direction="up")
        tiled = halves.visits(ln.scalar(False), given)
        assert tiled["i0"] == 1
        assert tiled.total == plain.total + 1


@ln.kernel
def all_above(s, A):
    s[...] = True
    for i in ...:
        for j in ...:
            s[()] &= A[i, j] > 7
    return s


@pytest.mark.parametrize("size", [1000, 25])
def test_rows_of_which_nothing_is_stored_are_left_once_they_decide(size):
    A = ln.asarray(np.zeros((20, 30)), format=ln.DCSR)
    tiled = all_above.schedule().collapse("i", "j", "f").split("f", "f0", "f1", size)
    visits = tiled.visits(ln.scalar(True), A)
    assert (visits["f0"], visits["i"]) == (1, 1)


@ln.kernel
def none_at_all(s, A, B):
    s[...] = False
    for j in range(B.shape[0]):
        for i in ...:
            s[()] &= A[i, j]
    return s


@pytest.mark.parametrize("text", ["", "split(j, j0, j1, 2)", "split(j, j0, j1, 2, up)"])
def test_what_is_final_from_the_start_is_not_looked_for(text):
    pattern = ln.SparseList(ln.SparseList(ln.Pattern()))
    A = ln.asarray(np.zeros((3, 4), bool), format=pattern)
    given = ln.scalar(False), A, ln.asarray(np.ones(4))
    tiled = none_at_all.schedule().apply(text) if text else none_at_all
    assert tiled.visits(*given).total == 0
    assert not tiled(*given).item()


# -- positions, which are gone through as far as that ----------------------------------------------


@ln.kernel
def first_over_two(c, A):
    c[...] = -1
    for i in ...:
        for j in ...:
            if A[i, j] > 2:
                c[i] = j
                break
    return c


@ln.kernel
def until_large(y, z, A, B):
    y[...] = 0
    z[...] = 0
    for i in ...:
        for j in ...:
            y[i] += A[i, j] * B[i, j]
            if i < j:
                z[i] += A[i, j]
            if A[i, j] > 6:
                break
    return y, z


THROUGH = [
    "pos(j, p, A)",
    "pos(j, p, A) split(p, p0, p1, 2)",
    "pos(j, p, A) split(p, p0, p1, 3, up) split(p1, a, b, 2)",
    "split(j, j0, j1, 7) pos(j1, p, A) split(p, p0, p1, 2)",
    "pos(j, p, A) split(p, p0, p1, 2) coord(p1, k)",
]


@pytest.mark.parametrize("text", THROUGH)
@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO, ln.BAND], ids=str)
def test_positions_are_gone_through_until_they_are_left(A, format, text):
    stored, B = ln.asarray(A, format=format), ln.asarray(A[::-1], format=ln.DCSR)
    first = first_over_two.schedule().apply(text)(ln.empty_tensor(ln.DENSE(1)), stored)
    found = A > 2
    assert np.array_equal(first.to_numpy(), np.where(found.any(1), found.argmax(1), -1))
    given = [(ln.empty_tensor(ln.DENSE(1)), ln.empty_tensor(ln.DENSE(1))) for _ in range(2)]
    plain = until_large(*given[0], stored, B)
    scheduled = until_large.schedule().apply(text)(*given[1], stored, B)
    for expected, got in zip(plain, scheduled, strict=True):
        assert np.array_equal(expected.to_numpy(), got.to_numpy())


@ln.kernel
def first_stored(y, A):
    y[...] = -1
    for i in ...:
        for j in ln.stored(A[i, :]):
            if A[i, j] > 2:
                y[i] = j
                break
    return y


@ln.kernel
def first_of_parts(y, A):
    y[...] = 0
    for i in ...:
        for p in range(ln.parts(ln.stored(A[i, :]), 3)):
            for j in ln.part(ln.stored(A[i, :]), p, 3):
                if A[i, j] > 2:
                    break
                y[i] += A[i, j]
    return y


@ln.kernel
def first_between(y, A):
    y[...] = 0
    for i in ...:
        for p in range(max(ln.parts(ln.stored(A[i, :]), 3), 1)):
            for j in ln.coordinates(ln.part(ln.stored(A[i, :]), p, 3)):
                y[i] += 1
                if A[i, j] > 2:
                    break
    return y


@pytest.mark.parametrize("kernel", [first_stored, first_of_parts, first_between])
@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.BAND], ids=str)
def test_loops_through_positions_are_left(A, kernel, format):
    """`break` ends the loop around it, as it does elsewhere: in a part, that one."""
    given = {"A": ln.asarray(A, format=format)}
    agree(kernel, {"y": ln.empty_tensor(ln.DENSE(1)), **given}, ["llvm", "c"])


def test_only_positions_are_visited_until_they_are_left(A):
    given = ln.empty_tensor(ln.DENSE(1)), ln.asarray(A, format=ln.CSR)
    visits = first_over_two.schedule().apply("pos(j, p, A)").visits(*given)
    rows = [row[row > 0] for row in A]
    turns = [np.argmax(row > 2) + 1 if (row > 2).any() else len(row) for row in rows]
    assert visits["j in A[i, j]"] == sum(turns)
