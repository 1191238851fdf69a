"""The rows that entries lead to are asked for some entries ahead; nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.imp.check import check
from linnet.imp.consecutive import Known
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.rows_ahead import rows_ahead
from linnet.imp.simplify import simplify

N, I, Q, K, P = (imp.Var(name) for name in ("n", "i", "q", "k", "p"))
PTR, IDX, ROWS, COL = (imp.Buffer(name, "int32") for name in ("ptr", "idx", "rows", "col"))
VAL, Y = imp.Buffer("val", "float64"), imp.Buffer("y", "float64")
KNOWN = Known(frozenset({"n"}), frozenset({"ptr", "rows"}))

FIND = imp.Let(K, imp.widen(IDX[Q]))
ADD = imp.Store(Y, imp.widen(COL[P]), Y[imp.widen(COL[P])] + VAL[P])
ROW = imp.For(P, imp.widen(ROWS[K]), imp.widen(ROWS[K + 1]), imp.Block((ADD,)))
LEAVE = imp.If(K >= 3, imp.Block((imp.Return(imp.ONE),)), imp.EMPTY)


def kernel(*body: imp.Stmt, stop: imp.Expr | None = None) -> imp.Kernel:
    """`for i in 0 … n: for q in ptr[i] … ptr[i + 1]: body`."""
    end = imp.widen(PTR[I + 1]) if stop is None else stop
    inner = imp.For(Q, imp.widen(PTR[I]), end, imp.Block(body))
    outer = imp.For(I, imp.ZERO, N, imp.Block((inner,)))
    argument = imp.Argument("A", (N,), (PTR, IDX, ROWS, COL, VAL, Y))
    return imp.Kernel("k", (argument,), imp.Block((outer, imp.Return(imp.ZERO))))


def asking(k: imp.Kernel) -> imp.Kernel:
    made = rows_ahead(k, KNOWN)
    check(made)
    return made


def test_rows_are_asked_for_eight_entries_ahead_and_where_they_begin_sixteen():
    assert (
        show(simplify(asking(kernel(FIND, ROW))).body)
        == """\
block:
    last: int64 = int64(ptr[n]) - 1
    for i in range(0, n):
        for q in range(int64(ptr[i]), int64(ptr[i + 1])):
            prefetch(rows, int64(idx[min(q + 16, last)]))
            soon: int64 = int64(rows[int64(idx[min(q + 8, last)])])
            prefetch(col, soon)
            prefetch(val, soon)
            k: int64 = int64(idx[q])
            for p in range(int64(rows[k]), int64(rows[k + 1])):
                y[int64(col[p])] = y[int64(col[p])] + val[p]
    return 0"""
    )


def test_rows_that_may_be_left_are_not_asked_for():
    """What comes next depends on where a row is left, and is begun before that is known."""
    stop = imp.If(VAL[P] > 0.5, imp.Block((imp.Break(),)), imp.EMPTY)
    left = imp.For(P, ROW.start, ROW.stop, imp.Block((ADD, stop)))
    k = kernel(FIND, left)
    assert asking(k) is k
    over = imp.If(K >= 3, imp.Block((imp.Break(),)), imp.EMPTY)
    assert "prefetch" not in show(asking(kernel(FIND, over, ROW)).body)


def test_fibers_that_do_not_follow_each_other_are_looked_at_alone():
    text = show(simplify(asking(kernel(FIND, ROW, stop=imp.widen(PTR[I]) + 3))).body)
    assert "    for i in range(0, n):\n        last: int64 = int64(ptr[i]) + 2\n" in text
    assert text.count("last: int64") == 1


@pytest.mark.parametrize("entries", [0, 1, 7, 8, 9, 17, 60])
def test_results_are_the_same(entries):
    """The interpreter knows how long arrays are: nothing is read that is not there."""
    rng = np.random.default_rng(entries)
    ptr = np.sort(rng.integers(0, entries + 1, 6)).astype(np.int32)
    ptr[0], ptr[-1] = 0, entries
    arrays = {"ptr": ptr, "idx": rng.integers(0, 4, entries).astype(np.int32)}
    arrays |= {"rows": np.array([0, 2, 2, 5, 6], np.int32), "val": rng.random(6)}
    arrays |= {"col": rng.integers(0, 5, 6).astype(np.int32)}
    plain = kernel(FIND, ROW)
    found = [run(k, {"A": ((5,), {**arrays, "y": np.zeros(5)})}) for k in (plain, asking(plain))]
    np.testing.assert_array_equal(found[0][1]["y"], found[1][1]["y"])


@pytest.mark.parametrize(
    "body",
    [
        (imp.Let(K, imp.widen(IDX[Q + 1])), ROW),
        (FIND, imp.If(K < 3, imp.Block((ROW,)), imp.EMPTY)),
        (FIND, LEAVE, ROW),
        (FIND, ROW, imp.Store(IDX, Q, imp.Const(0, "int32"))),
        (FIND, ROW, imp.Store(ROWS, Q, imp.Const(0, "int32"))),
        (FIND, imp.For(P, imp.widen(ROWS[K]), imp.widen(ROWS[K]) + 2, imp.Block((ADD,)))),
        (FIND, imp.For(P, imp.ZERO, N, imp.Block((ADD,)))),
    ],
    ids=["elsewhere", "perhaps", "left", "changed", "moved", "other rows", "no row"],
)
def test_what_is_left_alone(body):
    k = kernel(*body)
    assert rows_ahead(k, KNOWN) is k


@ln.kernel
def product(C, A, B):
    C[...] = 0
    for i, k, j in ...:
        C[i, j] += A[i, k] * B[k, j]
    return C


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (4, 9), (30, 12)])
def test_compiled(backend, shape):
    rng = np.random.default_rng(len(shape))
    a = np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0).astype(float)
    for format in (ln.CSR, ln.DCSR):
        A, B = ln.asarray(a, format=format), ln.asarray(a.T, format=ln.CSR)
        with ln.config(backend=backend):
            assert "prefetch(B_idx, soon)" in product.code(ln.empty_tensor(ln.CSR), A, B)
            C = product(ln.empty_tensor(ln.CSR), A, B)
        np.testing.assert_array_equal(C.to_numpy(), a @ a.T)
