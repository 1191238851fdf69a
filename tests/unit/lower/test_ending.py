"""A loop that comes to all fibers of a result, in order, says where each of them ends."""

from __future__ import annotations

import numpy as np
import pytest
from tests.optimize.changes import changes
from tests.optimize.corpus import Program, read
from tests.optimize.data import arguments
from tests.optimize.test_corpus import agrees

import linnet as ln
from linnet import imp
from linnet.imp.rewrite import statements
from linnet.optimize.table import STEPS
from linnet.runtime.kernel import Kernel


def cursors_in(program: Program) -> int:
    """How often a cursor catches up with a fiber of `y`, in what lowering makes of it."""
    args, kernel = arguments(program), Kernel(program.program)
    with ln.config(without=tuple(STEPS)):
        code = kernel.lowered(*[args[p] for p in kernel.params]).kernel
    return sum(isinstance(s, imp.While) and "_f" in repr(s.cond) for s in statements(code.body))


ENDED = """
picked rows: y:ij=DS <- A:lj=DS P:i=D<l
    ln.declare(y, 0, (P.shape[0], A.shape[1]))
    for i, j in ...:
        @y[i, j] = A[P[i], j]

picked rows in blocks: y:ij=DV <- A:lj=DS P:i=D<l
    ln.declare(y, 0, (P.shape[0], A.shape[1]))
    for i, j in ...:
        @y[i, j] = A[P[i], j]

picked rows in bands: y:ij=Db <- A:lj=DS P:i=D<l
    ln.declare(y, 0, (P.shape[0], A.shape[1]))
    for i, j in ...:
        @y[i, j] = A[P[i], j]

rows of some numbers: y:ij=DS <- A:ij=DS x:i=D
    ln.declare(y, 0, (A.shape[0], A.shape[1]))
    for i in ...:
        if x[i] > 1:
            for j in ...:
                @y[i, j] = A[i, j]

rows of one tensor or of another: y:ij=DS <- A:ij=DS B:ij=DS x:i=D
    ln.declare(y, 0, (A.shape[0], A.shape[1]))
    for i in ...:
        if x[i] > 1:
            for j in ...:
                @y[i, j] = A[i, j]
        else:
            for j in ...:
                y[i, j] = B[i, j]
"""
FURTHER = """
rows of rows: y:ikj=DDS <- A:kj=DS B:ik=DD
    ln.declare(y, 0, (B.shape[0], A.shape[0], A.shape[1]))
    for i, k in ...:
        if B[i, k] > 1:
            for j in ...:
                @y[i, k, j] = A[k, j]

rows further on: y:ij=DS <- A:ij=DS
    ln.declare(y, 0, (A.shape[0] + 2, A.shape[1]))
    for i, j in ...:
        @y[i + 2, j] = A[i, j]

one tensor behind the other: y:ij=DS <- A:ij=DS B:lj=DS
    ln.declare(y, 0, (A.shape[0] + B.shape[0], A.shape[1]))
    for i in range(A.shape[0]):
        for j in ...:
            @y[i, j] = A[i, j]
    for l in range(B.shape[0]):
        for m in ...:
            y[l + A.shape[0], m] = B[l, m]
"""
OPENED = """
rows that are there: y:ij=DS <- A:ij=SS
    ln.declare(y, 0, (A.shape[0], A.shape[1]))
    for i, j in ...:
        @y[i, j] = A[i, j]

until one is found: y:ij=DS <- A:ij=DS x:i=D
    ln.declare(y, 0, (A.shape[0], A.shape[1]))
    for i in ...:
        if x[i] > 1:
            break
        for j in ...:
            @y[i, j] = A[i, j]
"""


def programs(text: str) -> list[object]:
    return [pytest.param(p, id=p.name) for p in read("ends of fibers", text)]


@pytest.mark.parametrize("program", programs(ENDED))
def test_a_loop_over_all_rows_needs_no_cursor(program):
    assert cursors_in(program) == 0


@pytest.mark.parametrize("program", programs(FURTHER))
def test_rows_before_the_first_are_ended_before_the_loop(program):
    assert 1 <= cursors_in(program) <= 2


@pytest.mark.parametrize("program", programs(OPENED))
def test_where_not_every_turn_is_made_a_cursor_follows(program):
    assert cursors_in(program) >= 2


@pytest.mark.parametrize("program", [*programs(ENDED), *programs(FURTHER), *programs(OPENED)])
def test_the_meaning_stays(program):
    agrees(program, 1)
    for _, changed in changes(program):
        agrees(changed, 2)


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_parts_of_rows_go_on_where_the_last_ended(size):
    """A loop that counts the parts of rows turns back to none."""
    (program, *_) = read("", ENDED)
    kernel = Kernel(program.program).schedule().apply(f"split(i, i0, i1, {size})")
    args = arguments(program)
    expected = args["A"].to_numpy()[args["P"].to_numpy()]
    np.testing.assert_array_equal(kernel(**args).to_numpy(), expected)
