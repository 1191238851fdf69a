"""What is prefetched: where later iterations get to, and nothing else is loaded for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.optimize.changes import changes
from tests.optimize.data import arguments
from tests.optimize.firing import fires
from tests.optimize.programs import CORPUS
from tests.oracle.check import Subject
from tests.oracle.check import check as agree

import linnet as ln
from linnet import imp, target
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.rewrite import walk
from linnet.imp.simplify import simplify
from linnet.optimize.prefetch import prefetch

N, I, Q, K, P, R, AT = (imp.Var(name) for name in ("n", "i", "q", "k", "p", "r", "at"))
PTR, ROWS = (
    imp.Buffer(s, "int32", holds=imp.Holds("A", k, "ptr", "position", fiber=True, ascends=True))
    for k, s in enumerate(("ptr", "rows"))
)
IDX, COL, ENDS = (imp.Buffer(s, "int32") for s in ("idx", "col", "ends"))
VAL, Y, OUT = (imp.Buffer(s, "float64") for s in ("val", "y", "out"))
BUFFERS = (PTR, IDX, ROWS, COL, ENDS, VAL, Y, OUT)
NEAR = replace(target.PLAIN, misses=12, cache=0)  # all is far away
WALK = imp.Over(spans=(imp.Span("A", 0, I, I + 1),), ordered=True)
ALL = imp.Over(spans=(imp.Span("", -1, imp.ZERO, N),), ordered=True)
LISTS = (imp.Entries(imp.widen(PTR[imp.FIRST]), imp.widen(PTR[imp.LAST])),)


def when(cond: imp.Expr, *stmts: imp.Stmt) -> imp.If:
    return imp.If(cond, imp.Block(stmts), imp.EMPTY)


def end(status: int) -> imp.Return:
    return imp.Return(imp.Const(status, imp.INT))


FIND = imp.Let(K, imp.widen(IDX[Q]))
ADD = imp.Store(Y, imp.widen(COL[P]), Y[imp.widen(COL[P])] + VAL[P])
ROW = imp.For(P, imp.widen(ROWS[K]), imp.widen(ROWS[K + 1]), imp.Block((ADD,)))
LOOK, DEAL = imp.Let(AT, imp.widen(ENDS[K])), imp.Store(OUT, AT, VAL[Q])
MOVE = imp.Store(ENDS, K, imp.cast(AT + 1, "int32"))
OUTSIDE = imp.binary("or", K < 0, K >= 4)
STEP = (imp.Accumulate(Y_0 := imp.Var("sum", "float64"), "+", VAL[P]), imp.Assign(P, P + 1))
MERGE = (
    imp.Let(P, imp.widen(ROWS[K])),
    imp.While(imp.widen(ROWS[K + 1]) > P, imp.Block(STEP)),
)


SEARCH = imp.Call("search", (imp.Address(COL), imp.widen(ROWS[K]), N), imp.INT)
FOUND = (COL, imp.Var("lo"), imp.Var("x"))
SEARCHING = imp.Function("search", FOUND, imp.Block((imp.Return(imp.Var("lo")),)), imp.INT)


def kernel(*body: imp.Stmt, stop: imp.Expr | None = None, before: imp.Stmt | None = None):
    """`for i in 0 … n: for q in ptr[i] … ptr[i + 1]: body`."""
    end_of = imp.widen(PTR[I + 1]) if stop is None else stop
    over = WALK if stop is None else imp.as_part(WALK)
    inner = imp.For(Q, imp.widen(PTR[I]), end_of, imp.Block(body), over)
    around = imp.Block((before, inner) if before else (inner,))
    stmts = (imp.Let(Y_0, imp.Const(0.0, "float64")), imp.For(I, imp.ZERO, N, around, ALL))
    last = imp.Store(Y, imp.ZERO, Y[0] + Y_0)
    return imp.Kernel(
        "k",
        (imp.Argument("A", (N,), BUFFERS, LISTS),),
        imp.Block((*stmts, last, end(0))),
        (SEARCHING,),
    )


BODIES = {
    "rows": (FIND, ROW),
    "rows in order of lists": (FIND, *MERGE),
    "dealt out": (FIND, LOOK, DEAL, MOVE),
    "if it is so": (FIND, when(K < 3, ROW)),
    "in one of two ways": (FIND, imp.If(K < 2, imp.EMPTY, imp.Block((ROW,)))),
    "if there are more": (FIND, when(VAL[Q] > 0.5, ROW)),
    "checked": (FIND, when(OUTSIDE, end(2)), ROW),
    "checked and dealt out": (FIND, when(OUTSIDE, end(2)), LOOK, DEAL, MOVE),
}


def asking(k: imp.Kernel, processor: target.Target = NEAR) -> imp.Kernel:
    made = prefetch(k, processor)
    check(made)
    return made


def asks(k: imp.Kernel) -> list[str]:
    """The arrays that are asked for."""
    return [n.buffer.name for n in walk(asking(k).body) if isinstance(n, imp.Prefetch)]


def test_rows_and_what_leads_there():
    assert (
        show(simplify(asking(kernel(FIND, ROW))).body).replace("int64", "")
        == """\
