"""`precompute`: a part of an update is collected in a workspace first (WORK §6.1, SCHED §4).

    for k, i, j: A[j, i] += B[i, k] * C[k, j]

becomes, with `B[i, k] * C[k, j]` precomputed over i, j into w,

    w[...] = 0
    for k, i, j: w[i, j] += B[i, k] * C[k, j]
    for j_2, i_2: A[j_2, i_2] = w[i_2, j_2]

The workspace is stored in the order in which it is used, by j and then i. Loops that what uses it
needs stay around both, where the workspace begins anew in every turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from linnet import loops
from linnet.algebra.function import Function
from linnet.errors import ScheduleError
from linnet.formats.format import Format
from linnet.loops.printer import show
from linnet.loops.rewrite import block, replaced, substitute_expr, walk
from linnet.names import Names
from linnet.records import dataclass
from linnet.scheduling.factors import Found, part_of


@dataclass(frozen=True, slots=True)
class Around:
    """Where a workspace is made: a statement, the loops around it, and those inside that matter.

    Of the loops inside, `kept` are over indices of the workspace, and `summed` are not.
    """

    stmt: loops.Stmt
    outside: tuple[loops.Loop, ...]
    kept: tuple[loops.Loop, ...]
    summed: tuple[loops.Loop, ...]


def precompute(
    program: loops.Program,
    expr: loops.Expr,
    i_vars: Sequence[str],
    o_vars: Sequence[str],
    name: str,
    format: Format,
) -> loops.Program:
    """Collect `expr` over `i_vars` in a temporary; what uses it runs over `o_vars`.

    Needs: one update has `expr` in its value. Loops over indices that are in the rest of it as well
    stand around those of the workspace.
    """
    found = part_of(program, show(expr), show)
    update = found.update

    def refuse(problem: str, hint: str) -> ScheduleError:
        problem = f"cannot precompute `{show(expr)}`: {problem}"
        return ScheduleError(problem, at=update.at, hint=hint)

    taken = {*program.params, *(n for n, _ in program.temporaries)}
    if len(i_vars) != len(o_vars) or len(i_vars) != format.ndim:
        counts = f"{len(i_vars)} and {len(o_vars)} indices"
        hint = "one index for each of them, and one for the loops that compute it"
        raise refuse(f"{counts} for {format.ndim} dimensions of `{name}`", hint)
    if name in taken:
        raise refuse(f"there is a tensor `{name}` already", "another name for the workspace")
    around = scope_of(program.body, found, i_vars, refuse)
    names = Names({n.index for n in walk(program.body) if isinstance(n, loops.Loop)})
    fresh = {i: names.fresh(o) for i, o in zip(i_vars, o_vars, strict=True)}
    workspace = loops.Access(name, tuple(map(loops.Index, i_vars)), at=update.at)
    begin = loops.Declare(name, loops.Literal(_identity(update, format)), at=update.at)
    produce = loops.Assign(workspace, collected_by(update), found.part, update.at)
    order = ow_order(update.target, i_vars)
    renamed = {i_vars[m]: fresh[i_vars[m]] for m in order}
    values: dict[str, loops.Expr] = {i: loops.Index(o) for i, o in renamed.items()}
    target = substitute_expr(update.target, values)
    assert isinstance(target, loops.Access)
    op, rest = used_by(program, found, around), substitute_expr(found.rest(workspace), values)
    consume: loops.Stmt = loops.Assign(target, op, rest, update.at)
    for index in reversed(renamed.values()):
        consume = loops.Loop(index, None, consume, update.at)
    change = replaced(around.stmt, update, produce)
    made = block([begin, change, consume])
    body = replaced(program.body, around.stmt, made)
    stored = format.with_order(*(order[k] for k in format.order))
    return replace(program, body=body, temporaries=(*program.temporaries, (name, stored)))


def scope_of(
    body: loops.Stmt, found: Found, i_vars: Sequence[str], refuse: Callable[[str, str], Exception]
) -> Around:
    """Where the workspace is made: inside all loops that what uses it needs."""
    update = found.update
    path = [n for n in walk(body) if isinstance(n, loops.Loop) and _has(n, update)]
    indices = [loop.index for loop in path]
    if not set(i_vars) <= set(indices) or len(set(i_vars)) < len(i_vars):
        problem = f"{', '.join(i_vars)} are to be different indices of loops around it"
        raise refuse(problem, f"some of {', '.join(indices)}")
    rest = indices_of(found.rest(loops.Literal(0)))
    needed = {i for t in update.target.indices for i in indices_of(t)} | rest
    while more := {i for n in path if n.index in needed | set(i_vars) for i in _limits(n)} - needed:
        needed |= more
    shared = needed - set(i_vars)
    outside: list[loops.Loop] = []
    stmt = body
    while isinstance(stmt, loops.Block) or (isinstance(stmt, loops.Loop) and stmt.index in shared):
        if isinstance(stmt, loops.Loop):
            outside.append(stmt)
            stmt = stmt.body
        else:
            stmt = next(s for s in stmt.stmts if _has(s, update))
    inside = path[len(outside) :]
    for loop in inside:
        if loop.index in shared:
            reduced = loop.index in rest & indices_of(found.part)
            problem = "is reduced over in both parts" if reduced else "is needed by what uses it"
            problem = f"`{loop.index}` {problem}, and stands inside"
            raise refuse(problem, "put it outside by `reorder`")
    kept = tuple([loop for loop in inside if loop.index in i_vars])
    summed = tuple([loop for loop in inside if loop.index not in i_vars])
    if summed and not found.distributes:
        hint = "precompute a factor of what is summed, over all indices that are summed in it"
        raise refuse(f"`{show(update.value)}` is not a product with it, summed up", hint)
    if summed and collected_by(update) is None:
        hint = "let what is precomputed be no sum: give all indices of its loops"
        raise refuse(f"`{show(update)}` updates by a function whose order counts", hint)
    return Around(stmt, tuple(outside), kept, summed)


def collected_by(update: loops.Assign) -> Function | None:
    """By what parts are collected; None where each element of a workspace gets one of them."""
    op = update.op
    return op if op is not None and op.associative and op.commutative else None


def used_by(program: loops.Program, found: Found, around: Around) -> Function | None:
    """By what the result is updated: `=` is enough where it begins with what changes nothing."""
    update, name = found.update, found.update.target.tensor
    plain = {i.name for i in update.target.indices if isinstance(i, loops.Index)}
    writes = [n for n in walk(program.body) if isinstance(n, loops.Assign | loops.Declare)]
    mine = [n for n in writes if name in (getattr(n, "tensor", None), _target(n))]
    if not {loop.index for loop in (*around.outside, *around.kept)} <= plain or len(mine) != 2:
        return update.op
    match mine[0]:
        case loops.Declare(_, loops.Literal(value)) if update.op is not None:
            identity = update.op.identity("float64")
            return None if identity is not None and value == identity else update.op
    return update.op


def _target(stmt: loops.Stmt) -> object:
    return stmt.target.tensor if isinstance(stmt, loops.Assign) else None


def _has(stmt: loops.Stmt, update: loops.Assign) -> bool:
    return any(n is update for n in walk(stmt))


def _limits(loop: loops.Loop) -> set[str]:
    """The indices by which it is known how far a loop runs."""
    return set() if loop.extent is None else indices_of(loop.extent)


def ow_order(target: loops.Access, i_vars: Sequence[str]) -> tuple[int, ...]:
    """The dimensions of the workspace in the order in which the result has their indices.

    It is stored in this order, so that it is read as the result is written (WORK §6.2).
    """
    places = [n.name for t in target.indices for n in walk(t) if isinstance(n, loops.Index)]
    last = len(places)
    return tuple(
        sorted(
            range(len(i_vars)),
            key=lambda m: places.index(i_vars[m]) if i_vars[m] in places else last,
        )
    )


def _identity(update: loops.Assign, format: Format) -> float | int | bool | complex:
    """What the workspace begins with."""
    if format.fill_value is not None:
        return format.fill_value
    found = None if update.op is None else update.op.identity(format.dtype or "float64")
    return 0 if found is None else found


def indices_of(expr: loops.Node) -> set[str]:
    """The loop indices in an expression or a range."""
    return {n.name for n in walk(expr) if isinstance(n, loops.Index)}
