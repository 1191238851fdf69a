"""Levels walked from the last index to the first, `A[c - k * i]`: by what is stored, as forward."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import ALL, LEVELS, agree, array_for, nest
from tests.levels.test_strides import HUGE, far
from tests.levels.test_strides import LEVELS as NAMED
from tests.oracle.check import Subject, check
from tests.visits import work

import linnet as ln
from linnet.frontend.text import parse_text

TURNS = [(1, 19, 0), (1, 12, 0), (1, 4, 0), (1, 25, 0), (1, 15, -4)]
TURNS += [(2, 19, 0), (2, 8, 0), (3, 17, -2), (4, 6, -9)]
VALUE = ln.Element(0.0)


@pytest.mark.parametrize("letter", ALL)
@pytest.mark.parametrize(("factor", "origin", "start"), TURNS)
def test_what_is_read(factor, origin, start, letter):
    """Also beyond the bounds, for indices below zero, and together with what is walked forward."""
    text = f"""def read(y, z, A, B):
    ln.declare(y, 0, (24,))
    ln.declare(z, 0, (24,))
    for i in range({start}, {start + 24}):
        y[i - ({start})] = ln.coalesce(A[~({origin} - {factor} * i)], 5)
    for j in range(20):
        z[j] = ln.coalesce(A[~({origin} - {factor} * j)], 0) * B[j] + B[19 - j]
    return y, z
"""
    rng = np.random.default_rng(origin)
    given = {name: ln.empty_tensor(ln.Dense(VALUE)) for name in "yz"}
    given["A"] = ln.asarray(array_for(letter, (20,), rng), format=LEVELS[letter](VALUE))
    given["B"] = ln.asarray(array_for("S", (20,), rng), format=LEVELS["S"](VALUE))
    check(Subject.of(parse_text(text), given), given)


@ln.kernel
def rows_and_columns(C, A, x):
    ln.declare(C, 0, (A.shape[0], A.shape[1]))
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = A[A.shape[0] - 1 - i, A.shape[1] - 1 - j] * x[j]
    return C


@pytest.mark.parametrize("outer", ALL)
@pytest.mark.parametrize("inner", ALL)
def test_rows_and_columns(inner, outer):
    rng = np.random.default_rng(ord(inner) + ord(outer))
    array, x = array_for(outer + inner, (7, 9), rng), array_for("K", (9,), rng)
    args = {
        "C": ln.empty_tensor(ln.CSR),
        "A": ln.asarray(array, format=nest(outer + inner)),
        "x": ln.asarray(x, format=nest("K")),
    }
    found = agree(rows_and_columns, args)["C"]
    assert np.array_equal(found.to_numpy(), array[::-1, ::-1] * x)


def test_coordinates_of_two_dimensions():
    array = array_for("SS", (7, 9), np.random.default_rng(3))
    A = ln.asarray(array, format=ln.COO(2))
    for rows in (slice(None, None, -1), slice(None, None, -2), slice(4, None, -3), slice(1, 5)):
        for columns in (slice(None, None, -1), slice(7, 1, -2), slice(None)):
            assert np.array_equal(A[rows, columns].to_numpy(), array[rows, columns])


@ln.kernel
def backward(s, A):
    s[...] = 0
    for i in range(A.shape[0]):
        s[()] += A[A.shape[0] - 1 - i]


@ln.kernel
def every_third(s, A):
    s[...] = 0
    for i in range(A.shape[0] // 3):
        s[()] += A[A.shape[0] - 1 - 3 * i]


@ln.kernel
def with_forward(s, A, B):
    s[...] = 0
    for i in range(A.shape[0]):
        s[()] += A[A.shape[0] - 1 - i] * B[i]


@ln.kernel
def window(s, A):
    s[...] = 0
    for i in range(2, A.shape[0] - 2):
        s[()] += A[A.shape[0] - 1 - i]


@pytest.mark.parametrize("level", NAMED)
def test_what_is_looked_at(level):
    """What is stored, a dozen values, is searched for a few times each, and not every index."""
    for n in (300, 3000):
        A, B = far(level, n), far("runs", n)
        assert work(backward, ln.scalar(0.0), A) <= 15
        assert work(window, ln.scalar(0.0), A) <= 26
        assert work(every_third, ln.scalar(0.0), A) <= 65
        assert work(with_forward, ln.scalar(0.0), A, B) <= 23


@pytest.mark.parametrize("level", NAMED)
@pytest.mark.parametrize("step", [1, 2, 3, 1000])
def test_slices_of_many_rows(step, level):
    A = far(level, HUGE)
    small = far(level, 40).to_numpy()
    for last in (HUGE - 1, HUGE - 4, 10):
        cut = A[last::-step]
        at = [int(i) for i in np.flatnonzero(small)]
        at = [i if i < 20 else i + HUGE - 40 for i in at]
        found = [i for i in at if i <= last and (last - i) % step == 0]
        assert cut.shape == (last // step + 1,)
        assert [cut[(last - i) // step] for i in found] == [A[i] for i in found]
        assert ln.sum(cut).item() == sum(A[i] for i in found)


@ln.kernel
def against(s, A):
    s[...] = 0
    for i in range(A.shape[0]):
        s[()] += A[i, A.shape[0] - 1 - i]


def test_the_other_diagonal_of_equal_rows_is_walked():
    for n in (300, 3000):
        row = far("list", n)
        places = np.flatnonzero(row.to_numpy())
        array = np.zeros((n, n))
        array[:, places] = row.to_numpy()[places]
        A = ln.asarray(array, format=ln.RunList(ln.SparseList(VALUE)))
        assert work(against, ln.scalar(0.0), A) <= 11 + 4
        assert against(ln.scalar(0.0), A).item() == row.to_numpy().sum()
