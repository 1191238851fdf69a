"""Sparse scalars: what reads one has a version for its fill value (FINCH §3.3.3, Table 4)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.levels.samples import agree

import linnet as ln
from linnet.errors import FormatError
from linnet.testing import assert_equal


@ln.kernel
def inner_products(C, A, BT):
    s = ln.scalar(0.0, sparse=True)
    C[...] = 0
    for i, j in ...:
        s[...] = 0
        for k in ...:
            s[()] += A[i, k] * BT[j, k]
        C[i, j] = s[()]
    return C


def matrices() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, shape).astype(float) for shape in ((6, 9), (5, 9)))
    return np.where(rng.random(a.shape) < 0.25, a, 0), np.where(rng.random(b.shape) < 0.25, b, 0)


@pytest.mark.parametrize("format", [ln.CSR, ln.DCSR, ln.COO(2), ln.DENSE(2), ln.RLE], ids=repr)
def test_zeros_are_not_stored(format):
    a, b = matrices()
    C = inner_products(ln.empty_tensor(format), *(ln.asarray(m, format="csr") for m in (a, b)))
    assert_equal(C, a @ b.T)
    if format in (ln.CSR, ln.DCSR, ln.COO(2)):
        assert C.nnz == np.count_nonzero(a @ b.T)


@ln.kernel
def scaled_rows(y, A, d, x):
    factor = ln.scalar(0.0, sparse=True)
    y[...] = 0
    for i in ...:
        factor[...] = 0
        factor[()] += d[i]
        for j in ...:
            y[i] += factor[()] * A[i, j] * x[j]
    return y


def test_loops_are_skipped_where_nothing_is_multiplied():
    """What a zero meets takes no part in arithmetic, in the interpreter as in the code."""
    a, _ = matrices()
    x = np.where(np.arange(9) % 2, np.nan, 1.0)
    args = {"y": ln.empty_tensor(ln.DENSE(1)), "A": ln.asarray(a, format="csr")}
    args |= {"d": ln.asarray([0.0, 2.0, 0.0, 1.0, 0.0, 3.0]), "x": ln.asarray(x)}
    agree(scaled_rows, args, ("llvm", "c"))
    y = scaled_rows(ln.empty_tensor(ln.DENSE(1)), *list(args.values())[1:])
    assert (y.to_numpy()[::2] == 0).all()
    code = scaled_rows.code(*args.values())
    assert code.count("for (i64 A_q") == 1  # and none in the version for 0


@ln.kernel
def combined(y, x, s, t):
    y[...] = 0
    a = s[()]
    for i in ...:
        y[i] += a * x[i] + t[()] * x[i]
    return y


@pytest.mark.parametrize("values", [(0.0, 0.0), (2.0, 0.0), (0.0, 3.0), (2.0, 3.0)])
def test_operands(values):
    """As arguments, several at once, through names."""
    s, t = (ln.scalar(v, fill_value=0, sparse=True) for v in values)
    x = np.array([1.0, np.nan, np.inf, -2.0])
    args = {"y": ln.empty_tensor(ln.DENSE(1)), "x": ln.asarray(x), "s": s, "t": t}
    agree(combined, args, ("llvm", "c"))
    expected = sum((v * x for v in values if v), np.zeros(4))
    assert_equal(combined(ln.empty_tensor(ln.DENSE(1)), x, s, t), expected)


@ln.kernel
def nearest(z, A):
    best = ln.scalar(np.inf, sparse=True)
    z[...] = np.inf
    for i in ...:
        best[...] = np.inf
        for j in ...:
            best[()] = min(best[()], A[i, j])
        z[i] = best[()]
    return z


def test_any_fill_value():
    a = np.full((4, 5), np.inf)
    a[1, 2], a[3, 0], a[3, 4] = 3, 4, 2
    A = ln.asarray(a, format=ln.CSR, fill_value=np.inf)
    z = nearest(ln.empty_tensor(ln.SparseList(ln.Element(np.inf))), A)
    assert_equal(z, a.min(1))
    assert z.nnz == 2
    nan = ln.scalar(np.nan, sparse=True)
    assert np.isnan(nan.fill_value)
    y = combined(ln.empty_tensor(ln.DENSE(1)), np.ones(2), nan, ln.scalar(1.0))
    assert np.isnan(y.to_numpy()).all()


def test_what_it_is():
    s = ln.scalar(2, sparse=True)
    assert s.item() == s.fill_value == 2
    assert s.format.describe() == "SparseScalar(2, 'int64')"
    with pytest.raises(FormatError, match="not both"):
        ln.scalar(0, sparse=True, short_circuit=True)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("fill", [0.0, -0.0, 0j, complex(-0.0, 0.0), complex(0.0, -0.0)], ids=repr)
def test_a_zero_of_the_other_sign_is_not_the_fill_value(backend, fill):
    """As in conversions from NumPy: what is read keeps its sign, in every part."""
    dtype = np.dtype(type(fill))
    leaf = ln.SparseScalar(fill, dtype.name)
    for parts in itertools.product((0.0, -0.0), repeat=2):
        value = dtype.type(complex(*parts) if dtype.kind == "c" else parts[0])
        s = ln.asarray(value, format=leaf)
        with ln.config(backend=backend):
            read = s.to(ln.Element(fill, dtype.name)).to_numpy()[()]
        assert repr(read) == repr(value)
        args = {"y": ln.empty_tensor(ln.DENSE(1)), "x": ln.asarray([1.0, -2.0]), "s": s, "t": s}
        agree(combined, args, (backend,))
