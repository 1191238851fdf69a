"""What loops and buffers say of themselves is checked in every run, and is so in shipped code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.golden.test_tiles import CASES, MOVES
from tests.golden.test_tiles import arguments as arguments_of
from tests.levels.samples import nest
from tests.oracle.check import Subject

import linnet as ln
from linnet import imp
from linnet.errors import InternalError
from linnet.formats.named import stack
from linnet.imp.check import check
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.rewrite import rewrite_statements, statements, substitute
from linnet.imp.stale import forget_stale
from linnet.runtime.kernel import Kernel
from linnet.scheduling.text import parse_schedule


@ln.kernel
def rows(y, A):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j]
    return y


@pytest.fixture
def code():
    A = ln.asarray(np.eye(3), format=ln.CSR)
    return rows.lowered(ln.empty_tensor(ln.DENSE(1)), A).kernel


def arguments(ptr=(0, 1, 2, 3), idx=(0, 1, 2)):
    arrays = {
        "A_ptr": np.array(ptr, np.int32),
        "A_idx": np.array(idx, np.int32),
        "A_val": np.ones(len(idx)),
    }
    return {"y": ((3,), {}), "A": ((3, 3), arrays)}


def walks(kernel):
    return [s for s in statements(kernel.body) if isinstance(s, imp.For) and s.over.text]


def changed(kernel, **fields):
    """The kernel, which says something else of the loop over the entries of a row."""

    def rule(stmt):
        if not (isinstance(stmt, imp.For) and stmt.over.text):
            return None
        (span,) = stmt.over.spans
        return replace(stmt, over=replace(stmt.over, spans=(replace(span, **fields),)))

    return replace(kernel, body=rewrite_statements(kernel.body, rule))


def test_a_row_is_all_of_a_fiber(code):
    (loop,) = walks(code)
    (span,) = loop.over.spans
    assert (span.tensor, span.level, span.part) == ("A", 1, False)
    assert loop.over.ordered
    assert "# level 1 of A below i" in show(code)
    status, found = run(code, arguments())
    assert status == imp.OK
    assert found["y_val"].tolist() == [1, 1, 1]


def test_another_fiber_than_is_said(code):
    with pytest.raises(InternalError, match=r"a loop over j in A\[i, j\] goes from 0 to 1, not 0"):
        run(changed(code, first=imp.ZERO, last=imp.ZERO), arguments())


def test_more_than_the_part_that_is_said(code):
    with pytest.raises(InternalError, match="goes from 0 to 1"):
        run(changed(code, first=imp.ONE, last=imp.ONE, part=True), arguments())


def test_what_is_said_of_lists_is_checked_before_anything_runs(code):
    check(code)
    with pytest.raises(InternalError, match="level 7 of A has no list to go through"):
        check(changed(code, level=7))
    wrong = replace(code.arguments[1], entries=(imp.Entries(imp.Var("k"), imp.LAST),))
    with pytest.raises(InternalError, match="the variable k is used before"):
        check(replace(code, arguments=(code.arguments[0], wrong)))


def test_pointers_that_decrease(code):
    with pytest.raises(InternalError, match="A_ptr does not ascend at 1"):
        run(code, arguments(ptr=(0, 2, 1, 3)))


@pytest.mark.parametrize("idx", [(1, 0, 2), (0, 0, 2)])
def test_coordinates_of_a_row_that_do_not_ascend(code, idx):
    with pytest.raises(InternalError, match="A_idx does not ascend at 0"):
        run(code, arguments(ptr=(0, 3, 3, 3), idx=idx))


def test_coordinates_of_different_rows_may_be_any(code):
    status, _ = run(code, arguments(idx=(2, 1, 0)))
    assert status == imp.OK


def test_what_is_said_by_names_that_are_gone_is_forgotten(code):
    gone = changed(code, first=imp.Var("gone"))
    known = frozenset(d.name for a in code.arguments for d in a.dims)
    left = replace(gone, body=forget_stale(gone.body, known))
    assert [loop.over.spans for loop in walks(left)] == [()]
    assert forget_stale(code.body, known) is code.body


def test_tiles_that_are_longer_than_is_said(code):
    def rule(stmt):
        is_loop = isinstance(stmt, imp.For)
        return replace(stmt, over=replace(stmt.over, tile=2)) if is_loop else None

    wrong = replace(code, body=rewrite_statements(code.body, rule))
    with pytest.raises(InternalError, match="the range of i is longer than a tile"):
        run(wrong, arguments())


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tile", ["", "split({}, tile, within, 4)"], ids=["whole", "tiled"])
def test_loops_of_shipped_code_say_what_they_go_through(name, tile):
    """But for those that count turns of others, and those that store pointers of empty rows."""
    kernel, given = arguments_of(name)
    outer = "j" if name == "spmv_columns" else "i0" if name in MOVES else "i"
    program = replace(kernel.program, schedule=parse_schedule(tile.format(outer)))
    for loop in statements(Kernel(program).lowered(*given).kernel.body):
        if isinstance(loop, imp.For | imp.While):
            over, inside = loop.over, list(statements(loop.body))
            turns = any(isinstance(s, imp.For) and s.over.tile for s in inside)
            stores = [s.buffer.holds for s in inside if isinstance(s, imp.Store)]
            pointers = any(held is not None and held.role == "position" for held in stores)
            assert over.spans or over.text or over.tile or turns or pointers, show(loop)


# -- every claim, made wrong -----------------------------------------------------------------------


@ln.kernel
def products(y, A, B):
    y[...] = 0
    for i, j in ...:
        y[i] += A[i, j] * B[i, j]
    return y


LISTED = {letter: nest("D" + letter) for letter in "SBHCRUK"} | {
    "COO": ln.COO(2),
    "tiles": stack(ln.Dense(ln.SparseTiles(2, 2, ln.Element(0.0)))),
    "symmetric": ln.SYMMETRIC,
    "symmetric tiles": ln.SYMMETRIC_TILES,
}
M = np.diag([1.0, 2, 3, 4, 5, 0, 7])  # some rows have an entry on the diagonal, some have none
for row, column in ((1, 0), (3, 2), (5, 1), (5, 2), (6, 0), (6, 3)):
    M[row, column] = M[column, row] = 4
TILES = "collapse(i, j, f) pos(f, p, A) split(p, p0, p1, 2)"


def subject(kernel, *formats, text=""):
    """A kernel under a schedule, its code, and how it is run with another code."""
    program = kernel.schedule().apply(text).program if text else kernel.program
    operands = [ln.asarray(M, format=format) for format in formats]
    y = ln.empty_tensor(ln.DENSE(1))
    args = dict(zip(program.params, (y, *operands), strict=True))
    found = Subject.of(program, args)
    shapes = dict.fromkeys(program.params[1:], (7, 7)) | {"y": (7,)}
    run_with(found, found.code, args, shapes)
    return found, lambda code: run_with(found, code, args, shapes)


def run_with(subject, code, args, shapes):
    replace(subject, code=code).interpreted(args, shapes)


def loops_with(code, wrong: Callable[[imp.For | imp.While], imp.For | imp.While | None]):
    """The code with one loop after the other that says something wrong."""
    loops = [s for s in statements(code.body) if isinstance(s, imp.For | imp.While)]
    for loop in loops:
        new = wrong(loop)
        if new is not None:
            body = rewrite_statements(code.body, lambda s: new if s is loop else None)  # noqa: B023
            yield replace(code, body=body)


def with_spans(change):
    """A loop, of whose spans over a tensor another thing is said."""

    def wrong(loop):
        if not any(span.tensor for span in loop.over.spans):
            return None
        spans = tuple(change(s) if s.tensor else s for s in loop.over.spans)
        return replace(loop, over=replace(loop.over, spans=spans))

    return wrong


def refused(run, codes):
    """All of these are refused; how many there are."""
    count = 0
    for code in codes:
        with pytest.raises(InternalError):
            run(code)
        count += 1
    return count


FAR = imp.Const(1000, imp.INT)
SPANS = {
    "another fiber": lambda s: replace(s, first=s.first + 2, last=s.last + 2),
    "a fiber that is not there": lambda s: replace(s, first=FAR, last=FAR),
    "another level": lambda s: replace(s, level=7),
    "another tensor": lambda s: replace(s, tensor="nobody"),
}


@pytest.mark.parametrize("name", LISTED)
@pytest.mark.parametrize("change", SPANS)
def test_loops_through_lists_of_every_level(name, change):
    found, run = subject(rows, LISTED[name])
    assert refused(run, loops_with(found.code, with_spans(SPANS[change])))


@ln.kernel
def flat_rows(y, A):
    y[...] = 0
    for i, j in ln.flat(ln.stored(A)):
        y[i] += A[i, j]
    return y


@pytest.mark.parametrize("format", [ln.DENSE(2), nest("SD"), ln.CSR, ln.COO(2)], ids=str)
@pytest.mark.parametrize("change", SPANS)
def test_loops_through_all_positions(format, change):
    """Also of levels without pointers."""
    found, run = subject(flat_rows, format)
    if change == "another fiber" and format in (ln.CSR, ln.DENSE(2)):
        change = "a fiber that is not there"  # it goes through several
    assert refused(run, loops_with(found.code, with_spans(SPANS[change])))


def test_parts_that_are_said_to_be_the_whole():
    found, run = subject(rows, ln.CSR, text=TILES)

    def whole(loop):
        spans = tuple(replace(span, part=False) for span in loop.over.spans)
        return None if spans == loop.over.spans else replace(loop, over=imp.Over(spans=spans))

    assert refused(run, loops_with(found.code, whole)) == 2


def test_indices_of_another_dimension():
    found, run = subject(rows, ln.CSR)

    def longer(loop):
        spans = tuple(replace(s, last=s.last + 1) for s in loop.over.spans if not s.tensor)
        return replace(loop, over=imp.Over(spans=spans)) if spans else None

    assert refused(run, loops_with(found.code, longer)) == 1


POSITIONS = {
    "outside": lambda s: replace(s, position=s.position + 1000),
    "of something else": lambda s: replace(s, position=imp.ZERO),
    "backward": lambda s: replace(s, position=s.last + s.first - s.position),
}


@pytest.mark.parametrize("change", POSITIONS)
def test_positions_of_walks_together(change):
    found, run = subject(products, ln.CSR, ln.CSR)

    def wrong(loop):
        return None if isinstance(loop, imp.For) else with_spans(POSITIONS[change])(loop)

    assert refused(run, loops_with(found.code, wrong))


def test_ranges_that_end_before_they_begin():
    found, run = subject(rows, ln.CSR)

    def wrong(loop):
        new = replace(loop, stop=loop.start - 1, over=imp.Over(ordered=True))
        return new if isinstance(loop, imp.For) else None

    assert refused(run, loops_with(found.code, wrong)) == 2


def test_rows_do_not_follow_one_another_in_a_row():
    """A loop over rows goes from part to part of what is stored, but not of the columns."""
    found, run = subject(rows, ln.CSR)
    dense, run_dense = subject(rows, ln.DENSE(2))

    def counts(loop):
        return replace(loop, over=replace(loop.over, counter="j"))

    run(next(loops_with(found.code, counts)))
    assert refused(run_dense, [next(loops_with(dense.code, counts))])


@ln.kernel
def diagonal(y, A):
    y[...] = 0
    for i in ...:
        for j in range(A.shape[1]):
            y[j] += A[i, i]
    return y


@ln.kernel
def by_hand(y, A):
    ln.declare(y, 0.0, (A.shape[0],))
    for t in range(A.shape[0]):
        for i in range(t * 1, min(A.shape[0], t * 1 + 1)):
            for j in ...:
                y[i] += A[i, j]
    return y


@pytest.mark.parametrize("kernel", [rows, diagonal])
@pytest.mark.parametrize("size", [1, 2])
def test_what_counts_parts_of_one_index_is_the_loop_itself(kernel, size):
    format = nest("DS")
    plain, _ = subject(kernel, format)
    tiled, _ = subject(kernel, format, text=f"split(i, i0, i1, {size})")
    for found, count in ((plain, 0), (tiled, size > 1)):
        loops = [s for s in statements(found.code.body) if isinstance(s, imp.For)]
        assert [loop.over.counter for loop in loops if loop.over.counter] == ["i"] * count


@ln.kernel
def no_column(y, A):
    ln.declare(y, 0.0, (A.shape[0],))
    for i in ...:
        for t in range(ln.parts(range(A.shape[1]), 2)):
            for _j in ln.part(range(A.shape[1]), t, 2):
                y[i] += A[i, i]
    return y


@ln.kernel
def no_row(y, A):
    ln.declare(y, 0.0, (A.shape[0],))
    for t in range(ln.parts(range(A.shape[0]), 2)):
        for _i in ln.part(range(A.shape[0]), t, 2):
            for k in ...:
                y[k] = A[k, k]
    return y


@pytest.mark.parametrize("kernel", [no_column, no_row])
@pytest.mark.parametrize("levels", ["DD", "DS", "SS"])
def test_what_counts_parts_over_which_no_loop_is_left_is_no_counter(kernel, levels):
    """Another loop inside begins anew with each of them, and goes through no part."""
    found, run = subject(kernel, nest(levels))
    run(found.code)
    assert not any(isinstance(s, imp.For) and s.over.counter for s in statements(found.code.body))


def test_what_counts_parts_of_one_index_by_hand():
    found, _ = subject(by_hand, nest("DS"))
    assert not any(isinstance(s, imp.For) and s.over.counter for s in statements(found.code.body))


@pytest.mark.parametrize("text", ["split(i, i0, i1, 2)", "split(j, j0, j1, 2)"])
def test_parts_that_come_in_another_order(text):
    found, run = subject(rows, ln.DENSE(2), text=text)

    def backward(loop):
        if not loop.over.counter:
            return None
        turned = imp.Let(imp.Var(f"{loop.var.name}_turned"), loop.stop - 1 - loop.var)
        body = substitute(loop.body, {loop.var.name: turned.var})
        return replace(loop, body=imp.Block((turned, *body.stmts)))

    assert refused(run, loops_with(found.code, backward))


ARRAYS = {
    "per fiber, not per entry": ("S", "idx", {"fiber": True}),
    "per entry, not per fiber": ("N", "idx", {"fiber": False}),
    "pointers of each entry": ("S", "ptr", {"fiber": False}),
    "coordinates that ascend": ("N", "idx", {"ascends": True}),
    "values that ascend": ("S", "val", {"ascends": True}),
    "coordinates that are unique": ("COO", "idx0", {"unique": True}),
    "pointers that are unique": ("S", "ptr", {"unique": True}),
}


@pytest.mark.parametrize("claim", ARRAYS)
def test_arrays_of_which_something_wrong_is_said(claim):
    letter, array, fields = ARRAYS[claim]
    format = LISTED.get(letter) or nest("D" + letter)
    matrix = M.copy()
    matrix[3] = 0  # a row that is empty
    A = ln.asarray(matrix, format=format)
    args = {"y": ln.empty_tensor(ln.DENSE(1)), "A": A}
    found = Subject.of(rows.program, args)
    shapes = {"A": (7, 7), "y": (7,)}
    run_with(found, found.code, args, shapes)

    def said(argument):
        buffers = [
            replace(b, holds=replace(b.holds, **fields)) if b.holds.array == array else b
            for b in argument.buffers
        ]
        return replace(argument, buffers=tuple(buffers))

    wrong = [said(a) if a.name == "A" else a for a in found.code.arguments]
    with pytest.raises(InternalError):
        run_with(found, replace(found.code, arguments=tuple(wrong)), args, shapes)


def test_a_position_that_ends_beyond_its_span():
    """Also where the loop does not begin another turn."""
    at, ptr = imp.Var("at"), imp.Buffer("A_ptr", "int64")
    entries = imp.Entries(ptr[imp.FIRST], ptr[imp.LAST])
    span = imp.Span("A", 0, imp.ZERO, imp.ONE, part=True, position=at)
    for step, right in ((1, True), (2, False)):
        more = imp.Binary("<", at, ptr[1], imp.BOOL)
        loop = imp.While(more, imp.Block((imp.Assign(at, at + step),)), imp.Over("", (span,)))
        stmts = (imp.Let(at, imp.ZERO), loop, imp.Return(imp.ZERO))
        argument = imp.Argument("A", (), (ptr,), (entries,))
        kernel = imp.Kernel("k", (argument,), imp.Block(stmts))
        given = {"A": ((), {"A_ptr": np.array([0, 3])})}
        if right:
            assert run(kernel, given)[0] == imp.OK
        else:
            with pytest.raises(InternalError, match="goes from 4 to 4, not 0 to 3"):
                run(kernel, given)
