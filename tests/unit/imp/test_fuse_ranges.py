"""Loops over fibers that follow one another become one, and mean the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet import imp
from linnet.codelets.build import Builder
from linnet.imp.consecutive import Known
from linnet.imp.fuse_ranges import fuse_ranges
from linnet.imp.interpret import run

N, I, P, Q, S = (imp.Var(name) for name in ("n", "i", "p", "q", "s"))
PTR, NEXT, VAL = imp.Buffer("ptr", "int32"), imp.Buffer("next", "int64"), imp.Buffer("val", "int64")
OUT = imp.Buffer("out", "int64")
KNOWN = Known(frozenset({"n"}), frozenset({"ptr", "next"}))


def fiber(ptr: imp.Buffer, at: imp.Expr) -> tuple[imp.Expr, imp.Expr]:
    return imp.widen(ptr[at]), imp.widen(ptr[at + 1])


def kernel(*stmts: imp.Stmt) -> imp.Kernel:
    argument = imp.Argument("A", (N,), (PTR, NEXT, VAL, OUT))
    body = (imp.Let(S, imp.ZERO), *stmts, imp.Store(OUT, imp.ZERO, S))
    return imp.Kernel("k", (argument,), imp.Block(body))


def loop(var: imp.Var, start: imp.Expr, stop: imp.Expr, *stmts: imp.Stmt) -> imp.For:
    return imp.For(var, start, stop, imp.Block(stmts))


ADD = imp.Accumulate(S, "+", VAL[Q] * (Q + 1))
MATRIX = loop(I, imp.ZERO, N, loop(Q, *fiber(PTR, I), ADD))
TREE = loop(I, imp.ZERO, N, loop(P, *fiber(PTR, I), loop(Q, *fiber(NEXT, P), ADD)))


def loops_in(k: imp.Kernel) -> list[imp.For]:
    return [s for s in k.body.stmts if isinstance(s, imp.For)]


def test_a_matrix_is_one_loop():
    (fused,) = loops_in(fuse_ranges(kernel(MATRIX), KNOWN))
    assert fused == loop(Q, imp.widen(PTR[0]), imp.widen(PTR[N]), ADD)


def test_a_tree_collapses_to_one_loop():
    (fused,) = loops_in(fuse_ranges(kernel(TREE), KNOWN))
    start, stop = NEXT[imp.widen(PTR[0])], NEXT[imp.widen(PTR[N])]
    assert fused == loop(Q, start, stop, ADD)


def test_a_tree_under_one_root():
    root = loop(P, imp.widen(PTR[0]), imp.widen(PTR[1]), loop(Q, *fiber(NEXT, P), ADD))
    (fused,) = loops_in(fuse_ranges(kernel(root), KNOWN))
    assert fused.body == imp.Block((ADD,))
    assert fused.stop == NEXT[imp.widen(PTR[1])]


M = imp.Var("m")


@pytest.mark.parametrize(
    "program",
    [
        loop(I, imp.ZERO, N, loop(Q, *fiber(PTR, I), imp.Accumulate(S, "+", I))),
        loop(I, imp.ZERO, N, loop(Q, *fiber(PTR, I), ADD, imp.Break())),
        loop(I, imp.ZERO, N, loop(Q, *fiber(VAL, I), ADD)),  # not pointers: may decrease
        loop(I, imp.ZERO, N, ADD, loop(Q, *fiber(PTR, I), ADD)),
        loop(I, imp.ZERO, M, loop(Q, *fiber(PTR, I), ADD)),  # may be negative
        loop(I, imp.ONE, N, loop(Q, *fiber(PTR, I), ADD)),
        loop(I, imp.ZERO, N, loop(Q, imp.widen(PTR[I]), imp.widen(PTR[I + 2]), ADD)),
        loop(I, imp.ZERO, N, loop(Q, *fiber(NEXT, I), imp.Store(NEXT, Q, Q))),
    ],
    ids=["index", "break", "values", "more", "size", "start", "overlap", "changed"],
)
def test_what_must_stay(program):
    k = kernel(imp.Let(M, N - 1), program)
    assert fuse_ranges(k, KNOWN) is k


@st.composite
def trees(draw):
    """Pointers of three levels, with empty fibers, and values."""
    n = draw(st.integers(0, 4))
    first = np.cumsum([0, *draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))])
    m = int(first[-1])
    second = np.cumsum([0, *draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))])
    count = max(int(second[-1]), m)
    values = draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count))
    return n, first.astype(np.int32), second.astype(np.int64), np.array(values, np.int64)


@given(trees(), st.sampled_from([MATRIX, TREE]))
def test_the_meaning_stays(tree, program):
    n, first, second, values = tree
    results = []
    for k in (kernel(program), fuse_ranges(kernel(program), KNOWN)):
        arrays = {"ptr": first, "next": second, "val": values, "out": np.zeros(1, np.int64)}
        status, found = run(k, {"A": ((n,), arrays)})
        assert status == 0
        results.append(found["out"][0])
    assert results[0] == results[1]


# -- groups of equal coordinates -------------------------------------------------------------------

END, STOP, AGAIN, TWICE = imp.widen(PTR[N]), imp.Var("stop"), imp.Var("p2"), imp.Var("stop2")


def grouped(q: imp.Var, begin: imp.Expr, end: imp.Expr, stop: imp.Var, *stmts: imp.Stmt):
    """A walk from group to group: the statements go through one of them, from q to stop."""
    b = Builder()
    alike = imp.Let(stop, b.call("run_end", NEXT, q, end))
    walk = imp.While(q < end, imp.Block((alike, *stmts, imp.Assign(q, stop))))
    return [imp.Let(q, begin), walk], tuple(b.codelets.values())


def with_groups(*stmts: imp.Stmt, end: imp.Expr = END) -> imp.Kernel:
    walk, codelets = grouped(P, imp.ONE, end, STOP, *stmts)
    return replace(kernel(*walk), codelets=codelets)


def test_coordinates_are_one_loop():
    (fused,) = loops_in(fuse_ranges(with_groups(loop(Q, P, STOP, ADD)), KNOWN))
    assert fused == loop(Q, imp.ONE, END, ADD)


def test_three_coordinates_are_one_loop():
    inside, _ = grouped(AGAIN, P, STOP, TWICE, loop(Q, AGAIN, TWICE, ADD))
    (fused,) = loops_in(fuse_ranges(with_groups(*inside), KNOWN))
    assert fused == loop(Q, imp.ONE, END, ADD)


@pytest.mark.parametrize(
    "stmts",
    [
        [loop(Q, P, STOP, imp.Accumulate(S, "+", P))],
        [loop(Q, P, STOP, imp.Accumulate(S, "+", STOP))],
        [loop(Q, P, STOP, ADD, imp.Break())],
        [loop(Q, P + 1, STOP, ADD)],
        [loop(Q, P, END, ADD)],
        [loop(Q, P, STOP, ADD), ADD],
        [loop(Q, P, STOP, imp.Store(PTR, Q, imp.cast(Q, "int32")))],
        [loop(Q, P, STOP, imp.Assign(S, S - 1))],
    ],
    ids=["position", "stop", "break", "start", "beyond", "more", "changed", "end"],
)
def test_groups_that_must_stay(stmts):
    k = with_groups(*stmts, end=S if isinstance(stmts[0].body.stmts[0], imp.Assign) else END)
    assert fuse_ranges(k, KNOWN) is k


def test_a_position_that_is_read_afterwards_stays():
    k = with_groups(loop(Q, P, STOP, ADD))
    k = replace(k, body=imp.Block((*k.body.stmts, imp.Store(OUT, imp.ONE, P))))
    assert fuse_ranges(k, KNOWN) is k


@given(st.lists(st.integers(0, 3), max_size=9), st.integers(0, 10), st.booleans())
def test_the_meaning_of_groups_stays(coordinates, end, deep):
    inside = [loop(Q, P, STOP, ADD)]
    if deep:
        inside, _ = grouped(AGAIN, P, STOP, TWICE, loop(Q, AGAIN, TWICE, ADD))
    k, idx = with_groups(*inside), np.array(coordinates, np.int64)
    results = []
    for way in (k, fuse_ranges(k, KNOWN)):
        arrays = {"ptr": np.array([min(end, len(idx))], np.int32), "next": idx}
        arrays |= {"val": np.arange(10) ** 2, "out": np.zeros(1, np.int64)}
        status, found = run(way, {"A": ((0,), arrays)})
        assert status == 0
        results.append(found["out"][0])
    assert results[0] == results[1]
