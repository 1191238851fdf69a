"""Entries of all rows are written in one loop, where rows follow one another and change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.append_at_once import append_at_once
from linnet.imp.check import check
from linnet.imp.consecutive import Known
from linnet.imp.interpret import run

N, I, Q, C, V = (imp.Var(name) for name in ("n", "i", "q", "c", "v"))
PTR, IDX = imp.Buffer("ptr", "int32"), imp.Buffer("idx", "int32")
VAL = imp.Buffer("val", "float64")
END = imp.Buffer("end", "int64", growable=True)
OUT, PLACE = (
    imp.Buffer("out", "float64", growable=True),
    imp.Buffer("place", "int32", growable=True),
)
KNOWN = Known(frozenset({"n"}), frozenset({"ptr"}))
TWICE = imp.Binary("*", VAL[Q], imp.Const(2.0, "float64"), "float64")
APPEND = imp.Assign(C, C + 1)


def kernel(
    *entry: imp.Stmt, row: tuple[imp.Stmt, ...] = (), start: imp.Expr = PTR[I]
) -> imp.Kernel:
    """For each row: `row`, what is done for its entries, and where they end."""
    walk = imp.For(Q, imp.widen(start), imp.widen(PTR[I + 1]), imp.Block(entry))
    ends = imp.Store(END, I, C)
    rows = imp.For(I, imp.ZERO, N, imp.Block((*row, walk, ends)))
    total = imp.widen(PTR[N]) + 3
    room = (imp.Grow(OUT, total), imp.Grow(PLACE, total), imp.Grow(END, N))
    lengths = (imp.SetLength(OUT, C), imp.SetLength(PLACE, C), imp.SetLength(END, N))
    stmts = (imp.Let(C, imp.ZERO), *room, rows, *lengths)
    argument = imp.Argument("A", (N,), (PTR, IDX, VAL, END, OUT, PLACE))
    return imp.Kernel("k", (argument,), imp.Block(stmts))


PLAIN = kernel(
    imp.Let(V, imp.widen(IDX[Q])),
    imp.Store(OUT, C, TWICE),
    imp.Store(PLACE, C, imp.cast(V, "int32")),
    APPEND,
)


def test_entries_of_all_rows_are_written_first():
    before = PLAIN.body.stmts
    stmts = append_at_once(PLAIN, KNOWN).body.stmts
    assert stmts[:4] == before[:4]
    shift, entries, rows = stmts[4:7]
    assert shift.value == C - imp.widen(PTR[imp.ZERO])
    assert (entries.start, entries.stop) == (imp.widen(PTR[imp.ZERO]), imp.widen(PTR[N]))
    assert [s.index for s in entries.body.stmts if isinstance(s, imp.Store)] == [shift.var + Q] * 2
    ends = imp.Assign(C, shift.var + imp.widen(PTR[I + 1]))
    assert rows.body.stmts == (ends, imp.Store(END, I, C))


OF_ROW = kernel(
    imp.Let(V, imp.widen(IDX[Q])),
    imp.Store(OUT, C, TWICE),
    imp.Store(PLACE, C, imp.cast(V + I, "int32")),
    APPEND,
)


def test_what_depends_on_the_row_is_written_by_rows():
    shift, entries, rows = append_at_once(OF_ROW, KNOWN).body.stmts[4:7]
    assert [s.buffer for s in entries.body.stmts if isinstance(s, imp.Store)] == [OUT]
    inner, ends, _ = rows.body.stmts
    r = inner.var
    assert (inner.start, inner.stop) == (imp.widen(PTR[I]), imp.widen(PTR[I + 1]))
    place = imp.Store(PLACE, shift.var + r, imp.cast(imp.widen(IDX[r]) + I, "int32"))
    assert inner.body.stmts == (place,)
    assert ends == imp.Assign(C, shift.var + imp.widen(PTR[I + 1]))


CONDITION = imp.Binary("<", VAL[Q], imp.Const(0.0, "float64"), imp.BOOL)


@pytest.mark.parametrize(
    "k",
    [
        kernel(imp.If(CONDITION, imp.Block((imp.Store(OUT, C, TWICE), APPEND)), imp.EMPTY)),
        kernel(imp.Store(OUT, C, TWICE), imp.Assign(C, C + 2)),
        kernel(imp.Store(OUT, C + 1, TWICE), APPEND),
        kernel(imp.Store(OUT, C, TWICE), imp.Store(OUT, C, TWICE), APPEND),
        kernel(APPEND, imp.Store(OUT, C, TWICE)),
        kernel(imp.Store(PLACE, C, imp.cast(I, "int32")), APPEND),
        kernel(imp.Store(OUT, C, TWICE), APPEND, row=(APPEND,)),
        kernel(imp.Store(OUT, C, TWICE), APPEND, row=(imp.Grow(OUT, C + 9),)),
        kernel(imp.Store(OUT, C, TWICE), APPEND, row=(imp.Store(OUT, C, VAL[0]),)),
        kernel(imp.Store(PLACE, C, IDX[Q]), APPEND, row=(imp.Store(END, I, imp.widen(PLACE[0])),)),
        kernel(imp.Store(OUT, C, imp.cast(END[Q], "float64")), APPEND),
        kernel(imp.Store(OUT, C, TWICE), APPEND, start=PTR[I] + 1),
        kernel(
            imp.Store(OUT, C, TWICE),
            APPEND,
            row=(imp.If(imp.Binary("<", V, I, imp.BOOL), imp.Block((imp.Break(),)), imp.EMPTY),),
        ),
    ],
    ids=[
        "perhaps",
        "two",
        "beside",
        "twice",
        "after",
        "of the row",
        "elsewhere",
        "grows",
        "overwritten",
        "read",
        "changing",
        "gaps",
        "until",
    ],
)
def test_what_is_not_so_simple_stays(k):
    assert append_at_once(k, KNOWN) is k


def test_a_beginning_that_moves_is_not_where_the_row_begins():
    """Entries before it were appended, too, and more than there is room for."""
    begin = imp.Var("begin")
    first = imp.Let(begin, imp.widen(PTR[I]))
    moved = imp.If(imp.Binary("<", begin, imp.widen(PTR[I + 1]), imp.BOOL),
                   imp.Block((imp.Assign(begin, begin + 1),)), imp.EMPTY)  # fmt: skip
    for row, stays in (((first,), False), ((first, moved), True)):
        k = kernel(imp.Store(OUT, C, TWICE), APPEND, row=row, start=begin)
        assert (append_at_once(k, KNOWN) is k) == stays


def test_rows_that_need_not_follow_one_another_stay():
    assert append_at_once(PLAIN, Known(frozenset({"n"}), frozenset())) is PLAIN
    assert append_at_once(PLAIN, Known(frozenset(), frozenset({"ptr"}))) is PLAIN


@pytest.mark.parametrize("k", [PLAIN, OF_ROW], ids=["plain", "of the row"])
@given(st.lists(st.integers(0, 4), max_size=6), st.integers(0, 2))
def test_the_meaning_stays(k, lengths, first):
    ptr = np.cumsum([first, *lengths]).astype(np.int32)
    arrays = {
        "ptr": ptr,
        "idx": np.arange(ptr[-1], dtype=np.int32)[::-1].copy(),
        "val": np.arange(float(ptr[-1])),
    }
    changed = append_at_once(k, KNOWN)
    check(changed)
    (status, expected), (same, found) = (
        run(each, {"A": ((len(lengths),), dict(arrays))}) for each in (k, changed)
    )
    assert status == same == 0
    for name in ("out", "place", "end"):
        np.testing.assert_array_equal(found[name], expected[name])
