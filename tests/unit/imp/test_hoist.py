"""What a loop prepares in its first iteration is prepared before it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.hoist import hoist
from linnet.imp.interpret import run

N, M, I, J = (imp.Var(name) for name in ("n", "m", "i", "j"))
READY, C = imp.Var("ready"), imp.Var("c")
OUT = imp.Buffer("out", "int64", growable=True)
TBL = imp.Buffer("tbl", "int64", growable=True)
EMPTY = imp.EMPTY


def prepare(size: imp.Expr, to: imp.Expr | None = None) -> imp.If:
    """`if ready < size: make room, clear what is new; ready = size`."""
    then = (
        imp.Grow(TBL, size),
        imp.Fill(TBL, READY, size, imp.Const(7, "int64")),
        imp.Assign(READY, size if to is None else to),
    )
    return imp.If(imp.Binary("<", READY, size, imp.BOOL), imp.Block(then), EMPTY)


def kernel(*body: imp.Stmt) -> imp.Kernel:
    loop = imp.For(I, imp.ZERO, N, imp.Block(body))
    start = (imp.Let(READY, imp.ZERO), imp.Let(C, imp.ZERO), imp.Grow(OUT, N))
    after = (imp.SetLength(OUT, N), imp.SetLength(TBL, READY))
    return imp.Kernel(
        "k", (imp.Argument("A", (N, M), (OUT, TBL)),), imp.Block((*start, loop, *after))
    )


USE = imp.Store(OUT, I, TBL[0] + I)


def test_room_that_is_the_same():
    stmts = hoist(kernel(imp.Grow(TBL, M), imp.Store(OUT, I, I))).body.stmts
    assert stmts[3] == imp.Grow(TBL, M)
    assert stmts[4] == imp.For(I, imp.ZERO, N, imp.Block((imp.Store(OUT, I, I),)))


def test_what_the_first_iteration_prepares():
    stmts = hoist(kernel(prepare(M), USE)).body.stmts
    assert stmts[3] == prepare(M)
    assert stmts[4] == imp.For(I, imp.ZERO, N, imp.Block((USE,)))


def test_out_of_two_loops():
    inner = imp.For(J, imp.ZERO, M, imp.Block((prepare(M), USE)))
    stmts = hoist(kernel(inner)).body.stmts
    assert stmts[3] == prepare(M)
    assert stmts[4].body == imp.Block((imp.For(J, imp.ZERO, M, imp.Block((USE,))),))


@pytest.mark.parametrize(
    "body",
    [
        (imp.Grow(TBL, I), USE),
        (imp.Grow(TBL, TBL[0]), imp.Store(TBL, imp.ZERO, I)),
        (prepare(I), USE),
        (prepare(M, to=M - 1), USE),
        (prepare(C), imp.Assign(C, C + 1)),
        (prepare(M), imp.Assign(READY, imp.ZERO)),
        (USE, prepare(M)),
        (imp.Store(OUT, I, READY), prepare(M)),
        (imp.If(imp.Binary("<", I, M, imp.BOOL), imp.Block((prepare(M),)), EMPTY), USE),
    ],
    ids=["grows", "loaded", "index", "not settled", "size", "again", "read", "flag", "perhaps"],
)
def test_what_stays(body):
    k = kernel(*body)
    assert hoist(k) is k


@given(st.integers(0, 4), st.integers(0, 4))
def test_the_meaning_stays(n, m):
    use = imp.Store(OUT, I, imp.Select(imp.Binary("<", I, M, imp.BOOL), READY + I, I))
    plain = kernel(prepare(M), use)
    ahead = hoist(plain)
    check(ahead)
    results = [run(k, {"A": ((n, m), {})}) for k in (plain, ahead)]
    (status, expected), (same_status, found) = results
    assert status == same_status == 0
    np.testing.assert_array_equal(found["out"], expected["out"])


def numbers(value: imp.Expr, *more: imp.Stmt) -> imp.Kernel:
    """`for j: p = value; …; out[i] = p`, within the loop over i."""
    p = imp.Var("p")
    body = imp.Block((imp.Let(p, value), *more, imp.Store(OUT, I, p)))
    return kernel(imp.For(J, imp.ZERO, M, body))


@pytest.mark.parametrize("value", [I * 4 + 1, imp.minimum(I, M - I), imp.binary("div", I, 3)])
def test_numbers_that_do_not_change(value):
    (loop,) = (s for s in hoist(numbers(value)).body.stmts if isinstance(s, imp.For))
    let, inner = loop.body.stmts
    assert let == imp.Let(imp.Var("p"), value)
    assert isinstance(inner, imp.For)


@pytest.mark.parametrize("value", [I * 4 + J, imp.binary("div", I, M), C + 1, imp.widen(OUT[I])])
def test_numbers_that_change_or_may_fail_stay(value):
    k = numbers(value, imp.Assign(C, C + 1))
    assert hoist(k) == k


def test_numbers_of_one_name_stay_apart():
    both = (numbers(I * 4).body.stmts[3], numbers(I * 5).body.stmts[3])
    k = kernel(*(stmt for loop in both for stmt in loop.body.stmts))
    assert hoist(k) == k
    check(k)
