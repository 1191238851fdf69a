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
