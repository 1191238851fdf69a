"""How many turns of a loop are made at once: short ones one by one, sums of long ones in parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.backend import kernels

from linnet import imp
from linnet.backend import llvm, machine
from linnet.imp.how import ALL, Way
from linnet.optimize.vectorize import vectorize
from linnet.target import PLAIN

N, I, Q, S = imp.Var("n"), imp.Var("i"), imp.Var("q"), imp.Var("s", "float64")
PTR, IDX = imp.Buffer("ptr", "int32"), imp.Buffer("idx", "int32")
VAL, X = imp.Buffer("val", "float64"), imp.Buffer("x", "float64")
FLAGS = imp.Buffer("flags", "bool")


def ways(loop: imp.For) -> tuple[Way, ...]:
    """How a loop is run on a processor without masks."""
    (found,) = vectorize(imp.Kernel("k", (), imp.Block((loop,))), PLAIN).body.stmts
    assert isinstance(found, imp.For)
    return found.how.ways


def fiber(*body: imp.Stmt) -> imp.For:
    """A loop over the entries of row i."""
    over = imp.Over(spans=(imp.Span("A", 1, I, I + 1),), ordered=True)
    return imp.For(Q, imp.widen(PTR[I]), imp.widen(PTR[I + 1]), imp.Block(body), over)


def add(value: imp.Expr) -> imp.Accumulate:
    return imp.Accumulate(S, "+", value)


def test_gathers_of_long_fibers_have_several_sums():
    first, last = ways(fiber(add(VAL[Q] * X[imp.widen(IDX[Q])])))
    assert first.least > last.least == 0
    assert first.width == last.width == 1
    assert first.side > last.side


def test_neighbours_are_vectors():
    (only,) = ways(fiber(add(VAL[Q])))
    assert only.width == 4


def assembly(kernel: imp.Kernel) -> str:
    return machine.assembly(llvm.render(vectorize(kernel, PLAIN)))


def test_small_loops_lie_within_a_cache_line():
    assert ".p2align\t5" in assembly(kernels.spmv())
    assert ".p2align\t5" not in assembly(kernels.reductions("float64", ["+"]))


def test_what_is_done_under_a_condition_is_not_gathered():
    j = imp.widen(IDX[Q])
    (only,) = ways(fiber(imp.If(FLAGS[j], imp.Block((add(VAL[Q] * X[j]),)), imp.EMPTY)))
    assert only.width == 1


def test_dimensions_are_long():
    (only,) = ways(imp.For(Q, imp.ZERO, N, imp.Block((add(VAL[Q]),))))
    assert only == Way(reduces=True)


def part(*body: imp.Stmt, stop: imp.Expr = N) -> imp.For:
    """A loop over a part of a dimension."""
    return imp.For(Q, I, stop, imp.Block(body))


def strip(*body: imp.Stmt, count: int = 32) -> imp.For:
    """A loop over a part of a row that vectors hold."""
    return imp.For(Q, imp.ZERO, imp.Const(count, imp.INT), imp.Block(body))


HELD, AT = imp.Buffer("held", "float64"), imp.Var("at")
TO_HELD = imp.Store(HELD, Q, HELD[Q] + X[AT + Q])


def test_no_loop_is_left_of_a_strip():
    (only,) = ways(strip(TO_HELD))
    assert (only.copies, only.of_vectors) == (ALL, True)


@pytest.mark.parametrize(
    "loop",
    [
        strip(TO_HELD, count=1000),
        imp.For(Q, imp.ZERO, N, imp.Block((TO_HELD,))),
        strip(imp.Store(HELD, Q, X[imp.widen(IDX[Q])])),
    ],
)
def test_other_loops_stay_loops(loop):
    (only,) = ways(loop)
    assert not only.copies


BYTES, OUT = imp.Buffer("img", "uint8"), imp.Buffer("out", "uint8")


def test_a_window_has_vectors_that_leave_little():
    value = imp.Binary("&", BYTES[Q - 1], BYTES[Q + 1], "uint8")
    (only,) = ways(part(imp.Store(OUT, I * N + Q, value)))
    assert only.width == 32


def test_the_largest_elements_fill_a_vector():
    wide = imp.Store(VAL, Q, imp.Cast(BYTES[Q], "float64") * X[Q])
    (only,) = ways(part(wide))
    assert only.width == 4
    (only,) = ways(fiber(wide))  # mostly too few for any vector
    assert not only.width


def test_what_a_loop_goes_on_with_has_no_mask():
    """The next turn of a loop around would load what was stored under one."""
    target = replace(PLAIN, cpu="skylake-avx512", features="+avx512f,+avx512bw,+avx512vl")
    assert target.masks
    made = [part(imp.Store(VAL, Q, value)) for value in (X[Q], VAL[Q] + X[Q])]
    new, updated = vectorize(imp.Kernel("k", (), imp.Block(tuple(made))), target).body.stmts
    assert isinstance(new, imp.For)
    assert isinstance(updated, imp.For)
    assert [way.masked for way in new.how.ways] == [target.masks]
    assert [(way.masked, way.width) for way in updated.how.ways] == [("", 4)]


@pytest.mark.parametrize(
    "loop",
    [
        part(imp.Store(OUT, Q, BYTES[imp.widen(IDX[Q])])),  # from anywhere
        part(imp.Store(OUT, N, BYTES[Q])),  # always there
        part(imp.Store(OUT, Q, OUT[Q - 1])),  # what was just written
        part(imp.Store(OUT, Q, BYTES[Q]), imp.Store(OUT, Q + 1, BYTES[Q])),
        part(imp.Store(OUT, Q, BYTES[Q]), stop=I + 3),  # too short for a vector
        part(imp.Store(OUT, Q, imp.Select(FLAGS[Q], BYTES[Q], BYTES[Q + 1]))),
        part(imp.Store(OUT, Q, imp.Cast(VAL[Q], "uint8"))),
        part(imp.Store(VAL, Q, imp.Call("sin", (VAL[Q],), "float64"))),
        part(imp.Assign(N, N + 1)),
    ],
)
def test_where_vectors_are_not_certain_llvm_decides(loop):
    (only,) = ways(loop)
    assert not only.width


def bump(*more: imp.Stmt) -> tuple[imp.Stmt, ...]:
    """One more of what an image has at q."""
    at = imp.Var("at")
    bins = imp.Buffer("bins", "int64")
    return (imp.Let(at, imp.widen(BYTES[Q])), *more, imp.Store(bins, at, bins[at] + 1))


def test_long_loops_that_update_places_all_over_are_unrolled():
    leaves = imp.If(I >= N, imp.Block((imp.Return(imp.ONE),)), imp.EMPTY)
    first, last = ways(part(*bump(leaves)))
    assert first.least > last.least == 0
    assert first.copies > last.copies


SINE = imp.Store(VAL, imp.widen(IDX[Q]), imp.Call("sin", (VAL[Q],), "float64"))


@pytest.mark.parametrize("loop", [fiber(*bump()), part(*bump(imp.Assign(N, N + 1))), part(SINE)])
def test_short_loops_and_others_are_not_unrolled(loop):
    (only,) = ways(loop)
    assert not only.copies


def over_part(tile: int = 0) -> imp.For:
    """A loop over some indices below n that sums neighbours up."""
    span = imp.Span("", -1, imp.ZERO, N, part=True)
    body = imp.Block((add(X[Q]),))
    return imp.For(Q, I, I + 8, body, imp.Over(spans=(span,), tile=tile))


def test_pieces_of_a_dimension_are_short_or_long():
    run, small = ways(over_part()), ways(over_part(tile=8))
    assert [way.least > 0 for way in run] == [True, False]
    assert run == small


def test_tiles_are_as_long_as_somebody_says():
    whole = replace(over_part(), start=imp.ZERO, stop=N, over=imp.NOWHERE)
    assert ways(over_part(tile=4096)) == ways(whole)


def test_a_range_that_begins_late_is_a_whole_one():
    loop = over_part()
    spans = tuple(replace(span, part=False) for span in loop.over.spans)
    whole = replace(loop, over=replace(loop.over, spans=spans))
    assert ways(whole) == ways(replace(whole, start=imp.ZERO))
