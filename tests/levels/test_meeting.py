"""Runs of several fibers that meet: which of them move on, and which results need joining."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln

ROW = ln.SparseRunList(ln.Pattern())
NUMBERS = ln.SparseRunList(ln.Element(0.0))


@ln.kernel
def both(y, a, b):
    y[...] = False
    for x in ...:
        y[x] = a[x] & b[x]
    return y


@ln.kernel
def three(y, a, b, c):
    y[...] = False
    for x in ...:
        y[x] = a[x] & b[x] & c[x]
    return y


@ln.kernel
def of_copies(y, a, b):
    s = ln.temp(ROW)
    t = ln.temp(ROW)
    y[...] = False
    s[...] = False
    t[...] = False
    for x in ...:
        s[x] = a[x]
    for x in ...:
        t[x] = b[x]
    for x in ...:
        y[x] = s[x] & t[x]
    return y


@ln.kernel
def in_two_parts(y, a, b, at):
    s = ln.temp(ROW)
    t = ln.temp(ROW)
    y[...] = False
    s[...] = False
    t[...] = False
    for x in ...:
        s[x] = a[x]
    for x in ...:
        t[x] = b[x]
    for x in ...:
        if x < at[()]:
            y[x] = s[x] & t[x]
        else:
            y[x] = s[x]
    return y


@ln.kernel
def products(y, a, b):
    y[...] = 0
    for x in ...:
        y[x] = a[x] * b[x]
    return y


@ln.kernel
def first_of_both(s, a, b):
    s[...] = False
    for x in range(3, a.shape[0] - 2):
        s[()] |= a[x] & b[x]
    return s


def rows(seed: int, count: int = 2, length: int = 60) -> list[np.ndarray]:
    """Rows of runs, some of them much alike and some with nothing in common."""
    rng = np.random.default_rng(seed)
    first = np.repeat(rng.random(length) < 0.5, rng.integers(1, 6, length))[:length]
    found = [first]
    for _ in range(count - 1):
        moved = np.roll(first, rng.integers(-2, 3)) ^ (rng.random(length) < 0.05)
        other = np.repeat(rng.random(length) < 0.6, rng.integers(1, 9, length))[:length]
        found.append(moved if seed % 2 else other)
    return found


def touching(row: np.ndarray, seed: int) -> ln.Tensor:
    """The row with some of its runs in pieces, one where the other ends."""
    rng = np.random.default_rng(seed)
    stored = ln.asarray(row).to(ROW).buffers
    left, right = [], []
    for lo, hi in zip(stored["left0"], stored["right0"], strict=True):
        cuts = [lo, *(x for x in range(lo + 1, hi) if rng.random() < 0.4), hi]
        left += cuts[:-1]
        right += cuts[1:]
    arrays = {"ptr0": [0, len(left)], "left0": left, "right0": right}
    narrow = {name: np.array(values, np.int32) for name, values in arrays.items()}
    return ln.from_buffers(ROW, row.shape, narrow)


def same_runs(found: ln.Tensor, expected: np.ndarray) -> None:
    """The values are right, and no two runs could be one."""
    wanted = ln.asarray(expected).to(found.format).buffers
    assert np.array_equal(found.to_numpy(), expected)
    for name, array in found.buffers.items():
        assert np.array_equal(array, wanted[name]), name


@pytest.mark.parametrize("seed", range(20))
def test_what_two_and_three_share(seed):
    a, b, c = rows(seed, 3)
    A, B, C = (ln.asarray(row).to(ROW) for row in (a, b, c))
    same_runs(both(ln.empty_tensor(ROW), A, B), a & b)
    same_runs(three(ln.empty_tensor(ROW), A, B, C), a & b & c)
    y = ln.empty_tensor(ln.RunList(ln.Element(False)))
    same_runs(both(y, A, B), a & b)


@pytest.mark.parametrize("seed", range(20))
def test_runs_in_pieces_are_joined(seed):
    a, b = rows(seed)
    A, B = touching(a, seed), touching(b, seed + 1)
    same_runs(both(ln.empty_tensor(ROW), A, B), a & b)
    same_runs(of_copies(ln.empty_tensor(ROW), A, B), a & b)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("at", [0, 1, 17, 30, 59, 60])
def test_parts_of_a_loop_are_joined_where_they_meet(seed, at):
    a, b = rows(seed)
    A, B = ln.asarray(a).to(ROW), ln.asarray(b).to(ROW)
    found = in_two_parts(ln.empty_tensor(ROW), A, B, ln.asarray(np.array(at)))
    same_runs(found, np.where(np.arange(len(a)) < at, a & b, a))


@pytest.mark.parametrize("seed", range(20))
def test_runs_of_numbers(seed):
    a, b = (row * np.repeat([1.0, 2.0, 2.0], 20) for row in rows(seed))
    A, B = ln.asarray(a).to(NUMBERS), ln.asarray(b).to(NUMBERS)
    same_runs(products(ln.empty_tensor(NUMBERS), A, B), a * b)


@pytest.mark.parametrize("seed", range(20))
def test_part_of_a_dimension(seed):
    a, b = rows(seed)
    A, B = touching(a, seed), ln.asarray(b).to(ROW)
    assert bool(first_of_both(ln.scalar(False), A, B)) == bool((a & b)[3:-2].any())


def test_only_runs_that_may_touch_are_compared():
    A = ln.asarray(np.ones(5, bool)).to(ROW)
    assert "y_at ==" in both.code(ln.empty_tensor(ROW), A, A)
    assert "y_at" not in of_copies.code(ln.empty_tensor(ROW), A, A)
    assert "y_at ==" in in_two_parts.code(ln.empty_tensor(ROW), A, A, ln.asarray(np.array(1)))


def test_all_move_on_where_all_end():
    A = ln.asarray(np.ones(5, bool)).to(ROW)
    code = both.code(ln.empty_tensor(ROW), A, A)
    assert "i64 far = max(" in code
    assert code.count("a_q++;") == code.count("b_q++;") == 1
