"""Leaving a loop early: nothing more can change once every value it updates is annihilated.

A scalar that asks for it (`ShortCircuit`) is tested in every iteration. Where nobody asks, values
are tested where a test costs little beside what else is done: in loops that walk several fibers or
runs, around calls of functions that are loops themselves, outside of such loops, after each part of
a range, and where nothing is stored that could be looked at. A plain loop over values is tested now
and then (`lower.strips`).
"""

from __future__ import annotations

from functools import reduce

from linnet import imp, loops
from linnet.algebra.codelets import is_called
from linnet.algebra.derive import final, is_lawful
from linnet.algebra.function import Function
from linnet.formats.fiber import Register
from linnet.imp.rewrite import walk as nodes
from linnet.loops.rewrite import walk
from linnet.loops.types import dtype_of
from linnet.lower.context import Context
from linnet.normalize.simplify import MISSING
from linnet.records import dataclass

LEAVE = imp.Block((imp.Break(),))


@dataclass(frozen=True, slots=True)
class Settled:
    """That all values which a loop updates are annihilated, and whether a test was asked for."""

    cond: imp.Expr
    asked: bool


def break_early(
    ctx: Context, body: loops.Stmt, code: imp.Block | None = None, index: str = ""
) -> None:
    """After the body of a loop: `if (p) break`, if all that it updates asks for it, or it pays.

    `code` is what became of the body in a loop over `index` that does nothing else.
    """
    if not ctx.running or not ctx.running[-1] or ctx.is_flat(ctx.indices[-1:]):
        return
    found = settled(ctx, body)
    if found is None:
        return
    if (
        found.asked
        or code is None
        or pays(code)
        or _decides(body, code)
        or _counts_parts(body, index)
    ):
        ctx.b.emit(imp.If(found.cond, LEAVE, imp.EMPTY))


def unless_settled(ctx: Context, body: loops.Stmt, code: imp.Block) -> imp.Block:
    """What remains to be done after a loop that may have been left early."""
    found = settled(ctx, body) if ctx.running and ctx.running[-1] else None
    if found is None or code == imp.EMPTY:
        return code
    return imp.Block((imp.If(imp.Unary("not", found.cond, imp.BOOL), code, imp.EMPTY),))


def pays(code: imp.Block) -> bool:
    """Whether a loop around this code takes long for each iteration, or ends early inside."""
    return any(
        isinstance(n, imp.Break) or (isinstance(n, imp.Call) and is_called(n.function))
        for n in nodes(code)
    )


def _decides(body: loops.Stmt, code: imp.Block) -> bool:
    """Whether an iteration may say the last word, and looks at nothing that is stored."""
    updates = (n for n in walk(body) if isinstance(n, loops.Assign))
    known = any(isinstance(update.value, loops.Literal) for update in updates)
    return known and not any(isinstance(n, imp.Load) for n in nodes(code))


def _counts_parts(body: loops.Stmt, index: str) -> bool:
    """Whether a loop inside goes through the part of a range that this index says."""
    parts = (n for n in walk(body) if isinstance(n, loops.Part))
    return any(part.number == loops.Index(index) for part in parts)


def settled(ctx: Context, body: loops.Stmt) -> Settled | None:
    """Whether the values that `body` updates may all become final; None if some do not."""
    ops: dict[imp.Var, Function] = {}
    asked = True
    for stmt in walk(body):
        if isinstance(stmt, loops.Declare):
            return None
        if not isinstance(stmt, loops.Assign):
            continue
        register, op = stmt.target.tensor, stmt.op
        if not isinstance(register, Register) or op is None:
            return None
        if register.var.name.startswith(MISSING):
            return None  # beyond the bounds, where every iteration is an error
        if any(level.limit for level in register.storage.format.levels):
            return None  # the value may be that of another index, and the first update an error
        if ops.setdefault(register.var, op) is not op:
            return None  # what is final for the one is not for the other
        if not is_lawful(op, register.var.dtype, dtype_of(stmt.value, ctx.facts.types)):
            return None
        asked = asked and register.storage.format.leaf.short_circuit
    conds = [is_final(op, var, asked) for var, op in ops.items()]
    found = [cond for cond in conds if cond is not None]
    if not found or len(found) < len(conds):
        return None
    return Settled(reduce(imp.Operators.__and__, found), asked)


def is_final(op: Function, var: imp.Var, asked: bool) -> imp.Expr | None:
    """That updates by `op` leave the variable as it is."""
    identity = op.identity(var.dtype)
    if op.decisive and identity is not None:
        return imp.ne(var, imp.Const(identity, var.dtype))
    value = final(op, var.dtype, asked)
    return None if value is None else imp.eq(var, imp.Const(value, var.dtype))
