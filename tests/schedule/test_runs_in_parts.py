"""Parts of what is stored as runs: from the run of the first index to that of the last one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.formats.named import stack
from linnet.runtime.kernel import Kernel

RUNS = stack(ln.RunList(ln.Element(0.0)))
ROWS = stack(ln.Dense(ln.RunList(ln.Element(0.0))))


@ln.kernel
def total(s, x):
    s[...] = 0
    for i in ...:
        s[()] += x[i]
    return s


@ln.kernel
def inner(y, A, n):
    ln.declare(y, 0.0, (A.shape[0],))
    for i in ...:
        for j in range(n[()], A.shape[1] - n[()]):
            y[i] += A[i, j]
    return y


def runs(lengths, values):
    return np.repeat(np.array(values, float), lengths)


DRAWN = {
    "some": runs([3, 1, 6, 2, 9, 1], [1, 2, 0, 4, 5, 6]),
    "one": runs([17], [3]),
    "none": runs([], []),
    "single": np.arange(1.0, 12.0),
    "infinite": runs([4, 4, 4], [np.inf, 1, np.inf]),
}


@pytest.mark.parametrize("how", ["", ", up"])
@pytest.mark.parametrize("size", [1, 3, 4, 100])
@pytest.mark.parametrize("name", DRAWN)
def test_sums_of_parts(name, size, how):
    x = DRAWN[name]
    scheduled = total.schedule().apply(f"split(i, t, k, {size}{how})")
    args = {"s": ln.scalar(0.0), "x": ln.asarray(x, format=RUNS)}
    found = agree(Kernel(scheduled.program), args, ("llvm",))["s"]
    assert found.item() == x.sum()
    visits = scheduled.visits(*args.values())
    through = sum(count for loop, count in visits.items() if loop.startswith("i in x"))
    count = 1 + np.count_nonzero(np.diff(x)) if len(x) else 0
    assert through <= count + dict(visits).get("t", 1)


@pytest.mark.parametrize("n", [0, 1, 5, 9])
def test_sums_of_parts_of_rows(n):
    A = np.stack([np.resize(DRAWN[name], 16) for name in ("some", "one", "single", "infinite")])
    args = {
        "y": ln.empty_tensor(ln.DENSE(1)),
        "A": ln.asarray(A, format=ROWS),
        "n": ln.scalar(n),
    }
    found = agree(inner, args, ("llvm",))["y"]
    assert np.array_equal(found.to_numpy(), A[:, n : 16 - n].sum(axis=1))
