"""What is done where nothing is stored, always the same: done for all such places together."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

RNG = np.random.default_rng(3)
FORMATS = {
    "CSF": lambda leaf: ln.SparseList(ln.SparseList(ln.SparseList(leaf))),
    "COO": lambda leaf: ln.SparseCOO(3, leaf),
    "DSS": lambda leaf: ln.Dense(ln.SparseList(ln.SparseList(leaf))),
}
OPERATORS = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply}


def tensor(fill: float) -> np.ndarray:
    values = RNG.integers(-4, 5, (5, 6, 7)).astype(float)
    values[RNG.random(values.shape) < 0.6] = fill
    values[2], values[:, 3] = fill, fill
    return values


@pytest.mark.parametrize("fill", [0.0, 1.0, -2.0, np.inf])
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("format", FORMATS)
def test_reductions_count_what_is_not_stored(format, name, fill):
    dense = tensor(fill)
    f = getattr(ln, name)

    @ln.kernel
    def fold(s, A):
        s[...] = 1
        for i, j, k in ...:
            s[()] = f(s[()], A[i, j, k])
        return s

    A = ln.asarray(dense, format=FORMATS[format](ln.Element(fill)))
    with np.errstate(invalid="ignore"):
        expected = OPERATORS[name].reduce(dense.ravel(), initial=1.0)
    np.testing.assert_allclose(fold(ln.scalar(0.0), A).item(), expected, rtol=1e-12)


@ln.kernel
def minimax(s, A):
    least = ln.scalar(np.inf)
    most = ln.scalar(-np.inf)
    s[...] = -np.inf
    for i in ...:
        least[...] = np.inf
        for j in ...:
            most[...] = -np.inf
            for k in ...:
                most[()] = max(most[()], A[i, j, k])
            least[()] = min(least[()], most[()])
        s[()] = max(s[()], least[()])
    return s


@pytest.mark.parametrize("fill", [0.0, 3.0, -9.0])
@pytest.mark.parametrize("format", FORMATS)
def test_reductions_of_different_kinds(format, fill):
    dense = tensor(fill)
    found = minimax(ln.scalar(0.0), ln.asarray(dense, format=FORMATS[format](ln.Element(fill))))
    assert found.item() == dense.max(axis=2).min(axis=1).max()


def test_minimax_loops_over_what_is_stored():
    A = ln.asarray(tensor(0.0), format=ln.CSF(3))
    code = minimax.code(ln.scalar(0.0), A)
    assert code.count("for (") == 3
    assert "while (" not in code


@ln.kernel
def window(s, A):
    s[...] = 0
    for i in range(4, 17):
        s[()] += A[i]
    return s


@pytest.mark.parametrize("fill", [0.0, 2.0])
def test_part_of_a_fiber(fill):
    dense = np.where(RNG.random(20) < 0.5, RNG.integers(3, 9, 20), fill).astype(float)
    A = ln.asarray(dense, format=ln.SparseList(ln.Element(fill)))
    assert window(ln.scalar(0.0), A).item() == dense[4:17].sum()


@ln.kernel
def last_one(s, t, A):
    s[...] = 0
    for i in ...:
        t[...] = 1
        t[()] += A[i]
        s[()] += t[()]
    return s, t


def test_a_result_is_what_the_last_iteration_makes_of_it():
    dense = np.array([0, 3.0, 0, 0, 5.0])
    for values in (dense, dense[::-1].copy()):
        A = ln.asarray(values, format=ln.CSF(1))
        s, t = last_one(ln.scalar(0.0), ln.scalar(0.0), A)
        assert (s.item(), t.item()) == (13.0, 1 + values[-1])


@ln.kernel
def in_order(s, A):
    s[...] = 0
    for i in ...:
        s[()] = ln.last(s[()], A[i])
    return s


def test_functions_that_do_not_commute_keep_their_order():
    for values in ([1.0, 0, 2, 0], [0, 1.0, 0, 2]):
        A = ln.asarray(np.array(values), format=ln.CSF(1))
        assert in_order(ln.scalar(7.0), A).item() == values[-1]
