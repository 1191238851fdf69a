"""What stands around a loop in a block of code, perhaps under conditions: before it, and after it.

double y_i = y[i];                       before
if (found) {                             a condition: what is before and after depends on it
  for (…) …                              the loop
}
y[i] = y_i;                              after
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linnet import imp
from linnet.imp.rewrite import statements
from linnet.lower.context import Context
from linnet.records import dataclass


@dataclass(frozen=True, slots=True)
class Around:
    """A loop, and what is done before and after it; only if all `conds` hold, there is a loop.

    What is done before introduces the variables of the conditions.
    """

    before: tuple[imp.Stmt, ...]
    loop: imp.For
    after: tuple[imp.Stmt, ...]
    conds: tuple[imp.Expr, ...] = ()


def around_loop(ctx: Context, code: imp.Block, var: imp.Var) -> Around | None:
    """The only loop in a block that has a variable, and what is around it."""
    found = [s for s in statements(code) if isinstance(s, imp.For) and s.var == var]
    return _around(ctx, _spliced(code.stmts), found[0]) if len(found) == 1 else None


def again(stmts: Iterable[imp.Stmt]) -> list[imp.Stmt]:
    """Statements once more: the variables that they introduce are there, and get other values."""
    return [imp.Assign(s.var, s.value) if isinstance(s, imp.Let) else s for s in stmts]


def _around(ctx: Context, stmts: Sequence[imp.Stmt], loop: imp.For) -> Around | None:
    for k, stmt in enumerate(stmts):
        before, after = tuple(stmts[:k]), tuple(stmts[k + 1 :])
        if stmt is loop:
            return Around(before, loop, after)
        if isinstance(stmt, imp.If):
            for holds, other in ((True, stmt.orelse), (False, stmt.then)):
                branch = stmt.then if holds else stmt.orelse
                inside = _around(ctx, _spliced(branch.stmts), loop)
                if inside is not None:
                    return _under(ctx, stmt, holds, other, before, inside, after)
    return None


def _under(
    ctx: Context, choice: imp.If, holds: bool, other: imp.Block,
    before: tuple[imp.Stmt, ...], inside: Around, after: tuple[imp.Stmt, ...],
) -> Around:  # fmt: skip
    """What is around a loop in one branch of a choice, which is made once, before the loop."""
    chosen = ctx.b.var("chosen", imp.BOOL)
    cond = choice.cond if holds else imp.Unary("not", choice.cond, imp.BOOL)
    own = [imp.Let(s.var, _nothing(s.var)) for s in inside.before if isinstance(s, imp.Let)]
    entered = imp.If(chosen, imp.Block(tuple(again(inside.before))), other)
    left = imp.If(chosen, imp.Block(inside.after), imp.EMPTY)
    return Around(
        (*before, imp.Let(chosen, cond), *own, entered),
        inside.loop,
        (*((left,) if inside.after else ()), *after),
        (chosen, *inside.conds),
    )


def _nothing(var: imp.Var) -> imp.Const:
    """What a variable has before it gets a value that counts."""
    return imp.FALSE if var.dtype == imp.BOOL else imp.Const(0, var.dtype)


def _spliced(stmts: Iterable[imp.Stmt]) -> tuple[imp.Stmt, ...]:
    """Statements, with those of blocks in the place of the blocks."""
    found: list[imp.Stmt] = []
    for stmt in stmts:
        found += _spliced(stmt.stmts) if isinstance(stmt, imp.Block) else (stmt,)
    return tuple(found)
