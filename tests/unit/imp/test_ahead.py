"""What loops that jump about call is computed ahead, a block at a time, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.imp.ahead import compute_ahead
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.simplify import simplify

A, B, J, Q = (imp.Var(name) for name in ("a", "b", "j", "q"))
S, T = imp.Var("s", "float64"), imp.Var("t", "float64")
IDX, VAL = imp.Buffer("idx", "int32"), imp.Buffer("val", "float64")
Y = imp.Buffer("y", "float64")


def log(x: imp.Expr) -> imp.Call:
    return imp.Call("log", (x,), "float64")


def kernel(*body: imp.Stmt) -> imp.Kernel:
    """`for q in a … b: body`."""
    argument = imp.Argument("A", (A, B), (IDX, VAL, Y))
    return imp.Kernel("k", (argument,), imp.Block((imp.For(Q, A, B, imp.Block(body)),)))


def ahead(k: imp.Kernel) -> imp.Kernel:
    made = compute_ahead(k, lambda call: call.function == "log")
    check(made)
    return made


WHERE = imp.Let(J, imp.widen(IDX[Q]))
SCATTER = kernel(WHERE, imp.Store(Y, J, Y[J] + log(VAL[Q] * 2.0)))
THROUGH_LET = kernel(WHERE, imp.Let(T, VAL[Q] + 1.0), imp.Store(Y, J, log(T) - log(T) * Y[J]))

HALVED = imp.If(J < 5, imp.Block((imp.Assign(T, T * 0.5),)), imp.EMPTY)
MOVED = kernel(WHERE, imp.Let(T, VAL[Q]), HALVED, imp.Store(Y, J, Y[J] + log(T)))


def test_a_block_at_a_time():
    made = simplify(ahead(SCATTER))
    assert (
        show(made).partition("\n")[2]
        == """\
    ahead: float64[128]
    q_at: int64 = a
    while q_at < b:
        q_to: int64 = min(q_at + 128, b)
        for q_2 in range(q_at, q_to):
            ahead[q_2 - q_at] = log(val[q_2] * 2.0)
        for q in range(q_at, q_to):
            j: int64 = int64(idx[q])
            y[j] = y[j] + ahead[q - q_at]
        q_at = q_to"""
    )


@pytest.mark.parametrize("k", [SCATTER, THROUGH_LET, MOVED], ids=["scatter", "let", "moved"])
@pytest.mark.parametrize(("a", "b"), [(0, 0), (3, 5), (0, 128), (1, 130), (0, 300), (5, 2)])
def test_results_are_the_same(k, a, b):
    rng = np.random.default_rng(b)
    arrays = {"idx": rng.integers(0, 10, 300).astype(np.int32), "val": rng.random(300) + 1}
    found = [
        run(each, {"A": ((a, b), {**arrays, "y": np.ones(10)})})[1]["y"] for each in (k, ahead(k))
    ]
    np.testing.assert_array_equal(*found)


def test_equal_calls_share_a_buffer():
    assert len(ahead(THROUGH_LET).scratch) == 1


@pytest.mark.parametrize(
    "k",
    [
        MOVED,
        kernel(imp.Store(Y, Q, log(VAL[Q]))),  # vectorized as it is
        kernel(WHERE, imp.Store(Y, J, log(Y[J]))),  # reads what it writes
        kernel(WHERE, imp.Store(Y, J, log(VAL[imp.widen(IDX[Q])]))),  # no neighbours
        kernel(WHERE, imp.If(J < Q, imp.Block((imp.Store(Y, J, log(VAL[Q])),)), imp.EMPTY)),
        kernel(WHERE, imp.Store(Y, J, log(VAL[Q])), imp.Break()),
        kernel(WHERE, imp.Store(Y, J, imp.Select(J < Q, log(VAL[Q]), VAL[Q]))),
    ],
    ids=["moved", "contiguous", "own result", "gather", "condition", "break", "choice"],
)
def test_other_loops_are_left_alone(k):
    assert ahead(k) is k


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_of_a_function(backend, dtype):
    dense = np.where(np.random.default_rng(0).random((7, 400)) < 0.5, 1.5, 0).astype(dtype)

    @ln.kernel
    def columns(y, A):
        y[...] = 0
        for i, j in ...:
            y[j] += ln.expm1(A[i, j])
        return y

    with ln.config(backend=backend):
        A = ln.asarray(dense, format=ln.CSR)
        y = columns(ln.empty_tensor(ln.DENSE(1)), A)
        assert "ahead[" in columns.code(ln.empty_tensor(ln.DENSE(1)), A)
    np.testing.assert_allclose(y.to_numpy(), np.expm1(dense).sum(axis=0), rtol=1e-5)
