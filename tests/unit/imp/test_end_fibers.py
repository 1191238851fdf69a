"""Pointers are stored at the end of each fiber, where a loop goes through all of them in order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.end_fibers import end_fibers
from linnet.imp.interpret import run
from linnet.imp.rewrite import statements

N, M, S, I, Q, C, F, V = (imp.Var(name) for name in ("n", "m", "s", "i", "q", "c", "f", "v"))
LO, VAL = imp.Buffer("lo", "int32"), imp.Buffer("val", "int64")
PTR, OUT = (imp.Buffer(name, "int64", growable=True) for name in ("ptr", "out"))
ORDERED = imp.Over(ordered=True)
POSITIVE = imp.Binary("<", imp.ZERO, VAL[Q], imp.BOOL)
APPEND = (imp.Store(OUT, C, VAL[Q]), imp.Assign(C, C + 1))


def catch_up(pos: imp.Expr) -> imp.While:
    body = (imp.Store(PTR, F, C), imp.Assign(F, F + 1))
    return imp.While(imp.Binary("<=", F, pos, imp.BOOL), imp.Block(body))


def entries(*body: imp.Stmt) -> imp.For:
    return imp.For(Q, imp.widen(LO[I]), imp.widen(LO[I + 1]), imp.Block(body))


def kernel(*row: imp.Stmt, start: imp.Expr = imp.ZERO, stop: imp.Expr = N) -> imp.Kernel:
    """For each row: `row`; m pointers, all of them in the end."""
    over = ORDERED if start == imp.ZERO else imp.NOWHERE
    stmts = (
        imp.Let(C, imp.ZERO),
        imp.Let(F, imp.ZERO),
        imp.Let(V, imp.ZERO),
        imp.Grow(PTR, M + 1),
        imp.Store(PTR, imp.ZERO, imp.ZERO),
        imp.Grow(OUT, imp.widen(LO[N]) * 2),
        imp.For(I, start, stop, imp.Block(row), over),
        catch_up(M),
        imp.SetLength(PTR, M + 1),
        imp.SetLength(OUT, C),
    )
    argument = imp.Argument("A", (N, M, S), (LO, VAL, PTR, OUT))
    return imp.Kernel("k", (argument,), imp.Block(stmts))


PERHAPS = imp.If(POSITIVE, imp.Block((catch_up(I), *APPEND)), imp.EMPTY)
FILTER = kernel(entries(PERHAPS), stop=M)
TWICE = kernel(catch_up(I), entries(*APPEND), catch_up(I), entries(*APPEND))
SHIFTED = kernel(catch_up(I + S), entries(*APPEND))
CASES = {"filter": FILTER, "twice": TWICE, "shifted": SHIFTED}


def catching_up(k: imp.Kernel) -> list[imp.Stmt]:
    return [s for s in statements(k.body) if isinstance(s, imp.While)]


def test_a_loop_over_all_fibers_needs_no_cursor():
    changed = end_fibers(FILTER)
    assert catching_up(changed) == []
    (loop,) = (s for s in changed.body.stmts if isinstance(s, imp.For))
    assert loop.body.stmts[-1] == imp.Store(PTR, I + 1, C)


def test_fibers_before_and_behind_are_caught_up_with():
    changed = end_fibers(SHIFTED)
    assert catching_up(changed) == [catch_up(S), catch_up(M)]
    (loop,) = (s for s in changed.body.stmts if isinstance(s, imp.For))
    assert loop.body.stmts[-1] == imp.Store(PTR, I + S + 1, C)


SOME = imp.Binary("<", I, S, imp.BOOL)
BREAK = imp.If(SOME, imp.Block((imp.Break(),)), imp.EMPTY)


@pytest.mark.parametrize(
    "k",
    [
        kernel(entries(PERHAPS)),  # room for m + 1 pointers, and n may be more
        kernel(entries(catch_up(imp.widen(VAL[Q])), *APPEND)),
        kernel(entries(catch_up(I + C), *APPEND)),
        kernel(entries(catch_up(I * 2), *APPEND)),
        kernel(entries(*APPEND), catch_up(I)),
        kernel(entries(imp.If(POSITIVE, imp.Block((catch_up(I),)), imp.EMPTY), *APPEND), stop=M),
        kernel(catch_up(I), entries(*APPEND), imp.Assign(V, F)),
        kernel(catch_up(I), entries(*APPEND), imp.Assign(V, PTR[I])),
        kernel(catch_up(I), imp.Grow(PTR, M + C), entries(*APPEND)),
        kernel(catch_up(I), BREAK, entries(*APPEND)),
        kernel(catch_up(I), entries(*APPEND), catch_up(I + 1), entries(*APPEND)),
        kernel(catch_up(I), entries(*APPEND), start=S),
    ],
    ids=[
        "room", "elsewhere", "moving", "apart", "late", "sometimes", "asked", "read", "growing",
        "until", "two", "backwards",
    ],
)  # fmt: skip
def test_what_is_not_so_simple_stays(k):
    assert end_fibers(k) is k


def test_fibers_that_may_be_opened_again_stay():
    body = imp.Block((imp.For(V, imp.ZERO, S, TWICE.body),))
    assert end_fibers(replace(TWICE, body=body)).body is body


def test_a_range_that_may_be_none_stays():
    (rows,) = (s for s in TWICE.body.stmts if isinstance(s, imp.For))
    unordered = replace(rows, over=imp.NOWHERE)
    k = replace(TWICE, body=replace_stmt(TWICE.body, rows, unordered))
    assert end_fibers(k) is k


def replace_stmt(block: imp.Block, old: imp.Stmt, new: imp.Stmt) -> imp.Block:
    return imp.Block(tuple(new if s is old else s for s in block.stmts))


@pytest.mark.parametrize("case", CASES)
@given(st.lists(st.lists(st.integers(-1, 2), max_size=4), max_size=5), st.integers(0, 3))
def test_the_meaning_stays(case, rows, shift):
    ends = np.cumsum([0, *map(len, rows)])
    count = len(rows) + (shift if case == "shifted" else 0)
    arrays = {
        "lo": ends.astype(np.int32),
        "val": np.array([v for row in rows for v in row], np.int64),
    }
    before, changed = CASES[case], end_fibers(CASES[case])
    check(changed)
    assert changed is not before
    (status, expected), (same, found) = (
        run(k, {"A": ((len(rows), count, shift), dict(arrays))}) for k in (before, changed)
    )
    assert status == same == 0
    for name in ("ptr", "out"):
        np.testing.assert_array_equal(found[name], expected[name])
