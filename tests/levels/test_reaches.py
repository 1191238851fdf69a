"""An index that leaves its dimension is an error in every format, also where nothing is stored."""

from __future__ import annotations

import numpy as np
import pytest
from tests.levels.samples import ALL, nest
from tests.oracle.check import BACKENDS

import linnet as ln
from linnet.errors import IndexBoundsError

FORMATS = [nest(outer + inner) for outer in ALL for inner in "DS"] + [ln.COO(2), ln.BSR(2)]
EMPTY = np.zeros((3, 4))


@ln.kernel
def right(s, A):
    s[...] = 0
    for i in ...:
        for j in range(A.shape[1]):
            s[()] += A[i, j + 1]
    return s


@ln.kernel
def left(s, A):
    s[...] = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[()] += A[i, j - 1]
    return s


@ln.kernel
def turned(s, A):
    s[...] = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[()] += A[i, A.shape[1] - j]
    return s


@ln.kernel
def sums(s, A):
    s[...] = 0
    for i in range(A.shape[0]):
        for k in range(3):
            for j in range(1, A.shape[1]):
                s[()] += A[i, 2 * k + j]
    return s


@ln.kernel
def fixed(s, A):
    s[...] = 0
    for i in range(A.shape[0]):
        s[()] += A[i, 4]
    return s


@pytest.mark.filterwarnings("ignore::linnet.errors.DiscordanceWarning")
@pytest.mark.parametrize("kernel", [right, left, turned, sums, fixed], ids=lambda k: k.__name__)
@pytest.mark.parametrize("format", FORMATS, ids=repr)
def test_nothing_is_stored(format, kernel):
    with pytest.raises(IndexBoundsError, match=r"an index of `A` leaves its dimension"):
        kernel(ln.scalar(0.0), ln.asarray(EMPTY, format=format))


def test_the_access_is_named():
    with pytest.raises(IndexBoundsError) as caught:
        right(ln.scalar(0.0), ln.asarray(EMPTY, format=ln.DCSR))
    assert "`j + 1` reaches 4 in A[i, j + 1], and mode 1 of A has size 4" in str(caught.value)
    assert "s[()] += A[i, j + 1]" in str(caught.value)
    with pytest.raises(IndexBoundsError, match="`j - 1` begins at -1 in "):
        left(ln.scalar(0.0), ln.asarray(EMPTY, format=ln.DCSR))


@pytest.mark.parametrize("format", [ln.DENSE(2), ln.CSR, ln.DCSR, ln.RLE], ids=repr)
@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
def test_loops_that_do_not_run_read_nothing(format, shape):
    a = ln.asarray(np.zeros(shape), format=format)
    assert right(ln.scalar(0.0), a).item() == 0
    assert left(ln.scalar(0.0), a).item() == 0


@ln.kernel
def guarded(s, A):
    s[...] = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if j + 1 < A.shape[1]:
                s[()] += A[i, j + 1]
            s[()] += ln.coalesce(A[i, ~(j - 1)], 0)
            s[()] += A[i, j + 1] if j + 1 < A.shape[1] else 0.0
    return s


@ln.kernel
def inside(s, A):
    s[...] = 0
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1]):
            s[()] += A[i - 1, A.shape[1] - 1 - j] + A[i, j + 2 * i - i - i]
    return s


@pytest.mark.parametrize("format", [ln.DENSE(2), ln.CSR, ln.DCSR, ln.COO(2), ln.RLE], ids=repr)
def test_what_stays_inside_is_read(format):
    a = np.arange(12.0).reshape(3, 4)
    A = ln.asarray(a, format=format)
    assert guarded(ln.scalar(0.0), A).item() == 2 * a[:, 1:].sum() + a[:, :-1].sum()
    assert inside(ln.scalar(0.0), A).item() == a[:-1].sum() + a[1:].sum()


@ln.kernel
def one_further(y, x):
    ln.declare(y, 0, (x.shape[0],))
    for i in ...:
        y[i + 1] = x[i]


@pytest.mark.parametrize("letter", ALL)
def test_a_result_is_called_by_its_name(letter):
    """Also where it is written to a workspace first."""
    with pytest.raises(IndexBoundsError, match="an index of `y` leaves its dimension"):
        one_further(ln.empty_tensor(nest(letter)), np.ones(3))


@ln.kernel
def declared_in_a_loop(y, n):
    w = ln.temp(ln.SparseByteMap(ln.SparseHash(ln.Element(0.0))))
    ln.declare(y, 0, (n.shape[0], n.shape[0]))
    for k in range(n.shape[0]):
        ln.declare(w, 0, (k + 1, k + 1))
        for j in range(k + 1):
            y[k, j] = ln.coalesce(w[~(k - j), ~(j * 2)], 3)
    return y


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_bounds_of_a_temporary_are_those_it_was_declared_with(backend):
    """Where nothing is stored, too, and where no caller could know them."""
    n = np.zeros(4)
    with ln.config(backend=backend):
        found = declared_in_a_loop(ln.empty_tensor(ln.DENSE(2)), n).to_numpy()
    expected = [[3.0 if j <= k < 2 * j else 0.0 for j in range(4)] for k in range(4)]
    assert found.tolist() == expected
    assert declared_in_a_loop.reference(ln.empty_tensor(ln.DENSE(2)), n)["y"].tolist() == expected
