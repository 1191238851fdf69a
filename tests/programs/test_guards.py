"""An access counts where its conditions hold: `if i < n: A[i]` does not look beyond n."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet.errors import IndexBoundsError, ShapeError

SHORT, LONG = np.array([0.0, 1.0, 0.0, 3.0, 0.0]), np.arange(8.0)
LEVELS = (ln.Dense, ln.SparseList, ln.SparseHash, ln.RunList, ln.SparseBand)


@ln.kernel
def inside(y, A, x):
    ln.declare(y, 0.0, (x.shape[0],))
    for i in range(x.shape[0]):
        if i < A.shape[0]:
            y[i] += A[i] * x[i]
    return y


@ln.kernel
def chosen(y, A, x):
    ln.declare(y, 0.0, (x.shape[0],))
    for i in range(x.shape[0]):
        y[i] = A[i] if i < A.shape[0] else -x[i]
    return y


@ln.kernel
def otherwise(y, A, x):
    ln.declare(y, 0.0, (x.shape[0],))
    for i in range(x.shape[0]):
        if i >= A.shape[0]:
            y[i] = -x[i]
        else:
            y[i] = A[i]
    return y


@ln.kernel
def first_one(y, A, x):
    ln.declare(y, 0.0, (x.shape[0],))
    for i in range(x.shape[0]):
        if not (i > A.shape[0] - 1 or A[i] < 1):
            y[i] = A[i]
    return y


@ln.kernel
def written(y, A, x):
    ln.declare(y, 0.0, (A.shape[0],))
    for i in range(x.shape[0]):
        if i + 1 <= A.shape[0]:
            y[i] += x[i]
    return y


@ln.kernel
def below_another(y, A, x):
    ln.declare(y, 0.0, (x.shape[0],))
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            last = A.shape[0]
            if j < i and i <= last:
                y[i] += A[j]
    return y


@ln.kernel
def multiples(y, A, x):
    ln.declare(y, 0.0, (x.shape[0],))
    for i in range(-2, x.shape[0]):
        if 0 <= 2 * i < 2 * A.shape[0] - 1:
            y[i] += A[i]
    return y


def expected(name: str) -> np.ndarray:
    """What a kernel computes, by NumPy."""
    padded = np.concatenate([SHORT, np.zeros(3)])
    match name:
        case "inside":
            return padded * LONG
        case "chosen" | "otherwise":
            return np.where(np.arange(8) < 5, padded, -LONG)
        case "written":
            return LONG[:5]
        case "below_another":
            sums = np.concatenate([[0], np.cumsum(SHORT)])
            return np.concatenate([sums, [0, 0]])
        case _:
            return padded


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "kernel", [inside, chosen, otherwise, first_one, written, below_another, multiples]
)
def test_conditions_narrow_what_is_accessed(kernel, level):
    A, x = (ln.asarray(v, format=level(ln.Element(0.0))) for v in (SHORT, LONG))
    for y in (ln.empty_tensor(ln.DENSE(1)), ln.empty_tensor(ln.SparseHash(ln.Element(0.0)))):
        ln.testing.assert_equal(kernel(y, A, x), expected(kernel.program.name))


def test_a_condition_that_does_not_suffice_is_told_at_the_call():
    @ln.kernel
    def one_too_far(y, A, x):
        y[...] = 0.0
        for i in range(x.shape[0]):
            if i <= A.shape[0]:
                y[()] += A[i]
        return y

    with pytest.raises(ShapeError, match=r"`i` runs to 6 in A\[i\] but mode 0 of A is 5"):
        one_too_far(ln.scalar(0.0), SHORT, LONG)
    assert one_too_far(ln.scalar(0.0), SHORT, LONG[:5]).item() == 4


@pytest.mark.parametrize("level", LEVELS)
def test_a_condition_of_values_is_known_to_the_run(level):
    @ln.kernel
    def up_to(y, A, x, n):
        y[...] = 0.0
        for i in range(x.shape[0]):
            if i < n[()]:
                y[()] += A[i] + x[i]
        return y

    A = ln.asarray(SHORT, format=level(ln.Element(0.0)))
    assert up_to(ln.scalar(0.0), A, LONG, 5).item() == 14
    with pytest.raises(IndexBoundsError, match="`A` leaves its dimension in the loop over `i`"):
        up_to(ln.scalar(0.0), A, LONG, 6)


def test_a_computed_size_beside_a_number():
    """Whether `y[2]` is there is known to the run."""

    @ln.kernel
    def kernel(y, z, n):
        y[...] = 0
        z[...] = 0
        for i in range(n[()]):
            y[i] = 1
        for i in range(3):
            z[i] += y[i]

    y, z = (ln.empty_tensor(ln.DENSE(1)) for _ in range(2))
    kernel(y, z, 4)
    assert z.to_numpy().tolist() == [1, 1, 1]
    with pytest.raises(IndexBoundsError, match="`y` leaves its dimension"):
        kernel(y, z, 2)


def test_what_a_condition_proves_is_not_tested_again():
    """The code is that of a loop up to the shorter end."""
    y, A = ln.empty_tensor(ln.DENSE(1)), ln.asarray(SHORT)
    assert "OUT_OF_BOUNDS" not in inside.code(y, A, LONG)


def test_ranges_that_depend_on_many_others():
    """Where the beginning of an index is further away than we look, only the run knows it."""

    @ln.kernel
    def count(y, A):
        ln.declare(y, 0.0, (4,))
        for a in range(4):
            for b in range(a, 6):
                for c in range(b, 6):
                    for d in range(c, 6):
                        for e in range(d, 6):
                            if e + a < 7:
                                y[a] += A[e]
        return y

    def expected(A):
        y = np.zeros(4)
        for a, b, c, d, e in np.ndindex(4, 6, 6, 6, 6):
            y[a] += A[e] if a <= b <= c <= d <= e and e + a < 7 else 0
        return y

    A = np.arange(6.0)
    assert np.array_equal(count(ln.empty_tensor(ln.DENSE(1)), A).to_numpy(), expected(A))
    with pytest.raises(ShapeError, match="`e` runs to 6"):
        count(ln.empty_tensor(ln.DENSE(1)), A[:5])
