"""Loops over steps: tensors that one statement reads and another updates, and `break`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.programs.stepping import MATRIX, START, VECTORS, scalar

import linnet as ln


def stepping(carried: ln.Format, made: ln.Format) -> ln.Kernel:
    """A kernel that goes on from what it has, in temporaries of these formats."""

    @ln.kernel
    def grow(y, count, A, x, most):
        F = ln.temp(carried)
        G = ln.temp(made)
        y[...] = 0
        count[...] = 0
        F[...] = 0
        for i in ...:
            F[i] += x[i]
        for _step in range(most[()]):
            count[()] += 1
            G[...] = 0
            for i, j in ...:
                G[i] += A[i, j] * F[j]
            for i in ...:
                F[i] += G[i]
            if G[0] > 40:
                break
        for i in ...:
            y[i] = F[i]
        return y, count

    return grow


def grown(most: int) -> tuple[np.ndarray, int]:
    F, count = START.copy(), 0
    for _ in range(most):
        count += 1
        G = MATRIX @ F
        F = F + G
        if G[0] > 40:
            break
    return F, count


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("name", VECTORS)
def test_a_tensor_goes_on_in_every_format(name: str, backend: None):
    names = list(VECTORS)
    other = VECTORS[names[(names.index(name) + 4) % len(names)]]
    kernel = stepping(VECTORS[name], other)
    for A in (ln.asarray(MATRIX, format=ln.CSR), ln.asarray(MATRIX)):
        for most in (0, 1, 3, 50):
            args = (ln.empty_tensor(ln.DENSE(1)), ln.scalar(0), A, START, scalar(most))
            y, count = kernel(*args)
            expected, steps = grown(most)
            assert y.to_numpy().tolist() == expected.tolist()
            assert int(count) == steps
    told = kernel.reference(*args)
    assert told["y"].tolist() == expected.tolist()
    assert told["count"] == steps < 50


@ln.kernel
def halve(x, most):
    z = ln.temp(ln.DENSE(1))
    for _step in range(most[()]):
        z[...] = 0
        for i in ...:
            z[i] = x[i] // 2
        for i in ...:
            x[i] = z[i]
    return x


def test_an_argument_goes_on(backend: None):
    x = ln.asarray(np.arange(40), copy=True)
    halve(x, scalar(3))
    assert x.to_numpy().tolist() == (np.arange(40) // 8).tolist()


@ln.kernel
def emptied(y, x):
    w = ln.temp(ln.Dense(ln.Element(0.0)))
    y[...] = 0
    w[...] = 0
    for i in ...:
        w[i] = x[i]
    for _step in range(3):
        for i in ...:
            y[i] += w[i]
        w[...] = 0
    return y


def test_what_is_read_before_a_declaration_is_what_was_there(backend: None):
    assert emptied(ln.empty_tensor(ln.DENSE(1)), START).to_numpy().tolist() == START.tolist()


@ln.kernel
def read_again(y, x):
    w = ln.temp(ln.SparseList(ln.Element(0.0)))
    y[...] = 0
    w[...] = 0
    for i in ...:
        w[i] += x[i]
    for i in ...:
        y[i] += w[i]
    for i in ...:
        w[i] += 2 * x[i]
    for i in ...:
        y[i] += w[i]
    return y


def test_a_list_is_updated_after_it_was_read(backend: None):
    found = read_again(ln.empty_tensor(ln.DENSE(1)), START)
    assert found.to_numpy().tolist() == (4 * START).tolist()


@ln.kernel
def first_above(place, seen, x, bound):
    place[...] = -1
    seen[...] = 0
    for i in ...:
        seen[i] = x[i]
        if x[i] > bound[()]:
            place[()] = i
            break
    return place, seen


@pytest.mark.parametrize("result", ["dense", "list", "hash", "runs"])
@pytest.mark.parametrize("name", VECTORS)
def test_the_index_of_a_loop_that_is_left(name: str, result: str):
    values = np.array([0.0, 3, 0, 0, 5, 5, 1])
    x = ln.asarray(values, format=VECTORS[name])
    for bound, where in ((2.0, 1), (-1.0, 0), (4.0, 4), (9.0, -1)):
        place, seen = first_above(ln.scalar(0), ln.empty_tensor(VECTORS[result]), x, scalar(bound))
        assert int(place) == where
        stop = where + 1 if where >= 0 else len(values)
        expected = np.where(np.arange(len(values)) < stop, values, 0)
        assert seen.to_numpy().tolist() == expected.tolist()


@ln.kernel
def counted(s, most):
    s[...] = 0
    for i in range(100):
        if i < 5:
            s[()] += 1
        if i >= 90 or i == most[()]:
            break
        for j in range(10):
            if j == 3:
                break
            s[()] += 100
    return s


def test_comparisons_of_the_index_and_loops_inside(backend: None):
    for most in (0, 3, 7, 1000):
        rounds = min(most, 90)
        expected = min(rounds + 1, 5) + 300 * rounds
        assert int(counted(ln.scalar(0), scalar(most))) == expected
        assert counted.reference(ln.scalar(0), scalar(most))["s"] == expected


def test_a_tensor_that_is_written_where_the_loop_is_left():
    @ln.kernel
    def kernel(y, x):
        w = ln.temp(ln.SparseByteMap(ln.Element(0.0)))
        w[...] = 0
        y[...] = 0
        for step in range(5):
            for i in ...:
                y[i] += w[i]
            if step == 3:
                for i in ...:
                    w[i] += 7 * x[i]
                break
            for i in ...:
                w[i] += x[i]
        for i in ...:
            y[i] += 100 * w[i]
        return y

    found = kernel(ln.empty_tensor(ln.DENSE(1)), START)
    assert found.to_numpy().tolist() == ((1 + 2 + 3 + 1000) * START).tolist()


def test_an_index_that_leaves_a_dimension_below_a_range_of_values():
    @ln.kernel
    def kernel(y, A, most):
        y[...] = 0
        for j in range(most[()]):
            for i in ...:
                y[i] += A[i, j]
        return y

    with pytest.warns(ln.errors.DiscordanceWarning):
        y = kernel(ln.empty_tensor(ln.DENSE(1)), ln.asarray(MATRIX, format=ln.CSR), scalar(5))
    assert y.to_numpy().tolist() == MATRIX.sum(1).tolist()
    for A in (MATRIX, ln.asarray(MATRIX, format=ln.CSR)):
        with pytest.raises(ln.errors.IndexBoundsError, match="an index of `A` leaves"):
            kernel(ln.empty_tensor(ln.DENSE(1)), A, scalar(6))
