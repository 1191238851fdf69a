"""A program with one tile gets the code of the untiled one, but for its bounds."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.golden.test_code import PROGRAMS, stored
from tests.golden.test_moves import FORMAT, KERNELS
from tests.levels.test_code import PROGRAMS as LEVELS

import linnet as ln
from linnet import imp
from linnet.imp.fold import fold
from linnet.imp.printer import show
from linnet.imp.rewrite import rewrite, statements, substitute
from linnet.imp.simplify import simplify as simplify_code
from linnet.runtime.kernel import Kernel
from linnet.runtime.slices import sizes
from linnet.scheduling.text import parse_schedule

HUGE = 2**40  # indices: of any dimension there is one part
NAMES = {kernel.__name__: (kernel, result, operands) for kernel, result, *operands in PROGRAMS}
MOVES = {kernel.__name__: (kernel, given, numbers) for kernel, given, numbers in KERNELS}


def code_of(name: str, schedule: str = "") -> imp.Kernel:
    """The code of a program for operands of its formats."""
    kernel, given = arguments(name)
    program = replace(kernel.program, schedule=parse_schedule(schedule))
    with ln.config(without=("default_schedule",)):  # who says something gets that alone
        return Kernel(program).lowered(*given).kernel


def arguments(name: str) -> tuple[Kernel, list[ln.Tensor]]:
    """A kernel of the golden files, and what it is called with there."""
    if name in MOVES:
        kernel, operands, numbers = MOVES[name]
        return kernel, [ln.empty_tensor(FORMAT), *operands, sizes((9, 4, 4, *[2] * numbers))]
    if name in LEVELS:
        kernel, result, given = LEVELS[name]
        operands = [ln.asarray(operand) for operand in given]
    else:
        kernel, result, given = NAMES[name]
        operands = [stored(*operand) for operand in given]
    return kernel, [ln.scalar(0.0) if result is None else ln.empty_tensor(result), *operands]


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
            case imp.Binary("min", a, b) if size in (a, b):
                return a if b == size else b
            case imp.Binary("max", x, start) if start == imp.ZERO:
                return x
            case imp.Binary("and", cond, imp.Binary("<", start, stop)) if stop == size:
                return cond if start == imp.ZERO else None
            case imp.If(imp.Binary("<", start, stop), whole, imp.EMPTY) if stop == size:
                return whole if start == imp.ZERO else None  # a tile, unlike all, may be nowhere
            case imp.Grow(buffer, count):
                return imp.Grow(buffer, count)
            case imp.Binary() | imp.Cast():
                return fold(node)
            case imp.Call(function, (imp.Address(buffer), first, last, at)):
                if not function.startswith(("search_", "gallop_")) or at not in (*BEGIN, size):
                    return None
                if buffer.name.endswith("_right") and at == size:  # a run, and not what is behind
                    return (last.a if isinstance(last, imp.Binary) else last) - 1
                return last if at == size else first
            case imp.For(over=over) if any(span.part for span in over.spans):
                spans = tuple([replace(span, part=False) for span in over.spans])
                return replace(node, over=replace(over, spans=spans))
            case imp.Block(stmts):
                return _without_bounds([s for stmt in stmts for s in _of_all(stmt)], moved)
        return None

    body = kernel.body
    moved = {s.var.name for s in statements(body) if isinstance(s, imp.Assign)}
    for _ in range(3):  # bounds of bounds
        body = rewrite(body, rule)
    body = imp.Block(tuple([s for s in body.stmts if not _is_of_cursor(s)]))
    return simplify_code(replace(kernel, body=body)).body


def _is_of_cursor(stmt: imp.Stmt) -> bool:
    """Whether a statement beside the tile only says up to which row all pointers are stored."""
    sets = [s for s in statements(imp.Block((stmt,))) if isinstance(s, imp.Let | imp.Assign)]
    return bool(sets) and all(re.search(r"_f(_\d+)?$", s.var.name) for s in sets)


def _of_all(stmt: imp.Stmt) -> tuple[imp.Stmt, ...]:
    """What is done in the only tile, if it is a loop over tiles."""
    if isinstance(stmt, imp.For) and stmt.over.counter:
        return substitute(stmt.body, {stmt.var.name: imp.ZERO}).stmts
    return (stmt,)


def _without_bounds(stmts: list[imp.Stmt], moved: set[str]) -> imp.Block:
    """Statements with what bounds are, in the place of their names, and positions not `moved`."""
    known: dict[str, imp.Expr] = {}
    rest: list[imp.Stmt] = []
    for stmt in stmts:
        stmt = substitute(stmt, known)
        name = stmt.var.name if isinstance(stmt, imp.Let | imp.Assign) else ""
        fixed = name.endswith("_q") and name not in moved
        if (BOUND.search(name) or fixed) and isinstance(stmt, imp.Let):
            known[name] = stmt.value
        elif isinstance(stmt, imp.Grow):
            _put_first(rest, stmt)
        elif not BOUND.search(name):
            rest.append(stmt)
    return imp.Block(tuple(rest))


def _put_first(stmts: list[imp.Stmt], grow: imp.Grow) -> None:
    """Make room before variables get the values from which it is computed how much."""
    at, known = len(stmts), dict[str, imp.Expr]()
    while at and isinstance(let := stmts[at - 1], imp.Let):
        at, known = at - 1, {let.var.name: let.value} | known
    stmts.insert(at, substitute(grow, known))


BEGIN = (imp.ZERO, imp.ONE)  # where a tile begins, and behind its first index
BOUND = re.compile(r"_(start|end|lo|hi|last|reached|begin|parts)(_\d+)?$|^(room|visits)(_\d+)?$")

DIFFERENT = {
    # a walk through runs with gaps goes on until it has passed the end of a tile: the run that is
    # found where that ends may begin behind it
    "sparse_run_total": "a tile may end within a run, and its end is not searched for",
    # what is stored together are strips of another height, with entries in the order of columns:
    # the rows of a tile are no range of them, and its entries are searched for one by one
    "symmetric_tiles_spmv": "the rows of a tile are no range of what is stored",
}
CASES = [*NAMES, *LEVELS, *MOVES]


@pytest.mark.parametrize("name", CASES)
def test_one_tile(name, request):
    if name in DIFFERENT:
        request.applymarker(pytest.mark.xfail(reason=DIFFERENT[name], strict=True))
    outer = "j" if name == "spmv_columns" else "i0" if name in MOVES else "i"
    plain, tiled = code_of(name), code_of(name, f"split({outer}, tile, within, {HUGE})")
    size = imp.Var(f"n_{outer}")
    assert show(without_tile(tiled, size)) == show(without_tile(plain, size))
