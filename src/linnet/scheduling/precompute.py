"""`precompute`: a part of an update is collected in a workspace first (WORK §6.1).

    for k, i, j: A[j, i] += B[i, k] * C[k, j]

becomes, with `B[i, k] * C[k, j]` precomputed over i, j into w,

    w[...] = 0
    for k, i, j: w[i, j] += B[i, k] * C[k, j]
    for j_2, i_2: A[j_2, i_2] = w[i_2, j_2]

The workspace is stored in the order in which it is used, by j and then i.

Loops over indices of the result that are not precomputed stay around both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from linnet import loops
from linnet.algebra.function import Function
from linnet.errors import ScheduleError
from linnet.formats.format import Format
from linnet.loops.printer import show
from linnet.loops.rewrite import (
    block,
    map_stmts,
    rewrite_expr,
    rewrite_stmt,
    substitute_expr,
    walk,
)
from linnet.names import Names


def precompute(
    program: loops.Program,
    expr: loops.Expr,
    i_vars: Sequence[str],
    o_vars: Sequence[str],
    name: str,
    format: Format,
) -> loops.Program:
    """Collect `expr` over `i_vars` in a temporary; what uses it runs over `o_vars`.

    Needs: one update has `expr` in its value, which runs over all of `i_vars` and depends on no
    other index of the result; what else is in the value depends on no index that is reduced over.
    """
    update = _update_with(program, expr)
    _check(update, expr, i_vars, o_vars, format, name, program)
    names = Names({n.index for n in walk(program.body) if isinstance(n, loops.Loop)})
    fresh = {i: names.fresh(o) for i, o in zip(i_vars, o_vars, strict=True)}
    workspace = loops.Access(name, tuple(loops.Index(i) for i in i_vars), at=update.at)
    begin = loops.Declare(name, loops.Literal(_identity(update, format)), at=update.at)
    produce = loops.Assign(workspace, update.op, expr, update.at)
    rest = rewrite_expr(update.value, lambda e: workspace if e == expr else None)
    order = ow_order(update.target, i_vars)
    consume = _consume(update, rest, {i_vars[m]: fresh[i_vars[m]] for m in order})

    def around(stmt: loops.Stmt) -> loops.Stmt:
        change = rewrite_stmt(stmt, lambda s: produce if s is update else None)
        return block([begin, change, consume])

    body = _placed(program.body, update, i_vars, around)
    stored = format.with_order(*(order[k] for k in format.order))
    return replace(program, body=body, temporaries=(*program.temporaries, (name, stored)))


def _placed(
    stmt: loops.Stmt,
    update: loops.Assign,
    i_vars: Sequence[str],
    around: Callable[[loops.Stmt], loops.Stmt],
) -> loops.Stmt:
    """A program in which what has the update is changed where the loops of the workspace begin."""
    if not any(n is update for n in walk(stmt)):
        return stmt
    shared = isinstance(stmt, loops.Loop) and (
        stmt.index not in i_vars and loops.Index(stmt.index) in update.target.indices
    )
    if shared or isinstance(stmt, loops.Block):
        return map_stmts(stmt, lambda s: _placed(s, update, i_vars, around))
    return around(stmt)


def _consume(update: loops.Assign, value: loops.Expr, renamed: dict[str, str]) -> loops.Stmt:
    """The loops that write the value to the result, over its indices by new names, in order."""
    indices = {i: loops.Index(o) for i, o in renamed.items()}
    target = substitute_expr(update.target, indices)
    assert isinstance(target, loops.Access)
    stmt: loops.Stmt = loops.Assign(target, None, substitute_expr(value, indices), update.at)
    for index in reversed(renamed.values()):
        stmt = loops.Loop(index, None, stmt, update.at)
    return stmt


def ow_order(target: loops.Access, i_vars: Sequence[str]) -> tuple[int, ...]:
    """The dimensions of the workspace in the order in which the result has their indices.

    It is stored in this order, so that it is read as the result is written (WORK §6.2).
    """
    places = [n.name for t in target.indices for n in walk(t) if isinstance(n, loops.Index)]
    return tuple(sorted(range(len(i_vars)), key=lambda m: places.index(i_vars[m])))


def _update_with(program: loops.Program, expr: loops.Expr) -> loops.Assign:
    """The update whose value has the expression in it."""
    assigns = [n for n in walk(program.body) if isinstance(n, loops.Assign)]
    found = [a for a in assigns if any(n == expr for n in walk(a.value))]
    if len(found) != 1:
        raise ScheduleError(
            f"`{show(expr)}` is in {len(found)} updates of `{program.name}`, and must be in one",
            hint="write it as it stands in the program",
        )
    return found[0]


def _check(
    update: loops.Assign,
    expr: loops.Expr,
    i_vars: Sequence[str],
    o_vars: Sequence[str],
    format: Format,
    name: str,
    program: loops.Program,
) -> None:
    used, free = indices_of(expr), {i for t in update.target.indices for i in indices_of(t)}
    rest = indices_of(rewrite_expr(update.value, lambda e: loops.Literal(0) if e == expr else None))
    reduced = used - free
    taken = {*program.params, *(n for n, _ in program.temporaries)}
    problem = ""
    if len(i_vars) != len(o_vars) or len(i_vars) != format.ndim:
        problem = (
            f"{len(i_vars)} and {len(o_vars)} indices for {format.ndim} dimensions of `{name}`"
        )
    elif name in taken:
        problem = f"there is a tensor `{name}` already"
    elif not set(i_vars) <= free or len(set(i_vars)) < len(i_vars):
        problem = f"{', '.join(i_vars)} are to be different indices of the result"
    elif rest & reduced:
        problem = f"`{min(rest & reduced)}` is reduced over in both parts"
    elif update.value != expr and not _distributes(update.op, update.value, expr):
        problem = f"`{show(update.value)}` is not a product with it, summed up"
    if problem:
        raise ScheduleError(f"cannot precompute `{show(expr)}`: {problem}", at=update.at)


def _distributes(op: Function | None, value: loops.Expr, expr: loops.Expr) -> bool:
    """Whether the update of a product is the product of an update: `a * b + a * c`."""
    if op is None:
        return True
    if op.name != "add":
        return False
    while value != expr:
        if not isinstance(value, loops.Call) or value.function.name != "multiply":
            return False
        value = next(a for a in value.args if any(n == expr for n in walk(a)))
    return True


def _identity(update: loops.Assign, format: Format) -> float | int | bool | complex:
    """What the workspace begins with."""
    if format.fill_value is not None:
        return format.fill_value
    found = None if update.op is None else update.op.identity(format.dtype or "float64")
    return 0 if found is None else found


def indices_of(expr: loops.Expr) -> set[str]:
    """The loop indices in an expression."""
    return {n.name for n in walk(expr) if isinstance(n, loops.Index)}
