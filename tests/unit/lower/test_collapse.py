"""What fibers store that follow one another is gone through by one loop, and means the same."""

from __future__ import annotations

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


def loops_of(program: Program) -> int:
    """How many loops lowering makes of it."""
    args, kernel = arguments(program), Kernel(program.program)
    with ln.config(without=tuple(STEPS)):
        code = kernel.lowered(*[args[p] for p in kernel.params]).kernel
    return sum(isinstance(s, imp.For | imp.While) for s in statements(code.body))


TOTALS = """
rows: y:= <- A:ij=DS
    y[...] = 0
    for i, j in ...:
        @y[()] += A[i, j]

rows that are there: y:= <- A:ij=SS
    y[...] = 0
    for i, j in ...:
        @y[()] += A[i, j]

fibers: y:= <- A:ijk=SSS
    y[...] = 0
    for i, j, k in ...:
        @y[()] += A[i, j, k]

two coordinates: y:= <- A:ij=2
    y[...] = 0
    for i, j in ...:
        @y[()] += A[i, j]

three coordinates: y:= <- A:ijk=3
    y[...] = 0
    for i, j, k in ...:
        @y[()] += A[i, j, k]

coordinates in rows: y:= <- A:ijk=D2
    y[...] = 0
    for i, j, k in ...:
        @y[()] += A[i, j, k]

columns: y:j=D <- A:ij=DS
    y[...] = 0
    for i, j in ...:
        @y[j] += A[i, j]

a number of rows: y:= <- A:ij=DS
    y[...] = 0
    n = A.shape[0] - 2
    for i in range(n):
        for j in ...:
            @y[()] += A[i, j]

rows from the third on: y:= <- A:ij=DS
    y[...] = 0
    for i in range(2, A.shape[0]):
        for j in ...:
            @y[()] += A[i, j]

under a condition: y:= <- A:ij=DS x:j=D
    y[...] = 0
    for i, j in ...:
        if x[j] > 2:
            @y[()] += A[i, j]

two results: y:= z:= <- A:ij=SS
    y[...] = 0
    z[...] = 0
    for i, j in ...:
        @y[()] += A[i, j]
        z[()] += A[i, j] * A[i, j]

blocks: y:j=D <- A:ij=DV
    y[...] = 0
    for i, j in ...:
        @y[j] += A[i, j]

in rows: y:i=D <- A:ijk=DSS
    y[...] = 0
    for i, j, k in ...:
        @y[i] += A[i, j, k]
"""
PROGRAMS = read("totals", TOTALS)
IN_ROWS = ("in rows", "blocks")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_one_loop_goes_through_all(program: Program):
    assert loops_of(program) == (2 if program.name in IN_ROWS else 1)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_meaning_stays(program: Program):
    agrees(program, PROGRAMS.index(program))
    for _, changed in changes(program):
        agrees(changed, len(program.text))


COUNTED = """
rows: y:ij=DS/10 <- A:ij=DS
    y[...] = 0
    for i, j in ...:
        @y[i, j] = A[i, j]

coordinates: y:ij=DS/10 <- A:ij=2
    y[...] = 0
    for i, j in ...:
        @y[i, j] = A[i, j]
"""


@pytest.mark.parametrize("program", read("counted", COUNTED), ids=lambda p: p.name)
def test_what_is_counted_is_counted_in_one_loop(program: Program):
    assert loops_of(program) == 1 + 2
    agrees(program, 0)


STAYS = """
the row counts: y:= <- A:ij=DS v:i=D
    y[...] = 0
    for i, j in ...:
        @y[()] += A[i, j] * v[i]

half of it: y:= <- A:ij=DS
    y[...] = 0
    for i, j in ...:
        if i <= j:
            @y[()] += A[i, j]

rows that share a list: y:= <- A:ij=DT
    y[...] = 0
    for i, j in ...:
        @y[()] += A[i, j]

until a negative one: y:= <- A:ij=DS
    y[...] = 0
    for i in ...:
        for j in ...:
            @y[()] += A[i, j]
            if A[i, j] < 0:
                break

columns from the third on: y:= <- A:ij=DS
    y[...] = 0
    for i in ...:
        for j in range(2, A.shape[1]):
            @y[()] += A[i, j]
"""


@pytest.mark.parametrize("program", read("stays", STAYS), ids=lambda p: p.name)
def test_what_differs_from_fiber_to_fiber_stays(program: Program):
    assert loops_of(program) >= 2
    agrees(program, 0)


EMPTY = """
nothing: y:= <- A:ij=DS n:=:int64
    y[...] = 0
    start, stop = n[()] + START, n[()] + STOP
    for i in range(start, stop):
        for j in ...:
            @y[()] += A[i, j]
"""


RANGES = [(0, 0), (9, 9), (99, 99), (99, 1), (-1, -1), (-9, -9)]


@pytest.mark.parametrize(("start", "stop"), RANGES)
def test_where_no_fiber_is_none_is_read(start: int, stop: int):
    """The interpreter looks at nothing beyond an array."""
    (program,) = read("empty", EMPTY.replace("START", str(start)).replace("STOP", str(stop)))
    for seed in range(3):
        agrees(program, seed)
