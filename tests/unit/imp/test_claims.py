"""What loops and buffers say of themselves is checked in every run, and is so in shipped code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet import imp
from linnet.errors import InternalError
from linnet.imp.interpret import run
from linnet.imp.printer import show
from linnet.imp.rewrite import rewrite_statements, statements
from linnet.imp.stale import forget_stale


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
