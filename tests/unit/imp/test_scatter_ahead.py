"""Where many entries are dealt to is asked for some entries ahead; nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.imp import scatter_ahead as ahead
from linnet.imp.check import check
from linnet.imp.consecutive import Known
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.simplify import simplify

N, I, Q, J, TO = (imp.Var(name) for name in ("n", "i", "q", "j", "to"))
PTR, IDX, ENDS = (imp.Buffer(name, "int32") for name in ("ptr", "idx", "ends"))
VAL, OUT = imp.Buffer("val", "float64"), imp.Buffer("out", "float64")
KNOWN = Known(frozenset({"n"}), frozenset({"ptr"}))

FIND = imp.Let(J, imp.widen(IDX[Q]))
LOOK = imp.Let(TO, imp.widen(ENDS[J + 1]))
DEAL = imp.Store(OUT, TO, VAL[Q])
MOVE = imp.Store(ENDS, J + 1, imp.Cast(TO + 1, "int32"))
BODY = (FIND, LOOK, DEAL, MOVE)


def kernel(*body: imp.Stmt, around: tuple[imp.Stmt, ...] = ()) -> imp.Kernel:
    """`for i in 0 … n: for q in ptr[i] … ptr[i + 1]: body`."""
    inner = imp.For(Q, imp.widen(PTR[I]), imp.widen(PTR[I + 1]), imp.Block(body))
    outer = imp.For(I, imp.ZERO, N, imp.Block((*around, inner)))
    argument = imp.Argument("A", (N,), (PTR, IDX, VAL, ENDS, OUT))
    return imp.Kernel("k", (argument,), imp.Block((outer, imp.Return(imp.ZERO))))


def asking(k: imp.Kernel) -> imp.Kernel:
    made = ahead.scatter_ahead(k, KNOWN)
    check(made)
    return made


def test_places_are_asked_for_sixteen_entries_ahead():
    assert (
        show(simplify(asking(kernel(*BODY))).body)
        == """\
block:
    last: int64 = int64(ptr[n]) - 1
    if last - int64(ptr[0]) >= 1048576:
        for i in range(0, n):
            for q in range(int64(ptr[i]), int64(ptr[i + 1])):
                ahead: int64 = min(q + 16, last)
                soon: int64 = int64(ends[int64(idx[ahead]) + 1])
                prefetch(out, soon)
                j: int64 = int64(idx[q])
                to: int64 = int64(ends[j + 1])
                out[to] = val[q]
                ends[j + 1] = int32(to + 1)
    else:
        for i in range(0, n):
            for q in range(int64(ptr[i]), int64(ptr[i + 1])):
                j: int64 = int64(idx[q])
                to: int64 = int64(ends[j + 1])
                out[to] = val[q]
                ends[j + 1] = int32(to + 1)
    return 0"""
    )


@pytest.mark.parametrize("many", [0, 30, 100])
@pytest.mark.parametrize("entries", [0, 1, 15, 16, 17, 60])
def test_results_are_the_same(monkeypatch, entries, many):
    """The interpreter knows how long arrays are: nothing is read that is not there."""
    monkeypatch.setattr(ahead, "_MANY", many)
    rng = np.random.default_rng(entries)
    ptr = np.sort(rng.integers(0, entries + 1, 6)).astype(np.int32)
    ptr[0], ptr[-1] = 0, entries
    idx = rng.integers(0, 4, entries).astype(np.int32)
    ends = np.concatenate([[0, 0], np.cumsum(np.bincount(idx, minlength=4))[:-1]]).astype(np.int32)
    arrays = {"ptr": ptr, "idx": idx, "val": rng.random(entries), "ends": ends}
    plain, found = kernel(*BODY), []
    for k in (plain, asking(plain)):
        given = {name: array.copy() for name, array in arrays.items()}
        found.append(run(k, {"A": ((5,), {**given, "out": np.zeros(entries)})})[1])
    assert np.array_equal(found[0]["out"], arrays["val"][np.argsort(idx, kind="stable")])
    for name in ("out", "ends"):
        np.testing.assert_array_equal(found[0][name], found[1][name])


LEAVE = imp.If(J >= N, imp.Block((imp.Return(imp.Const(2, "int64")),)), imp.EMPTY)


@pytest.mark.parametrize(
    "k",
    [
        kernel(FIND, LEAVE, LOOK, DEAL, MOVE),
        kernel(FIND, LOOK, DEAL),
        kernel(FIND, LOOK, imp.Store(OUT, Q, VAL[Q]), MOVE),
        kernel(*BODY, imp.Store(IDX, Q, imp.Const(0, "int32"))),
        kernel(*BODY, imp.Store(PTR, Q, imp.Const(0, "int32"))),
        kernel(*BODY, around=(imp.Grow(ENDS, N),)),
        kernel(imp.Let(J, imp.widen(IDX[Q + 1])), LOOK, DEAL, MOVE),
    ],
    ids=["refused", "not moved", "in order", "index", "pointers", "grows", "elsewhere"],
)
def test_what_is_left_alone(k):
    assert ahead.scatter_ahead(k, KNOWN) is k


def test_rows_that_do_not_follow_one_another_are_left_alone():
    k = kernel(*BODY)
    assert ahead.scatter_ahead(k, replace(KNOWN, pointers=frozenset())) is k


@ln.kernel
def turned(B, A):
    B[...] = 0
    for i, j in ...:
        B[j, i] = A[i, j]
    return B


@pytest.mark.parametrize("dtype", ["float64", "complex128", "bool"])
@pytest.mark.parametrize("form", [ln.CSR, ln.COO(2), ln.DCSR])
def test_many_entries(form, dtype):
    rng = np.random.default_rng(1)
    dense = (rng.random((1200, 1100)) < 0.9).astype(dtype)
    A = ln.asarray(dense, format=form)
    assert A.nnz > ahead._MANY
    B = turned(ln.empty_tensor(ln.CSR), A)
    np.testing.assert_array_equal(B.to_numpy(), dense.T)


def test_the_code_of_a_transposition_asks():
    A = ln.asarray(np.eye(3), format=ln.CSR)
    assert turned.code(ln.empty_tensor(ln.CSR), A).count("prefetch(B_") == 2
