"""Leaving a loop early: nothing more can change once every value it updates is annihilated."""

from __future__ import annotations

from functools import reduce

from linnet import imp, loops
from linnet.algebra.function import Function
from linnet.formats.fiber import Register
from linnet.loops.rewrite import walk
from linnet.lower.context import Context


def break_early(ctx: Context, body: loops.Stmt) -> None:
    """After the body of a loop: `if (p) break`, if all that it updates asks for it."""
    cond = settled(body)
    if cond is not None and ctx.running and ctx.running[-1]:
        ctx.b.emit(imp.If(cond, imp.Block((imp.Break(),)), imp.EMPTY))


def settled(body: loops.Stmt) -> imp.Expr | None:
    """That all values which `body` updates are annihilated; None if that is no reason to stop."""
    conds: dict[imp.Var, imp.Expr] = {}
    for stmt in walk(body):
        if isinstance(stmt, loops.Declare):
            return None
        if not isinstance(stmt, loops.Assign):
            continue
        register, op = stmt.target.tensor, stmt.op
        if not isinstance(register, Register) or not register.storage.format.leaf.short_circuit:
            return None
        cond = None if op is None else is_final(op, register.var)
        if cond is None:
            return None
        conds[register.var] = cond
    return reduce(imp.Operators.__and__, conds.values()) if conds else None


def is_final(op: Function, var: imp.Var) -> imp.Expr | None:
    """That updates by `op` leave the variable as it is."""
    identity, annihilator = op.identity(var.dtype), op.annihilator(var.dtype)
    if op.decisive and identity is not None:
        return imp.ne(var, imp.Const(identity, var.dtype))
    return None if annihilator is None else imp.eq(var, imp.Const(annihilator, var.dtype))
