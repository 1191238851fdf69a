"""How loops are to be compiled: short ones one by one, sums of long fibers in several parts."""

from __future__ import annotations

from linnet import imp
from linnet.backend.versions import versions

N, I, Q, S = imp.Var("n"), imp.Var("i"), imp.Var("q"), imp.Var("s", "float64")
PTR, IDX = imp.Buffer("ptr", "int32"), imp.Buffer("idx", "int32")
VAL, X = imp.Buffer("val", "float64"), imp.Buffer("x", "float64")
FLAGS = imp.Buffer("flags", "bool")
ONE_BY_ONE = '!"llvm.loop.vectorize.width", i32 1'


def fiber(*body: imp.Stmt) -> imp.For:
    """A loop over the entries of row i."""
    return imp.For(Q, imp.widen(PTR[I]), imp.widen(PTR[I + 1]), imp.Block(body))


def add(value: imp.Expr) -> imp.Accumulate:
    return imp.Accumulate(S, "+", value)


def test_gathers_of_long_fibers_have_several_sums():
    first, last = versions(fiber(add(VAL[Q] * X[imp.widen(IDX[Q])])))
    assert first.least > last.least == 0
    assert ONE_BY_ONE in first.hints
    assert ONE_BY_ONE in last.hints


def test_neighbours_are_vectors():
    (only,) = versions(fiber(add(VAL[Q])))
    assert '!"llvm.loop.vectorize.width", i32 4' in only.hints


def test_what_is_done_under_a_condition_is_not_gathered():
    j = imp.widen(IDX[Q])
    (only,) = versions(fiber(imp.If(FLAGS[j], imp.Block((add(VAL[Q] * X[j]),)), imp.EMPTY)))
    assert ONE_BY_ONE in only.hints


def test_dimensions_are_long():
    (only,) = versions(imp.For(Q, imp.ZERO, N, imp.Block((add(VAL[Q]),))))
    assert only.hints == ()
