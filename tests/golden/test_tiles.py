"""A program with one tile gets the code of the untiled one, but for its bounds."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.golden.test_code import PROGRAMS, stored

import linnet as ln
from linnet import imp
from linnet.compiler import simplify_code
from linnet.imp.fold import fold
from linnet.imp.printer import show
from linnet.imp.rewrite import rewrite, substitute
from linnet.runtime.kernel import Kernel
from linnet.scheduling.text import parse_schedule

HUGE = 2**40  # indices: of any dimension there is one part
NAMES = {kernel.__name__: (kernel, result, operands) for kernel, result, *operands in PROGRAMS}


def code_of(name: str, schedule: str = "") -> imp.Kernel:
    """The code of a program for operands of its formats."""
    kernel, result, operands = NAMES[name]
    program = replace(kernel.program, schedule=parse_schedule(schedule))
    out = ln.scalar(0.0) if result is None else ln.empty_tensor(result)
    return Kernel(program).lowered(out, *(stored(*o) for o in operands)).kernel


def without_tile(kernel: imp.Kernel, size: imp.Var) -> imp.Block:
    """What the code does, with its one tile put in the place of the loops that count tiles.

    Of one tile it is known that it begins where the range does and ends where that does: a search
    for where it begins finds the first entry, one for where it ends finds the end, and nothing has
    to be remembered from tile to tile. Bounds stand where they are used, whatever their names are.
    All else must be as it is without tiles: the statements in the loop, how results are written,
    what room is made for them and where, what is cleared.
    """

    def rule(node: imp.Node) -> imp.Node | None:
        match node:
            case imp.Binary("min", imp.Const(value), x) if value == HUGE:
                return x
            case imp.Binary() | imp.Cast():
                return fold(node)
            case imp.Call(function, (imp.Address(), first, last, at)):
                if function.startswith(("search_", "gallop_")) and at in (imp.ZERO, size):
                    return first if at == imp.ZERO else last
            case imp.Block(stmts):
                return _without_bounds([s for stmt in stmts for s in _of_all(stmt)])
        return None

    body = kernel.body
    for _ in range(3):  # bounds of bounds
        body = rewrite(body, rule)
    return simplify_code(replace(kernel, body=body)).body


def _of_all(stmt: imp.Stmt) -> tuple[imp.Stmt, ...]:
    """What is done in the only tile, if it is a loop over tiles."""
    if isinstance(stmt, imp.For) and stmt.over.counter:
        return substitute(stmt.body, {stmt.var.name: imp.ZERO}).stmts
    return (stmt,)


def _without_bounds(stmts: list[imp.Stmt]) -> imp.Block:
    """Statements with what bounds are, in the place of their names."""
    known: dict[str, imp.Expr] = {}
    rest: list[imp.Stmt] = []
    for stmt in stmts:
        stmt = substitute(stmt, known)
        name = stmt.var.name if isinstance(stmt, imp.Let | imp.Assign) else ""
        if BOUND.search(name) and isinstance(stmt, imp.Let):
            known[name] = stmt.value
        elif not BOUND.search(name):
            rest.append(stmt)
    return imp.Block(tuple(rest))


BOUND = re.compile(r"_(start|end|lo|hi|reached|parts)(_\d+)?$")

DIFFERENT = {
    "add_three": "room is made in each tile for what its operands store there, found by searches",
    "total": "the entries of a tile are summed apart, since they are a loop inside a loop",
}


@pytest.mark.parametrize("name", NAMES)
def test_one_tile(name, request):
    if name in DIFFERENT:
        request.applymarker(pytest.mark.xfail(reason=DIFFERENT[name], strict=True))
    outer = "j" if name == "spmv_columns" else "i"
    plain, tiled = code_of(name), code_of(name, f"split({outer}, t, u, {HUGE})")
    size = imp.Var(f"n_{outer}")
    assert show(without_tile(tiled, size)) == show(without_tile(plain, size))
