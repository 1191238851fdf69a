"""What is kept in memory and on disk is told apart by the commands under which it was made."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import ScheduleError

M = np.arange(12.0).reshape(3, 4) % 3
HOLDS, FAILS = "bound(i, MaxExact, 3)", "bound(i, MaxExact, 100)"
EQUATION = "y[i] += A[i, j] * x[j]"


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    with ln.config(cache_dir=str(tmp_path / "cache"), check=False):
        yield


def spmv():
    """The kernel as another process would make it: it knows nothing but what is on disk."""

    @ln.kernel
    def spmv(y, A, x):
        y[...] = 0
        for i, j in ...:
            y[i] += A[i, j] * x[j]
        return y

    return spmv


def by_kernel(text):
    """Two calls of a kernel, the second of which finds what the first has left."""
    kernel = spmv()
    kernel = kernel.schedule().apply(text) if text else kernel
    given = ln.asarray(M, format=ln.CSR), np.arange(4.0)
    for _ in range(2):
        y = kernel(ln.empty_tensor(ln.DENSE(1)), *given)
    return y


def by_equation(text):
    """Two calls of the same equation."""
    given = {"A": ln.asarray(M, format=ln.CSR), "x": np.arange(4.0)}
    for _ in range(2):
        y = ln.einsum(EQUATION, **given, schedule=text) if text else ln.einsum(EQUATION, **given)
    return y


@pytest.mark.parametrize("compute", [by_kernel, by_equation])
@pytest.mark.parametrize("order", [("", HOLDS, FAILS), (HOLDS, FAILS, ""), (FAILS, "", HOLDS)])
def test_commands_are_in_every_key(compute, order):
    """What a bound says is checked by the code that is made for it, and by no other."""
    for text in (*order, *order):
        if text == FAILS:
            with pytest.raises(ScheduleError, match="does not end at 100"):
                compute(text)
        else:
            assert np.array_equal(compute(text).to_numpy(), M @ np.arange(4.0))


def test_one_kernel_with_and_without_commands():
    kernel, given = spmv(), (ln.asarray(M, format=ln.CSR), np.arange(4.0))
    tiled = kernel.schedule().split("i", "i0", "i1", 2)
    for _ in range(2):
        for each, tiles in ((kernel, 0), (tiled, 1)):
            y = ln.empty_tensor(ln.DENSE(1))
            assert each.code(y, *given).count("i0_parts = ") == tiles
            assert np.array_equal(each(y, *given).to_numpy(), M @ np.arange(4.0))
