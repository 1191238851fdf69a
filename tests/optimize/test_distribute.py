"""Entries of all rows are written in one loop, where rows follow one another and change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.rewrite import statements
from linnet.optimize.distribute import distribute

N, I, Q, C, V = (imp.Var(name) for name in ("n", "i", "q", "c", "v"))
PTR, IDX = imp.Buffer("ptr", "int32"), imp.Buffer("idx", "int32")
VAL = imp.Buffer("val", "float64")
END = imp.Buffer("end", "int64", growable=True)
OUT, PLACE = (
    imp.Buffer("out", "float64", growable=True),
    imp.Buffer("place", "int32", growable=True),
)
WALK = imp.Over("", (imp.Span("A", 0, I, I + 1),), ordered=True)
ROWS = imp.Over("", (imp.Span("", -1, imp.ZERO, N),), ordered=True)
TWICE = imp.Binary("*", VAL[Q], imp.Const(2.0, "float64"), "float64")
APPEND = imp.Assign(C, C + 1)


def kernel(
    *entry: imp.Stmt,
    row: tuple[imp.Stmt, ...] = (),
    start: imp.Expr = PTR[I],
    over: imp.Over = WALK,
    rows: imp.Over = ROWS,
) -> imp.Kernel:
    """For each row: `row`, what is done for its entries, and where they end."""
    walk = imp.For(Q, imp.widen(start), imp.widen(PTR[I + 1]), imp.Block(entry), over)
    ends = imp.Store(END, I, C)
    loop = imp.For(I, imp.ZERO, N, imp.Block((*row, walk, ends)), rows)
    total = imp.widen(PTR[N]) + 3
    room = (imp.Grow(OUT, total), imp.Grow(PLACE, total), imp.Grow(END, N))
    lengths = (imp.SetLength(OUT, C), imp.SetLength(PLACE, C), imp.SetLength(END, N))
    stmts = (imp.Let(C, imp.ZERO), *room, loop, *lengths)
    lists = imp.Entries(imp.widen(PTR[imp.FIRST]), imp.widen(PTR[imp.LAST]))
    argument = imp.Argument("A", (N,), (PTR, IDX, VAL, END, OUT, PLACE), (lists,))
    return imp.Kernel("k", (argument,), imp.Block(stmts))


PLAIN = kernel(
    imp.Let(V, imp.widen(IDX[Q])),
    imp.Store(OUT, C, TWICE),
    imp.Store(PLACE, C, imp.cast(V, "int32")),
    APPEND,
)


def loops_of(k: imp.Kernel) -> list[tuple[imp.For, list[imp.Buffer]]]:
    """The loops of a kernel, and to what each stores, with those inside."""
    stmts = [s for outer in k.body.stmts for s in getattr(outer, "stmts", (outer,))]
    loops = [s for s in stmts if isinstance(s, imp.For)]
    stores = [[s for s in statements(loop.body) if isinstance(s, imp.Store)] for loop in loops]
    return [(a, [s.buffer for s in b]) for a, b in zip(loops, stores, strict=True)]


def test_entries_of_all_rows_are_written_first():
    (entries, first), (rows, second) = loops_of(distribute(PLAIN))
    assert (entries.start, entries.stop) == (imp.widen(PTR[imp.ZERO]), imp.widen(PTR[N]))
    assert (first, second) == ([OUT, PLACE], [END])
    assert entries.over.spans == (imp.Span("A", 0, imp.ZERO, N),)
    assert not any(isinstance(s, imp.For) for s in statements(rows.body))


OF_ROW = kernel(
    imp.Let(V, imp.widen(IDX[Q])),
    imp.Store(OUT, C, TWICE),
    imp.Store(PLACE, C, imp.cast(V + I, "int32")),
    APPEND,
)


def test_what_depends_on_the_row_is_written_by_rows():
    (_, first), (rows, second) = loops_of(distribute(OF_ROW))
    assert (first, second) == ([OUT], [PLACE, END])
    (inner,) = (s for s in statements(rows.body) if isinstance(s, imp.For))
    assert (inner.start, inner.stop) == (imp.widen(PTR[I]), imp.widen(PTR[I + 1]))


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
        kernel(imp.Store(OUT, C, TWICE), APPEND, start=PTR[I] + 1, over=imp.as_part(WALK)),
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
    assert distribute(k) is k


def test_a_beginning_that_moves_is_not_where_the_row_begins():
    """Entries before it were appended, too, and more than there is room for."""
    begin = imp.Var("begin")
    first = imp.Let(begin, imp.widen(PTR[I]))
    moved = imp.If(imp.Binary("<", begin, imp.widen(PTR[I + 1]), imp.BOOL),
                   imp.Block((imp.Assign(begin, begin + 1),)), imp.EMPTY)  # fmt: skip
    for row, stays in (((first,), False), ((first, moved), True)):
        k = kernel(imp.Store(OUT, C, TWICE), APPEND, row=row, start=begin)
        assert (distribute(k) is k) == stays


TURNED = imp.Over("", (imp.Span("A", 0, N - I, N - I + 1),), ordered=True)


@pytest.mark.parametrize(
    ("over", "rows"), [(imp.NOWHERE, ROWS), (TURNED, ROWS), (WALK, imp.as_part(ROWS))]
)
def test_rows_that_need_not_follow_one_another_stay(over, rows):
    k = kernel(imp.Store(OUT, C, TWICE), APPEND, over=over, rows=rows)
    assert distribute(k) is k


def test_two_ends_move_on_together():
    d = imp.Var("d")
    k = kernel(imp.Store(OUT, C, TWICE), APPEND, imp.Store(PLACE, d, IDX[Q]), imp.Assign(d, d + 1))
    k = replace(k, body=imp.Block((imp.Let(d, imp.ZERO), *k.body.stmts)))
    (_, first), (_, second) = loops_of(distribute(k))
    assert (first, second) == ([OUT, PLACE], [END])


@pytest.mark.parametrize("k", [PLAIN, OF_ROW], ids=["plain", "of the row"])
@given(st.lists(st.integers(0, 4), max_size=6), st.integers(0, 2))
def test_the_meaning_stays(k, lengths, first):
    ptr = np.cumsum([first, *lengths]).astype(np.int32)
    arrays = {
        "ptr": ptr,
        "idx": np.arange(ptr[-1], dtype=np.int32)[::-1].copy(),
        "val": np.arange(float(ptr[-1])),
    }
    changed = distribute(k)
    check(changed)
    (status, expected), (same, found) = (
        run(each, {"A": ((len(lengths),), dict(arrays))}) for each in (k, changed)
    )
    assert status == same == 0
    for name in ("out", "place", "end"):
        np.testing.assert_array_equal(found[name], expected[name])
