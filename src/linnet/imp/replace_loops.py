"""What passes have in common that make something better of single loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from linnet import imp
from linnet.imp.effects import Effects, effects_of
from linnet.imp.fresh import fresh_names
from linnet.imp.rewrite import rewrite_statements, substitute
from linnet.names import Names

Better: TypeAlias = Callable[[imp.For, Effects, Names], imp.Node | None]
"""What is to stand for a loop, or None to leave it as it is."""


def replace_loops(kernel: imp.Kernel, better: Better) -> imp.Kernel:
    """Replace loops, the innermost first."""
    effects, names = effects_of(kernel.codelets), fresh_names(kernel)

    def rule(node: imp.Node) -> imp.Node | None:
        return better(node, effects, names) if isinstance(node, imp.For) else None

    body = rewrite_statements(kernel.body, rule)
    return kernel if body is kernel.body else replace(kernel, body=body)


def at_another(
    loop: imp.For, at: imp.Expr, own: dict[imp.Var, imp.Var], names: Names
) -> list[imp.Stmt]:
    """The body of a loop once more, for another step: with sums and variables of its own.

    Needs: no loops in it, and no variables in what it does under a condition.
    """
    new: dict[str, imp.Expr] = {loop.var.name: at}
    stmts: list[imp.Stmt] = []
    for stmt in loop.body.stmts:
        match stmt:
            case imp.Let(var, value):
                other = imp.Var(names.fresh(var.name), var.dtype)
                stmts.append(imp.Let(other, substitute(value, new)))
                new[var.name] = other
            case imp.Accumulate(var, _, value):
                stmts.append(replace(stmt, var=own[var], value=substitute(value, new)))
            case imp.Store() | imp.If():
                stmts.append(substitute(stmt, new))
    return stmts
