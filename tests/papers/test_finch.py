"""FINCH, by section: every worked example of the paper that the formats of today can hold.

Indices start at 0 here, and matrices are stored by rows: the paper's `for j, i` over `A[i, j]` is
`for i, j`. Graphs and images (§7.3, §7.4) are in a file of their own.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import linnet as ln
from linnet.errors import DiscordanceWarning
from linnet.testing import assert_equal

SPARSE = ln.SparseList(ln.Element(0.0))


def sparse(rng: np.random.Generator, *shape: int, density: float = 0.4) -> np.ndarray:
    values = rng.integers(1, 9, shape).astype(float)
    return np.where(rng.random(shape) < density, values, 0.0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(2025)


def empty(format: object) -> ln.Tensor:
    return ln.empty_tensor(format)  # type: ignore[arg-type]


# -- §1: the even integers of two lists (Fig. 2) -------------------------------------------------


@ln.kernel
def evens_first(c, a, b):
    c[...] = 0
    for i in ...:
        if i % 2 == 0:
            c[i] = a[i] * b[i]


@ln.kernel
def evens_of_one(c, ap, a, b):
    ap[...] = 0
    for i in ...:
        if i % 2 == 0:
            ap[i] = a[i]
    c[...] = 0
    for i in ...:
        c[i] = ap[i] * b[i]


@ln.kernel
def evens_last(c, cp, a, b):
    cp[...] = 0
    for i in ...:
        cp[i] = a[i] * b[i]
    c[...] = 0
    for i in ...:
        if i % 2 == 0:
            c[i] = cp[i]


@ln.kernel
def evens_as_a_tensor(c, f, a, b):
    f[...] = 0
    for i in ...:
        if i % 2 == 0:
            f[i] = a[i] * 0 + 1
    c[...] = 0
    for i in ...:
        c[i] = a[i] * b[i] * f[i]


@pytest.mark.parametrize("middle", [SPARSE, ln.DENSE(1), ln.SparseHash(ln.Element(0.0))], ids=str)
def test_fig2_four_strategies(rng, middle):
    a, b = sparse(rng, 20, density=0.7), sparse(rng, 20, density=0.7)
    A, B = ln.asarray(a, format=SPARSE), ln.asarray(b, format=SPARSE)
    expected = np.where(np.arange(20) % 2 == 0, a * b, 0)
    c = empty(SPARSE)
    evens_first(c, A, B)
    assert_equal(c, expected)
    assert c.nnz == (expected != 0).sum()
    for strategy in (evens_of_one, evens_last, evens_as_a_tensor):
        c = empty(SPARSE)
        strategy(c, empty(middle), A, B)
        assert_equal(c, expected)


# -- §3.3: a product of all elements (Fig. 7) ----------------------------------------------------


@ln.kernel
def product(p, A):
    p[...] = 1
    for j in ...:
        p[()] *= A[j]


@pytest.mark.parametrize("zeros", [0, 3])
def test_fig7_product(rng, zeros):
    a = rng.integers(1, 4, 12).astype(float)
    a[:zeros] = 0
    for format in (SPARSE, ln.DENSE(1), ln.SparseCOO(1, ln.Element(0.0))):
        p = ln.scalar(0.0)
        product(p, ln.asarray(a, format=format))
        assert_equal(p, np.asarray(a.prod()))


# -- §4: dimensions (Fig. 11) --------------------------------------------------------------------


@ln.kernel
def three_rows(C, A, B):
    C[...] = 0
    for i in range(3):
        for j, k in ...:
            C[i, j] += A[i, k] * B[k, j]


def test_fig11_dimensions_meet(rng):
    a, b = sparse(rng, 3, 4), sparse(rng, 4, 5)
    C = empty(ln.CSR)
    A, B = ln.asarray(a, format=ln.CSR), ln.asarray(b, format=ln.CSC)
    three_rows(C, A, B)
    assert C.shape == (3, 5)
    assert_equal(C, a @ b)
    with pytest.raises(ln.LinnetError):
        three_rows(C, A, ln.asarray(b.T, format=ln.CSC))


# -- §5.2: wrappers and masks (Fig. 10) ----------------------------------------------------------


@ln.kernel
def shifted_triangle(s, A):
    s[...] = 0
    for i in range(1, A.shape[0] + 1):
        for j in ...:
            if i <= j:
                s[()] += A[i - 1, j]


@pytest.mark.parametrize("format", ["dense", "csr", "csc", "coo"])
def test_fig10_shifted_triangle(rng, format):
    a = sparse(rng, 6, 7, density=0.6)
    s = ln.scalar(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shifted_triangle(s, ln.asarray(a, format=format))
    i, j = np.indices(a.shape)
    assert_equal(s, np.asarray(a[i + 1 <= j].sum()))


# -- §5.4: concordance (Fig. 12) -----------------------------------------------------------------


@ln.kernel
def against_the_order(s, A):
    s[...] = 0
    for j, i in ...:
        s[()] += A[i, j]


def test_fig12_against_the_order(rng):
    a = sparse(rng, 5, 6)
    s, A = ln.scalar(0.0), ln.asarray(a, format=ln.CSR)
    assert "for j_2 in range(j, j + 1):" in against_the_order.loops(s, A)
    with pytest.warns(DiscordanceWarning, match="goes against the order"):
        against_the_order(s, A)
    assert_equal(s, np.asarray(a.sum()))


# -- §5.5: life cycles (Fig. 13) -----------------------------------------------------------------


@ln.kernel
def life_cycle(y, x):
    y[...] = 0
    for i in ...:
        y[i] = x[i] + 1
    for i in ...:
        x[i] += 1
        y[i] += 1
    for i in ...:
        x[i] += y[i]


def test_fig13_life_cycle():
    x = ln.asarray(np.arange(5.0)).copy()
    y = empty(ln.DENSE(1))
    life_cycle(y, x)
    assert_equal(y, np.arange(5.0) + 2)
    assert_equal(x, 2 * np.arange(5.0) + 3)


# -- §6: the upper triangle (Figs. 17 and 18) ----------------------------------------------------


@ln.kernel
def upper_triangle(s, A):
    s[...] = 0
    for i, j in ...:
        if i <= j:
            s[()] += A[i, j]


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "dense"])
def test_fig18_upper_triangle(rng, format):
    a = sparse(rng, 7, 7, density=0.6)
    s = ln.scalar(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        upper_triangle(s, ln.asarray(a, format=format))
    assert_equal(s, np.asarray(np.triu(a).sum()))


# -- §7.1: SpMV (Fig. 19) ------------------------------------------------------------------------


@ln.kernel
def spmv_rows(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]


@ln.kernel
def spmv_columns(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[j] += A[i, j] * x[i]


@ln.kernel
def spmv_symmetric(y, A, D, x):
    y_i = ln.scalar(0.0)
    y[...] = 0
    for i in ...:
        x_i = x[i]
        y_i[...] = 0
        for j in ...:
            a = A[i, j]
            y[j] += x_i * a
            y_i[()] += a * x[j]
        y[i] += y_i[()] + D[i] * x_i


def test_fig19_spmv(rng):
    a, x = sparse(rng, 6, 6), rng.integers(0, 9, 6).astype(float)
    y, A = empty(ln.DENSE(1)), ln.asarray(a, format=ln.CSR)
    spmv_rows(y, A, x)
    assert_equal(y, a @ x)
    spmv_columns(y, A, x)
    assert_equal(y, a.T @ x)
    both = np.triu(a, 1) + np.triu(a, 1).T + np.diag(np.diag(a))
    spmv_symmetric(y, ln.asarray(np.triu(a, 1), format=ln.CSR), np.diag(a).copy(), x)
    assert_equal(y, both @ x)
