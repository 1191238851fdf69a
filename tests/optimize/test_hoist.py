"""What a loop prepares in its first iteration is prepared before it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.rewrite import statements
from linnet.imp.simplify import simplify
from linnet.optimize.hoist import hoist

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


def test_numbers_behind_a_condition():
    """What cannot fail may be computed in vain; room is not asked for in vain."""
    p, masked = imp.Var("p"), imp.Block((imp.Let(imp.Var("p"), M * 4), imp.Grow(TBL, M)))
    use = imp.If(I < M, imp.Block((*masked.stmts, imp.Store(OUT, I, p))), EMPTY)
    *before, loop = (s for s in hoist(kernel(use)).body.stmts[:-2])
    assert before[-1] == masked.stmts[0]
    assert masked.stmts[1] in loop.body.stmts[0].then.stmts


def test_what_two_loops_prepare():
    both = [imp.For(J, imp.ZERO, M, imp.Block((prepare(M), USE))) for _ in "ab"]
    stmts = hoist(kernel(*both)).body.stmts
    assert stmts[3] == prepare(M)
    assert prepare(M) not in stmts[4:]
    again = kernel(both[0], imp.Assign(READY, imp.ZERO), both[1])
    (loop,) = (s for s in hoist(again).body.stmts if isinstance(s, imp.For))
    assert loop.body.stmts.count(prepare(M)) == 2


# -- whole reductions ------------------------------------------------------------------------------

T, S, X = imp.Var("t"), imp.Var("s"), imp.Buffer("x", "int64")
SUM = (
    imp.Assign(T, imp.ZERO),
    imp.For(J, imp.ZERO, M, imp.Block((imp.Accumulate(T, "+", X[J]),))),
)
STEP = imp.Assign(C, C + 1)


def sums(*body: imp.Stmt, loop: str = "for") -> imp.Kernel:
    """`body` for each i, in a loop of either kind; what is summed is stored at the end."""
    lets = [imp.Let(v, imp.ZERO) for v in (C, S)] + [imp.Let(T, imp.Const(9, imp.INT))]
    over = imp.For(I, imp.ZERO, N, imp.Block(body))
    if loop == "while":
        over = imp.While(C < N, imp.Block((*body, STEP)))
    stores = [imp.Store(OUT, imp.Const(k, imp.INT), v) for k, v in enumerate((T, S))]
    room, end = imp.Grow(OUT, imp.Const(2, imp.INT)), imp.SetLength(OUT, imp.Const(2, imp.INT))
    given = imp.Argument("B", (), (X,))
    return imp.Kernel(
        "k",
        (imp.Argument("A", (N, M), (OUT,)), given),
        imp.Block((*lets, room, over, *stores, end)),
    )


ADD = imp.Assign(S, S + T)
LEAVE = imp.If(S > 5, imp.Block((imp.Break(),)), EMPTY)
MASKED = imp.If(S < 5, imp.Block((ADD,)), EMPTY)
SAME = {
    "first": (*SUM, ADD),
    "behind something else": (imp.Assign(S, S + 2), *SUM, ADD),
    "used behind a mask": (*SUM, MASKED),
    "before what leaves": (*SUM, ADD, LEAVE),
    "used twice": (*SUM, ADD, imp.Assign(S, S + T * 2)),
}
ANOTHER = {
    "read before": (ADD, *SUM),
    "changed": (*SUM, imp.Assign(T, T + S), ADD),
    "goes on": (*SUM[1:], ADD),
    "behind what leaves": (imp.Assign(S, S + 3), LEAVE, *SUM, ADD),
    "behind a mask": (imp.Assign(S, S + 1), imp.If(S > 1, imp.Block(SUM), EMPTY), ADD),
}


def outcomes(k: imp.Kernel) -> list[list[int]]:
    """What is found for any number of rows and of terms."""
    found = []
    for n in range(4):
        for m in range(3):
            values = np.arange(1, m + 1, dtype=np.int64)
            status, buffers = run(k, {"A": ((n, m), {}), "B": ((), {"x": values})})
            assert status == 0
            found.append(buffers["out"].tolist())
    return found


@pytest.mark.parametrize("loop", ["for", "while"])
@pytest.mark.parametrize("name", [*SAME, *ANOTHER])
def test_reductions(name, loop):
    k = sums(*(SAME | ANOTHER)[name], loop=loop)
    taken = hoist(k)
    check(taken)
    inner = [s for s in statements(taken.body) if isinstance(s, imp.For) and s.var == J]
    outer = [s for s in statements(taken.body) if isinstance(s, imp.For | imp.While)]
    within = [s for o in outer if o not in inner for s in statements(o.body)]
    assert (inner[0] in within) == (name in ANOTHER)
    assert outcomes(taken) == outcomes(simplify(taken)) == outcomes(k)
