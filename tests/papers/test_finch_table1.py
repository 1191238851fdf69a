"""FINCH, Table 1, last column: every kind of control flow, over every structure.

The rows of the table are the tests: each runs one program over matrices of every structure, each in
the formats that fit it. Conditions and masks have a file of their own, and so has the part of the
table about structure.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.papers.structures import LIST, VECTOR, N, body, empty, every_structure, scattered

import linnet as ln
from linnet.errors import IndexBoundsError, LifecycleError
from linnet.testing import assert_equal


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


# -- control flow --------------------------------------------------------------------------------


@ln.kernel
def contraction(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def three_operands(C, A, x, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * x[k] * B[k, j]
    return C


@every_structure
def test_einsums_and_contractions(rng, make, format):
    a, b, x = make(rng), make(rng), rng.integers(0, 5, N).astype(float)
    A, B = ln.asarray(a, format=format), ln.asarray(b, format=format)
    assert_equal(contraction(empty(), A, x), a @ x)
    assert_equal(three_operands(empty(ln.DENSE(2)), A, x, B), a * x @ b)


@ln.kernel
def several(total, least, rows, columns, A):
    total[...] = 0
    least[...] = np.inf
    rows[...] = 0
    columns[...] = -np.inf
    for i, j in ...:
        a = A[i, j]
        total[()] += a
        least[()] = min(least[()], a)
        rows[i] += a
        columns[j] = max(columns[j], a)
    return total, least, rows, columns


@every_structure
def test_multiple_left_hand_sides(rng, make, format):
    a = make(rng)
    A = ln.asarray(a, format=format)
    total, least, rows, columns = several(ln.scalar(0.0), ln.scalar(0.0), empty(), empty(), A)
    assert_equal(total, np.asarray(a.sum()))
    assert_equal(least, np.asarray(a.min()))
    assert_equal(rows, a.sum(1))
    assert_equal(columns, a.max(0))


@ln.kernel
def shifted(D, y, A, x):
    D[...] = 0
    y[...] = 0
    for i in ...:
        for j in range(A.shape[1] - 1):
            D[i, j] = A[i, j + 1] - A[i, j]
            y[i] += A[i, j + 1] * x[i + j]
    return D, y


@ln.kernel
def strided(E, A):
    E[...] = 0
    for i in range(A.shape[0] // 2):
        for j in range(A.shape[1] // 3):
            E[i, j] = A[2 * i + 1, 3 * j + 1]
    return E


@every_structure
def test_affine_indices(rng, make, format):
    a, x = make(rng), rng.integers(0, 5, 2 * N).astype(float)
    A = ln.asarray(a, format=format)
    D, y = shifted(empty(ln.DENSE(2)), empty(), A, x)
    assert_equal(D, np.diff(a, axis=1))
    assert_equal(y, np.array([a[i, 1:] @ x[i : i + N - 1] for i in range(N)]))
    assert_equal(strided(empty(ln.DENSE(2)), A), a[1::2, 1::3])


@ln.kernel
def convolution(y, x, w):
    y[...] = 0
    for i in range(x.shape[0] - w.shape[0] + 1):
        for k in ...:
            y[i] += x[i + k] * w[k]
    return y


@pytest.mark.parametrize("signal", [VECTOR, LIST, ln.RunList(ln.Element(0.0))], ids=str)
@pytest.mark.parametrize("filter", [VECTOR, LIST, ln.SparseBand(ln.Element(0.0))], ids=str)
def test_affine_indices_of_two_loops(rng, signal, filter):
    """A convolution: the filter is a structured tensor, and so may be the signal."""
    x = rng.integers(0, 3, 10).astype(float).repeat(3)
    w = np.array([0.0, 1.0, -2.0, 1.0, 0.0])
    y = convolution(empty(), ln.asarray(x, format=signal), ln.asarray(w, format=filter))
    assert_equal(y, np.convolve(x, w[::-1], "valid"))


@ln.kernel
def polynomials(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] *= -2
        y[i] += A[i, j]
    return y


@ln.kernel
def last_of_each_row(y, A):
    y[...] = -1
    for i, j in ...:
        if A[i, j] > 2:
            y[i] = j
    return y


@ln.kernel
def running_sums(y, A):
    """`y[i, j] = y[i, j - 1] + A[i, j]`, the element before carried in a scalar."""
    s = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        s[...] = 0
        for j in ...:
            s[()] += A[i, j]
            y[i, j] = s[()]
    return y


@ln.kernel
def decaying(y, A):
    s = ln.scalar(0.0)
    t = ln.scalar(0.0)
    y[...] = 0
    for i, j in ...:
        s[()] = 0.5 * s[()] + A[i, j]
        t[()] += s[()]
        y[i, j] = s[()] - t[()]
    return y


@every_structure
def test_recurrence_on_the_element_before(rng, make, format):
    a = make(rng)
    A = ln.asarray(a, format=format)
    for result in (ln.DENSE(2), ln.CSR, ln.RLE):
        assert_equal(running_sums(empty(result), A), np.cumsum(a, axis=1))
    s, total, expected = 0.0, 0.0, []
    for x in a.ravel():
        s = 0.5 * s + x
        total += s
        expected.append(s - total)
    assert_equal(decaying(empty(ln.DENSE(2)), A), np.reshape(expected, a.shape))


@ln.kernel
def sums_of_sums(r, x):
    s = ln.scalar(0.0)
    t = ln.scalar(0.0)
    for i in ...:
        s[()] += x[i]
        t[()] += s[()]
    r[...] = 0
    r[()] += t[()]
    return r


@pytest.mark.parametrize("format", [VECTOR, LIST, ln.RunList(ln.Element(0.0))], ids=str)
def test_recurrence_of_two_scalars_is_not_a_product(rng, format):
    """A run adds n times what it holds, but not to a sum of what it adds to."""
    x = np.repeat(rng.integers(0, 4, 5), 3).astype(float)
    r = sums_of_sums(ln.scalar(0.0), ln.asarray(x, format=format))
    assert r.item() == np.cumsum(x).sum()


def test_recurrence_in_place_is_refused():
    """An element that is being written cannot be read; the message says what can be done."""

    def prefix(y, x):
        y[...] = 0
        for i in range(1, x.shape[0]):
            y[i] = y[i - 1] + x[i]
        return y

    with pytest.raises(LifecycleError, match="carry a value to the next iteration in a scalar"):
        ln.kernel(prefix)


@every_structure
def test_recurrence(rng, make, format):
    """An iteration goes on from what the one before has left: Horner's rule, and the last write."""
    a = make(rng)
    A = ln.asarray(a, format=format)
    assert_equal(polynomials(empty(), A), np.array([np.polyval(row, -2) for row in a]))
    last = [max(np.flatnonzero(row > 2), default=-1) for row in a]
    assert_equal(last_of_each_row(empty(), A), np.array(last, np.int64))


