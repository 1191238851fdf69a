"""Loops inside loops that go on adding to a sum get one of their own."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.optimize.accumulators import split_accumulators
from linnet.testing import assert_equal


@ln.kernel
def product(y, A, x):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * x[j]
    return y


@ln.kernel
def both(s, p, A):
    s[...] = 0
    p[...] = 1
    for i, j in ...:
        s[()] += A[i, j]
        p[()] *= A[i, j]
    return s, p


def blocks() -> np.ndarray:
    return np.kron(np.array([[1.0, 0, 1, 1], [0, 0, 1, 0]]), np.arange(1.0, 7).reshape(2, 3))


@pytest.mark.parametrize("format", [ln.BLOCK, ln.RLE, ln.BSR(2, 3)], ids=repr)
def test_stretches_have_sums_of_their_own(format):
    A, x = ln.asarray(blocks(), format=format), np.arange(12.0)
    code = product.code(ln.empty_tensor(ln.DENSE(1)), A, x)
    assert re.search(r"double y_i_part = -0\.0[;,]", code)
    assert re.search(r"y_i \+= y_i_part;", code)
    assert_equal(product(ln.empty_tensor(ln.DENSE(1)), A, x), blocks() @ x)


@pytest.mark.parametrize("format", [ln.CSR, ln.DENSE(2), ln.BAND], ids=repr)
def test_a_row_has_one_sum(format):
    code = product.code(
        ln.empty_tensor(ln.DENSE(1)), ln.asarray(blocks(), format=format), np.ones(12)
    )
    assert "_part" not in code


def test_the_sign_of_zero_is_kept():
    a = np.zeros((2, 3))
    A = ln.asarray(a, format=ln.BLOCK)
    s = ln.scalar(-0.0)

    @ln.kernel
    def total(s, A):
        s[...] = -0.0
        for i, j in ...:
            s[()] += A[i, j]
        return s

    assert np.signbit(total(s, A).to_numpy())


def test_sums_and_products():
    a = blocks() + 1
    A = ln.asarray(a, format=ln.BLOCK)
    s, p = both(ln.scalar(0.0), ln.scalar(1.0), A)
    assert s.item() == a.sum()
    np.testing.assert_allclose(p.item(), a.prod())


N, I, J = (imp.Var(name) for name in "nij")
S, X, OUT = imp.Var("s", "float64"), imp.Buffer("x", "float64"), imp.Buffer("out", "float64")


def stretch(value: imp.Expr) -> imp.For:
    return imp.For(J, imp.ZERO, I, imp.Block((imp.Accumulate(S, "+", value),)))


def kernel(stmt: imp.Stmt) -> imp.Kernel:
    """`for i: …`, which goes on with a sum."""
    rows = imp.For(I, imp.ZERO, N, imp.Block((stmt,)))
    body = imp.Let(S, imp.Const(1.0, "float64")), rows, imp.Store(OUT, imp.ZERO, S)
    return imp.Kernel("k", (imp.Argument("A", (N,), (X, OUT)),), imp.Block(body))


def found(k: imp.Kernel, n: int) -> float:
    arrays = {"x": np.arange(1.0, n + 1), "out": np.zeros(1)}
    status, after = run(k, {"A": ((n,), arrays)})
    assert status == 0
    return float(after["out"][0])


def choice(cond: imp.Expr) -> imp.If:
    return imp.If(cond, imp.Block((stretch(X[J]),)), imp.Block((stretch(X[J] * 2.0),)))


@pytest.mark.parametrize(("stmt", "splits"), [
    (stretch(X[J]), True),
    (choice(I < 3), True),
    (stretch(X[J] * S), False),
    (choice(imp.Const(3.0, "float64") < S), False),
], ids=["one", "one of two", "looked at", "decides"])  # fmt: skip
def test_only_what_nobody_looks_at_meanwhile(stmt, splits):
    plain = kernel(stmt)
    made = split_accumulators(plain)
    check(made)
    assert (made is not plain) == splits
    assert [found(made, n) for n in range(6)] == [found(plain, n) for n in range(6)]
