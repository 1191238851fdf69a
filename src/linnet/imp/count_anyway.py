"""Counts without a branch where two lists meet.

    if i == j:                          n += i == j
      n += 1; p += 1; q += 1    ->      p += i <= j
    else:                               q += j <= i
      p += i <= j; q += j <= i

Data decide whether indices are equal, and nobody can tell. Where more is done than to count, what
is done takes longer than a wrong guess now and then.
"""

from __future__ import annotations

from dataclasses import replace

from linnet import imp
from linnet.imp.rewrite import rewrite_statements, statements

Steps = dict[imp.Var, imp.Expr]
"""By how much variables are made larger."""


def count_anyway(kernel: imp.Kernel) -> imp.Kernel:
    """Replace branches that only count by additions of truth values.

    Needs: simplified code.
    """
    branches = [s for s in statements(kernel.body) if isinstance(s, imp.If)]
    if all(_counted(branch) is None for branch in branches):
        return kernel

    def rule(node: imp.Node) -> imp.Node | None:
        return _counted(node) if isinstance(node, imp.If) else None

    body = rewrite_statements(kernel.body, rule)
    return replace(kernel, body=body)


def _counted(branch: imp.If) -> imp.Block | None:
    """The counting, if that is all that both ways do."""
    cond, then, orelse = branch.cond, _steps(branch.then), _steps(branch.orelse)
    if then is None or not orelse or not orelse.keys() < then.keys():
        return None
    match cond:
        case imp.Binary("==", imp.Var() as i, imp.Var() as j) if not {i, j} & then.keys():
            less = {imp.Binary("<=", a, b, imp.BOOL) for a, b in ((i, j), (j, i))}
        case _:
            return None
    known = all(isinstance(e, imp.Cast) and e.x in less for e in orelse.values())
    if not known or any(e != imp.Const(1, var.dtype) for var, e in then.items()):
        return None
    steps = {v: orelse.get(v, imp.Cast(cond, v.dtype)) for v in then}
    return imp.Block(tuple([imp.Assign(v, v + e) for v, e in steps.items()]))


def _steps(block: imp.Block) -> Steps | None:
    """The additions to integers that a block consists of, one for each; None if it has others."""
    found: Steps = {}
    for stmt in block.stmts:
        match stmt:
            case imp.Accumulate(var, "+", value):
                old: imp.Expr = var
            case imp.Assign(var, imp.Binary("+", old, value)):
                pass
            case _:
                return None
        if old != var or var in found or var.dtype[0] not in "iu":
            return None
        found[var] = value
    return found
