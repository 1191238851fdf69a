"""Loops whose body does not depend on the index: `n` updates become one."""

from __future__ import annotations

from collections.abc import Callable

from linnet import imp, loops
from linnet.algebra.table import multiply, power
from linnet.formats.fiber import Fiber, Register
from linnet.loops.rewrite import accesses, walk
from linnet.loops.types import dtype_of
from linnet.lower.context import Context, storage_of


def lower_repeated(
    ctx: Context,
    body: loops.Stmt,
    index: imp.Var,
    lo: imp.Expr,
    hi: imp.Expr,
    lower_stmt: Callable[[Context, loops.Stmt], None],
    nonempty: bool = False,
) -> bool:
    """Emit the loop without looping, if the laws of its updates allow that."""
    if any(isinstance(n, loops.Index) and n.name == index.name for n in walk(body)):
        return False
    if carries(body):
        return False
    stmts = body.stmts if isinstance(body, loops.Block) else (body,)
    once = [repeat(ctx, s, hi - lo) for s in stmts]
    if any(s is None for s in once):
        return False
    block = ctx.collect(lambda: lower_stmt(ctx, loops.Block(tuple(s for s in once if s))))
    ctx.b.emit(block if nonempty else imp.If(lo < hi, block, imp.EMPTY))
    return True


def carries(body: loops.Stmt) -> bool:
    """Whether an iteration goes on from what the one before has left: it reads what is written."""
    found = list(accesses(body))
    written = {storage_of(access) for access, is_target in found if is_target}
    return any(storage_of(access) in written for access, is_target in found if not is_target)


def repeat(ctx: Context, stmt: loops.Stmt, times: imp.Expr) -> loops.Stmt | None:
    """One statement that does what `times` of `stmt` do, or None."""
    if not isinstance(stmt, loops.Assign) or not isinstance(stmt.target.tensor, Fiber | Register):
        return None
    if stmt.target.indices:
        return None
    dtype = stmt.target.tensor.storage.format.dtype
    assert dtype is not None
    found = dtype_of(stmt.value, ctx.facts.types)
    match stmt.op.repeat if stmt.op is not None else "once":
        case "once":
            return stmt
        case "times" | "power" if dtype == "bool" and found in ("bool", "weak_bool"):
            return stmt  # on booleans, + is or and * is and
        case "times" if found == dtype or found.startswith("weak_"):
            n = loops.Value(imp.Cast(times, dtype) if dtype != imp.INT else times)
            return loops.Assign(
                stmt.target, stmt.op, loops.Call(multiply, (stmt.value, n)), stmt.at
            )
        case "power" if found == dtype and dtype in ("float32", "float64"):
            n = loops.Value(imp.Cast(times, dtype))
            return loops.Assign(stmt.target, stmt.op, loops.Call(power, (stmt.value, n)), stmt.at)
        case _:
            return None
