"""Kernels that move elements: one kernel for all sizes, places and numbers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.unit.backend.harness import needs_cc

import linnet as ln
from linnet.testing import dense


@pytest.fixture(autouse=True)
def always_compiled():
    with ln.config(many=0):
        yield


def matrix(n, m):
    rng = np.random.default_rng(n)
    return np.where(rng.random((n, m)) < 0.3, rng.integers(1, 9, (n, m)), 0).astype(float)


def picked(a, rng):
    return tuple(rng.integers(-n, n, 7) for n in a.shape)


def scattered(shape):
    """A mask of every third element; NumPy gives its coordinates as columns of one table."""
    return np.add.outer(*map(np.arange, shape)) % 3 == shape[0] % 3


MOVES = {
    "points": lambda xp, x, at: x[at],
    "mask": lambda xp, x, at: x[scattered(x.shape)],
    "rows": lambda xp, x, at: x[at[0]],
    "columns": lambda xp, x, at: x[:, at[1]],
    "joint": lambda xp, x, at: xp.concat([x, x], axis=0),
    "flip": lambda xp, x, at: xp.flip(x, axis=0),
    "back": lambda xp, x, at: x[::-1, ::-1],
    "roll": lambda xp, x, at: xp.roll(x, 3, axis=1),
    "triangle": lambda xp, x, at: xp.tril(x, k=1),
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("format", [ln.CSR, ln.CSC, ln.COO], ids=str)
def test_other_sizes_and_places(move, format):
    rng, results = np.random.default_rng(0), []
    for k in range(6):
        a = matrix(9 + 3 * k, 20 - 2 * k)
        at = picked(a, rng)
        found = MOVES[move](ln, ln.asarray(a, format=format), at)
        results.append((found, MOVES[move](np, a, at)))
    for found, expected in results:  # whose memory is their own
        np.testing.assert_array_equal(dense(found), expected)


def test_an_operand_that_comes_twice_is_not_one_that_comes_once():
    arrays = [matrix(9, 8), matrix(9, 8) * 2, matrix(9, 8) * 3]
    x, y, z = (ln.asarray(a, format=ln.CSR) for a in arrays)
    a, b, c = arrays
    for _ in range(2):
        for tensors, parts in (
            ([x, x], [a, a]),
            ([x, y], [a, b]),
            ([y, x, y], [b, a, b]),
            ([z, y, x], [c, b, a]),
        ):
            np.testing.assert_array_equal(dense(ln.concat(tensors)), np.concatenate(parts))


def test_threads():
    a = matrix(60, 50)
    x = ln.asarray(a, format=ln.CSR)

    def work(seed):
        at = picked(a, np.random.default_rng(seed))
        return all(np.array_equal(dense(x[at]), a[at]) for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(12)))


@needs_cc
def test_options_count():
    a = matrix(30, 20)
    x, at = ln.asarray(a, format=ln.CSR), picked(a, np.random.default_rng(0))
    for backend in ("llvm", "c", "llvm"):
        with ln.config(backend=backend):
            for _ in range(2):
                np.testing.assert_array_equal(dense(x[at]), a[at])


def test_fill_values_are_told_apart():
    for fill in (0.0, -0.0, 1.0, np.nan):
        a = np.full((8, 8), fill)
        a[2] = 5.0
        for _ in range(2):
            found = dense(ln.asarray(a, format=ln.CSR, fill_value=fill)[np.arange(8), np.arange(8)])
            np.testing.assert_array_equal(found, np.diagonal(a))
            np.testing.assert_array_equal(np.signbit(found), np.signbit(np.diagonal(a)))


def test_errors_are_those_of_the_first_call():
    x = ln.asarray(matrix(9, 8), format=ln.CSR)
    for _ in range(2):
        with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 0"):
            x[np.array([9]), np.array([0])]
        with pytest.raises(IndexError, match="index -9 is out of bounds for dimension 1"):
            x[np.array([0]), np.array([-9])]
        with pytest.raises(ValueError, match="shape"):
            x[np.array([0, 1]), np.array([0, 1, 2])]
        x[np.array([0, 8]), np.array([-8, 7])]


@pytest.mark.parametrize("shape", [(160, 120), (30, 20, 40)], ids=str)
def test_values_where_a_mask_is_true(shape):
    a = np.zeros(shape)
    x = ln.asarray(a, format=ln.COO)
    for k in range(3):
        mask = np.random.default_rng(k).random(shape) < 0.3  # of so many that they are sorted
        x[mask] = a[mask] = np.arange(1.0, 1 + np.count_nonzero(mask))
        np.testing.assert_array_equal(dense(x), a)
        np.testing.assert_array_equal(dense(x[mask]), a[mask])
