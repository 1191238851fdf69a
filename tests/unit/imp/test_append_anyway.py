"""What is kept of a list of entries is written without branches, and only what is safe to have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.append_anyway import append_anyway
from linnet.imp.check import check
from linnet.imp.consecutive import Known
from linnet.imp.interpret import run
from linnet.imp.rewrite import statements

N, M, I, Q, C, T, V = (imp.Var(name) for name in ("n", "m", "i", "q", "c", "t", "v"))
PTR, VAL, OTHER = (imp.Buffer(name, "int64") for name in ("ptr", "val", "other"))
OUT, PLACE, OWN = (imp.Buffer(b, "int64", growable=True) for b in ("out", "place", "own"))
KNOWN = Known(frozenset({"n", "m"}), frozenset({"ptr"}))
ROOM = (imp.Grow(OUT, C + 1), imp.Grow(PLACE, C + 1))
STORES = (imp.Store(OUT, C, VAL[Q] * 2), imp.Store(PLACE, C, I))
APPEND = imp.Assign(C, C + 1)
NAMED = imp.Let(T, OTHER[I])
POSITIVE = VAL[Q] > 0
OUTSIDE = imp.If(T >= M, imp.Block((imp.Return(imp.Const(2, imp.INT)),)), imp.EMPTY)


def kept(cond: imp.Expr, *stmts: imp.Stmt) -> imp.If:
    return imp.If(cond, imp.Block(stmts), imp.EMPTY)


LENGTH = PTR[I + 1] - PTR[I]


def kernel(
    *entry: imp.Stmt, row: tuple[imp.Stmt, ...] = (), stop: imp.Expr = PTR[I + 1]
) -> imp.Kernel:
    """For each row: `row`, then what is done for its entries."""
    walk = imp.For(Q, PTR[I], stop, imp.Block(entry))
    rows = imp.For(I, imp.ZERO, N, imp.Block((*row, walk)))
    lengths = (imp.SetLength(OUT, C), imp.SetLength(PLACE, C))
    stmts = (imp.Let(C, imp.ZERO), imp.Let(V, imp.ZERO), rows, *lengths)
    own = imp.Argument("A", (N,), (PTR, VAL))
    others = imp.Argument("B", (M,), (OTHER,)), imp.Argument("C", (), (OUT, PLACE))
    return imp.Kernel("k", (own, *others), imp.Block(stmts))


PLAIN = kernel(kept(POSITIVE, *ROOM, *STORES, APPEND))
MADE = imp.Grow(OUT, C + imp.maximum(LENGTH, imp.ZERO))
FILLED = kernel(imp.Store(OUT, C, imp.ZERO), kept(POSITIVE, ROOM[1], *STORES, APPEND), row=(MADE,))
TOLD = kernel(NAMED, kept(T >= 0, OUTSIDE, *ROOM, imp.Store(OUT, C, T), STORES[1], APPEND))
ELSEWHERE = kernel(NAMED, kept(POSITIVE, OUTSIDE, *ROOM, *STORES, APPEND))
TWICE = imp.Let(T, VAL[Q] * 2)
NEXT = (imp.Store(OUT, C, T), STORES[1], APPEND, *ROOM)
AHEAD = kernel(TWICE, kept(T > 0, *NEXT), imp.Assign(V, I), row=ROOM)
CASES = {"plain": PLAIN, "filled": FILLED, "told": TOLD, "elsewhere": ELSEWHERE, "ahead": AHEAD}


def inner(k: imp.Kernel) -> list[imp.Stmt]:
    """What is done for a row."""
    (rows,) = (s for s in k.body.stmts if isinstance(s, imp.For))
    return list(rows.body.stmts)


def test_all_is_written_and_some_is_counted():
    *room, loop = inner(append_anyway(PLAIN, KNOWN))
    assert room == [imp.Grow(b, C + LENGTH) for b in (OUT, PLACE)]
    counted = imp.Assign(C, C + imp.Cast(POSITIVE, imp.INT))
    assert loop.body.stmts == (*STORES, counted)


def test_room_that_is_there_is_not_asked_for():
    made, *room, loop = inner(append_anyway(FILLED, KNOWN))
    assert made == MADE
    assert room == [imp.Grow(PLACE, C + LENGTH)]
    assert loop.body.stmts[:-1] == STORES


def test_where_there_is_room_for_one_more_there_is_again():
    *room, loop = inner(append_anyway(AHEAD, KNOWN))
    assert tuple(room) == ROOM
    counted = imp.Assign(C, C + imp.Cast(T > 0, imp.INT))
    assert loop.body.stmts == (TWICE, *NEXT[:2], counted, *ROOM, imp.Assign(V, I))


@pytest.mark.parametrize(
    "k",
    [
        kernel(TWICE, kept(T > 0, *NEXT)),
        kernel(TWICE, kept(T > 0, *NEXT), row=ROOM[:1]),
        kernel(TWICE, kept(T > 0, *NEXT[:-1]), row=ROOM),
        kernel(TWICE, kept(T > 0, NEXT[0], *NEXT), row=ROOM),
        kernel(TWICE, kept(T > 0, *NEXT), imp.Assign(V, C), row=ROOM),
        kernel(TWICE, kept(T > 0, *NEXT), imp.Assign(V, OUT[0]), row=ROOM),
        kernel(TWICE, kept(T > 0, *NEXT), imp.Swap(OUT, PLACE), row=ROOM),
        kernel(imp.Let(T, I * 2), kept(T > 0, *NEXT), row=ROOM),
        kernel(imp.Let(T, imp.Load(OWN, Q)), kept(T > 0, *NEXT), row=ROOM),
        kernel(kept(POSITIVE, imp.Store(OUT, C, OTHER[Q]), *NEXT[1:]), row=ROOM),
    ],
    ids=[
        "no room", "less room", "none again", "twice", "count read", "read", "swapped", "no data",
        "just written", "another's",
    ],
)  # fmt: skip
def test_where_there_may_be_no_room_or_no_use_it_stays(k):
    assert append_anyway(k, KNOWN) is k


def test_a_check_is_made_of_what_is_kept():
    (check_,) = (s for s in statements(append_anyway(ELSEWHERE, KNOWN).body) if type(s) is imp.If)
    assert check_.cond == imp.Binary("and", OUTSIDE.cond, POSITIVE, imp.BOOL)
    (alone,) = (s for s in statements(append_anyway(TOLD, KNOWN).body) if type(s) is imp.If)
    assert alone == OUTSIDE  # what reaches a size is not negative


BEYOND = kept(POSITIVE, *ROOM, imp.Store(OUT, C, OTHER[VAL[Q]]), STORES[1], APPEND)


@pytest.mark.parametrize(
    "k",
    [
        kernel(BEYOND),
        kernel(kept(POSITIVE, *ROOM, imp.Store(OUT, C, OTHER[Q]), STORES[1], APPEND)),
        kernel(kept(OTHER[I] > 0, *ROOM, *STORES, APPEND), stop=M),
        kernel(kept(POSITIVE, *ROOM, imp.Store(OUT, C, imp.binary("div", I, V)), APPEND)),
        kernel(kept(I > 0, *ROOM, *STORES, APPEND)),
        kernel(kept(POSITIVE, *ROOM, *STORES, STORES[0], APPEND)),
        kernel(kept(POSITIVE, *ROOM, *STORES, imp.Assign(V, I), APPEND)),
        kernel(kept(POSITIVE, *ROOM, *STORES, imp.Assign(C, C + 2))),
        kernel(kept(POSITIVE, *ROOM, *STORES, imp.Assign(imp.Var("b", imp.BOOL), imp.TRUE))),
        kernel(kept(POSITIVE, *ROOM, imp.Store(OUT, C + 1, VAL[Q]), APPEND)),
        kernel(imp.Assign(V, OUT[0]), kept(POSITIVE, *ROOM, *STORES, APPEND)),
        kernel(APPEND, kept(POSITIVE, *ROOM, *STORES, APPEND)),
        kernel(kept(I > 3, imp.Break()), kept(POSITIVE, *ROOM, *STORES, APPEND)),
        kernel(kept(POSITIVE, *ROOM, *STORES, APPEND), imp.Assign(V, I)),
    ],
    ids=[
        "beyond", "another's", "no entries", "division", "no data", "twice", "more", "two",
        "a flag", "beside", "read", "other", "until", "not last",
    ],
)  # fmt: skip
def test_what_is_not_so_simple_stays(k):
    assert append_anyway(k, KNOWN) is k


@pytest.mark.parametrize("case", CASES)
@given(st.lists(st.lists(st.integers(-2, 2), max_size=4), max_size=5), st.integers(0, 3))
def test_the_meaning_stays(case, rows, most):
    ends = np.cumsum([0, *map(len, rows)])
    own = {"ptr": ends, "val": np.array([v for row in rows for v in row], np.int64)}
    given = {"A": ((len(rows),), own), "B": ((most,), {"other": np.arange(len(rows)) - 1})}
    changed = append_anyway(CASES[case], KNOWN)
    check(changed)
    assert changed is not CASES[case]
    (status, expected), (same, found) = (
        run(k, given | {"C": ((), {})}) for k in (CASES[case], changed)
    )
    assert status == same
    for name in ("out", "place") if status == 0 else ():
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize("swapped", [False, True])
def test_room_goes_with_the_memory_that_is_swapped(swapped: bool):
    made = (imp.Grow(OUT, C + LENGTH), imp.Grow(PLACE, C + LENGTH))
    given = kernel(
        kept(POSITIVE, *ROOM, *STORES, APPEND),
        row=(*made, imp.Swap(OUT, PLACE)) if swapped else made,
    )
    changed = append_anyway(given, KNOWN)
    assert changed != given
    grows = [s for s in statements(changed.body) if isinstance(s, imp.Grow)]
    assert len(grows) == (4 if swapped else 2)
