"""Runs seen through a window: shifted copies of one fiber are one walk over its stretches."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.testing import assert_equal

ROW = ln.SparseRunList(ln.Pattern())
IMAGE = ln.Dense(ROW)
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 20, 60)


@ln.kernel
def erode(y, a):
    y[...] = False
    for x in ...:
        left = ln.coalesce(a[~(x - 2)], True) & ln.coalesce(a[~(x - 1)], True)
        right = ln.coalesce(a[~(x + 1)], True) & ln.coalesce(a[~(x + 2)], True)
        y[x] = left & a[x] & right
    return y


@ln.kernel
def one_side(y, a):
    y[...] = False
    for x in ...:
        y[x] = a[x] & ln.coalesce(a[~(x + 1)], True) & ln.coalesce(a[~(x + 2)], True)
    return y


@ln.kernel
def off_at_the_border(y, a):
    y[...] = False
    for x in ...:
        y[x] = ln.coalesce(a[~(x - 1)], False) & a[x] & ln.coalesce(a[~(x + 1)], True)
    return y


@ln.kernel
def inside(y, a):
    ln.declare(y, False, (a.shape[0],))
    for x in range(2, a.shape[0] - 2):
        y[x] = a[x - 2] & a[x - 1] & a[x] & a[x + 1] & a[x + 2]
    return y


@ln.kernel
def part(y, a):
    ln.declare(y, False, (a.shape[0],))
    for x in range(3, a.shape[0] - 5):
        y[x] = a[x - 1] & a[x]
    return y


@ln.kernel
def with_a_hole(y, a):
    y[...] = False
    for x in range(a.shape[0]):
        y[x] = ln.coalesce(a[~(x - 1)], True) & ln.coalesce(a[~(x + 1)], True)
    return y


@ln.kernel
def apart(y, a):
    y[...] = False
    for x in ...:
        y[x] = a[x] & ln.coalesce(a[~(x + 2)], True)
    return y


@ln.kernel
def either(y, a):
    y[...] = False
    for x in ...:
        y[x] = ln.coalesce(a[~(x - 1)], True) | a[x] | ln.coalesce(a[~(x + 1)], False)
    return y


@ln.kernel
def count(s, a):
    s[...] = 0
    for x in ...:
        if a[x] and ln.coalesce(a[~(x + 1)], True):
            s[()] += 1
    return s


@ln.kernel
def narrow(y, a):
    y[...] = False
    for x in ...:
        if x < 9:
            y[x] = ln.coalesce(a[~(x - 1)], True) & a[x]
    return y


@ln.kernel
def two(y, a, b):
    y[...] = False
    for x in ...:
        near = ln.coalesce(a[~(x - 1)], True) & a[x] & ln.coalesce(a[~(x + 1)], True)
        y[x] = near & b[x] & ln.coalesce(b[~(x + 1)], True)
    return y


@ln.kernel
def beside(y, a, b):
    y[...] = False
    for x in ...:
        y[x] = ln.coalesce(a[~(x - 1)], True) & a[x] & ln.coalesce(a[~(x + 1)], True) & b[x]
    return y


ALONE = [erode, one_side, off_at_the_border, with_a_hole, apart, either, count, narrow]
LONG = [inside, part]


def bits(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(n) < (0.5, 0.8, 0.95)[seed % 3]


def runs(a: np.ndarray, cut: bool = False) -> ln.Tensor:
    """The runs of a; or all runs of one, each of which begins where the one before ends."""
    if not cut:
        return ln.asarray(a, format=ROW)
    (at,) = np.nonzero(a)
    ptr = np.array([0, len(at)], np.int32)
    arrays = {"ptr0": ptr, "left0": at.astype(np.int32), "right0": (at + 1).astype(np.int32)}
    return ln.from_buffers(ROW, a.shape, arrays)


def check(kernel: ln.Kernel, *operands: ln.Tensor) -> None:
    scalar = kernel.__name__ == "count"
    out = ln.scalar(0) if scalar else ln.empty_tensor(ROW)
    other = ln.scalar(0) if scalar else ln.empty_tensor(ROW)
    name = kernel.program.results[0]
    assert_equal(kernel(out, *operands), kernel.reference(other, *operands)[name])


@pytest.mark.parametrize("kernel", [*ALONE, *LONG], ids=lambda k: k.__name__)
@pytest.mark.parametrize("cut", [False, True], ids=["runs", "cut"])
def test_a_window_is_what_shifted_copies_are(kernel, cut):
    for n in LENGTHS if kernel not in LONG else LENGTHS[-2:]:
        for a in (np.ones(n, bool), *(bits(n, seed) for seed in range(6))):
            check(kernel, runs(a, cut))


@pytest.mark.parametrize("kernel", [two, beside], ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    "format",
    [
        ROW,
        ln.SparseBlockList(ln.Pattern()),
        ln.SparseList(ln.Pattern()),
        ln.RunList(ln.Element(False, "bool")),
        ln.DENSE(1),
    ],
    ids=str,
)
def test_windows_beside_others(kernel, format):
    for n in LENGTHS:
        for seed in range(3):
            check(kernel, runs(bits(n, seed)), ln.asarray(bits(n, seed + 1), format=format))


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_both_back_ends_see_the_same(backend):
    a = bits(200, 2)
    with ln.config(backend=backend):
        found = erode(ln.empty_tensor(ROW), runs(a, cut=True))
    wide = np.pad(a, 2, constant_values=True)
    expected = np.logical_and.reduce([wide[k : k + 200] for k in range(5)])
    assert_equal(found, expected)


def test_a_window_is_one_walk():
    code = erode.code(ln.empty_tensor(ROW), runs(bits(9, 0)))
    assert code.count("while (") + code.count("for (") <= 4  # of them two in codelets, one grows
    assert "search" not in code


# -- rows that are the same are eroded once ------------------------------------------------------

ROWS = ln.RunList(ln.SparseRunList(ln.Pattern()))


@ln.kernel
def erode_rows(out, img):
    row = ln.temp(ROW)
    out[...] = False
    for y in ...:
        row[...] = False
        for x in ...:
            above = ln.coalesce(img[~(y - 1), x], True)
            row[x] = above & img[y, x] & ln.coalesce(img[~(y + 1), x], True)
        for x in ...:
            near = ln.coalesce(row[~(x - 1)], True) & row[x]
            out[y, x] = near & ln.coalesce(row[~(x + 1)], True)
    return out


@ln.kernel
def widths(y, a):
    s = ln.scalar(0)
    y[...] = 0
    for i in ...:
        s[...] = 0
        for j in ...:
            if a[i, j]:
                s[()] += 1
        y[i] = s[()]
    return y


def magnified(times: int, seed: int = 0) -> np.ndarray:
    small = np.random.default_rng(seed).random((6, 7)) < 0.8
    return np.kron(small, np.ones((times, times), bool))


def shrunk(img: np.ndarray) -> np.ndarray:
    (n, m), wide = img.shape, np.pad(img, 1, constant_values=True)
    return np.logical_and.reduce([wide[y : y + n, x : x + m] for y in range(3) for x in range(3)])


@pytest.mark.parametrize("times", [1, 2, 3, 5, 40])
def test_an_image_of_runs_of_rows(times):
    for seed in range(4):
        img = magnified(times, seed)
        out = erode_rows(ln.empty_tensor(ROWS), ln.asarray(img, format=ROWS))
        assert_equal(out, shrunk(img))
        rows = 1 + np.any(shrunk(img)[1:] != shrunk(img)[:-1], axis=1).sum()
        assert out.buffers["right0"].size == rows


def test_rows_that_are_the_same_are_visited_once():
    code = erode_rows.code(ln.empty_tensor(ROWS), ln.asarray(magnified(5), format=ROWS))
    assert "y++" not in code


def test_what_begins_anew_in_each_row_is_computed_once_for_a_run_of_rows():
    img = magnified(5)
    given, out = ln.asarray(img, format=ROWS), ln.empty_tensor(ln.RunList(ln.Element(0)))
    assert_equal(widths(out, given), img.sum(1))
    assert "i++" not in widths.code(out, given)