block:
    last:  = (ptr[n]) - 1
    for i in range(0, n):
        for q in range((ptr[i]), (ptr[i + 1])):  # level 0 of A below i
            ahead:  = min(q + 6, last)
            prefetch(rows, (idx[ahead]))
            ahead_2:  = min(q + 3, last)
            soon:  = (rows[(idx[ahead_2])])
            prefetch(col, soon)
            prefetch(val, soon)
            prefetch(val, soon + 8)
            k:  = (idx[q])
            for p in range((rows[k]), (rows[k + 1])):
                y[(col[p])] = y[(col[p])] + val[p]
    y[0] = y[0] + 0.0
    return 0"""
    )


def test_what_is_stored_is_asked_for_where_it_is_far_away():
    k = kernel(*BODIES["dealt out"])
    near = replace(NEAR, cache=1 << 20)
    text = show(asking(k, near).body)
    assert "far: bool = (last - int64(ptr[0])) * 8 >= 1048576" in text
    assert asks(k) == ["ends", "out"]


def arrays(entries: int, wrong: bool) -> dict[str, np.ndarray]:
    """Of five fibers, some empty; a coordinate may be out of bounds."""
    rng = np.random.default_rng(entries)
    ptr = np.sort(rng.integers(0, entries + 1, 6)).astype(np.int32)
    ptr[0], ptr[-1] = 0, entries
    idx = rng.integers(0, 4, entries).astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(np.bincount(idx, minlength=4))[:-1]]).astype(np.int32)
    if wrong and entries:
        idx[entries // 2] = 4
    found = {"ptr": ptr, "idx": idx, "rows": np.array([0, 2, 2, 5, 6], np.int32), "ends": ends}
    size = max(entries, 6)
    found |= {"col": rng.integers(0, 5, 6).astype(np.int32), "val": rng.random(size)}
    return found | {"y": np.zeros(5), "out": np.zeros(size)}


@pytest.mark.parametrize("entries", [0, 1, 2, 3, 4, 7, 40])
@pytest.mark.parametrize("name", BODIES)
def test_results_are_the_same(name, entries):
    """The interpreter knows how long arrays are: nothing is read that is not there."""
    for wrong in (False, True) if "checked" in name else (False,):
        plain, found = kernel(*BODIES[name]), []
        for k in (plain, asking(plain), simplify(asking(plain))):
            given = {name: array.copy() for name, array in arrays(entries, wrong).items()}
            found.append(run(k, {"A": ((5,), given)}))
        for status, results in found[1:]:
            assert status == found[0][0] == (2 if wrong and entries else 0)
            for buffer in ("y", "out", "ends"):
                np.testing.assert_array_equal(results[buffer], found[0][1][buffer])


@pytest.mark.parametrize("name", BODIES)
def test_all_of_them_ask(name):
    assert asks(kernel(*BODIES[name]))


def test_fibers_that_do_not_follow_each_other_are_looked_at_alone():
    for k in (
        kernel(FIND, ROW, stop=imp.widen(PTR[I]) + 3),
        kernel(FIND, ROW, before=when(I >= 3, end(1))),
        kernel(FIND, imp.For(P, imp.widen(ROWS[K]) + I, N, imp.Block((ADD,)))),
    ):
        assert "        last: int64" in show(asking(k).body)
        assert "\n    last: int64" not in show(asking(k).body)
    assert not asks(kernel(FIND, LOOK, DEAL, MOVE, stop=imp.widen(PTR[I]) + 3))


def test_parts_that_follow_each_other_are_looked_at_together():
    """The last of those that a part asks for may be those of the next: it is told by the fiber."""
    k = kernel(FIND, ROW, stop=imp.minimum(imp.widen(PTR[I + 1]), imp.widen(PTR[I]) + 4))
    here = "        last: int64 = int64(ptr[i + 1]) - 1"
    assert here in show(asking(_over_parts(k)).body)
    assert here not in show(asking(k).body)


def _over_parts(k: imp.Kernel) -> imp.Kernel:
    """The kernel whose outer loop is said to go from part to part of what the inner one does."""
    outer = next(s for s in k.body.stmts if isinstance(s, imp.For))
    (inner,) = outer.body.stmts
    inner = replace(inner, over=replace(inner.over, index="q"))
    outer = replace(outer, over=replace(outer.over, counter="q"), body=imp.Block((inner,)))
    stmts = tuple(outer if isinstance(s, imp.For) else s for s in k.body.stmts)
    return replace(k, body=imp.Block(stmts))


def test_a_search_begins_at_its_beginning():
    assert asks(kernel(FIND, imp.Let(P, SEARCH), imp.Store(Y, Q, VAL[P]))) == ["rows", "col"]
    row = imp.For(P, R, N, imp.Block((imp.Store(Y, Q, VAL[P]),)))
    assert asks(kernel(FIND, imp.Let(R, SEARCH), row)) == ["rows", "col", "val", "val"]


LEAVE = imp.Block((imp.Break(),))


@pytest.mark.parametrize(
    "body",
    [
        (FIND, imp.If(VAL[Q] > 0.5, LEAVE, imp.EMPTY), ROW),
        (FIND, replace(ROW, body=imp.Block((ADD, imp.If(VAL[P] > 0.5, LEAVE, imp.EMPTY))))),
        (FIND, when(Y[Q] > 0.5, end(1)), ROW),
        (FIND, when(Y[Q] > 0.5, ROW)),
        (FIND, ROW, imp.Store(IDX, Q, imp.Const(0, "int32"))),
        (FIND, imp.Grow(ENDS, N), LOOK, DEAL, MOVE),
        (FIND, imp.For(P, imp.ZERO, N, imp.Block((ADD,)))),
        (imp.Store(Y, imp.widen(IDX[Q]), VAL[Q]),),
        (FIND, LOOK, imp.Store(OUT, AT, OUT[AT] + VAL[Q]), MOVE),
    ],
    ids=[
        "left", "left inside", "perhaps the end", "perhaps", "changed", "grows", "no row",
        "one load away", "loaded",
    ],
)  # fmt: skip
def test_what_is_left_alone(body):
    k = kernel(*body)
    assert prefetch(k, NEAR) is k


ASKING = ("picked rows", "triangles", "spgemm by rows", "transposed", "rows of a permutation")


@pytest.mark.parametrize("name", ASKING)
def test_small_changes_make_no_difference(name):
    program = next(p for p in CORPUS if p.name == name)
    assert "prefetch" in fires(program)
    for change, changed in changes(program):
        if name != "transposed" or change not in ("a mask", "literal extents"):  # rows in parts
            assert "prefetch" in fires(changed), change


@pytest.mark.parametrize("name", ASKING)
def test_nothing_is_read_beyond_what_is_stored(name, monkeypatch):
    """In programs, where all is far away, on nothing and on much."""
    monkeypatch.setattr(target, "of", lambda options: replace(target.plain(), cache=0, misses=8))
    program = next(p for p in CORPUS if p.name == name)
    subject = Subject.of(program.program, arguments(program))
    assert any(isinstance(n, imp.Prefetch) for n in walk(subject.code.body))
    for density in (0.0, 0.1, 0.5, 1.0):
        agree(subject, arguments(program, 3, density), ("llvm", "c"))


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
    B = turned(ln.empty_tensor(ln.CSR), ln.asarray(dense, format=form))
    np.testing.assert_array_equal(B.to_numpy(), dense.T)
