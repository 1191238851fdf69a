"""What branches append or count is done in any case, and only what is safe to have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.optimize.changes import changes
from tests.optimize.firing import fires
from tests.optimize.programs import CORPUS

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.rewrite import statements
from linnet.imp.simplify import simplify
from linnet.optimize.if_convert import if_convert

N, M, I, Q, C, T, V = (imp.Var(name) for name in ("n", "m", "i", "q", "c", "t", "v"))
D = imp.Var("d")
PTR = imp.Buffer("ptr", "int64", holds=imp.Holds("A", 1, "ptr", "position", True, True))
VAL = imp.Buffer("val", "int64", holds=imp.Holds("A", 1, "val", "val"))
OTHER = imp.Buffer("other", "int64")
OUT, PLACE, OWN, SUMS = (
    imp.Buffer(b, "int64", growable=True) for b in ("out", "place", "own", "sums")
)
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
    over = imp.Over(spans=(imp.Span("A", 1, I, I + 1),)) if stop == PTR[I + 1] else imp.Over()
    walk = imp.For(Q, PTR[I], stop, imp.Block(entry), over)
    rows = imp.For(I, imp.ZERO, N, imp.Block((*row, walk)))
    lengths = (imp.SetLength(OUT, C), imp.SetLength(PLACE, C), imp.SetLength(SUMS, imp.TWO))
    first = [imp.Let(imp.Var(name), imp.ZERO) for name in ("c", "v", "d")]
    last = (imp.Grow(SUMS, imp.TWO), imp.Store(SUMS, imp.ZERO, V), imp.Store(SUMS, imp.ONE, D))
    stmts = (*first, rows, *last, *lengths)
    own = imp.Argument("A", (N,), (PTR, VAL), (None, imp.Entries(PTR[imp.FIRST], PTR[imp.LAST])))
    others = imp.Argument("B", (M,), (OTHER,)), imp.Argument("C", (), (OUT, PLACE, SUMS))
    return imp.Kernel("k", (own, *others), imp.Block(stmts))


PLAIN = kernel(kept(POSITIVE, *ROOM, *STORES, APPEND))
MADE = imp.Grow(OUT, C + imp.maximum(LENGTH, imp.ZERO))
FILLED = kernel(imp.Store(OUT, C, imp.ZERO), kept(POSITIVE, ROOM[1], *STORES, APPEND), row=(MADE,))
TOLD = kernel(NAMED, kept(T >= 0, OUTSIDE, *ROOM, imp.Store(OUT, C, T), STORES[1], APPEND))
ELSEWHERE = kernel(NAMED, kept(POSITIVE, OUTSIDE, *ROOM, *STORES, APPEND))
TWICE = imp.Let(T, VAL[Q] * 2)
NEXT = (imp.Store(OUT, C, T), STORES[1], APPEND, *ROOM)
AHEAD = kernel(TWICE, kept(T > 0, *NEXT), imp.Assign(V, I), row=ROOM)
SECOND = (*STORES[:1], APPEND, imp.Store(PLACE, D, I), imp.Assign(D, D + 1))
TWO = kernel(kept(POSITIVE, imp.Grow(OUT, C + 1), imp.Grow(PLACE, D + 1), *SECOND))
BEHIND = kernel(kept(POSITIVE, *ROOM, *STORES, APPEND), imp.Assign(V, V + I))
COUNTED = kernel(kept(POSITIVE, imp.Accumulate(V, "+", VAL[Q]), imp.Assign(D, D + I)))
CASES = {
    "plain": PLAIN,
    "two": TWO,
    "behind": BEHIND,
    "counted": COUNTED,
    "filled": FILLED,
    "told": TOLD,
    "elsewhere": ELSEWHERE,
    "ahead": AHEAD,
}


def inner(k: imp.Kernel) -> list[imp.Stmt]:
    """What is done for a row."""
    (rows,) = (s for s in k.body.stmts if isinstance(s, imp.For))
    return list(rows.body.stmts)


def test_all_is_written_and_some_is_counted():
    *room, loop = inner(if_convert(PLAIN))
    assert room == [imp.Grow(b, C + LENGTH) for b in (OUT, PLACE)]
    counted = imp.Assign(C, C + imp.Cast(POSITIVE, imp.INT))
    assert loop.body.stmts == (*STORES, counted)


def test_room_that_is_there_is_not_asked_for():
    made, *room, loop = inner(if_convert(FILLED))
    assert made == MADE
    assert room == [imp.Grow(PLACE, C + LENGTH)]
    assert loop.body.stmts[:-1] == STORES


def test_where_there_is_room_for_one_more_there_is_again():
    *room, loop = inner(if_convert(AHEAD))
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
        kernel(TWICE, kept(T > 0, *NEXT), imp.Assign(V, OUT[0]), row=ROOM),
        kernel(TWICE, kept(T > 0, *NEXT), imp.Swap(OUT, PLACE), row=ROOM),
        kernel(imp.Let(T, I * 2), kept(T > 0, *NEXT), row=ROOM),
        kernel(imp.Let(T, imp.Load(OWN, Q)), kept(T > 0, *NEXT), row=ROOM),
        kernel(kept(POSITIVE, imp.Store(OUT, C, OTHER[Q]), *NEXT[1:]), row=ROOM),
    ],
    ids=[
        "no room", "less room", "none again", "twice", "read", "swapped", "no data",
        "just written", "another's",
    ],
)  # fmt: skip
def test_where_there_may_be_no_room_or_no_use_it_stays(k):
    assert if_convert(k) is k


def test_a_check_is_made_of_what_is_kept():
    changed = simplify(if_convert(ELSEWHERE))
    (check_,) = (s for s in statements(changed.body) if type(s) is imp.If)
    keep = imp.Var("keep", imp.BOOL)
    assert imp.Let(keep, POSITIVE) in statements(changed.body)
    assert check_.cond == imp.Binary("and", OUTSIDE.cond, keep, imp.BOOL)


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
        kernel(kept(POSITIVE, *ROOM, imp.Store(OUT, C, C), STORES[1], APPEND)),
    ],
    ids=[
        "beyond", "another's", "no entries", "division", "no data", "twice", "more", "two",
        "a flag", "beside", "read", "other", "until", "the count",
    ],
)  # fmt: skip
def test_what_is_not_so_simple_stays(k):
    assert if_convert(k) is k


def test_what_reaches_a_size_is_not_negative():
    (alone,) = (s for s in statements(if_convert(TOLD).body) if type(s) is imp.If)
    assert alone == OUTSIDE


@pytest.mark.parametrize("case", CASES)
@given(st.lists(st.lists(st.integers(-2, 2), max_size=4), max_size=5), st.integers(0, 3))
def test_the_meaning_stays(case, rows, most):
    ends = np.cumsum([0, *map(len, rows)])
    own = {"ptr": ends, "val": np.array([v for row in rows for v in row], np.int64)}
    given = {"A": ((len(rows),), own), "B": ((most,), {"other": np.arange(len(rows)) - 1})}
    changed = if_convert(CASES[case])
    check(changed)
    assert changed is not CASES[case]
    (status, expected), (same, found) = (
        run(k, given | {"C": ((), {})}) for k in (CASES[case], changed)
    )
    assert status == same
    for name in ("out", "place", "sums") if status == 0 else ():
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize("swapped", [False, True])
def test_room_goes_with_the_memory_that_is_swapped(swapped: bool):
    made = (imp.Grow(OUT, C + LENGTH), imp.Grow(PLACE, C + LENGTH))
    given = kernel(
        kept(POSITIVE, *ROOM, *STORES, APPEND),
        row=(*made, imp.Swap(OUT, PLACE)) if swapped else made,
    )
    changed = if_convert(given)
    assert changed != given
    grows = [s for s in statements(changed.body) if isinstance(s, imp.Grow)]
    assert len(grows) == (5 if swapped else 3)


# -- counts ----------------------------------------------------------------------------------------

P, J = (imp.Var(name) for name in ("p", "j"))
COUNT, TOTAL = imp.Var("count"), imp.Var("total", "float64")
A, B, RESULT = (imp.Buffer(name, "int64") for name in ("a", "b", "result"))
EQUAL, ONE = imp.eq(I, J), imp.Const(1, imp.INT)


def step(var: imp.Var, by: imp.Expr = ONE) -> imp.Assign:
    return imp.Assign(var, var + by)


def meeting(*then: imp.Stmt, cond: imp.Expr = EQUAL) -> imp.If:
    """What is done where two lists stand at one index, and both go on."""
    behind = step(P, imp.Cast(I <= J, imp.INT)), step(Q, imp.Cast(J <= I, imp.INT))
    return imp.If(cond, imp.Block((*then, step(P), step(Q))), imp.Block(behind))


def meetings(branch: imp.Stmt) -> imp.Kernel:
    lets = imp.Let(I, A[P]), imp.Let(J, B[Q])
    walk = imp.While((P < N) & (Q < M), imp.Block((*lets, branch)))
    first = [imp.Let(var, imp.ZERO) for var in (P, Q, COUNT)]
    body = (
        *first,
        imp.Let(TOTAL, imp.Const(0.0, "float64")),
        walk,
        imp.Store(RESULT, imp.ZERO, COUNT),
    )
    return imp.Kernel("k", (imp.Argument("A", (N, M), (A, B, RESULT)),), imp.Block(body))


COUNTING = meetings(meeting(step(COUNT)))


def test_no_branch():
    counted = if_convert(COUNTING)
    assert not any(line.strip().startswith("if") for line in show(counted.body).splitlines())


lists = st.sets(st.integers(0, 9)).map(sorted)


@given(lists, lists)
def test_the_same_count(a, b):
    counted = if_convert(COUNTING)
    check(counted)
    given_arrays = {
        "a": np.array(a, np.int64),
        "b": np.array(b, np.int64),
        "result": np.zeros(1, int),
    }
    status, found = run(counted, {"A": ((len(a), len(b)), given_arrays)})
    assert status == 0
    assert found["result"][0] == len({*a} & {*b})


@pytest.mark.parametrize(
    "branch",
    [
        meeting(imp.Accumulate(TOTAL, "+", imp.Const(1.0, "float64"))),  # -0.0 + 0.0 is another
        meeting(imp.Store(RESULT, P, Q)),
        meeting(step(COUNT), cond=I < J),
        meeting(step(COUNT), step(COUNT)),
        imp.If(EQUAL, imp.Block((step(COUNT), step(P))), imp.Block((step(P), step(Q)))),
    ],
    ids=["float", "store", "condition", "twice", "other"],
)
def test_other_branches_of_meetings_stay(branch):
    k = meetings(branch)
    assert if_convert(k) is k


# -- programs --------------------------------------------------------------------------------------

CONVERTED = ("filter", "from a plane", "triangles", "places of what is true", "how many are large")


@pytest.mark.parametrize("name", CONVERTED)
def test_small_changes_make_no_difference(name):
    program = next(p for p in CORPUS if p.name == name)
    assert "if_convert" in fires(program)
    for change, changed in changes(program):
        assert "if_convert" in fires(changed), change
