"""Every k-th index of a level: what is stored is looked at, and not every index."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import Subject, check
from tests.visits import work

import linnet as ln
from linnet.frontend.text import parse_text

HUGE = 2**33
VALUE = ln.Element(0.0)
LEVELS = {
    "list": ln.SparseList(VALUE),
    "coordinates": ln.SparseCOO(1, VALUE),
    "runs": ln.RunList(VALUE),
    "sparse runs": ln.SparseRunList(VALUE),
    "blocks": ln.SparseBlockList(VALUE),
    "band": ln.SparseBand(VALUE),
    "interval": ln.SparseInterval(VALUE),
    "pinpoint": ln.SparsePinpoint(VALUE),
}
STRIDES = [(2, 0, 0), (2, 1, 0), (3, -2, 0), (3, 5, 0), (5, 0, 1), (4, 6, -1), (2, 7, -3)]


def vector(level: str, n: int) -> np.ndarray:
    """Something near the beginning and, where a level can hold that, near the end."""
    array = np.zeros(n)
    if level == "pinpoint":
        array[6] = 4.0
    elif level in ("interval", "band"):
        array[3:12] = 2.0
    else:
        array[[0, 2, 3, 4, 5, 9, 10, -4, -3, -1]] = [1, 2, 2, 2, 3, 3, 3, 5, 6, 7]
    return array


def far(level: str, n: int) -> ln.Tensor:
    """The same, without an array of that size."""
    (at,) = np.nonzero(vector(level, 40))
    places = np.where(at < 20, at, at + (n - 40))
    return ln.tensor([places], vector(level, 40)[at], (n,), format=LEVELS[level])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("factor", "shift", "start"), STRIDES)
def test_what_is_read(factor, shift, start, level):
    """Also beyond the bounds, and for indices below zero."""
    text = f"""def read(y, A):
    ln.declare(y, 0, (9,))
    for i in range({start}, {start + 9}):
        y[i - ({start})] = ln.coalesce(A[~({factor} * i + {shift})], 5)
    return y
"""
    given = {"y": ln.empty_tensor(ln.Dense(VALUE))}
    given["A"] = ln.asarray(vector(level, 20), format=LEVELS[level])
    check(Subject.of(parse_text(text), given), given)


def test_indices_below_zero_are_within_the_bounds():
    @ln.kernel
    def total(s, A):
        s[...] = 0
        for i in range(-1, 3):
            s[()] += A[4 * i + 6]

    array = np.arange(20.0)
    for format in (ln.Dense(VALUE), *LEVELS.values()):
        if "Interval" not in str(format) and "Pinpoint" not in str(format):
            A = ln.asarray(array, format=format)
            assert total(ln.scalar(0.0), A).item() == array[2:18:4].sum()


@ln.kernel
def every_third(s, A):
    s[...] = 0
    for i in range(A.shape[0] // 3):
        s[()] += A[3 * i + 1]


@ln.kernel
def with_another(s, A, B):
    s[...] = 0
    for i in range(A.shape[0] // 3):
        s[()] += A[3 * i + 1] * B[3 * i + 1]


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_looked_at(level):
    for n in (300, 3000):
        A = ln.asarray(vector(level, n), format=LEVELS[level])
        B = ln.asarray(vector("runs", n), format=LEVELS["runs"])
        assert work(every_third, ln.scalar(0.0), A) <= 15
        assert work(with_another, ln.scalar(0.0), A, B) <= 24


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("step", [2, 3, 1000])
def test_slices_of_many_rows(step, level):
    A = far(level, HUGE)
    (at,) = np.nonzero(vector(level, 40))
    at = np.where(at < 20, at, at + (HUGE - 40))
    for begin in (0, 1):
        cut = A[begin::step]
        found = at[(at >= begin) & ((at - begin) % step == 0)]
        assert cut.shape == (len(range(begin, HUGE, step)),)
        assert [cut[int((i - begin) // step)] for i in found] == [A[int(i)] for i in found]
        assert ln.sum(cut).item() == sum(A[int(i)] for i in found)
        assert ln.sum(ln.lazy(A)[begin::step]).compute().item() == ln.sum(cut).item()


def test_slices_of_coordinates():
    places = [[0, 6, 7, HUGE - 2], [1, 2, 2, HUGE - 1]]
    A = ln.tensor(places, [1.0, 2.0, 4.0, 8.0], (HUGE, HUGE), format=ln.COO(2))
    assert A[::2].nnz == 3
    assert A[:, ::2].nnz == 2
    assert A[1::2, ::2].nnz == 1
    assert A[1::2, ::2][3, 1] == 4.0
