"""What is done if exactly one of two conditions holds is asked for once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.check import BACKENDS, Subject, check

import linnet as ln
from linnet import imp
from linnet.imp.either import either
from linnet.imp.printer import show

PATTERN = ln.Dense(ln.SparseList(ln.Pattern()))
A, B, X = imp.Var("a"), imp.Var("b"), imp.Buffer("x", "float64")
SET, CLEAR = (imp.Block((imp.Store(X, imp.ZERO, imp.Const(v, "float64")),)) for v in (1.0, 0.0))


@ln.kernel
def edges(out, A, B, R):
    out[...] = False
    for i, j in ...:
        out[i, j] = (B[i, j] and R[i, j]) ^ (A[i, j] and R[i, j])
    return out


def images() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.random((9, 30)) < share for share in (0.3, 0.4, 0.8)]


def test_one_branch_for_one_or_the_other():
    args = dict(zip("ABR", (ln.asarray(x).to(PATTERN) for x in images()), strict=True))
    args = {"out": ln.empty_tensor(PATTERN), **args}
    subject = Subject.of(edges.program, args)
    assert "if ((B_j == R_j) != (A_j == R_j))" in edges.code(*args.values())
    check(subject, args, BACKENDS)


def branches(*inner: imp.If) -> imp.Kernel:
    then, orelse = (imp.Block((stmt,)) for stmt in inner)
    body = imp.Block((imp.If(imp.eq(A, 0), then, orelse),))
    return imp.Kernel("f", (imp.Argument("t", (A, B), (X,)),), body)


def test_of_two_conditions_one():
    kernel = either(
        branches(imp.If(imp.ne(B, 0), SET, imp.EMPTY), imp.If(imp.eq(B, 0), SET, imp.EMPTY))
    )
    assert "if (a == 0) != (b == 0):" in show(kernel)


@pytest.mark.parametrize(
    "inner",
    [
        (imp.If(imp.ne(B, 0), SET, imp.EMPTY), imp.If(imp.eq(B, 1), SET, imp.EMPTY)),
        (imp.If(imp.ne(B, 0), SET, imp.EMPTY), imp.If(imp.eq(B, 0), CLEAR, imp.EMPTY)),
        (imp.If(imp.ne(B, 0), SET, CLEAR), imp.If(imp.eq(B, 0), SET, CLEAR)),
    ],
)
def test_other_branches_stay(inner):
    kernel = branches(*inner)
    assert either(kernel) is kernel
