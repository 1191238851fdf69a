"""Rows at given positions are asked for some iterations ahead; nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.imp.ask_ahead import ask_ahead
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.simplify import simplify

A, B, N, P, Q, AT, J = (imp.Var(name) for name in ("a", "b", "n", "p", "q", "at", "j"))
S = imp.Var("s", "float64")
GIVEN, PTR, IDX = (
    imp.Buffer("given", "int64"),
    imp.Buffer("ptr", "int32"),
    imp.Buffer("idx", "int32"),
)
VAL, Y = imp.Buffer("val", "float64"), imp.Buffer("y", "float64")

FOLLOW = imp.Let(AT, GIVEN[Q])
OUTSIDE = imp.binary("or", AT < 0, AT >= N)
CHECK = imp.If(OUTSIDE, imp.Block((imp.Return(imp.Const(imp.OUT_OF_BOUNDS, "int64")),)), imp.EMPTY)
ADD = imp.Store(Y, Q, Y[Q] + VAL[P] * imp.Cast(IDX[P], "float64"))
ROW = imp.For(P, imp.widen(PTR[AT]), imp.widen(PTR[AT + 1]), imp.Block((ADD,)))


LO, HI = imp.Var("lo"), imp.Var("hi")
SEARCH = imp.Function("search", (IDX, LO, HI, J), imp.Block((imp.Return(LO),)), "int64")


def kernel(*body: imp.Stmt) -> imp.Kernel:
    """`for q in a … b: body`."""
    argument = imp.Argument("A", (A, B, N), (GIVEN, PTR, IDX, VAL, Y))
    loop = imp.For(Q, A, B, imp.Block(body))
    return imp.Kernel("k", (argument,), imp.Block((loop, imp.Return(imp.ZERO))), (SEARCH,))


def asking(k: imp.Kernel) -> imp.Kernel:
    made = ask_ahead(k)
    check(made)
    return made


def test_rows_are_asked_for_eight_iterations_ahead():
    assert (
        show(simplify(asking(kernel(FOLLOW, CHECK, ROW))).body)
        == """\
block:
    soon: int64 = b - 8
    for q in range(a, b):
        if q < soon:
            following: int64 = given[q + 8]
            if following >= 0 and following < n:
                prefetch(val, ptr[following])
                prefetch(val, int64(ptr[following]) + 8)
                prefetch(idx, ptr[following])
        at: int64 = given[q]
        if at < 0 or at >= n:
            return 2
        for p in range(int64(ptr[at]), int64(ptr[at + 1])):
            y[q] = y[q] + val[p] * float64(idx[p])
    return 0"""
    )


@pytest.mark.parametrize("wrong", [None, 3, 11], ids=["inside", "early", "late"])
@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 5), (0, 8), (2, 20), (0, 20), (9, 4)])
def test_results_and_errors_are_the_same(a, b, wrong):
    """The interpreter knows how long arrays are: nothing is read that is not there."""
    rng = np.random.default_rng(b)
    given = rng.integers(0, 4, 20)
    if wrong is not None:
        given[wrong] = 4 if wrong == 3 else -1
    arrays = {"given": given, "ptr": np.array([0, 2, 2, 5, 6], np.int32)}
    arrays |= {"idx": np.arange(6, dtype=np.int32), "val": rng.random(6)}
    plain = kernel(FOLLOW, CHECK, ROW)
    found = [
        run(k, {"A": ((a, b, 4), {**arrays, "y": np.zeros(20)})}) for k in (plain, asking(plain))
    ]
    assert found[0][0] == found[1][0] == (0 if wrong is None or not a <= wrong < b else 2)
    np.testing.assert_array_equal(found[0][1]["y"], found[1][1]["y"])


def search(*args: imp.Expr | imp.Address) -> imp.Call:
    return imp.Call("search", args, "int64")


def test_a_search_reads_what_it_is_given_and_finds_values_perhaps():
    begin = imp.Let(P, imp.widen(PTR[AT]))
    find = imp.Assign(P, search(imp.Address(IDX), P, imp.widen(PTR[AT + 1]), J))
    hit = imp.If(imp.eq(imp.widen(IDX[P]), J), imp.Block((imp.Store(Y, Q, VAL[P]),)), imp.EMPTY)
    text = show(ask_ahead(kernel(FOLLOW, CHECK, begin, find, hit)))
    assert text.count("prefetch(") == 1
    assert "prefetch(idx, ptr[following])" in text


@pytest.mark.parametrize(
    "body",
    [
        (FOLLOW, ROW),
        (imp.Let(AT, GIVEN[Q + 1]), CHECK, ROW),
        (FOLLOW, CHECK, imp.If(Q < 3, imp.Block((ROW,)), imp.EMPTY)),
        (FOLLOW, CHECK, ROW, imp.Store(PTR, Q, imp.Const(0, "int32"))),
        (FOLLOW, CHECK, imp.Store(Y, Q, VAL[AT])),
    ],
    ids=["unchecked", "elsewhere", "perhaps", "changed", "no row"],
)
def test_what_is_left_alone(body):
    k = kernel(*body)
    assert ask_ahead(k) is k


@ln.kernel
def rows(C, A, P):
    C[...] = 0
    for i, j in ...:
        C[i, j] = A[P[i], j]
    return C


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("count", [0, 7, 8, 9, 40])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "int8", "bool"])
def test_compiled(backend, count, dtype):
    rng = np.random.default_rng(count)
    dense = (rng.random((12, 30)) < 0.3).astype(dtype)
    at = rng.integers(0, 12, count)
    with ln.config(backend=backend):
        A, C = ln.asarray(dense, format=ln.CSR), ln.empty_tensor(ln.CSR)
        assert "prefetch(A_idx, A_ptr[following])" in rows.code(C, A, ln.asarray(at))
        np.testing.assert_array_equal(rows(C, A, ln.asarray(at)).to_numpy(), dense[at])
        if count:
            at[-1] = 12
            with pytest.raises(IndexError):
                rows(ln.empty_tensor(ln.CSR), A, ln.asarray(at))


LEAVE = imp.Block((imp.Return(imp.Const(imp.OUT_OF_BOUNDS, "int64")),))


@pytest.mark.parametrize(
    "body",
    [
        (FOLLOW, CHECK, imp.If(AT >= B, LEAVE, imp.EMPTY), ROW),
        (imp.If(Q >= B, LEAVE, imp.EMPTY), FOLLOW, CHECK, ROW),
    ],
    ids=["shorter pointers", "fewer positions"],
)
def test_what_is_behind_another_test_is_not_read_ahead(body):
    assert ask_ahead(kernel(*body)) == kernel(*body)


def test_rows_of_a_shorter_matrix_are_not_looked_for_by_the_rows_of_another():
    """Pointers were loaded where only the longer one has rows, which ended the process."""

    @ln.kernel
    def f(y, A, B, P):
        y[...] = 0
        for i in ...:
            p = P[i]
            a = A[p, 0]
            b = B[p, 0]
            y[i] = a + b
        return y

    A, B = np.ones((30, 1)), ln.asarray(np.eye(20), format=ln.CSR)
    P = np.arange(20)
    assert "prefetch" not in f.code(ln.empty_tensor(ln.DENSE(1)), A, B, P)
    found = f(ln.empty_tensor(ln.DENSE(1)), A, B, P)
    ln.testing.assert_equal(found, 1.0 + (P == 0))