@ln.kernel
def histogram(h, labels):
    ln.declare(h, 0, (9,))
    for i, j in ...:
        h[labels[i, j]] += 1
    return h


@ln.kernel
def scatter_gather(y, A, rows, x, columns):
    ln.declare(y, 0, (5,))
    for i, j in ...:
        y[rows[i]] += A[i, j] * x[columns[j]]
    return y


@every_structure
def test_scatter_and_gather(rng, make, format):
    a = make(rng)
    labels = ln.asarray(a.astype(int), format=format)
    assert_equal(histogram(empty(), labels), np.bincount(a.astype(int).ravel(), minlength=9))
    rows, columns = rng.integers(0, 5, N), rng.integers(0, 7, N)
    x, expected = rng.integers(0, 5, 7).astype(float), np.zeros(5)
    np.add.at(expected, rows, a @ x[columns])
    assert_equal(scatter_gather(empty(), ln.asarray(a, format=format), rows, x, columns), expected)


def test_scatter_and_gather_stay_inside(rng):
    labels = np.array([[1, 9]])
    with pytest.raises(IndexBoundsError, match=r"labels\[i, j\]"):
        histogram(empty(), labels)


@ln.kernel
def any_above(y, A, t):
    found = ln.scalar(False, short_circuit=True)
    y[...] = False
    for i in ...:
        found[...] = False
        for j in ...:
            found[()] |= A[i, j] > t[()]
        y[i] = found[()]
    return y


@ln.kernel
def any_and_all(y, z, A, t):
    found = ln.scalar(False, short_circuit=True)
    every = ln.scalar(True, short_circuit=True)
    y[...] = False
    z[...] = False
    for i in ...:
        found[...] = False
        every[...] = True
        for j in ...:
            found[()] |= A[i, j] > t[()]
            every[()] &= A[i, j] > 0
        y[i] = found[()]
        z[i] = every[()]
    return y, z


@ln.kernel
def product(p, x):
    p[...] = 1
    for j in ...:
        p[()] *= x[j]
    return p


@ln.kernel
def first_above(y, A, t):
    first = ln.scalar(-1, short_circuit=True)
    y[...] = -1
    for i in ...:
        first[...] = -1
        for j in ...:
            if A[i, j] > t[()]:
                first[()] = ln.choose(-1)(first[()], j)
        y[i] = first[()]
    return y


@every_structure
def test_early_break(rng, make, format):
    a = make(rng)
    A, t = ln.asarray(a, format=format), ln.scalar(4.0)
    assert_equal(any_above(empty(), A, t), (a > 4).any(1))
    y, z = any_and_all(empty(), empty(), A, t)
    assert_equal(y, (a > 4).any(1))
    assert_equal(z, (a > 0).all(1))
    firsts = [min(np.flatnonzero(row > 4), default=-1) for row in a]
    assert_equal(first_above(empty(), A, t), np.array(firsts, np.int64))


def test_early_break_leaves_the_loop(rng):
    A, t = ln.asarray(scattered(rng), format=ln.CSR), ln.scalar(4.0)
    for kernel in (any_above, first_above):
        assert "break;" in body(kernel, empty(), A, t), kernel.__name__
    assert "break;" in body(any_and_all, empty(), empty(), A, t)
    p = ln.scalar(1.0, short_circuit=True)
    x = rng.integers(0, 4, N).astype(float)
    assert "break;" in body(product, p, x)
    assert_equal(product(p, x), np.asarray(x.prod()))


@ln.kernel
def in_turn(y, B, A, x):
    w = ln.temp(VECTOR)
    y[...] = 0
    for i in ...:
        w[...] = 0
        for j in ...:
            w[j] += A[i, j] + x[j]
        for j in ...:
            y[i] += w[j] * B[i, j]
    for i in ...:
        x[i] += y[i]
    for i in ...:
        y[i] += x[i]
    return y, x


@every_structure
def test_unrestricted_read_and_write(rng, make, format):
    """Tensors are read, then written, then read again, in one scope after the other."""
    a, b, start = make(rng), make(rng), rng.integers(0, 5, N).astype(float)
    x = ln.asarray(start, copy=True)
    A, B = ln.asarray(a, format=format), ln.asarray(b, format=format)
    y, x = in_turn(empty(), B, A, x)
    expected = ((a + start) * b).sum(1)
    assert_equal(x, start + expected)
    assert_equal(y, start + 2 * expected)
