"""Raises a flag once, after a loop, instead of in every iteration.

    for q in a … b:                    for q in a … b:
      y[q] = …                 ->        y[q] = …
      flag = true                      flag = flag or a < b

Loops around do the same with what is left, as long as the bounds stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.effects import Effects, breaks, effects_of
from linnet.imp.rewrite import rewrite_statements, statements


def raise_flags(kernel: imp.Kernel) -> imp.Kernel:
    """Take flags that every iteration raises out of loops.

    Needs: simplified code.
    """
    if not any(isinstance(s, imp.Assign) and _when(s) is not None for s in statements(kernel.body)):
        return kernel
    effects = effects_of(kernel.codelets)

    def rule(node: imp.Node) -> imp.Node | None:
        return _raised(node, effects) if isinstance(node, imp.Block) else None

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _raised(block: imp.Block, effects: Effects) -> imp.Block | None:
    """The block with flags after its loops; None if there are none."""
    stmts: list[imp.Stmt] = []
    for stmt in block.stmts:
        if not isinstance(stmt, imp.For):
            stmts.append(stmt)
            continue
        found = _flags(stmt, effects)
        kept = tuple([s for s in stmt.body.stmts if s not in found])
        stmts.append(replace(stmt, body=imp.Block(kept)) if found else stmt)
        some = imp.widen(stmt.start) < imp.widen(stmt.stop)
        stmts += [imp.Assign(s.var, s.var | (some & cond)) for s, cond in found.items()]
    return imp.Block(tuple(stmts)) if len(stmts) > len(block.stmts) else None


def _flags(loop: imp.For, effects: Effects) -> dict[imp.Assign, imp.Expr]:
    """The statements that raise flags for the loop as a whole, and under which condition."""
    body = effects.of(loop.body)

    def stays(e: imp.Expr) -> bool:
        known = effects.of(e)
        own = known.reads & (body.assigns | {loop.var.name})
        return not own and not known.loads & body.changes and not known.changes

    found = {
        s: cond
        for s in loop.body.stmts
        if isinstance(s, imp.Assign) and (cond := _when(s)) is not None
    }
    if not found or breaks(loop.body) or not stays(loop.start) or not stays(loop.stop):
        return {}
    return {s: c for s, c in found.items() if stays(c) and _is_alone(s, loop, effects)}


def _when(stmt: imp.Assign) -> imp.Expr | None:
    """The condition under which a statement raises a flag; None if it does anything else."""
    match stmt:
        case imp.Assign(imp.Var(_, imp.BOOL), imp.Const(True)):
            return imp.TRUE
        case imp.Assign(var, imp.Binary("or", old, cond)) if old == var:
            return cond
        case _:
            return None


def _is_alone(stmt: imp.Assign, loop: imp.For, effects: Effects) -> bool:
    """Whether nothing else in a loop reads a flag or sets it."""
    others = [effects.of(s) for s in loop.body.stmts if s is not stmt]
    return not any(stmt.var.name in s.reads | s.assigns for s in others)
