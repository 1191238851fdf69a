"""Slices are views: loops are narrowed on lists and re-based on dense levels (ARRAY §7.3)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import ALL, array_for, nest

import linnet as ln
from linnet.arrays import apply, compute, lazy, view

RNG = np.random.default_rng(5)
A = np.where(RNG.random((9, 11)) < 0.4, RNG.integers(1, 9, (9, 11)), 0).astype(float)
CSR = ln.asarray(A, format=ln.CSR)


def kernel_of(code: str) -> str:
    """The loops of a kernel, without what is always the same."""
    return code[code.index("i64 array(") :]


def test_figure_19(golden):
    """`B[i, j] = A[1:5:2, 2:6:2]`: where the slice lies is given when the kernel is called."""
    part = view(lazy(CSR), np.s_[1:5:2, 2:6:2])
    dense = part.compute(format=ln.DENSE)
    np.testing.assert_array_equal(dense.to_numpy(), A[1:5:2, 2:6:2])
    code = kernel_of(ln.explain(part)["code"])
    golden("slices/figure_19.c", code)
    assert "next_multiple" in code  # the stride guard
    assert "search" in code  # the first entry of the slice is searched for


def test_a_window_of_a_sum(golden):
    """Both operands are walked in the window only, and nothing is copied before."""
    y = apply("add", view(lazy(CSR), np.s_[2:8, 3:9]), view(lazy(CSR), np.s_[1:7, 0:6]))
    np.testing.assert_array_equal(compute(y).to_numpy(), A[2:8, 3:9] + A[1:7, 0:6])
    explained = ln.explain(y)
    assert explained["plan"].count("\nkernel ") == 1
    golden("slices/window_of_a_sum.c", kernel_of(explained["code"]))


@pytest.mark.parametrize("number", range(4))
def test_one_kernel_for_all_windows(number):
    first = ln.explain(view(lazy(CSR), np.s_[1:5, 2:6]))["program"]
    again = ln.explain(view(lazy(CSR), np.s_[number : number + 3, number + 1 :]))["program"]
    assert again == first


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -5])
def test_every_step_on_every_axis(step):
    for format in (ln.CSR, ln.CSC, ln.COO, ln.DENSE, ln.BAND, ln.RLE, ln.DCSR):
        x = ln.asarray(A, format=format)
        np.testing.assert_array_equal(view(x, np.s_[::step]).to_numpy(), A[::step])
        np.testing.assert_array_equal(view(x, np.s_[:, ::step]).to_numpy(), A[:, ::step])
        if step < 0:
            np.testing.assert_array_equal(view(x, np.s_[7:2:step]).to_numpy(), A[7:2:step])


LETTERS = [*(a + b for a in ALL for b in {"D", "S", a}), *("D" + a for a in ALL if a not in "DS")]
LISTED = {"coordinates": ln.COO(2), "by columns": ln.Format(ln.COO(2).levels, (1, 0))}
TILED = {"tiles": ln.BSR(2, 2), "oblong": ln.BSR(3, 2), "symmetric": ln.SYMMETRIC,
         "symmetric tiles": ln.SYMMETRIC_TILES}  # fmt: skip
WINDOWS = [np.s_[1:5:2, 2:6:2], np.s_[::3, 1::2], np.s_[6:9:2, 7:9:2], np.s_[3:3:2, ::2]]


@pytest.mark.parametrize("name", [*sorted(LETTERS), *LISTED, *TILED])
def test_strided_slices_of_every_format(name):
    """Eager, in one kernel with other operands, and written to a dense result: never beside it."""
    rng = np.random.default_rng(3)
    if name in LISTED or name in TILED:
        format, array = (LISTED | TILED)[name], np.where(rng.random((9, 9)) < 0.5, 2.0, 0)
        array = np.maximum(array, array.T)
    else:
        format, array = nest(name), array_for(name, (9, 9), rng)
    x, dense = ln.asarray(array, format=format), ln.asarray(array)
    for window in WINDOWS:
        part, all_of = array[window], ln.lazy(x)[window]
        np.testing.assert_array_equal(x[window].to_numpy(), part)
        np.testing.assert_array_equal(all_of.compute(format=ln.DENSE).to_numpy(), part)
        both = 2 * all_of + ln.lazy(dense)[window]
        np.testing.assert_array_equal(both.compute().to_numpy(), 3 * part)
        np.testing.assert_array_equal(both.compute(format=ln.DENSE).to_numpy(), 3 * part)
